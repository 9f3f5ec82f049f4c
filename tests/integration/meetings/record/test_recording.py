"""From captured frames to the one recording, with a folder as storage and real codecs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.video.codeccontext import VideoCodecContext
from structlog.testing import capture_logs

from harness.captured import ZERO_MS, camera, sound
from harness.failing import FailingObjects, WatchedClock
from sederunt.errors import BadAnswer
from sederunt.media.pieces import read_piece
from sederunt.media.probe import probe
from sederunt.media.timeline import Span
from sederunt.meetings.record.recorder import Recorder, stay_name
from sederunt.meetings.record.spool import PieceSpool
from sederunt.model.audio import Codec
from sederunt.model.bot import Bot, BotConfig, Service
from sederunt.model.status import BotStatus
from sederunt.recordings.assembly import assemble_recording
from sederunt.recordings.spans import read_spans, written_spans
from sederunt.storage.objects import Objects

MakeRecorder = Callable[..., Recorder]


@pytest.fixture
def bot(bot_id: UUID) -> Bot:
    started = datetime.fromtimestamp(ZERO_MS / 1000, UTC)
    config = BotConfig(
        service=Service("gmeet"), meeting_url="https://x", bot_name="Minutes", transcription_model="none", video=True
    )
    return Bot(
        id=bot_id,
        account_id=bot_id,
        config=config,
        status=BotStatus.PROCESSING,
        created_at=started,
        recording_started_at=started,
        recording_ended_at=started + timedelta(seconds=8),
    )


async def _record(recorder: Recorder, start_s: int, end_s: int, *cameras: int) -> None:
    """Hear and see, and cut a piece every two seconds."""
    for at_s in range(start_s, end_s, 2):
        recorder.frames_arrived(sound(at_s, at_s + 2))
        for track in cameras:
            recorder.frames_arrived(camera(at_s, at_s + 2, track))
        await recorder.cut()


async def _streams(objects: Objects, bot: Bot, folder: Path) -> dict[str, str]:
    path = folder / "out.webm"
    await objects.get_file(f"bots/{bot.id}/recording.webm", path)
    assert probe(path).duration_s == pytest.approx(8, abs=0.1)
    with av.open(str(path)) as container:
        return {stream.type: stream.codec_context.name for stream in container.streams}


async def test_sound_and_pictures_of_two_pages_and_holders_become_one_webm_and_their_pieces_go(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot, tmp_path: Path
) -> None:
    first, second, third = (make_recorder(stay_name(*stay)) for stay in ((1, 1), (1, 2), (2, 1)))
    await _record(first, 0, 4, 5)
    await first.close()
    await _record(second, 4, 6, 6)
    await second.close()
    await _record(third, 6, 8, 5, 6)
    await third.close()
    starts = [
        read_piece(await objects.get(key))[0].start for key in sorted(await objects.keys(f"bots/{bot.id}/pieces/"))
    ]
    assert [round(start) for start in starts] == [0, 2, 4, 6]
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert found["video"]["sources"] == ["track-5", "track-6"]
    assert await _streams(objects, bot, tmp_path) == {"audio": "opus", "video": "vp8"}
    assert await objects.keys(f"bots/{bot.id}/pieces/") == []
    assert await objects.keys(f"bots/{bot.id}/video/") == []
    assert await assemble_recording(bot, objects, tmp_path) == found, "a second run finds what is there"


async def test_pieces_that_come_while_others_are_merged_are_in_the_recording(
    make_recorder: MakeRecorder, objects: FailingObjects, bot: Bot, tmp_path: Path
) -> None:
    """Another host stores what an outage left on it."""
    await _record(make_recorder(), 0, 4)
    objects.meanwhile = lambda: _record(make_recorder(stay_name(2, 1)), 4, 8)
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert found["heard_s"] > 4, "more than the first four seconds"
    assert await objects.keys(f"bots/{bot.id}/pieces/") == []


async def test_a_second_worker_that_comes_late_leaves_the_recording_as_it_is(
    make_recorder: MakeRecorder, objects: FailingObjects, bot: Bot, tmp_path: Path
) -> None:
    """Both merge; the one that ends last finds no piece any more."""
    await _record(make_recorder(), 0, 8)
    objects.meanwhile = lambda: assemble_recording(bot, objects, tmp_path)
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert found["heard_s"] > 4
    assert await objects.keys(f"bots/{bot.id}/pieces/") == []


async def test_without_pictures_the_recording_is_the_sound(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot, tmp_path: Path
) -> None:
    recorder = make_recorder()
    await _record(recorder, 0, 8)
    await recorder.close()
    assert await objects.keys(f"bots/{bot.id}/video/") == []
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert "video" not in found
    assert await _streams(objects, bot, tmp_path) == {"audio": "opus"}


async def test_pictures_that_cannot_be_composed_cost_neither_the_sound_nor_themselves(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = make_recorder()
    await _record(recorder, 0, 8, 5)
    await recorder.close()
    kept = await objects.keys(f"bots/{bot.id}/video/")
    monkeypatch.setattr("sederunt.recordings.assembly.SLACK_S", -1.0)  # nothing is good enough
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert "video_failed" in found
    assert await _streams(objects, bot, tmp_path) == {"audio": "opus"}
    assert await objects.keys(f"bots/{bot.id}/video/") == kept
    assert await objects.keys(f"bots/{bot.id}/pieces/") == []


async def test_a_killed_host_leaves_at_most_the_piece_it_was_at(
    make_recorder: MakeRecorder, objects: Objects, spool: PieceSpool, bot: Bot
) -> None:
    recorder = make_recorder()
    await _record(recorder, 0, 6, 5)
    recorder.frames_arrived(sound(6, 7))  # heard, and then the host is gone
    del recorder
    assert await spool.sweep() == 0
    keys = await objects.keys(f"bots/{bot.id}/pieces/")
    packets = read_piece(await objects.get(max(keys)))
    assert max(packet.start for packet in packets) > 5.5
    assert len(await objects.keys(f"bots/{bot.id}/video/")) == 3


async def test_pieces_wait_in_the_spool_while_storage_is_away(
    make_recorder: MakeRecorder, objects: Objects, spool: PieceSpool, bot: Bot, tmp_path: Path
) -> None:
    recorder = make_recorder()
    blocked = tmp_path / "data" / "objects" / "bots"
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("a file where the folder should be")
    await _record(recorder, 0, 4, 5)
    waiting = tmp_path / "spool" / str(bot.id)
    assert sorted(path.suffix for path in waiting.iterdir()) == [".mka", ".mka", ".mkv", ".mkv"]
    blocked.unlink()
    await recorder.close()
    assert not any(waiting.iterdir())
    assert len(await objects.keys(f"bots/{bot.id}/pieces/")) >= 2
    assert len(await objects.keys(f"bots/{bot.id}/video/")) >= 2


async def test_pieces_of_an_outage_are_stored_as_soon_as_storage_takes_the_next_one(
    make_recorder: MakeRecorder, objects: FailingObjects, bot: Bot, tmp_path: Path
) -> None:
    recorder = make_recorder()
    objects.away = True
    await _record(recorder, 0, 4, 5)
    waiting = tmp_path / "spool" / str(bot.id)
    late = {path.name for path in waiting.iterdir()}
    assert {Path(name).suffix for name in late} == {".mka", ".mkv"}
    objects.away = False
    await _record(recorder, 4, 6, 5)
    assert late < {Path(key).name for key in await objects.keys(f"bots/{bot.id}/")}
    assert not any(waiting.iterdir())


async def test_a_storage_that_gives_half_of_a_piece_is_asked_again_and_the_piece_stays(
    make_recorder: MakeRecorder, objects: FailingObjects, bot: Bot, tmp_path: Path
) -> None:
    """What came damaged may be whole in an hour: of the recording it is missing at the last, and never removed."""
    recorder = make_recorder()
    await _record(recorder, 0, 8)
    await recorder.close()
    kept = await objects.keys(f"bots/{bot.id}/pieces/")
    objects.halves = True
    with pytest.raises(BadAnswer):
        await assemble_recording(bot, objects, tmp_path, believes_damage=False)
    assert await objects.keys(f"bots/{bot.id}/pieces/") == kept
    assert await assemble_recording(bot, objects, tmp_path, believes_damage=True)
    assert await objects.keys(f"bots/{bot.id}/pieces/") == kept
    assert await assemble_recording(bot, objects, tmp_path, believes_damage=False), "it is stored, such as it is"


async def test_a_storage_that_hangs_keeps_no_piece_from_this_disk(
    make_recorder: MakeRecorder,
    objects: FailingObjects,
    spool: PieceSpool,
    bot: Bot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a killed host loses is one piece, and who leaves says so at once, whatever storage does."""
    monkeypatch.setattr("sederunt.meetings.record.spool.STORE_S", 0.01)
    recorder = make_recorder()
    objects.goes_on.clear()
    async with asyncio.timeout(60):
        await _record(recorder, 0, 6, 5)
        recorder.frames_arrived(sound(6, 8))
        await recorder.secure()
    assert sorted(path.suffix for path in (tmp_path / "spool" / str(bot.id)).iterdir()) == [".mka"] * 4 + [".mkv"] * 3
    objects.goes_on.set()
    await recorder.close()
    assert await spool.sweep() == 0
    assert len(await objects.keys(f"bots/{bot.id}/pieces/")) == 4


