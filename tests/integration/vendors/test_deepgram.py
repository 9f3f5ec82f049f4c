"""Deepgram against its simulator: what it hears, how it fails, and what is billed."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from harness.vendors.deepgram import Deepgram
from harness.vendors.live import Listener, pcm_of
from sederunt.errors import Cancelled, ProviderError, ProviderFault
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.client import Manners
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.deepgram.vendor import VENDOR
from sederunt.transcription.models import find
from sederunt.transcription.provider import Result, Task

JFK = SHIPPED / "jfk.wav"
HASTY = Manners(tries=3, first_pause_s=0.01, reply_s=3.0, longest_retry_after_s=1.0)


@pytest.fixture
def vendor() -> Iterator[Deepgram]:
    with Deepgram() as simulated:
        yield simulated


def settings_for(vendor: Deepgram) -> Settings:
    return Settings(providers={"deepgram": {"url": vendor.url, "socket_url": vendor.socket_url}})


def transcribe(vendor: Deepgram, model: str = "deepgram", key: str | None = None, **task: Any) -> Result:
    row = find(model)
    assert row is not None
    access = Access(key=key or vendor.key, label="the credential 0193")
    provider = CloudProvider(VENDOR, HASTY)
    return provider.transcribe(
        settings_for(vendor), Task(path=JFK, model=row, access=access, reference="r", several_voices=True, **task)
    )


def heard(result: Result) -> str:
    return " ".join(utterance.transcript for utterance in result.utterances)


@pytest.mark.parametrize("model", ["deepgram", "deepgram-v3"])
def test_a_file_is_transcribed_and_billed_once(vendor: Deepgram, model: str) -> None:
    result = transcribe(vendor, model, vocabulary=("Sederunt",), mask_profanity=True)
    assert "your country" in heard(result)
    assert (result.detected_lang, result.diarized, result.masked) == ("en", True, True)
    assert vendor.ledger.seconds_billed == pytest.approx(11, abs=0.1)
    assert vendor.ledger.refusals == []


# Fault → (class of the error, or None where another try succeeds, times billed).
FAULTS: dict[str, tuple[dict[str, Any], ProviderFault | None, int]] = {
    "400": ({"kind": "status", "status": 400, "times": None}, ProviderFault.INVALID_REQUEST, 0),
    "401": ({"kind": "status", "status": 401, "times": None}, ProviderFault.AUTH, 0),
    "402": ({"kind": "status", "status": 402, "times": None}, ProviderFault.PAYMENT, 0),
    "403": ({"kind": "status", "status": 403, "times": None}, ProviderFault.AUTH, 0),
    "413": ({"kind": "status", "status": 413, "times": None}, ProviderFault.MEDIA, 0),
    "429 once": ({"kind": "status", "status": 429, "retry_after": "0"}, None, 1),
    "429 for long": ({"kind": "status", "status": 429, "retry_after": "900"}, ProviderFault.RATE_LIMITED, 0),
    "503 twice": ({"kind": "status", "status": 503, "times": 2}, None, 1),
    "503 for ever": ({"kind": "status", "status": 503, "times": None}, ProviderFault.TRANSIENT, 0),
    "html": ({"kind": "html"}, None, 1),
    "drop": ({"kind": "drop"}, None, 1),
    "slow": ({"kind": "slow", "seconds": 1}, None, 1),
    "job failed": ({"kind": "job_failed"}, None, 1),
    # Deepgram has no look-up: an answer that is lost is paid twice.
    "half a body": ({"kind": "half_body"}, None, 2),
    "half of the JSON": ({"kind": "bad_json"}, None, 2),
    "answer lost": ({"kind": "lost"}, None, 2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_ends_as_documented(vendor: Deepgram, name: str) -> None:
    fault, kind, billed = FAULTS[name]
    vendor.fault(**fault)
    if kind is None:
        assert "your country" in heard(transcribe(vendor))
    else:
        with pytest.raises(ProviderError) as caught:
            transcribe(vendor)
        assert caught.value.kind is kind
        assert vendor.key not in str(caught.value)
    assert len(vendor.ledger.billed) == billed


def test_silence_is_an_empty_transcript(vendor: Deepgram) -> None:
    vendor.fault("empty")
    assert transcribe(vendor).utterances == ()


FIELDS = ("confidence", "speaker", "words", "channels", "start", "punctuated_word", "alternatives")


@pytest.mark.parametrize("value", [None, "a text", 7, []])
def test_a_field_of_another_type_is_no_fault(vendor: Deepgram, value: Any) -> None:
    for field in FIELDS:
        vendor.fault("field", field=field, value=value)
        assert isinstance(transcribe(vendor), Result), field


def test_a_wrong_key_is_told_by_its_name(vendor: Deepgram) -> None:
    with pytest.raises(ProviderError, match="did not accept the credential 0193") as caught:
        transcribe(vendor, key="wrong-key")
    assert not caught.value.retryable
    assert "wrong-key" not in str(caught.value)
    account = CloudProvider(VENDOR, HASTY).account
    account.check(settings_for(vendor), Access(key=vendor.key, label="x"))
    with pytest.raises(ProviderError, match="did not accept"):
        account.check(settings_for(vendor), Access(key="wrong-key", label="x"))


def test_a_vendor_that_is_not_there_is_a_passing_fault() -> None:
    row = find("deepgram")
    assert row is not None
    gone = Settings(providers={"deepgram": {"url": "http://127.0.0.1:9"}})
    with pytest.raises(ProviderError) as caught:
        CloudProvider(VENDOR, HASTY).transcribe(gone, Task(path=JFK, model=row, access=Access(key="k", label="x")))
    assert caught.value.retryable


def test_a_task_that_is_cancelled_does_not_wait_for_the_vendor(vendor: Deepgram) -> None:
    vendor.fault("slow", seconds=300)
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    with pytest.raises(Cancelled):
        transcribe(vendor, cancelled=cancelled)


# --- live -------------------------------------------------------------------------------------------------------------


async def test_a_stream_is_drafted_and_final_in_order(vendor: Deepgram) -> None:
    listener = Listener(VENDOR, settings_for(vendor), vendor.key, "deepgram-realtime", lang="en")
    await listener.say(pcm_of(JFK))
    await listener.end()
    assert "your country" in listener.text
    assert listener.partials > 0
    assert listener.troubles == []
    assert vendor.ledger.refusals == []


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "dropped", "after_s": 4.0},
        {"kind": "close", "code": 1011, "message": "NET-0000", "after_s": 4.0},
        {"kind": "error", "code": 1011, "after_s": 4.0},
        {"kind": "broken_message", "after_s": 4.0},
    ],
    ids=lambda fault: str(fault["kind"]),
)
async def test_a_lost_stream_costs_no_word(vendor: Deepgram, fault: dict[str, Any]) -> None:
    vendor.fault(on="socket", **fault)
    listener = Listener(VENDOR, settings_for(vendor), vendor.key, "deepgram-realtime", lang="en")
    await listener.say(pcm_of(JFK, times=2))
    await listener.end()
    assert listener.text.lower().count("country") == 4
    assert vendor.ledger.refusals == []


async def test_a_refused_key_ends_the_source_with_its_cause(vendor: Deepgram) -> None:
    listener = Listener(VENDOR, settings_for(vendor), "wrong", "deepgram-realtime", lang="en")
    await listener.say(pcm_of(JFK)[:16_000])
    async with asyncio.timeout(20):
        await listener.gone.wait()
    assert "did not accept the credential" in listener.troubles[0]
    await listener.end()


async def test_a_silent_line_is_kept_open(vendor: Deepgram) -> None:
    vendor.limits.idle_s = 6.0
    listener = Listener(VENDOR, settings_for(vendor), vendor.key, "deepgram-realtime", lang="en")
    await listener.say(pcm_of(JFK)[: 16_000 * 5])
    await asyncio.sleep(8)
    await listener.say(pcm_of(JFK)[16_000 * 5 :])
    await listener.end()
    assert listener.text.lower().count("country") == 2
    assert listener.troubles == []
