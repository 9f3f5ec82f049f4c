"""Teams' own messages, and what its page shows, become claims."""

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, gone, here, owns, said, speak
from sederunt.claims.fold import Fold
from sederunt.claims.rules import RENEW_MS
from sederunt.model.events import ChatReceived
from sederunt.platforms.dom_signals import bare_name
from sederunt.platforms.teams.decode import TeamsDecoder

ADA, GRACE, OWN = "8:orgid:ada", "8:guest:grace", "8:teamsvisitor:own"
Make = Callable[..., Any]


@pytest.fixture
def frame(signal: Make) -> Make:
    def make(url: str, body: Any, *, packed: bool = True, at_ms: int = 1_000) -> Any:
        text = json.dumps(body)
        told = base64.b64encode(zlib.compress(text.encode())).decode() if packed else body
        payload = "3:::" + json.dumps({"id": 1, "method": "POST", "url": url, "headers": {}, "body": told})
        return signal("websocket", at_ms=at_ms, url="wss://x", payload=payload)

    return make


def person(name: str, state: str = "active", source: int | None = None) -> dict[str, Any]:
    streams = [{"type": "audio", "sourceId": source, "direction": "sendrecv"}] if source is not None else []
    return {
        "details": {"id": "x", "displayName": name},
        "state": state,
        "endpoints": {"e": {"call": {"mediaStreams": streams}}},
    }


def roster(**people: dict[str, Any]) -> dict[str, Any]:
    keys = {"ada": ADA, "grace": GRACE, "own": OWN}
    return {"participants": {keys[name]: entry for name, entry in people.items()}}


def test_the_roster_tells_people_and_whose_sound_is_whose(frame: Make) -> None:
    told = roster(ada=person("Ada", source=2010), own=person("Sederunt (Guest)", source=2040))
    events = TeamsDecoder("Sederunt").decode(frame("/conv/rosterUpdate/", told))
    assert events == [
        Claim(fact=Fact.SELF, source=Source.ENTRY, at_ms=1_000, subjects=(Subject(name="Sederunt"),)),
        several(Subject(key=ADA, name="Ada", lasting=True), Subject(key=OWN, name="Sederunt")),
        owns("2010", ADA, 1_000),
        owns("2040", OWN, 1_000),
    ]


def several(*people: Subject) -> Claim:
    """What is told may name everybody, or changes."""
    return here(Source.PROTOCOL, people, 1_000, Extent.SEVERAL)


def test_a_body_may_come_unpacked_and_a_snapshot_by_fetch(frame: Make, signal: Make) -> None:
    told = roster(ada=person("Ada"))
    plain = TeamsDecoder().decode(frame("/rosterUpdate/", told, packed=False))
    fetched = TeamsDecoder().decode(
        signal("fetch", url="https://x/api/callagent/roster", payload=json.dumps({"roster": told}).encode())
    )
    listed = TeamsDecoder().decode(
        signal("fetch", url="https://x/roster", payload=json.dumps({"value": [{"id": ADA, "displayName": "Ada"}]}))
    )
    assert plain == fetched == listed == [several(Subject(key=ADA, name="Ada", lasting=True))]


def test_a_name_that_the_site_does_not_know_yet_is_no_name(frame: Make) -> None:
    decoder = TeamsDecoder()
    assert decoder.decode(frame("/roster/", roster(ada=person("Unknown user")))) == []
    assert decoder.decode(frame("/roster/", roster(ada=person("Ada")))) == [
        several(Subject(key=ADA, name="Ada", lasting=True))
    ]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Ada Lovelace, muted", "Ada Lovelace"),
        ("Ada Lovelace, Organizer, Unmuted, has context menu", "Ada Lovelace"),
        ("Lovelace, Ada (Guest), Attendee", "Lovelace, Ada"),
        ("Lovelace, Ada", "Lovelace, Ada"),
        ("Ada Lovelace External unfamiliar, video is on, Context menu is available", "Ada Lovelace"),
        ("Ada Lovelace Unverified, muted", "Ada Lovelace"),
        ("Ada LovelaceUnverified", "Ada Lovelace"),  # the badge is an element beside the name
        ("Ada Lovelace (Guest) Unverified", "Ada Lovelace"),
        ("Christopher Guest", "Christopher Guest"),
        ("External", "External"),
    ],
)
def test_a_row_of_the_panel_is_the_person_of_the_tile(signal: Make, label: str, name: str) -> None:
    rows = [{"key": label, "name": label, "avatar": None, "is_self": False}]
    _, shown = TeamsDecoder().decode(signal("roster", people=rows, whole=True))
    assert shown == here(Source.LIST, [Subject(key=name, name=name)], 1_000, Extent.SNAPSHOT)


def test_an_inactive_person_has_left(frame: Make) -> None:
    decoder = TeamsDecoder()
    decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada"))))
    left = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada", "inactive")), at_ms=9))
    assert left == [gone(ADA, 9)]


def test_the_main_channel_tells_one_speaker_at_a_time(frame: Make, signal: Make) -> None:
    decoder = TeamsDecoder()
    decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada", source=10), grace=person("Grace", source=20))))

    def history(*sources: int, at_ms: int = 1_000) -> Any:
        payload = b"\x00\x07\x81" + json.dumps([{"type": "dsh", "history": sources}]).encode()
        return decoder.decode(signal("datachannel", label="main-channel", payload=payload, at_ms=at_ms))

    assert history(10) == [speak(Source.PROTOCOL, [ADA], 1_000)]
    assert history(10) == []
    assert history(10, at_ms=1_000 + RENEW_MS) == [speak(Source.PROTOCOL, [ADA], 1_000 + RENEW_MS)], "it goes on"
    assert history(20, 10) == [speak(Source.PROTOCOL, [GRACE], 1_000)]
    assert history() == [speak(Source.PROTOCOL, [], 1_000)]