async def test_a_close_does_not_wait_for_storage_that_is_away(
    make_recorder: MakeRecorder, objects: FailingObjects, spool: PieceSpool, bot: Bot
) -> None:
    recorder = make_recorder()
    objects.away = True
    await _record(recorder, 0, 4)
    async with asyncio.timeout(20):
        await recorder.close()
    objects.away = False
    assert await spool.sweep() == 0
    assert len(await objects.keys(f"bots/{bot.id}/pieces/")) >= 2


async def test_who_was_in_a_mixed_track_is_stored_when_storage_is_back(
    make_recorder: MakeRecorder, objects: FailingObjects, spool: PieceSpool, bot: Bot
) -> None:
    recorder = make_recorder()
    recorder.frames_arrived(sound(0, 2, heard=(7, 8)))
    await recorder.cut()  # some of it is stored
    objects.away = True
    recorder.frames_arrived(sound(2, 4, heard=(7, 8)))
    await recorder.close()
    objects.away = False
    assert await spool.sweep() == 0
    spans = await read_spans(objects, bot.id)
    assert [(span.source, round(span.start), round(span.end)) for span in spans] == [("7", 0, 4), ("8", 0, 4)]


async def test_spans_written_anew_while_older_ones_are_stored_are_stored_too(
    make_recorder: MakeRecorder, objects: FailingObjects, spool: PieceSpool, bot: Bot, tmp_path: Path
) -> None:
    """They lie under one name, and may be of one length."""
    path = tmp_path / "spool" / str(bot.id) / "000001.01.json"
    first, second = (written_spans([Span(source="7", track="track-0", start=0, end=end, level=None)]) for end in (2, 4))
    objects.away = True
    await spool.keep(path.name, lambda: first)
    objects.away = False
    objects.meanwhile = lambda: spool.keep(path.name, lambda: second)
    assert await spool.upload() == 1
    assert await spool.sweep() == 0
    assert await objects.get(f"bots/{bot.id}/spans/000001.01.json") == second


