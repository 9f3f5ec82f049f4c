"""The REST interface as the tools use it: at an address with a key, or inside this very process.

Either way a tool makes a request like any other caller: one place checks keys, scopes, limits and fields, and records
who did what.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from starlette.types import ASGIApp

from sederunt.errors import RequestError, SederuntError

PREFIX = "/api/v1"
TIMEOUT_S = 60.0
_FILES = "/files/"


class ServiceAway(SederuntError):
    """The service does not answer."""


class Refusal(RequestError):
    """The service refused a request; the text is its own."""

    def __init__(self, status: int, payload: Mapping[str, Any]) -> None:
        fields: Mapping[str, list[str]] = payload.get("errors") or {}
        sentences = " ".join(sentence for faults in fields.values() for sentence in faults)
        at_fault = f" (fields: {', '.join(fields)})" if fields else ""
        super().__init__(f"{sentences or payload.get('message') or 'The service gave no reason.'}{at_fault}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Backend:
    """A caller of the service."""

    client: httpx2.AsyncClient

    async def ask(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the answer of a route below the version prefix. Raises Refusal, ServiceAway."""
        answer = _good(await self._answer(method, PREFIX + path, body=body, query=query))
        try:
            return answer.json()
        except ValueError:  # a web site that answers every path with its own page
            raise Refusal(answer.status_code, _told(answer)) from None

    async def text(self, path: str, *, query: Mapping[str, Any]) -> str:
        """Return the answer of a route that answers with text. Raises Refusal, ServiceAway."""
        return _good(await self._answer("GET", PREFIX + path, query=query)).text

    async def linked(self, address: str) -> httpx2.Response | None:
        """Return what a signed address of the service holds, whatever host it names; None if it is gone."""
        parts = urlsplit(address)
        _, _, file_path = parts.path.partition(_FILES)  # a proxy may add a prefix
        answer = await self._answer("GET", f"{_FILES}{file_path}?{parts.query}")
        if answer.has_redirect_location:
            answer = await _elsewhere(answer.headers["location"])
        return answer if answer.status_code == 200 else None

    async def _answer(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx2.Response:
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            return await self.client.request(method, path, json=body, params=parameters or None)
        except httpx2.TransportError as error:
            raise ServiceAway(f"{self.client.base_url} cannot be reached: {error or type(error).__name__}.") from error
        except httpx2.InvalidURL:  # a text of some 60 kB, or more
            raise RequestError("One of the arguments is too long.") from None


async def _elsewhere(address: str) -> httpx2.Response:
    """Fetch a signed address of the bucket behind the service; the API key is not sent there."""
    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            return await client.get(address)
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServiceAway(f"The service's bucket cannot be reached: {error or type(error).__name__}.") from error


def _good(answer: httpx2.Response) -> httpx2.Response:
    """Return a successful answer. Raises Refusal for any other."""
    if answer.status_code == 200:
        return answer
    raise Refusal(answer.status_code, _told(answer))


def _told(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        payload = answer.json()
    except ValueError:
        payload = None
    if isinstance(payload, Mapping):
        return payload
    return {"message": f"Something else than this service answered, with status {answer.status_code}."}


@asynccontextmanager
async def service_at(url: str, key: str) -> AsyncIterator[Backend]:
    """Provide the service at an address, with or without its version prefix. Raises RequestError for a bad address."""
    base = url.rstrip("/").removesuffix(PREFIX)
    if urlsplit(base).scheme not in ("http", "https"):
        raise RequestError(f"The service's address must begin with http:// or https://, not '{url[:60]}'.")
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=TIMEOUT_S) as client:
        yield Backend(client)


@asynccontextmanager
async def service_inside(app: ASGIApp, headers: Mapping[str, str], scheme: str) -> AsyncIterator[Backend]:
    """Provide a backend that calls this process's application with these headers."""
    caller_headers = {name: headers[name] for name in ("authorization", "host") if name in headers}
    transport = httpx2.ASGITransport(app)
    base = f"{'https' if scheme == 'https' else 'http'}://this.service"
    async with httpx2.AsyncClient(
        transport=transport, base_url=base, headers=caller_headers, timeout=TIMEOUT_S
    ) as client:
        yield Backend(client)