def test_a_speaker_the_roster_does_not_know_yet_is_told_once_it_does(frame: Make, signal: Make) -> None:
    decoder = TeamsDecoder()
    channel = signal("datachannel", label="main-channel", payload=b'\x00[{"type":"dsh","history":[10]}]')
    assert decoder.decode(channel) == []
    events = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada", source=10))))
    assert events[-1] == speak(Source.PROTOCOL, [ADA], 1_000)


def test_whoever_a_source_that_is_not_named_yet_belongs_to_speaks_in_nobody_elses_place(
    frame: Make, signal: Make
) -> None:
    """Grace had just come: what she said was Ada's until the roster told of her source."""
    decoder, fold = TeamsDecoder(), Fold()

    def take(told: Any) -> dict[str, list[int]]:
        for claim in decoder.decode(told):
            assert isinstance(claim, Claim)
            fold.take(claim)
        fold.settle()
        return {one.name: [event.timestamp for event in one.events] for one in fold.participants}

    def history(*sources: int, at_ms: int) -> Any:
        payload = json.dumps([{"type": "dsh", "history": sources}]).encode()
        return signal("datachannel", label="main-channel", payload=payload, at_ms=at_ms)

    ada = {"ada": person("Ada", source=10)}
    take(frame("/rosterUpdate/", roster(**ada)))
    take(history(10, at_ms=2_000))
    assert take(history(20, 10, at_ms=6_000)) == {"Ada": [2_000, 6_000]}
    assert take(frame("/rosterUpdate/", roster(**ada, grace=person("Grace")), at_ms=7_000))["Grace"] == []
    known = take(frame("/rosterUpdate/", roster(**ada, grace=person("Grace", source=20)), at_ms=9_000))
    assert known == {"Ada": [2_000, 6_000], "Grace": [6_000]}
    assert take(history(10, 20, at_ms=12_000)) == {"Ada": [2_000, 6_000, 12_000], "Grace": [6_000, 12_000]}


@pytest.mark.parametrize(
    ("body", "event", "note"),
    [
        ({"subCode": 5854}, None, "conversation_end:5854"),
        ({"subCode": "5723"}, None, "conversation_end:5723"),
        ({"subCode": 5000, "sender": ADA}, said(Fact.REMOVED, 1_000), "conversation_end:5000:removed"),
        ({"subCode": 5300, "sender": ADA}, said(Fact.REMOVED, 1_000), "conversation_end:5300:removed"),
        ({"subCode": 5000}, said(Fact.OVER, 1_000), "conversation_end:5000"),
        ({"subCode": 0}, said(Fact.OVER, 1_000), "conversation_end:0"),
    ],
)
def test_the_end_of_a_conversation_says_how(frame: Make, body: dict[str, Any], event: object, note: str) -> None:
    decoder = TeamsDecoder()
    decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada"))))
    events = decoder.decode(frame("/x/conversation/conversationEnd/", body))
    assert events == ([event] if event else [])
    assert note in decoder.noted


def test_an_end_before_any_roster_is_no_end_of_a_meeting(frame: Make) -> None:
    assert TeamsDecoder().decode(frame("/x/conversation/conversationEnd/", {"subCode": 0})) == []


@pytest.mark.parametrize("shown", ["Bob (Guest)", "Bob, (Guest)", "Bob,(guest) (You)", " Bob  [External]"])
def test_remarks_of_a_site_are_no_part_of_a_name(shown: str) -> None:
    assert bare_name(shown) == "Bob"


def test_chat_comes_from_the_page_with_a_bare_name(signal: Make) -> None:
    shown = signal("chat", id="content-1", sender="Grace Hopper (Guest)", text="Hello")
    assert TeamsDecoder().decode(shown) == [
        ChatReceived(username="Grace Hopper", content="Hello", at_ms=1_000, message_id="content-1", by_page=True)
    ]


def test_badges_are_no_part_of_a_name_wherever_it_is_read(frame: Make, signal: Make) -> None:
    decoder = TeamsDecoder()
    told = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada Lovelace External unfamiliar"))))
    assert told == [several(Subject(key=ADA, name="Ada Lovelace", lasting=True))]
    marked = decoder.decode(signal("speaking", keys=["Ada Lovelace Unverified, video is on"]))
    assert marked == [speak(Source.MARKS, ["Ada Lovelace"], 1_000)]
    written = signal("chat", id="content-1", sender="Ada Lovelace External", text="Hello, muted")
    assert decoder.decode(written) == [
        ChatReceived(username="Ada Lovelace", content="Hello, muted", at_ms=1_000, message_id="content-1", by_page=True)
    ]


@given(payload=st.one_of(st.text(), st.binary()), start=st.sampled_from(["3:::", "", "3:::{", "3:::[1,"]))
def test_nothing_that_arrives_breaks_the_decoder(payload: str | bytes, start: str) -> None:
    from types import SimpleNamespace

    for kind in ("websocket", "fetch", "datachannel"):
        told = start + payload if isinstance(payload, str) else start.encode() + payload
        data = {"payload": told, "label": "main-channel", "url": "https://x/roster"}
        TeamsDecoder().decode(SimpleNamespace(kind=kind, data=data, at_ms=0))  # type: ignore[arg-type]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["participants", "roster", "value", "details", "endpoints", "call", "mediaStreams", "id"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_no_json_breaks_the_decoder(told: object) -> None:
    from types import SimpleNamespace

    data = {"payload": json.dumps(told), "url": "https://x/roster"}
    TeamsDecoder().decode(SimpleNamespace(kind="fetch", data=data, at_ms=0))  # type: ignore[arg-type]