async def test_a_close_waits_until_this_disk_takes_what_is_in_memory(
    make_recorder: MakeRecorder, objects: FailingObjects, spool: PieceSpool, bot: Bot, tmp_path: Path
) -> None:
    clock = WatchedClock()
    full = tmp_path / "spool"
    full.write_text("a file where the folder should be")
    recorder = make_recorder(clock=clock)
    recorder.frames_arrived(sound(0, 4))
    with capture_logs() as logs:
        closing = asyncio.create_task(recorder.close())
        for _ in range(3):
            await clock.pause()
            assert not closing.done()
            clock.advance(30)
    assert [line["action"] for line in logs] == ["piece_failed"], "told once"
    full.unlink()  # before the last of these pauses is over
    await closing
    assert await spool.sweep() == 0
    (key,) = await objects.keys(f"bots/{bot.id}/pieces/")
    assert len(read_piece(await objects.get(key))) == 200


async def test_a_write_that_is_under_way_when_the_recorder_closes_is_not_lost(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot
) -> None:
    recorder = make_recorder(piece_s=0.01)
    recorder.start()
    recorder.frames_arrived(sound(0, 4))
    await asyncio.sleep(0)  # the writer may or may not have begun: both must end well
    await recorder.close()
    stored = [read_piece(await objects.get(key)) for key in await objects.keys(f"bots/{bot.id}/pieces/")]
    assert sum(len(packets) for packets in stored) == 200


