"""Google Meet's own messages, and what its page shows, become claims."""

import base64
import gzip
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.model.events import ChatReceived
from sederunt.platforms.gmeet.decode import LATE_MS, MOST_LEFT_OUT, MeetDecoder

ADA, GRACE, OWN = "spaces/x/devices/1", "spaces/x/devices/2", "spaces/x/devices/9"
SYNC = "https://meet.google.com/$rpc/google.rtc.meetings.v1.MeetingSpaceService/SyncMeetingSpaceCollections"
MADE = "https://meet.google.com/$rpc/google.rtc.meetings.v1.MeetingDeviceService/CreateMeetingDevice"

Make = Callable[..., Any]


@pytest.fixture
def user(proto: Make) -> Make:
    def make(key: str, name: str, status: int = 1, **more: Any) -> Any:
        own, parent, avatar = more.get("own"), more.get("parent"), more.get("avatar")
        return proto((1, key), (2, name), (3, avatar), (4, status), (7, own), (21, parent), (29, name))

    return make


def test_the_sync_answer_tells_who_is_here(proto: Make, user: Make, signal: Make) -> None:
    users = proto((2, user(ADA, "Ada Lovelace", avatar="https://a/1")), (2, user(OWN, "Sederunt", own="t")))
    body = base64.b64encode(proto((2, proto((2, users)))))
    events = MeetDecoder().decode(signal("fetch", url=SYNC, payload=body))
    people = [
        Subject(key=ADA, name="Ada Lovelace", avatar="https://a/1"),
        Subject(key=OWN, name="Sederunt", is_self=True),
    ]
    assert events == [here(Source.PROTOCOL, people, 1_000, Extent.SNAPSHOT)]


@pytest.mark.parametrize("packed", [gzip.compress, None, lambda raw: raw])
def test_the_channel_tells_the_same_whatever_its_compression(
    collections: Make, user: Make, packed: Callable[[bytes], bytes] | None
) -> None:
    made = {"packed": packed} if packed else {}
    events = MeetDecoder().decode(collections(users=[user(ADA, "Ada")], **made))
    assert events == [several(Subject(key=ADA, name="Ada"))]


def several(*people: Subject, at_ms: int = 1_000) -> Claim:
    """What the channel sends may name everybody, or changes."""
    return here(Source.PROTOCOL, people, at_ms, Extent.SEVERAL)


def test_a_user_without_a_status_is_here_only_if_they_were(collections: Make, proto: Make, user: Make) -> None:
    decoder, bare = MeetDecoder(), proto((1, ADA), (2, "Ada King"))
    assert decoder.decode(collections(users=[bare])) == []
    decoder.decode(collections(users=[user(ADA, "Ada")]))
    assert decoder.decode(collections(users=[bare])) == [several(Subject(key=ADA, name="Ada King"))]


def test_nothing_of_another_meeting_than_the_bots_own_is_believed(
    collections: Make, proto: Make, user: Make, signal: Make
) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(OWN, "Sederunt", own="t")]))
    eve = "spaces/other/devices/1"
    output = proto((2, 1), (4, "1001"), (6, eve))
    assert decoder.decode(collections(users=[user(eve, "Eve")], devices=[output])) == []
    body = base64.b64encode(proto((2, proto((2, proto((2, user(eve, "Eve")), (2, user(ADA, "Ada"))))))))
    here_too = decoder.decode(signal("fetch", url=SYNC, payload=body))
    assert here_too == [here(Source.PROTOCOL, [Subject(key=ADA, name="Ada")], 1_000, Extent.SNAPSHOT)]
    moved = user("spaces/other/devices/9", "Sederunt", own="t")
    assert decoder.decode(collections(users=[moved, user(eve, "Eve")])) != [], "the bot was moved there"


def test_the_name_by_which_the_bot_enters_is_claimed_once(signal: Make) -> None:
    decoder = MeetDecoder("Sederunt")
    who = (Subject(name="Sederunt"),)
    assert decoder.decode(signal("stage"))[:1] == [
        Claim(fact=Fact.SELF, source=Source.ENTRY, at_ms=1_000, subjects=who)
    ]
    assert len(decoder.decode(signal("capture"))) == 0


