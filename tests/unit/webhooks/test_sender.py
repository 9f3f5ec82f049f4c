"""One attempt at a receiver, whatever it does."""

import asyncio
import gzip
import hmac
import inspect
from collections.abc import Callable

import httpx2
import pytest

from harness.fake_clock import FakeClock
from sederunt.database.deliveries import Delivery
from sederunt.errors import DestinationError
from sederunt.webhooks.sender import AttemptResult, send

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
Answer = Callable[[httpx2.Request], object]


async def attempt(
    delivery: Delivery, answer: Answer, *, timeout_s: float = 10, skribby_signature: bool = False
) -> AttemptResult:
    async def unread(request: httpx2.Request) -> httpx2.Response:
        """As a line gives it; what is made of a text counts as read."""
        given = answer(request)
        response: httpx2.Response = await given if inspect.isawaitable(given) else given  # type: ignore[assignment]
        if response.is_stream_consumed:
            body = httpx2.ByteStream(response.content)
            return httpx2.Response(response.status_code, headers=response.headers, stream=body)
        return response

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(unread)) as client:
        return await send(
            client,
            delivery,
            [SECRET],
            clock=FakeClock(),
            timeout_s=timeout_s,
            skribby_signature=skribby_signature,
        )


async def test_the_answer_is_kept_in_part(make_delivery: Callable[..., Delivery]) -> None:
    result = await attempt(make_delivery(), lambda _: httpx2.Response(500, text="x" * 100_000))
    assert result.attempt.status == 500
    assert result.attempt.answer == "x" * 250
    assert result.retryable


async def test_a_packed_answer_is_not_unpacked(make_delivery: Callable[..., Delivery]) -> None:
    packed = gzip.compress(b"x" * 1000)
    head = {"content-encoding": "gzip"}
    stream = httpx2.ByteStream(packed)
    result = await attempt(make_delivery(), lambda _: httpx2.Response(200, headers=head, stream=stream))
    assert result.attempt.answer == packed.decode(errors="replace")[:250]


async def test_the_query_string_is_kept_as_given(make_delivery: Callable[..., Delivery]) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(204)

    query = "token=a%2Fb%3D%3D&list[]=1&empty=&sign=+~!*'()&twice=1&twice=2"
    await attempt(make_delivery(url=f"https://receiver.example/hook?{query}"), answer)
    assert seen[0].url.query.decode() == query
    assert seen[0].method == "POST"


async def test_a_redirect_is_not_followed(make_delivery: Callable[..., Delivery]) -> None:
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        return httpx2.Response(302, headers={"location": "https://elsewhere.example/"})

    result = await attempt(make_delivery(), answer)
    assert seen == ["https://receiver.example/hook"]
    assert result.attempt.status == 302


async def test_a_receiver_that_does_not_answer_in_time_is_a_failed_attempt(
    make_delivery: Callable[..., Delivery],
) -> None:
    async def answer(_: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    result = await attempt(make_delivery(), answer, timeout_s=0.01)
    assert result.attempt.status is None
    assert "No answer" in result.attempt.answer


@pytest.mark.parametrize("error", [httpx2.ConnectError("refused"), httpx2.RemoteProtocolError("nonsense")])
async def test_a_receiver_that_cannot_be_reached_is_a_failed_attempt(
    make_delivery: Callable[..., Delivery], error: Exception
) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise error

    result = await attempt(make_delivery(), answer)
    assert (result.attempt.status, result.retryable) == (None, True)


async def test_a_refused_address_is_not_worth_another_attempt(make_delivery: Callable[..., Delivery]) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise DestinationError("This address leads into a private network.", retryable=False)

    result = await attempt(make_delivery(), answer)
    assert not result.retryable
    assert "private network" in result.attempt.answer


@pytest.mark.parametrize("wanted", [True, False])
async def test_the_hosted_services_receivers_can_check_the_signature_too(
    make_delivery: Callable[..., Delivery], wanted: bool
) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(204)

    await attempt(make_delivery(), answer, skribby_signature=wanted)
    headers = seen[0].headers
    assert "webhook-signature" in headers
    assert ("x-skribby-signature" in headers) is wanted
    if wanted:
        at = headers["x-skribby-timestamp"]
        digest = hmac.new(SECRET.encode(), at.encode() + b"." + seen[0].content, "sha256").hexdigest()
        assert headers["x-skribby-signature"] == f"sha256={digest}"
        assert headers["x-skribby-webhook-id"] == headers["webhook-id"]