async def test_a_piece_that_a_disk_refuses_while_the_next_is_cut_costs_no_sound(
    make_recorder: MakeRecorder, objects: Objects, spool: PieceSpool, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refused piece gave a number back that the next one had passed: the third was written over the second."""
    keep, refused = spool.keep, asyncio.Event()

    async def refuse(name: str, make: Callable[[], bytes]) -> None:
        monkeypatch.setattr(spool, "keep", keep)  # the next is taken
        await refused.wait()
        raise OSError("no space left")

    monkeypatch.setattr(spool, "keep", refuse)
    recorder = make_recorder()
    recorder.frames_arrived(sound(0, 4))
    first = asyncio.create_task(recorder.cut())
    await asyncio.sleep(0)
    recorder.frames_arrived(sound(4, 6))
    second = asyncio.create_task(recorder.cut())
    await asyncio.wait({second}, timeout=0.3)  # over, or waiting for the first
    refused.set()
    await asyncio.gather(first, second)
    await recorder.close()
    stored = [read_piece(await objects.get(key)) for key in sorted(await objects.keys(f"bots/{bot.id}/pieces/"))]
    starts = [packet.start for packets in stored for packet in packets]
    assert len(starts) == 300
    assert starts == sorted(starts), "whoever reads the last piece learns where the sound ends"


async def test_a_holder_that_was_cut_off_keeps_no_sound_behind_a_hole_that_it_cannot_mark(
    make_recorder: MakeRecorder, spool: PieceSpool
) -> None:
    """Seen: a host without link heard again just before it left. 40 s of silence lay before those pieces, and the next
    holder took them for heard.
    """
    cut_off = asyncio.Event()
    recorder = make_recorder(cut_off=cut_off)
    recorder.frames_arrived(sound(0, 6))
    cut_off.set()
    recorder.frames_arrived(sound(6, 8))  # it hears on
    recorder.frames_arrived(sound(40, 42))
    recorder.frames_arrived(sound(42, 44))
    await recorder.close()
    assert await spool.stored_until_s() == pytest.approx(8, abs=0.3)


async def test_of_sound_without_a_pause_it_is_said_that_it_goes_on(make_recorder: MakeRecorder) -> None:
    """Music before a webinar was heard once, and was silence ten minutes later: the bot left in the middle of it."""
    told: list[tuple[bool, float]] = []
    recorder = make_recorder(
        on_speech=lambda source, speaking, at_ms: told.append((speaking, (at_ms - ZERO_MS) / 1000))
    )
    for at_s in range(200):
        recorder.frames_arrived(sound(at_s, at_s + 1))
        recorder.tick(ZERO_MS + at_s * 1000 + 1000)
    assert [speaking for speaking, _ in told] == [True] * len(told)
    assert [round(at_s) for _, at_s in told] == [0, 61, 121, 181]
    recorder.tick(ZERO_MS + 202_000)
    speaking, ended_s = told[-1]
    assert not speaking
    assert ended_s == pytest.approx(200, abs=0.5)
    await recorder.close()


async def test_pictures_do_not_make_a_deaf_capture_look_awake(make_recorder: MakeRecorder) -> None:
    recorder = make_recorder()
    recorder.frames_arrived(camera(0, 4))
    assert recorder.last_frame_ms is None
    assert recorder.facts()["frames"] == 0
    recorder.frames_arrived([replace(frame) for frame in sound(0, 1)])
    assert recorder.last_frame_ms is not None


async def test_sound_of_a_codec_that_is_not_kept_does_not_make_a_deaf_capture_look_awake(
    make_recorder: MakeRecorder,
) -> None:
    recorder = make_recorder()
    recorder.frames_arrived([replace(frame, codec=Codec.OTHER_AUDIO) for frame in sound(0, 4)])
    facts = recorder.facts()
    assert (recorder.last_frame_ms, facts["backend"], facts["first_audio_ms"]) == (None, None, None)
    assert (facts["frames"], facts["other"], facts["packets"]) == (200, 200, 0)
    recorder.frames_arrived([*sound(4, 5), *(replace(frame, codec=Codec.OTHER_AUDIO) for frame in sound(5, 6))])
    assert recorder.last_frame_ms == sound(4, 5)[-1].at_ms


async def test_pictures_of_a_codec_that_is_not_kept_are_told(make_recorder: MakeRecorder) -> None:
    recorder = make_recorder()
    assert "video" not in recorder.facts()
    recorder.frames_arrived([replace(frame, codec=Codec.OTHER_VIDEO) for frame in camera(0, 4)])
    found = recorder.facts()["video"]
    assert isinstance(found, dict)
    assert (found["other"], found["packets"], found["pieces"]) == (60, 0, 0)


@pytest.mark.parametrize("ahead_ms", [-700, -7, 0, 13, 900])
async def test_two_holders_that_recorded_at_once_leave_each_packet_once_and_none_out(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot, tmp_path: Path, ahead_ms: int
) -> None:
    """The second one's page gives its tracks other numbers, its site other counters, its machine another time."""
    first, second = make_recorder(stay_name(1, 1)), make_recorder(stay_name(2, 1))
    await _record(first, 0, 6)
    for at_s in (4, 6):
        second.frames_arrived(
            [
                replace(
                    frame,
                    track=3,
                    ssrc=9,
                    csrcs=(),
                    sequence=frame.sequence + 5000,
                    timestamp=frame.timestamp + 77_000,
                    at_ms=frame.at_ms + ahead_ms,
                )
                for frame in sound(at_s, at_s + 2)
            ]
        )
        await second.cut()
    for recorder in (first, second):
        await recorder.close()
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    packets = []
    for source in found["sources"]:
        packets += read_piece(await objects.get(f"bots/{bot.id}/tracks/{source['file']}"))
    packets.sort(key=lambda packet: packet.start)
    assert [packet.payload for packet in packets] == [frame.payload for frame in sound(0, 8)]
    apart = [later.start - earlier.start for earlier, later in pairwise(packets)]
    assert max(abs(step - 0.02) for step in apart) < 0.0025, "no step where one follows the other"


@pytest.mark.parametrize(("ahead_ms", "track"), [(-700, 5), (0, 5), (900, 5), (13, 6)])
async def test_the_pictures_of_two_holders_that_recorded_at_once_are_all_as_they_were_sent(
    make_recorder: MakeRecorder, objects: Objects, bot: Bot, tmp_path: Path, ahead_ms: int, track: int
) -> None:
    """The second one begins with the key frame that it asks for, at second 3, and the first one goes on to second 4."""
    first, second = make_recorder(stay_name(1, 1)), make_recorder(stay_name(2, 1))
    await _record(first, 0, 4, 5)
    for at_s in (2, 4, 6):
        frames = [*sound(at_s, at_s + 2), *camera(at_s, at_s + 2)]
        second.frames_arrived(
            [replace(each, track=track if each.track else 0, at_ms=each.at_ms + ahead_ms) for each in frames]
        )
        await second.cut()
    for recorder in (first, second):
        await recorder.close()
    found = await assemble_recording(bot, objects, tmp_path)
    assert found is not None
    assert found["video"]["composed"] == (track != 5)
    assert found["video"]["frames_read"] == pytest.approx(8 * 15, abs=3)
    await objects.get_file(f"bots/{bot.id}/recording.webm", tmp_path / "out.webm")
    if track == 5:  # composed, they are scaled and encoded anew
        assert [at for at, off in _off(tmp_path / "out.webm") if off > 1] == []


def _off(path: Path) -> list[tuple[float, float]]:
    """Second of each decoded picture, and how far it is from the one that was sent for it."""
    sent, shown = _decoded([frame.payload for frame in camera(0, 8)]), []
    with av.open(str(path)) as container:
        shown = [(float(each.time or 0), each.to_ndarray(format="gray")) for each in container.decode(video=0)]
    return [
        (at, min(float(np.abs(picture.astype(int) - one).mean()) for one in sent[max(n - 2, 0) : n + 3]))
        for at, picture in shown
        for n in [round(at * 15)]
    ]


def _decoded(payloads: list[bytes]) -> list[npt.NDArray[np.int_]]:
    decoder = av.CodecContext.create("vp8", "r")
    assert isinstance(decoder, VideoCodecContext)
    packets = [av.Packet(payload) for payload in payloads]
    return [each.to_ndarray(format="gray").astype(int) for packet in packets for each in decoder.decode(packet)]
