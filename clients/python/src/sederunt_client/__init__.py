"""Client of Sederunt: bots that join meetings, record and transcribe."""

from sederunt_client.client import AsyncClient, Client
from sederunt_client.errors import (
    ApiError,
    BotDeleted,
    Conflict,
    Forbidden,
    InvalidRequest,
    KeyReused,
    NotFound,
    NotReached,
    SederuntClientError,
    ServiceFault,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    UnexpectedAnswer,
    WebhookRejected,
)
from sederunt_client.live import AsyncListener, Listener, LiveEvent
from sederunt_client.requests import UNSET, Unset
from sederunt_client.webhooks import WebhookEvent, verify_webhook

__version__ = "0.1.0"

__all__ = [
    "UNSET",
    "ApiError",
    "AsyncClient",
    "AsyncListener",
    "BotDeleted",
    "Client",
    "Conflict",
    "Forbidden",
    "InvalidRequest",
    "KeyReused",
    "Listener",
    "LiveEvent",
    "NotFound",
    "NotReached",
    "SederuntClientError",
    "ServiceFault",
    "TooLarge",
    "TooManyRequests",
    "Unauthorized",
    "UnexpectedAnswer",
    "Unset",
    "WebhookEvent",
    "WebhookRejected",
    "verify_webhook",
]
