"""Idempotency-Key: a repeated request creates nothing, and gets the answer to the first one."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from sederunt import log
from sederunt.api.call import Call
from sederunt.api.failures import text_response
from sederunt.database.first_answers import FirstAnswer
from sederunt.errors import InvalidConfig, KeyReused, NotFound, RequestError

logger = log.get(component="api")

HEADER = "Idempotency-Key"
REPEATED = "Idempotency-Replayed"  # on a repeated answer
LONGEST_KEY = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyedRequest:
    """A request with an idempotency key."""

    call: Call
    key: str
    fingerprint: bytes

    def answered(self, resource_id: UUID, body: str) -> FirstAnswer:
        """Return the record to store together with the new resource."""
        api, now = self.call.context.settings.api, self.call.context.clock.now()
        return FirstAnswer(
            account_id=self.call.account_id,
            key=self.key,
            fingerprint=self.fingerprint,
            resource_id=resource_id,
            body=body,
            expires_at=now + timedelta(hours=api.idempotency_hours),
        )

    async def answer_again(self) -> Response | None:
        """Return the answer to the first request with this key; None if this is the first.

        Raises KeyReused if the first request was a different one, NotFound if the resource that it made is deleted.
        """
        first = await self.call.context.stores.first_answers.find(self.call.account_id, self.key)
        if first is None:
            return None
        if first.fingerprint != self.fingerprint:
            raise KeyReused(f"This {HEADER} was sent with another request before: use a new one for each request.")
        if first.body is None:
            raise NotFound(f"What was made by the request with this {HEADER} is deleted: use a new one.")
        logger.info("answered again", action="answered_again", resource_id=str(first.resource_id))
        return text_response(first.body, headers={REPEATED: "true"})


async def answer_once(
    call: Call, content: object, make: Callable[[KeyedRequest | None], Awaitable[Response]]
) -> Response:
    """Return the answer of `make` or, if the request's key was used before, the first answer.

    Args:
        content: JSON values by which two requests are compared.
        make: stores the resource and `KeyedRequest.answered` in one transaction. Refusals are not stored.
    """
    key = key_of(call.request)
    if key is None:
        return await make(None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    keyed_request = KeyedRequest(
        call=call, key=key, fingerprint=hashlib.sha256(f"{call.request.url.path}\n{text}".encode()).digest()
    )
    if (response := await keyed_request.answer_again()) is not None:
        return response
    try:
        return await make(keyed_request)
    except RequestError:  # perhaps because a simultaneous request with the same key took the last place
        if (response := await keyed_request.answer_again()) is not None:
            return response
        raise


def key_of(request: Request) -> str | None:
    """Return the request's key. Raises InvalidConfig if it is malformed."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not (0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise InvalidConfig({HEADER: [f"{HEADER} must be 1 to {LONGEST_KEY} printable ASCII characters."]})
    return key
