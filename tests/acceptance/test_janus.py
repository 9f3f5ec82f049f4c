"""Meetings of a product that no one here wrote: Janus, at its own pages, with real browsers that speak.

Our practice sites agree with our adapters, being of one hand. Janus is an SFU of its own: it retransmits, forwards one
layer of several, gives the m-line of somebody who left to the next who comes, and negotiates anew for each.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import httpx2
import numpy as np
import numpy.typing as npt
import pytest

from harness import plugin
from harness.janus import HOST, ROOM, Janus, janus_server
from harness.janus_people import People, Said, people
from harness.journeys import download, look, reach, send_bot
from harness.live_lines import came_whole
from harness.receiver import Receiver
from harness.service import Service
from harness.sound import RATE, Samples, find
from sederunt.bench.words import word_error_rate
from sederunt.practice import clips

COLOURS = {"Ada": "#008080", "Bob": "#800080", "Cleo": "#ff8000"}
TURN_S = (
    1.0  # the middle of a word may lie so far outside: a quiet room is no silence, and the small model is vague in it
)
SPREAD_S = 0.2  # and what was said lie so far from where it was said, one place against another
SPREAD_WITH_HOLES_S = 3.0
COMPOSED_S = 420  # pictures are composed at low priority, and a busy machine does all else first


@pytest.fixture(scope="module")
def janus() -> Iterator[Janus]:
    with janus_server() as running:
        yield running


@pytest.fixture(scope="module")
def janus_service(janus: Janus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("janus")
    service = Service(folder / "data", janus.host_rules, plugin.on_path(plugin.install(folder / "package")))
    yield service
    service.stop()


@pytest.fixture
async def janus_api(janus_service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with janus_service.client() as client:
        yield client


@pytest.fixture
async def folk(janus: Janus) -> AsyncIterator[People]:
    async with people(janus.host_rules) as them:
        yield them


async def test_a_video_room_is_recorded_track_by_track(
    janus: Janus, janus_api: httpx2.AsyncClient, folk: People, receiver: Receiver, tmp_path: Path
) -> None:
    """One bot with pictures at the page that has one connection for all, one with sound alone at the page that has a
    connection for each. Somebody is there, somebody comes late and switches the camera on, somebody leaves, and whoever
    comes next gets the lines of whoever left.
    """
    page = f"mvideoroomtest.html?room={ROOM}"
    ada = await folk.bring("Ada", f"{page}&dtx=yes&simulcast=yes", colour=COLOURS["Ada"], size=(640, 360))
    await ada.enter()
    bot = await _send(janus_api, receiver, "mvideoroomtest", "Minutes", video=True)
    scribe = await _send(janus_api, receiver, "videoroomtest", "Scribe")
    for each in (bot, scribe):
        await reach(receiver, each, "recording", timeout_s=240)
    bob = await folk.bring("Bob", f"{page}&subscriber-mode=yes", colour=COLOURS["Bob"])
    await ada.say("cities_times")
    await bob.enter()
    await bob.sees(1)
    await bob.sound_alone()
    await asyncio.gather(bob.say("librivox_0870"), ada.say("concord"))
    await bob.camera_on()
    await ada.sees(1)
    await bob.say("librivox_0890")
    await ada.say("librivox_0880")
    layers = await ada.sent()
    await ada.leave()
    cleo = await folk.bring("Cleo", f"{page}&dtx=yes", colour=COLOURS["Cleo"])
    await cleo.enter()
    await bob.sees(1)
    await cleo.say("superlative")
    async with janus.desk("videoroom") as desk:
        await desk.ask("destroy")

    pictures = [layer for layer in layers if layer["kind"] == "video"]
    assert sum(layer["packetsSent"] > 0 for layer in pictures) > 1, "not several layers"
    assert all("rtxSsrc" in layer for layer in pictures), "nothing that could be sent again"
    said = [*ada.said, *bob.said, *cleo.said]
    for each in (scribe, bot):
        await reach(receiver, each, "finished", timeout_s=COMPOSED_S)
        found = await look(janus_api, each)
        assert (found["stop_reason"], found["capture"]["backend"]) == ("meeting_ended", "encoded")
        assert {person["name"] for person in found["participants"]} == {"Ada", "Bob", "Cleo"}
        recording = await download(found["recording_url"], tmp_path / f"{each['bot_name']}.webm")
        places = _places(said, recording)
        _assert_in_place(said, places, found)
        _assert_words(said, places, found)
    shown = _pictures(recording)
    for one, at_s in zip(said, places, strict=True):
        if one.clip != "librivox_0870":  # nobody sees Bob yet
            middle = shown[int(at_s + clips.load(one.clip).duration_s / 2)]
            assert _colour_in(middle[:, : middle.shape[1] // 2]) == one.who, one


async def test_an_audio_room_is_one_mix_cut_by_who_talks(
    janus: Janus, janus_api: httpx2.AsyncClient, folk: People, receiver: Receiver, tmp_path: Path
) -> None:
    page = f"audiobridgetest.html?room={ROOM}"
    ada = await folk.bring("Ada", page)
    await ada.enter()
    bot = await _send(janus_api, receiver, "audiobridgetest", "Minutes")
    await reach(receiver, bot, "recording", timeout_s=240)
    await ada.say("cities_times")
    bob = await folk.bring("Bob", page)
    await bob.enter()
    await bob.page.wait_for_selector("#roomaudio", state="attached")
    await bob.say("librivox_0870")
    await ada.say("superlative")
    await bob.say("librivox_0890")
    await bob.leave()
    await ada.say("concord")
    async with janus.desk("audiobridge") as desk:
        await desk.ask("kick", id=(await desk.people())["Minutes"])

    await reach(receiver, bot, "finished", timeout_s=COMPOSED_S)
    found = await look(janus_api, bot)
    assert (found["stop_reason"], found["capture"]["backend"]) == ("kicked", "encoded")
    assert list(found["capture"]["sources"]) == ["track-0"]
    assert {person["name"] for person in found["participants"]} == {"Ada", "Bob"}
    said = [*ada.said, *bob.said]
    places = _places(said, await download(found["recording_url"], tmp_path / "mix.webm"))
    _assert_in_place(said, places, found)
    _assert_words(said, places, found)


async def _send(api: httpx2.AsyncClient, receiver: Receiver, page: str, name: str, **fields: Any) -> dict[str, Any]:
    asked = {"bot_name": name, "transcription_model": "whisper", "lang": "en", **fields}
    return await send_bot(api, f"https://{HOST}/{page}.html?room={ROOM}", receiver, service="janus", **asked)


def _places(said: Sequence[Said], recording: Path) -> list[float]:
    """Where in the recording each clip is heard, in seconds."""
    heard = _samples(recording)
    places = [find(_as_heard(one.clip), heard) for one in said]
    assert min(place.likeness for place in places) > 0.1, places  # the softer of two who speak at once has least
    return [place.at_s for place in places]


def _assert_in_place(said: Sequence[Said], places: Sequence[float], found: dict[str, Any]) -> None:
    """Everything lies in the recording as far apart as it was said; a browser that got no time said it later, and sound
    that came with holes or by a slipping clock is placed by when it came."""
    zeros = [one.began_ms / 1000 - at_s for one, at_s in zip(said, places, strict=True)]
    latest = [zero + one.late_ms / 1000 for one, zero in zip(said, zeros, strict=True)]
    spread_s = SPREAD_S if came_whole(found) else SPREAD_WITH_HOLES_S
    assert max(zeros) - min(latest) < spread_s, (zeros, latest, found["capture"])


def _assert_words(said: Sequence[Said], places: Sequence[float], found: dict[str, Any]) -> None:
    """Everyone's words under their name, where they were said."""
    turns = {who: [(one, at_s) for one, at_s in zip(said, places, strict=True) if one.who == who] for who in COLOURS}
    segments = found["transcript"]
    assert {segment["speaker_name"] for segment in segments} == {one.who for one in said}
    for who, own in turns.items():
        words = [
            word
            for segment in segments
            if segment["speaker_name"] == who
            for utterance in segment["utterances"]
            for word in utterance["words"]
        ]
        heard = "".join(segment["transcript"] + " " for segment in segments if segment["speaker_name"] == who)
        assert word_error_rate(" ".join(one.text for one, _ in own), heard) < 0.2 if own else not words, (who, heard)
        for word in words:
            middle = (word["start"] + word["end"]) / 2
            assert any(
                at_s - TURN_S <= middle <= at_s + clips.load(one.clip).duration_s + TURN_S for one, at_s in own
            ), (who, word, own)


def _samples(path: Path) -> Samples:
    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        parts = [part.to_ndarray()[0] for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    return np.concatenate(parts).astype(np.float64)


def _as_heard(clip: str) -> Samples:
    samples: Samples = clips.load(clip).samples.astype(np.float64).reshape(-1, clips.RATE // RATE).mean(axis=1)
    return samples


def _pictures(path: Path) -> dict[int, npt.NDArray[np.uint8]]:
    """The first picture of each second."""
    shown: dict[int, npt.NDArray[np.uint8]] = {}
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            if (second := int(frame.time or 0)) not in shown:
                shown[second] = frame.to_ndarray(format="rgb24").astype(np.uint8)
    return shown


def _colour_in(picture: npt.NDArray[np.uint8]) -> str:
    """Whose colour most of a picture is nearest to."""
    middle = np.median(picture.reshape(-1, 3), axis=0)
    wanted = {who: np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) for who, colour in COLOURS.items()}
    return min(wanted, key=lambda who: float(np.abs(wanted[who] - middle).sum()))
