"""Everything the client raises.

SederuntClientError
├── ApiError              the service refused: status, message, fields, request_id
│   ├── InvalidRequest    400  `fields` names every fault by its field
│   ├── Unauthorized      401
│   ├── Forbidden         403
│   ├── NotFound          404
│   ├── Conflict          409
│   ├── TooLarge          413
│   ├── KeyReused         422  an Idempotency-Key that was sent with another request
│   ├── TooManyRequests   429  `retry_after_s`
│   └── ServiceFault      5xx
├── NotReached            no answer: the service is away, or the network
├── UnexpectedAnswer      an answer that is not the service's
├── BotDeleted            while it was listened to
└── WebhookRejected       a webhook that the service did not sign, or long ago
"""

import json
from collections.abc import Mapping, Sequence


class SederuntClientError(Exception):
    """The root of all errors of this client."""


class ApiError(SederuntClientError):
    """A refusal of the service."""

    def __init__(
        self,
        status: int,
        message: str,
        fields: Mapping[str, Sequence[str]],
        request_id: str | None,
        retry_after_s: int | None,
    ) -> None:
        super().__init__(f"{message} (status {status})")
        self.status = status
        self.message = message
        self.fields = fields
        self.request_id = request_id  # stands in the service's log
        self.retry_after_s = retry_after_s

    @staticmethod
    def of(status: int, headers: Mapping[str, str], body: bytes) -> "ApiError":
        """Return the error of an answer's status and body."""
        try:
            told = json.loads(body)
        except ValueError:
            told = None
        told = told if isinstance(told, Mapping) else {}
        kind = _BY_STATUS.get(status, ServiceFault if status >= 500 else ApiError)
        after = headers.get("retry-after", "")
        return kind(
            status,
            str(told.get("message") or body[:200].decode("utf-8", "replace") or "no reason given"),
            told.get("errors") or {},
            headers.get("x-request-id"),
            int(after) if after.isdecimal() else None,
        )


class InvalidRequest(ApiError):
    """The request has faults; `fields` names each by its field."""


class Unauthorized(ApiError):
    """The key is missing, wrong, revoked or expired."""


class Forbidden(ApiError):
    """The key may not do this, or a limit is reached."""


class NotFound(ApiError):
    """There is nothing with this id."""


class Conflict(ApiError):
    """Not possible in the current status, which the message names."""


class TooLarge(ApiError):
    """The body is too large."""


class KeyReused(ApiError):
    """The Idempotency-Key was sent with another request before."""


class TooManyRequests(ApiError):
    """Too many requests with this key; `retry_after_s` says when to try again."""


class ServiceFault(ApiError):
    """Something is wrong on the service's side."""


class NotReached(SederuntClientError):
    """There was no answer."""


class UnexpectedAnswer(SederuntClientError):
    """The answer is not what the service's documents say: is there something else at this address?"""


class BotDeleted(SederuntClientError):
    """The bot was deleted while it was listened to."""


class WebhookRejected(SederuntClientError):
    """The webhook is not signed with this secret, or was signed too long ago."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: KeyReused,
    429: TooManyRequests,
}