def test_a_status_of_six_is_a_leave(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")]))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], at_ms=5)) == [gone(ADA, 5)]


def test_a_status_of_seven_of_oneself_is_a_removal_and_of_another_a_leave(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada"), user(OWN, "Bot", own="t")]))
    assert said(Fact.REMOVED, 7) not in decoder.decode(collections(users=[user(ADA, "Ada", 7)], at_ms=7))
    assert said(Fact.REMOVED, 8) in decoder.decode(collections(users=[user(OWN, "Bot", 7, own="t")], at_ms=8))
    assert "self_status:7" in decoder.noted


def test_a_roster_message_that_comes_late_takes_back_no_newer_word_on_anybody(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")], number=7))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], number=9, at_ms=2_000)) == [gone(ADA, 2_000)]
    # Ada is not back, and Grace, of whom nothing was told yet, has come; others may have, since.
    late = decoder.decode(collections(users=[user(ADA, "Ada"), user(GRACE, "Grace")], number=8, at_ms=2_100))
    assert late == [here(Source.PROTOCOL, [Subject(key=GRACE, name="Grace")], 2_100)]
    back = decoder.decode(collections(users=[user(ADA, "Ada")], number=10, at_ms=2_300))
    assert back == [several(Subject(key=ADA, name="Ada"), at_ms=2_300)]


def test_an_answer_that_comes_late_leaves_out_nobody(collections: Make, proto: Make, user: Make, signal: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")], number=7))
    decoder.decode(collections(users=[user(ADA, "Ada"), user(GRACE, "Grace", 6)], number=9))
    users = proto((1, proto((1, 8))), (2, user(GRACE, "Grace")), (2, user(OWN, "Sederunt", own="t")))
    answer = signal("fetch", url=SYNC, payload=base64.b64encode(proto((2, proto((2, users))))), at_ms=2_000)
    own = Subject(key=OWN, name="Sederunt", is_self=True)
    assert decoder.decode(answer) == [here(Source.PROTOCOL, [own], 2_000)]


@pytest.mark.parametrize(
    ("numbers", "at_ms"),
    [
        ((9, None), 2_000),
        ((9, 9), 2_000),
        ((9, 8), 2_000),
        ((7, 9, 8), 1_000 + LATE_MS),
        ((500, 1), 2_000),
        ((1, 2, 3, 2), 2_000),
        ((3, 3 + MOST_LEFT_OUT + 2, 4), 2_000),
    ],
    ids=["none", "equal", "before the first", "too late", "counted anew", "of how many are here", "of something else"],
)
def test_a_number_that_says_nothing_of_the_order_changes_nothing(
    collections: Make, user: Make, numbers: tuple[int | None, ...], at_ms: int
) -> None:
    decoder = MeetDecoder()
    for number in numbers[:-1]:
        decoder.decode(collections(users=[user(ADA, "Ada")], number=number))
    left = decoder.decode(collections(users=[user(ADA, "Ada", 6)], number=numbers[-1], at_ms=at_ms))
    assert left == [gone(ADA, at_ms)]


def test_left_out_numbers_are_forgotten_in_time(collections: Make, user: Make) -> None:
    decoder = MeetDecoder()
    for number in range(1, 10 * MOST_LEFT_OUT, 2):
        decoder.decode(collections(users=[user(ADA, "Ada")], number=number))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], number=2)) == [gone(ADA, 1_000)]


def test_a_page_that_joins_anew_counts_anew(collections: Make, proto: Make, user: Make, signal: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")], number=9))
    decoder.decode(signal("fetch", url=MADE, payload=base64.b64encode(proto((1, proto((1, OWN)))))))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], number=1, at_ms=2_000)) == [gone(ADA, 2_000)]


