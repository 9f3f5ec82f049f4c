"""The live halves of the simulated vendors: strict about order, speed and frames, and failing as they are told to."""

import asyncio
import contextlib
import itertools
import json
import wave
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

from harness.vendors.assemblyai import AssemblyAI
from harness.vendors.deepgram import Deepgram
from harness.vendors.gladia import Gladia
from harness.vendors.soniox import Soniox
from harness.vendors.speechmatics import Speechmatics
from harness.vendors.vendor import Limits, Vendor
from sederunt.practice.clips import SHIPPED

FRAME = 3200  # 100 ms
DEEPGRAM = "?model=nova-2&encoding=linear16&sample_rate=16000&interim_results=true&punctuate=true"
ASSEMBLYAI = "?sample_rate=16000&speech_model=universal-streaming-english"
SONIOX = {"model": "stt-rt-v5", "audio_format": "pcm_s16le", "sample_rate": 16_000, "num_channels": 1}
SPEECHMATICS = {
    "message": "StartRecognition",
    "audio_format": {"type": "raw", "encoding": "pcm_s16le", "sample_rate": 16_000},
    "transcription_config": {"language": "en", "enable_partials": True},
}


@pytest.fixture(scope="module")
def pcm() -> bytes:
    with wave.open(str(SHIPPED / "jfk.wav")) as clip:
        return bytes(clip.readframes(clip.getnframes()))


def headers(vendor: Vendor) -> dict[str, str]:
    forms = {"deepgram": "Token ", "assemblyai": ""}
    return {"Authorization": forms.get(vendor.name, "Bearer ") + vendor.key}


@contextlib.asynccontextmanager
async def connected(vendor: Vendor, query: str = "") -> AsyncIterator[ClientConnection]:
    async with connect(vendor.socket_url + query, additional_headers=headers(vendor)) as connection:
        yield connection


async def say(connection: ClientConnection, sound: bytes) -> None:
    for first in range(0, len(sound), FRAME):
        await connection.send(sound[first : first + FRAME])


async def the_rest(connection: ClientConnection) -> list[Any]:
    """Every message until the vendor closes."""
    heard: list[Any] = []
    with contextlib.suppress(ConnectionClosed):
        async for message in connection:
            try:
                heard.append(json.loads(message))
            except ValueError:
                heard.append(message)
    return heard


async def test_sound_comes_back_as_drafts_and_finals_in_order(pcm: bytes) -> None:
    with Deepgram() as vendor:
        async with connected(vendor, DEEPGRAM) as connection:
            await say(connection, pcm)
            await connection.send(json.dumps({"type": "CloseStream"}))
            heard = await the_rest(connection)
        finals = [message for message in heard if message.get("is_final")]
        assert "country" in finals[-1]["channel"]["alternatives"][0]["transcript"].lower()
        assert heard[-1]["type"] == "Metadata"
        assert connection.close_code == 1000
        assert bytes(vendor.ledger.streams[0].pcm) == pcm


@pytest.mark.parametrize(
    ("kind", "details", "code"),
    [("close", {"code": 1013}, 1013), ("error", {"code": 1011}, 1011), ("dropped", {}, None)],
)
async def test_a_stream_ends_as_it_is_told_to(pcm: bytes, kind: str, details: dict[str, int], code: int | None) -> None:
    with Deepgram() as vendor:
        vendor.fault(kind, after_s=2, **details)
        async with connected(vendor, DEEPGRAM) as connection:
            with contextlib.suppress(ConnectionClosed):
                await say(connection, pcm)
            await the_rest(connection)
        assert connection.close_code == (code or 1006)
        assert 2 <= vendor.ledger.streams[0].seconds < 11


async def test_half_a_message_and_the_wrong_order_come_when_told(pcm: bytes) -> None:
    with Deepgram() as vendor:
        for kind in ("broken_message", "out_of_order", "twice"):
            vendor.fault(kind, after_s=1)
            async with connected(vendor, DEEPGRAM) as connection:
                await say(connection, pcm)
                await connection.send(json.dumps({"type": "CloseStream"}))
                heard = await the_rest(connection)
            if kind == "broken_message":
                assert any(isinstance(message, str) for message in heard)
                continue
            finals = [message["start"] for message in heard if message["type"] == "Results" and message["is_final"]]
            results = [message["start"] for message in heard if message["type"] == "Results"]
            if kind == "out_of_order":
                assert results != sorted(results) or _drafts_follow_their_final(heard)
            else:
                assert len(finals) == 2 * len(set(finals))


def _drafts_follow_their_final(heard: list[Any]) -> bool:
    results = [message for message in heard if message["type"] == "Results"]
    return any(
        one["is_final"] and not other["is_final"] and other["start"] == one["start"]
        for one, other in itertools.pairwise(results)
    )


async def test_handshakes_are_refused_as_told_and_for_what_is_wrong(pcm: bytes) -> None:
    with Deepgram() as vendor:
        vendor.fault("status", on="socket", status=429, retry_after="5")
        with pytest.raises(InvalidStatus) as refused:
            await connect(vendor.socket_url + DEEPGRAM, additional_headers=headers(vendor))
        assert refused.value.response.headers["Retry-After"] == "5"
        vendor.fault("refused", on="socket", seconds=0.2)
        with pytest.raises((InvalidMessage, OSError)):
            await connect(vendor.socket_url + DEEPGRAM, additional_headers=headers(vendor))
        vendor.faults.clear()
        with pytest.raises(InvalidStatus):
            await connect(vendor.socket_url + DEEPGRAM.replace("linear16", "opus"), additional_headers=headers(vendor))
        assert [refusal for refusal in vendor.ledger.refusals if "encoding" in refusal]
        vendor.limits.idle_s = 0.2
        async with connected(vendor, DEEPGRAM) as connection:
            await the_rest(connection)
        assert connection.close_code == 1011
        assert "NET-0001" in str(connection.close_reason)


