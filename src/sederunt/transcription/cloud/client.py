"""HTTP manners, once for all vendors: deadlines, retries, Retry-After, uploads that stream, errors with one form."""

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
SLOWEST_UPLOAD = 50_000  # bytes a second below which an upload is given up

MOST_REDIRECTS = 4
REDIRECTS = frozenset({301, 302, 303, 307, 308})

GONE = frozenset({404, 410})
UNAUTHORISED = 401

logger = log.get(component="transcription")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Manners:
    """How patient we are. Seconds."""

    tries: int = 5
    first_pause_s: float = 1.0
    longest_pause_s: float = 30.0
    longest_retry_after_s: float = 120.0  # a vendor that wants more gets the whole job back later
    connect_s: float = 10.0
    reply_s: float = 60.0
    first_poll_s: float = 1.0
    longest_poll_s: float = 30.0
    poll_for_s: float = 1800.0  # or twice the sound's length, if that is more
    missing_for_s: float = 120.0  # what a vendor should have, and does not show, is asked for so long
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


class Unanswered(ProviderError):
    """A try that may be repeated. `may_count`: the vendor may have taken it all the same. `is_cut`: it has not, for the
    connection was cut before all of the request was sent; perhaps by a refusal that could not be read.
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
        """Return whether the answer was lost on its way: a vendor that answers with an error has not done it."""
        return self.may_count and self.status is None


class Client:
    """Requests to one vendor with one credential. Use it as a context, on one event loop."""

    def __init__(self, vendor: Vendor, settings: Settings, access: Access, manners: Manners) -> None:
        self.vendor, self.access, self.manners = vendor, access, manners
        self._settings = settings
        # How often a file is sent, and perhaps paid, again after an answer that was lost.
        self.repeats_lost = 1 if settings.transcription.lost_answer == "repeat" else 0
        self._root = rest_address(settings, vendor.row, access.region)
        given = settings.providers.get(vendor.row.name)
        self._root_is_given = bool(given and given.url)
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
        """Return the JSON of a request that may be repeated without harm.

        Raises ProviderError when it is refused, or when no try was answered.
        """
        return (await self.retried(lambda: self.once(call, act))).body

    async def erase(self, call: VendorCall) -> None:
        """Make a request that deletes; what is gone already is deleted. Its answer is not read."""
        try:
            await self.retried(lambda: self.once(call, "delete", is_read=False))
        except ProviderError as error:
            if error.status not in GONE:
                raise

    async def see_refusal(self) -> None:
        """Ask the vendor's free question, after a request that was cut. Raises ProviderError where that tells why: the
        key, or the credit. What else it answers, if at all, says nothing of the request.
        """
        try:
            await self.once(self.vendor.check(self.access), "check the key")
        except ProviderError as error:
            if error.status == UNAUTHORISED or error.kind is ProviderFault.PAYMENT:
                raise

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the first try that is answered. Pauses grow with full jitter; a vendor that names a pause gets it."""
        for number in range(1, self.manners.tries + 1):
            try:
                return await attempt()
            except Unanswered as error:
                if number == self.manners.tries or not await self.pause_after(error, number):
                    raise
        raise AssertionError("every try returns or raises")

    async def pause_after(self, error: Unanswered, number: int) -> bool:
        """Wait before the next try; False where the vendor asks for more patience than one job has."""
        if (error.retry_after_s or 0.0) > self.manners.longest_retry_after_s:
            return False
        most_s = min(self.manners.longest_pause_s, self.manners.first_pause_s * 2 ** (number - 1))
        pause_s = max(error.retry_after_s or 0.0, random.uniform(0, most_s))  # noqa: S311 - no secret
        logger.info(
            "vendor asked again", action="vendor_retry", provider=self.vendor.row.name, after_s=pause_s, why=str(error)
        )
        await self.manners.pause(pause_s)
        return True

    async def once(
        self, call: VendorCall, act: str, *, sound: Path | None = None, sound_s: float = 0.0, is_read: bool = True
    ) -> Reply:
        """Try once, wherever the vendor sends it on to. Raises Unanswered, or ProviderError where another try would be
        answered alike. An answer that is to be read has to be JSON, or empty."""
        for _ in range(MOST_REDIRECTS):
            reply, url = await self._asked(call, act, sound, sound_s)
            onward = _onward(call, reply, url)
            if onward is None:
                return self._judged(call, act, reply, is_read=is_read)
            call = onward
        raise self.speaker.refusal(act, reply.status, Explained(message="it sends us in a circle"))

    async def _asked(self, call: VendorCall, act: str, sound: Path | None, sound_s: float) -> tuple[Reply, str]:
        """Return what one request is answered, and where it went."""
        size = sound.stat().st_size if sound is not None and call.sound is not None else 0
        late_s = max(600.0, sound_s) if call.answers_late else 0.0
        deadline_s = self.manners.connect_s + self.manners.reply_s + late_s + size / SLOWEST_UPLOAD
        sent: _Sent | None = None
        try:
            async with asyncio.timeout(deadline_s), AsyncExitStack() as stack:
                request = self._request(call, sound if size else None, size, late_s, stack)
                request.stream = sent = _Sent(request.stream)
                response = await self._http.send(request, stream=True)
                stack.push_async_callback(response.aclose)
                body, is_json = await self._body(response)
                reply = Reply(status=response.status_code, headers=response.headers, body=body, is_json=is_json)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise self._unanswered(act, _named(error), may_count=False) from error
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise self._no_address(call, act, error) from error
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            is_whole = sent is not None and sent.is_whole
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
        """Return the error for what cannot be asked: an address of the settings, or one that the vendor gave out."""
        if call.is_whole:
            return self.speaker.error(ProviderFault.PROVIDER_FAILED, act, f"it named no address: {_named(error)}")
        return SetupError(
            f"{variable('providers', self.vendor.row.name, 'url')} has to be an address that can be asked."
        )

    def _unanswered(self, act: str, why: str, *, may_count: bool, is_cut: bool = False) -> Unanswered:
        return Unanswered(self.speaker.error(ProviderFault.TRANSIENT, act, why), may_count=may_count, is_cut=is_cut)

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
        """Return the values of JSON, and that it is some; else the text. An empty answer has the value None."""
        held = bytearray()
        async for chunk in response.aiter_bytes():
            held += chunk
            if len(held) > LARGEST_REPLY:
                raise httpx2.DecodingError(f"the answer is larger than {LARGEST_REPLY} bytes")
        written = held.decode(json.detect_encoding(held), "replace")
        del held
        try:
            return (long_json.loads(written) if written.strip() else None), True
        except ValueError:
            return written, False


class _Sent(httpx2.AsyncByteStream):
    """A request's body, and whether it was read to its end: what is not is not sent."""

    def __init__(self, body: Any) -> None:
        self._body, self.is_whole = body, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            yield chunk
        self.is_whole = True


def _onward(call: VendorCall, reply: Reply, url: str) -> VendorCall | None:
    """The request that a redirect asks for; None where it asks for none. Sound and wishes stay with the vendor's host;
    what was stored elsewhere is fetched there, without the key.
    """
    place = reply.headers.get("location")
    if reply.status not in REDIRECTS or not place:
        return None
    there = urljoin(url, place)
    if reply.status == 303:
        call = replace(call, method="GET", json=None, form=(), sound=None)
    if urlsplit(there).scheme not in ("http", "https") or not (same_origin(there, url) or call.method == "GET"):
        return None
    return replace(call, path=there, query=())


async def _chunks(file: Any) -> AsyncIterator[bytes]:
    """A file piece by piece, of which one is in memory. The loop is this job's own: reading may block."""
    while chunk := file.read(CHUNK):
        yield chunk


def _named(error: BaseException) -> str:
    return str(error) or type(error).__name__


__all__ = ["GONE", "Client", "Manners", "Unanswered"]