def test_a_word_without_a_status_is_none_on_who_is_here(collections: Make, proto: Make, user: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada")], number=7))
    decoder.decode(collections(users=[proto((1, ADA), (2, "Ada King"))], number=9))
    assert decoder.decode(collections(users=[user(ADA, "Ada", 6)], number=8)) == [gone(ADA, 1_000)]


def test_a_shared_screen_is_nobody_and_what_it_plays_nobodys_voice(collections: Make, user: Make, proto: Make) -> None:
    share = user(f"{ADA}/share", "Ada", parent=ADA)
    sound = proto((2, 1), (4, "77"), (6, f"{ADA}/share"))
    events = MeetDecoder().decode(collections(users=[user(ADA, "Ada"), share], devices=[sound]))
    assert events == [several(Subject(key=ADA, name="Ada")), owns("screen:77", ADA, 1_000)]


def test_sound_gets_its_owner_once_and_video_none(collections: Make, proto: Make) -> None:
    decoder = MeetDecoder()
    sound, picture = proto((2, 1), (4, "1001"), (6, ADA)), proto((2, 2), (4, "video-3"), (6, ADA))
    events = decoder.decode(collections(devices=[sound, picture]))
    assert events == [owns("1001", ADA, 1_000)]
    assert decoder.decode(collections(devices=[sound])) == []


def test_chat_carries_its_sender_and_its_own_time(collections: Make, user: Make, proto: Make) -> None:
    decoder = MeetDecoder()
    decoder.decode(collections(users=[user(ADA, "Ada", avatar="https://a/1")]))
    chat = proto((1, "spaces/x/messages/1"), (2, ADA), (3, 1_760_000_000_123_456), (5, proto((1, "Good morning"))))
    expected = ChatReceived(
        username="", key=ADA, content="Good morning", at_ms=1_760_000_000_123, message_id="spaces/x/messages/1"
    )
    assert decoder.decode(collections(chats=[chat])) == [expected]


def test_the_page_s_list_is_whole_its_tiles_are_some_and_an_empty_one_is_closed(signal: Make) -> None:
    decoder = MeetDecoder()
    ada, bot = {"key": ADA, "name": "Ada"}, {"key": OWN, "name": "Sederunt (You)"}
    subjects = [Subject(key=ADA, name="Ada"), Subject(key=OWN, name="Sederunt", is_self=True)]
    assert decoder.decode(signal("roster", people=[ada, bot], whole=True)) == [
        closed(Source.TILES),
        here(Source.LIST, subjects, 1_000, Extent.SNAPSHOT),
    ]
    assert decoder.decode(signal("roster", people=[ada], whole=False)) == [
        closed(Source.LIST),
        here(Source.TILES, subjects[:1], 1_000, Extent.SNAPSHOT),
    ]
    assert decoder.decode(signal("roster", people=[])) == [closed(Source.TILES), closed(Source.LIST)]
    assert not decoder.roster_heard


def closed(source: Source) -> Claim:
    return Claim(fact=Fact.HERE, source=source, kind=Extent.CLOSED, at_ms=1_000)


def test_what_the_page_says_in_sentences_is_claimed(signal: Make) -> None:
    alone, recorded = MeetDecoder().decode(signal("banner", alone=True, recorded=False))
    assert isinstance(alone, Claim)
    assert isinstance(recorded, Claim)
    assert (alone.fact, alone.number, recorded.fact, recorded.holds) == (Fact.COUNT, 1, Fact.RECORDED, False)
    (over, _) = MeetDecoder().decode(signal("banner", alone=False, recorded=True))
    assert isinstance(over, Claim)
    assert (over.fact, over.kind) == (Fact.COUNT, Extent.CLOSED)
    counted = [MeetDecoder().decode(signal("banner", alone=False, count=count))[0] for count in (1, 3, None, "3", 0)]
    assert [claim.number for claim in counted if isinstance(claim, Claim)] == [1, 3, None, None, None]


def test_speaking_marks_of_the_page_tell_all_who_speak(signal: Make) -> None:
    decoder = MeetDecoder()
    assert decoder.decode(signal("speaking", keys=[ADA])) == [speak(Source.MARKS, [ADA], 1_000)]
    assert decoder.decode(signal("speaking", keys=[])) == [speak(Source.MARKS, [], 1_000)]


def test_the_newer_media_stack_tells_who_speaks_by_its_snapshots(proto: Make, signal: Make) -> None:
    decoder = MeetDecoder()

    def snapshot(speaking: bool) -> Any:
        state = proto((1, 1), (2, 1 if speaking else None))
        inner = proto((2, proto((2, proto((4, ADA), (8, 77), (9, state))))))
        return signal("datachannel", label="dcrpc", payload=proto((2, gzip.compress(inner))))

    assert decoder.decode(snapshot(True)) == [speak(Source.PROTOCOL, [ADA], 1_000)]
    assert decoder.decode(snapshot(True)) == []
    assert decoder.decode(snapshot(False)) == [speak(Source.PROTOCOL, [], 1_000)]


def test_the_suspicion_mark_is_noted_and_changes_nothing(proto: Make, signal: Make) -> None:
    decoder = MeetDecoder()
    clean = base64.b64encode(proto((1, proto((1, OWN)))))
    marked = base64.b64encode(proto((1, proto((1, OWN))), (36, 1)))
    assert decoder.decode(signal("fetch", url=MADE, payload=clean)) == []
    assert "suspected_bot" not in decoder.noted
    assert decoder.decode(signal("fetch", url=MADE, payload=marked)) == []
    assert "suspected_bot" in decoder.noted


@given(payload=st.binary(max_size=300), label=st.sampled_from(["collections", "dcrpc", "captions"]))
def test_no_bytes_break_the_decoder(payload: bytes, label: str) -> None:
    from types import SimpleNamespace

    for data in ({"label": label, "payload": payload}, {"url": SYNC, "payload": payload}):
        kind = "fetch" if "url" in data else "datachannel"
        MeetDecoder().decode(SimpleNamespace(kind=kind, data=data, at_ms=0))  # type: ignore[arg-type]