async def test_assemblyai_wants_its_frames_its_speed_and_its_session_limit(pcm: bytes) -> None:
    with AssemblyAI() as vendor:
        async with connected(vendor, ASSEMBLYAI) as connection:
            await connection.send(pcm[:640])
            heard = await the_rest(connection)
        assert (heard[-1]["error_code"], connection.close_code) == (3007, 3007)
        vendor.limits.ahead_s = 2
        async with connected(vendor, ASSEMBLYAI) as connection:
            with contextlib.suppress(ConnectionClosed):
                await say(connection, pcm)
            assert (await the_rest(connection))[-1]["error_code"] == 3007
    with AssemblyAI(limits=Limits(session_s=3)) as vendor:
        async with connected(vendor, ASSEMBLYAI) as connection:
            with contextlib.suppress(ConnectionClosed):
                await say(connection, pcm)
            assert (await the_rest(connection))[-1]["error_code"] == 3008
        assert vendor.ledger.refusals == []


async def test_assemblyai_corrects_speakers_late(pcm: bytes) -> None:
    with AssemblyAI(limits=Limits(extra={"revise": {0: "C"}})) as vendor:
        async with connected(vendor, ASSEMBLYAI + "&speaker_labels=true") as connection:
            await say(connection, pcm)
            await connection.send(json.dumps({"type": "Terminate"}))
            heard = await the_rest(connection)
        (revision,) = [message for message in heard if message["type"] == "SpeakerRevision"]
        assert revision["revisions"][0]["speaker_label"] == "C"
        assert heard[-1]["type"] == "Termination"


async def test_speechmatics_wants_its_beginning_first_and_the_right_count_last(pcm: bytes) -> None:
    with Speechmatics() as vendor:
        async with connected(vendor) as connection:
            await connection.send(pcm[:FRAME])
            heard = await the_rest(connection)
        assert heard[-1]["type"] == "protocol_error"
        async with connected(vendor) as connection:
            await connection.send(json.dumps(SPEECHMATICS))
            await connection.send(pcm[:FRAME])
            await connection.send(json.dumps({"message": "EndOfStream", "last_seq_no": 7}))
            heard = await the_rest(connection)
        assert [message["message"] for message in heard] == ["RecognitionStarted", "Info", "AudioAdded", "Error"]


async def test_soniox_takes_no_key_in_its_first_message_alone() -> None:
    with Soniox() as vendor, pytest.raises(InvalidStatus):
        await connect(vendor.socket_url)
    with Soniox() as vendor:
        vendor.fault("error", code=503)
        async with connected(vendor) as connection:
            await connection.send(json.dumps(SONIOX))
            await connection.send(bytes(FRAME))
            heard = await the_rest(connection)
        assert heard[-1]["error_code"] == 503


async def test_gladia_goes_on_where_it_acknowledged_and_is_over_once(pcm: bytes) -> None:
    with Gladia(limits=Limits(extra={"ack_every": 4})) as vendor:
        vendor.fault("dropped", after_s=5)
        body = {
            "encoding": "wav/pcm",
            "bit_depth": 16,
            "sample_rate": 16_000,
            "channels": 1,
            "messages_config": {"receive_partial_transcripts": True, "receive_acknowledgments": True},
        }
        async with httpx2.AsyncClient(headers={"x-gladia-key": vendor.key}) as client:
            begun = (await client.post(f"{vendor.url}/v2/live", json=body)).json()
        async with connect(begun["url"]) as connection:
            listening = asyncio.create_task(the_rest(connection))
            with contextlib.suppress(ConnectionClosed):
                for first in range(0, len(pcm), FRAME):
                    await connection.send(pcm[first : first + FRAME])
                    await asyncio.sleep(0)  # lets it hear what was acknowledged
            heard = await listening
        done = max(m["data"]["byte_range"][1] for m in heard if m["type"] == "audio_chunk")
        assert 0 < done < 5 * 32_000
        async with connect(begun["url"]) as connection:
            await say(connection, pcm[done:])
            await connection.send(json.dumps({"type": "stop_recording"}))
            heard = await the_rest(connection)
        assert heard[-1]["type"] == "end_session"
        (session,) = vendor.sessions.values()
        assert bytes(session.pcm) == pcm
        assert "country" in " ".join(phrase.text for phrase in session.finals)
        assert len(vendor.ledger.billed) == 1
        async with connect(begun["url"]) as connection:
            await the_rest(connection)
        assert connection.close_code == 4403


async def test_only_so_many_streams_are_open_at_once() -> None:
    with Deepgram(limits=Limits(sessions=1)) as vendor:
        async with connected(vendor, DEEPGRAM):
            with pytest.raises(InvalidStatus) as refused:
                await connect(vendor.socket_url + DEEPGRAM, additional_headers=headers(vendor))
            assert refused.value.response.status_code == 429
        await asyncio.to_thread(vendor.ledger.wait, lambda ledger: not ledger.streams[0].is_open)
        async with connected(vendor, DEEPGRAM):
            pass
