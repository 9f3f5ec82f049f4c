"""Encoded capture in practice meetings: what was sent is what was captured, packet by packet."""

from typing import Any

import pytest

from harness.browser_room import Ear, SitIn, Sitting
from sederunt.browser import pool
from sederunt.browser.scripts import page_scripts
from sederunt.model.audio import Codec
from sederunt.practice.script import CastMember, ScriptedAct

pytestmark = pytest.mark.chromium

# The practice meeting changes its SSRC after a pause.
TURNS = tuple(ScriptedAct(at_s=0.2 + at, do="say", who="Ada Lovelace", clip="librivox_0880") for at in (0, 3.1, 6.2))
LONG_TURNS = (
    ScriptedAct(at_s=0.2, do="say", who="Ada Lovelace", clip="librivox_0880"),
    ScriptedAct(at_s=3.3, do="say", who="Ada Lovelace", clip="jfk"),
)
# What an expression gives in the page, as soon as that is true.
WHEN = """() => new Promise((resolve) => {
  const look = () => { const found = %s; if (found) resolve(found); else setTimeout(look, 20); };
  look();
})"""
CAMERAS = (CastMember(name="Ada Lovelace", video=True), CastMember(name="Charles Babbage", video=True))


async def both_have_spoken(sitting: Sitting, *, packets: int = 150) -> None:
    """Until that many packets came, and everything that had been sent by then."""
    await sitting.ear.until(lambda ear: len(ear.packets()) >= packets)
    sent = sitting.sent()
    await sitting.ear.until(lambda ear: ear.packets() >= sent)


@pytest.mark.parametrize(
    "variant",
    [
        {"offers": "page"},
        {"offers": "server"},
        {"offers": "page", "csp": "trusted_types"},
        {"offers": "server", "announce_ssrc": False},
        {"audio": "mixed"},
        {"level_extension": False},
        {"elements": False},
    ],
    ids=lambda variant: "-".join(str(value) for value in variant.values()),
)
async def test_every_packet_arrives_bit_exact_with_its_sources(sit_in: SitIn, variant: dict[str, Any]) -> None:
    sitting = await sit_in(**variant)
    await both_have_spoken(sitting)
    assert sitting.ear.packets() <= sitting.sent()
    state = await sitting.page.capture_state()
    assert (state["backend"], state["gaps"], state["broken"], state["faults"]) == ("encoded", 0, 0, [])


async def test_levels_come_along_where_packets_carry_them(sit_in: SitIn) -> None:
    sitting = await sit_in()
    await both_have_spoken(sitting, packets=60)
    levels = [frame.level for frame in sitting.ear.audio()]
    assert all(level is not None and 0 <= level <= 1 for level in levels)
    assert max(level for level in levels if level is not None) > 0.01


async def test_lost_packets_are_missing_and_nothing_else(sit_in: SitIn) -> None:
    sitting = await sit_in(loss=0.05)
    await both_have_spoken(sitting)
    assert any(packet.lost for packet in sitting.log())


async def test_the_page_may_hear_too(sit_in: SitIn) -> None:
    sitting = await sit_in(request={"forward": True})
    await both_have_spoken(sitting, packets=60)
    hears = "[...document.querySelectorAll('audio')].some((a) => a.srcObject && a.currentTime > 0 && !a.paused)"
    assert await sitting.page.evaluate(WHEN % hears, deadline_s=60)


_ASKED = """() => {
  const proto = RTCRtpReceiver.prototype;
  const native = proto.getContributingSources;
  proto.getContributingSources = function () {
    const [first] = native.call(this);
    if (first) {
      const { source, timestamp, rtpTimestamp } = first;
      window.csrcs = { source, timestamp, rtpTimestamp, now: performance.timeOrigin + performance.now() };
    }
    return native.call(this);
  };
}"""


@pytest.mark.parametrize("forward", [True, False])
async def test_a_page_learns_who_is_heard_whether_it_hears_or_not(sit_in: SitIn, forward: bool) -> None:
    sitting = await sit_in(request={"forward": forward})
    await sitting.page.evaluate(_ASKED)
    await both_have_spoken(sitting, packets=60)
    told = await sitting.page.evaluate(WHEN % "window.csrcs", deadline_s=60)
    assert told["source"] in {csrc for packet in sitting.log() for csrc in packet.csrcs}
    assert 0 <= told["now"] - told["timestamp"] < 11_000
    assert told["rtpTimestamp"] in {packet.timestamp for packet in sitting.log()}


async def test_frames_are_stamped_with_the_machine_s_time_in_order(sit_in: SitIn) -> None:
    sitting = await sit_in()
    await both_have_spoken(sitting, packets=60)
    first_sent_ms = sitting.ear.audio()[0].at_ms
    assert abs(sitting.ear.signals[-1].at_ms - first_sent_ms) < 60_000
    by_track: dict[int, list[float]] = {}
    for frame in sitting.ear.audio():
        by_track.setdefault(frame.track, []).append(frame.at_ms)
    assert all(times == sorted(times) for times in by_track.values())


