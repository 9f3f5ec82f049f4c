"""HTTP for all vendors: deadlines, retries, Retry-After, streamed uploads, uniform errors."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urljoin, urlsplit

import httpx2

from sederunt import log
from sederunt.clock import retry_after_s
from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings, variable
from sederunt.transcription.access import Access
from sederunt.transcription.cloud import long_json
from sederunt.transcription.cloud.addresses import rest_address, same_origin
from sederunt.transcription.cloud.calls import Reply, VendorCall, joined
from sederunt.transcription.cloud.faults import Explained, Speaker
from sederunt.transcription.cloud.vendor import Vendor

CHUNK = 64 * 1024
LARGEST_REPLY = 128 * 1024 * 1024
SLOWEST_UPLOAD = 50_000  # bytes a second; a slower upload is given up

MOST_REDIRECTS = 4
REDIRECTS = frozenset({301, 302, 303, 307, 308})

GONE = frozenset({404, 410})
UNAUTHORISED = 401

logger = log.get(component="transcription")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Manners:
    """Limits of retries and waiting, in seconds."""

    tries: int = 5
    first_pause_s: float = 1.0
    longest_pause_s: float = 30.0
    longest_retry_after_s: float = 120.0  # if a vendor asks for more, the whole job is retried later
    connect_s: float = 10.0
    reply_s: float = 60.0
    first_poll_s: float = 1.0
    longest_poll_s: float = 30.0
    poll_for_s: float = 1800.0  # or twice the length of the sound, if that is longer
    missing_for_s: float = 120.0  # how long to ask for what a vendor should have but does not show
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


class Unanswered(ProviderError):
    """A failed attempt that may be repeated. `may_count`: the vendor may have accepted it. `is_cut`: it has not, since
    the connection was cut before the whole request was sent, perhaps by a refusal that could not be read.
    """

    def __init__(
        self, error: ProviderError, *, may_count: bool, is_cut: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(
            str(error), retryable=error.retryable, kind=error.kind, status=error.status, retry_after_s=retry_after_s
        )
        self.may_count, self.is_cut = may_count, is_cut

    @property
    def is_lost(self) -> bool:
        """Return whether the answer was lost on its way; a vendor that answers with an error has not done the work."""
        return self.may_count and self.status is None


class Client:
    """Requests to one vendor with one credential. Use it as a context, on one event loop."""

    def __init__(self, vendor: Vendor, settings: Settings, access: Access, manners: Manners) -> None:
        self.vendor, self.access, self.manners = vendor, access, manners
        self._settings = settings
        # How often a file is sent, and perhaps billed, again after a lost answer.
        self.repeats_lost = 1 if settings.transcription.lost_answer == "repeat" else 0
        self._root = rest_address(settings, vendor.row, access.region)
        provider_settings = settings.providers.get(vendor.row.name)
        self._root_is_given = bool(provider_settings and provider_settings.url)
        self.speaker = Speaker(title=vendor.row.title, label=access.label, secrets=(access.key,))
        timeout = httpx2.Timeout(manners.reply_s, connect=manners.connect_s)
        self._http = httpx2.AsyncClient(timeout=timeout, follow_redirects=False)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def fetch(self, call: VendorCall, act: str = "answer") -> Any:
        """Return the JSON that answers a request that may be repeated without harm.

        Raises ProviderError if it is refused, or if no attempt was answered.
        """
        return (await self.retried(lambda: self.once(call, act))).body

    async def erase(self, call: VendorCall) -> None:
        """Make a request that deletes. It succeeds if nothing is there; its answer is not read."""
        try:
            await self.retried(lambda: self.once(call, "delete", is_read=False))
        except ProviderError as error:
            if error.status not in GONE:
                raise

    async def see_refusal(self) -> None:
        """Make the vendor's free check after a request that was cut. Raises ProviderError if that tells why: the key or
        the credit. Any other result says nothing about the request.
        """
        try:
            await self.once(self.vendor.check(self.access), "check the key")
        except ProviderError as error:
            if error.status == UNAUTHORISED or error.kind is ProviderFault.PAYMENT:
                raise

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the first answer. Pauses grow with full jitter, and are at least as long as the vendor asks for."""
        for number in range(1, self.manners.tries + 1):
            try:
                return await attempt()
            except Unanswered as error:
                if number == self.manners.tries or not await self.pause_after(error, number):
                    raise
        raise AssertionError("every try returns or raises")

    async def pause_after(self, error: Unanswered, number: int) -> bool:
        """Wait before the next attempt; return False if the vendor asks for a longer pause than a job may make."""
        if (error.retry_after_s or 0.0) > self.manners.longest_retry_after_s:
            return False
        longest_s = min(self.manners.longest_pause_s, self.manners.first_pause_s * 2 ** (number - 1))
        pause_s = max(error.retry_after_s or 0.0, random.uniform(0, longest_s))  # noqa: S311 - no secret
        logger.info(
            "vendor asked again", action="vendor_retry", provider=self.vendor.row.name, after_s=pause_s, why=str(error)
        )
        await self.manners.pause(pause_s)
        return True

    async def once(
        self, call: VendorCall, act: str, *, sound: Path | None = None, sound_s: float = 0.0, is_read: bool = True
    ) -> Reply:
        """Try once, following redirects. Raises Unanswered, or ProviderError if another attempt would fail alike. An
        answer that is read has to be JSON, or empty."""
        for _ in range(MOST_REDIRECTS):
            reply, url = await self._asked(call, act, sound, sound_s)
            next_call = _onward(call, reply, url)
            if next_call is None:
                return self._judged(call, act, reply, is_read=is_read)
            call = next_call
        raise self.speaker.refusal(act, reply.status, Explained(message="it sends us in a circle"))

    async def _asked(self, call: VendorCall, act: str, sound: Path | None, sound_s: float) -> tuple[Reply, str]:
        """Return the reply to one request, and the URL it was sent to."""
        size = sound.stat().st_size if sound is not None and call.sound is not None else 0
        late_s = max(600.0, sound_s) if call.answers_late else 0.0
        deadline_s = self.manners.connect_s + self.manners.reply_s + late_s + size / SLOWEST_UPLOAD
        body_stream: _Sent | None = None
        try:
            async with asyncio.timeout(deadline_s), AsyncExitStack() as stack:
                request = self._request(call, sound if size else None, size, late_s, stack)
                request.stream = body_stream = _Sent(request.stream)
                response = await self._http.send(request, stream=True)
                stack.push_async_callback(response.aclose)
                body, is_json = await self._body(response)
                reply = Reply(status=response.status_code, headers=response.headers, body=body, is_json=is_json)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise self._unanswered(act, _named(error), may_count=False) from error
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise self._no_address(call, act, error) from error
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            is_whole = body_stream is not None and body_stream.is_whole
            raise self._unanswered(act, _named(error), may_count=is_whole, is_cut=not is_whole) from error
        return reply, str(request.url)

    def _judged(self, call: VendorCall, act: str, reply: Reply, *, is_read: bool) -> Reply:
        if reply.is_good:
            if is_read and not reply.is_json:
                raise self._unanswered(act, "its answer is no JSON", may_count=call.method == "POST")
            return reply
        explained = self.vendor.explain(reply.status, reply.body)
        if {(reply.status, None), (reply.status, explained.code)} & call.answering_refusals:
            return reply
        error = self.speaker.refusal(act, reply.status, explained)
        if not error.retryable:
            raise error
        after_s = retry_after_s(reply.headers.get("retry-after"), datetime.now(UTC))
        raise Unanswered(error, may_count=error.kind is ProviderFault.TRANSIENT, retry_after_s=after_s)

    def _no_address(self, call: VendorCall, act: str, error: Exception) -> Exception:
        """Return the error for an invalid URL, from the settings or from the vendor."""
        if call.is_whole:
            return self.speaker.error(ProviderFault.PROVIDER_FAILED, act, f"it named no address: {_named(error)}")
        return SetupError(
            f"{variable('providers', self.vendor.row.name, 'url')} has to be an address that can be asked."
        )

    def _unanswered(self, act: str, reason: str, *, may_count: bool, is_cut: bool = False) -> Unanswered:
        return Unanswered(self.speaker.error(ProviderFault.TRANSIENT, act, reason), may_count=may_count, is_cut=is_cut)

    def _request(
        self, call: VendorCall, sound: Path | None, size: int, late_s: float, stack: AsyncExitStack
    ) -> httpx2.Request:
        root = self._root if call.root is None or self._root_is_given else call.root
        url = joined(root, call.path, may_overlap=not self.vendor.row.paths)
        headers = {"accept": "application/json", **call.headers}
        if same_origin(url, root):
            headers |= self.vendor.headers(self.access)
        options: dict[str, Any] = {}
        if call.query:
            options["params"] = list(call.query)
        if call.json is not None:
            options["json"] = call.json
        if sound is not None and call.sound is not None:
            file = stack.enter_context(sound.open("rb"))
            if call.sound.part is None:
                options["content"] = _chunks(file)
                headers["content-length"] = str(size)
            else:
                media_type = headers.pop("content-type", "application/octet-stream")
                options["files"] = [(call.sound.part, (sound.name, file, media_type))]
        if call.form:
            fields = [(name, (None, value)) for name, value in call.form]
            options["files"] = [*fields, *options.get("files", [])]
        if call.answers_late:
            read_s = self.manners.reply_s + late_s
            options["timeout"] = httpx2.Timeout(self.manners.reply_s, connect=self.manners.connect_s, read=read_s)
        return self._http.build_request(call.method, url, headers=headers, **options)

    async def _body(self, response: httpx2.Response) -> tuple[Any, bool]:
        """Return the values of JSON, or the text of anything else, and whether it is JSON. Empty answers are None."""
        data = bytearray()
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > LARGEST_REPLY:
                raise httpx2.DecodingError(f"the answer is larger than {LARGEST_REPLY} bytes")
        body_text = data.decode(json.detect_encoding(data), "replace")
        del data
        try:
            return (long_json.loads(body_text) if body_text.strip() else None), True
        except ValueError:
            return body_text, False


class _Sent(httpx2.AsyncByteStream):
    """A request's body, and whether it was read to its end, and so sent."""

    def __init__(self, body: Any) -> None:
        self._body, self.is_whole = body, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            yield chunk
        self.is_whole = True


def _onward(call: VendorCall, reply: Reply, url: str) -> VendorCall | None:
    """Return the request that a redirect asks for; None if it asks for none. Only GET is redirected to another host,
    without the key.
    """
    location = reply.headers.get("location")
    if reply.status not in REDIRECTS or not location:
        return None
    target_url = urljoin(url, location)
    if reply.status == 303:
        call = replace(call, method="GET", json=None, form=(), sound=None)
    if urlsplit(target_url).scheme not in ("http", "https") or not (
        same_origin(target_url, url) or call.method == "GET"
    ):
        return None
    return replace(call, path=target_url, query=())


async def _chunks(file: Any) -> AsyncIterator[bytes]:
    """Yield a file in pieces, one of which is in memory. The loop belongs to this job alone, so reading may block."""
    while chunk := file.read(CHUNK):
        yield chunk


def _named(error: BaseException) -> str:
    return str(error) or type(error).__name__


__all__ = ["GONE", "Client", "Manners", "Unanswered"]