async def test_what_has_gathered_is_handed_on_when_the_stay_ends(sit_in: SitIn) -> None:
    sitting = await sit_in(request={"batch_ms": 2000}, acts=LONG_TURNS)
    while len(sent := sitting.sent()) < 60:
        await sitting.page.evaluate("() => new Promise((on) => setTimeout(on, 50))")
    await sitting.page.flush()
    assert sitting.ear.packets() >= sent


async def test_video_is_not_negotiated_unless_asked_for(sit_in: SitIn) -> None:
    sitting = await sit_in(video=2, cast=CAMERAS)
    await both_have_spoken(sitting, packets=60)
    state = await sitting.page.capture_state()
    assert {track["packets"] for track in state["tracks"] if track["kind"] == "video"} == {0}


async def test_video_comes_as_encoded_frames_where_it_was_asked_for(sit_in: SitIn) -> None:
    sitting = await sit_in(request={"video": True}, video=2, cast=CAMERAS)
    await sitting.ear.until(lambda ear: len([f for f in ear.frames if f.codec is Codec.VP8]) > 60)
    frames = [frame for frame in sitting.ear.frames if frame.codec is Codec.VP8]
    by_track = {track: [f for f in frames if f.track == track] for track in {f.track for f in frames}}
    for ones in by_track.values():
        assert ones[0].keyframe or any(frame.keyframe for frame in ones)
        # Bit 0 of a VP8 frame is 0 in key frames: the flag tells the truth.
        assert all((frame.payload[0] & 1 == 0) is frame.keyframe for frame in ones)


async def test_a_page_with_transforms_of_its_own_is_heard_as_samples(sit_in: SitIn) -> None:
    sitting = await sit_in(transform="page")
    await sitting.ear.until(lambda ear: len(ear.audio(Codec.PCM16)) >= 10)
    assert [data["event"] for data in sitting.ear.of("capture")].count("displaced") >= 1
    assert (await sitting.page.capture_state())["backend"] == "worklet"


@pytest.mark.parametrize("offers", ["page", "server"])
async def test_frames_that_a_page_takes_and_plays_by_itself_are_captured_from_the_first(
    sit_in: SitIn, offers: str
) -> None:
    sitting = await sit_in(transform="streams", offers=offers)
    await both_have_spoken(sitting)
    assert sitting.ear.packets() <= sitting.sent()
    state = await sitting.page.capture_state()
    assert (state["backend"], state["gaps"], state["broken"], state["faults"]) == ("encoded", 0, 0, [])
    assert not sitting.ear.audio(Codec.PCM16), "what the page plays is not heard a second time"


async def test_what_a_page_plays_of_frames_that_its_transform_keeps_is_heard_whole_and_once(sit_in: SitIn) -> None:
    sitting = await sit_in(transform="plays", acts=TURNS[:1])
    await sitting.meeting.wait_for("fell_silent")
    played_s = len(sitting.sent()) * 0.02

    def heard_s(ear: Ear) -> float:
        return sum(len(block.payload) / 2 / block.ssrc for block in ear.audio(Codec.PCM16))

    await sitting.ear.until(lambda ear: heard_s(ear) >= 0.98 * played_s)
    assert heard_s(sitting.ear) <= played_s + 0.2  # the silence in the first and the last block
    assert not sitting.ear.audio()


async def test_an_ssrc_that_changes_behind_its_announcement_is_noticed_and_given_back(sit_in: SitIn) -> None:
    sitting = await sit_in(offers="server", announce_ssrc=True, new_ssrc_every_s=1.0, acts=LONG_TURNS)
    await sitting.ear.until(lambda ear: any(data["event"] == "resignalled" for data in ear.of("capture")))
    await sitting.ear.until(lambda ear: len({frame.ssrc for frame in ear.audio()}) > 1)
    assert sitting.ear.packets() <= sitting.sent()
    assert (await sitting.page.capture_state())["backend"] == "encoded"


async def test_an_ssrc_that_changes_without_announcement_goes_on_encoded(sit_in: SitIn) -> None:
    sitting = await sit_in(offers="server", announce_ssrc=False, new_ssrc_every_s=1.0, acts=TURNS)
    await sitting.ear.until(lambda ear: len({frame.ssrc for frame in ear.audio()}) == 3)
    assert sitting.ear.packets() <= sitting.sent()
    assert (await sitting.page.capture_state())["backend"] == "encoded"


# Runs before our scripts: what a page replaces later, they do not use.
_DEAF_WORKER = """
  window.unanswered = 0;
  let answers = false;
  window.answerAgain = () => (answers = true);
  const native = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    if (!answers && message && message.order === "count") window.unanswered += 1;
    else Reflect.apply(native, this, [message, ...more]);
  };
"""


async def test_a_worker_that_is_late_with_its_counts_is_not_taken_for_a_deaf_track(
    sit_in: SitIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "page_scripts", lambda config: f"(() => {{{_DEAF_WORKER}}})();{page_scripts(config)}")
    sitting = await sit_in()
    await both_have_spoken(sitting, packets=60)
    await sitting.page.evaluate(WHEN % "window.unanswered >= 3", deadline_s=60)
    await sitting.page.evaluate("() => { window.answerAgain(); }")
    tracks = (await sitting.page.capture_state())["tracks"]
    assert {track["backend"] for track in tracks if track["kind"] == "audio"} == {"encoded"}
    assert not [signal for signal in sitting.ear.signals if "deaf" in str(signal)]
