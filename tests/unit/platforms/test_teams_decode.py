"""Teams' own messages, and what its page shows, become claims."""

import base64
import json
import zlib
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

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
CALL, OTHER_CALL = "call-00000001", "call-00000002"
THREAD, OTHER_THREAD = "19:meeting_own@thread.v2", "19:meeting_other@thread.v2"
Make = Callable[..., Any]


@pytest.fixture
def frame(signal: Make) -> Make:
    def make(url: str, body: Any, *, packed: bool = True, at_ms: int = 1_000, call: str = CALL) -> Any:
        text = json.dumps(body)
        told = base64.b64encode(zlib.compress(text.encode())).decode() if packed else body
        headers = {"X-Microsoft-Skype-Chain-ID": call} if call else {}
        payload = "3:::" + json.dumps({"id": 1, "method": "POST", "url": url, "headers": headers, "body": told})
        return signal("websocket", at_ms=at_ms, url="wss://x?epid=endpoint-00000001", payload=payload)

    return make


def inside(own_name: str = "") -> TeamsDecoder:
    """A decoder whose page has told which call it is in."""
    decoder = TeamsDecoder(own_name)
    decoder.decode(cast(Any, SimpleNamespace(kind="call", data={"id": CALL}, at_ms=0)))
    return decoder


def person(name: str, state: str = "active", source: int | None = None, endpoint: str = "e") -> dict[str, Any]:
    streams = [{"type": "audio", "sourceId": source, "direction": "sendrecv"}] if source is not None else []
    return {
        "details": {"id": "x", "displayName": name},
        "state": state,
        "endpoints": {endpoint: {"call": {"mediaStreams": streams}}},
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
    plain = inside().decode(frame("/rosterUpdate/", told, packed=False))
    fetched = inside().decode(
        signal("fetch", url=f"https://x/api/callagent/{CALL}/roster", payload=json.dumps({"roster": told}).encode())
    )
    listed = inside().decode(
        signal(
            "fetch", url=f"https://x/{CALL}/roster", payload=json.dumps({"value": [{"id": ADA, "displayName": "Ada"}]})
        )
    )
    assert plain == fetched == listed == [several(Subject(key=ADA, name="Ada", lasting=True))]


def test_a_name_that_the_site_does_not_know_yet_is_no_name(frame: Make) -> None:
    decoder = inside()
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
    decoder = inside()
    decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada"))))
    left = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada", "inactive")), at_ms=9))
    assert left == [gone(ADA, 9)]


def test_the_main_channel_tells_one_speaker_at_a_time(frame: Make, signal: Make) -> None:
    decoder = inside()
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
    decoder = inside()
    channel = signal("datachannel", label="main-channel", payload=b'\x00[{"type":"dsh","history":[10]}]')
    assert decoder.decode(channel) == []
    events = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada", source=10))))
    assert events[-1] == speak(Source.PROTOCOL, [ADA], 1_000)


def test_whoever_a_source_that_is_not_named_yet_belongs_to_speaks_in_nobody_elses_place(
    frame: Make, signal: Make
) -> None:
    """Grace had just come: what she said was Ada's until the roster told of her source."""
    decoder, fold = inside(), Fold()

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
    decoder = inside()
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
    decoder = inside()
    told = decoder.decode(frame("/rosterUpdate/", roster(ada=person("Ada Lovelace External unfamiliar"))))
    assert told == [several(Subject(key=ADA, name="Ada Lovelace", lasting=True))]
    marked = decoder.decode(signal("speaking", keys=["Ada Lovelace Unverified, video is on"]))
    assert marked == [speak(Source.MARKS, ["Ada Lovelace"], 1_000)]
    written = signal("chat", id="content-1", sender="Ada Lovelace External", text="Hello, muted")
    assert decoder.decode(written) == [
        ChatReceived(username="Ada Lovelace", content="Hello, muted", at_ms=1_000, message_id="content-1", by_page=True)
    ]


# --- which call a message is about ---------------------------------------------------------------------------------


OURS = {"ada": person("Ada", source=10), "own": person("Minutes", source=40)}
THEIRS = {"participants": {"8:orgid:eve": person("Eve", source=10), "8:orgid:mallory": person("Mallory", source=40)}}


def names_of(told: Iterable[Any]) -> list[str]:
    return [
        subject.name
        for claim in told
        if isinstance(claim, Claim) and claim.fact is Fact.HERE and claim.holds
        for subject in claim.subjects
    ]


def test_nothing_of_another_call_of_the_account_is_believed(frame: Make, signal: Make) -> None:
    """Equal source ids in the other call gave everybody's words to people who were not here."""
    decoder = TeamsDecoder("Minutes")
    other = f"/v4/f/x/callAgent/{OTHER_CALL}/"
    decoder.decode(frame(f"{other}rosterUpdate/", THEIRS, call=OTHER_CALL))
    assert not decoder.roster_heard
    told = decoder.decode(frame(f"/v4/f/x/callAgent/{CALL}/rosterUpdate/", roster(**OURS)))
    assert names_of(told) == ["Ada", "Minutes"]
    assert decoder.decode(frame(f"{other}rosterUpdate/", THEIRS, call=OTHER_CALL)) == []
    channel = signal("datachannel", label="main-channel", payload=b'\x00[{"type":"dsh","history":[10]}]')
    assert decoder.decode(channel) == [speak(Source.PROTOCOL, [ADA], 1_000)]
    ended = {"subCode": 5300, "sender": "8:orgid:eve"}
    assert decoder.decode(frame(f"{other}conversation/conversationEnd/", ended, call=OTHER_CALL)) == []
    assert not decoder.noted


def test_changes_are_held_back_until_it_is_known_which_call_is_this_one(frame: Make) -> None:
    decoder = TeamsDecoder("Minutes")
    ours, theirs = f"/conv/{CALL}/rosterUpdate/", f"/conv/{OTHER_CALL}/rosterUpdate/"
    assert names_of(decoder.decode(frame(ours, roster(ada=person("Ada")), call=""))) == []
    assert names_of(decoder.decode(frame(theirs, THEIRS, call=""))) == []
    told = decoder.decode(frame(ours, roster(own=person("Minutes")), call="", at_ms=2_000))
    assert names_of(told) == ["Ada", "Minutes"]
    assert {claim.at_ms for claim in told if isinstance(claim, Claim)} == {2_000}


@pytest.mark.parametrize(
    "told",
    [
        {"kind": "call", "id": f"https://teams.microsoft.com/l/meetup-join/{quote(THREAD)}/0?context=x"},
        {"kind": "call", "id": f"https://teams.microsoft.com/v2/#/l/meetup-join/{quote(quote(THREAD))}/0"},
        {"kind": "call", "id": CALL},
        {
            "kind": "fetch",
            "url": "https://api.flightproxy.teams.microsoft.com/api/v2/epconv",
            "request": json.dumps({"links": {"rosterUpdate": f"https://x/callAgent/{CALL}/rosterUpdate/"}}),
            "payload": b"{}",
        },
    ],
)
def test_the_page_names_its_call_by_its_link_its_objects_or_the_request_to_join(
    frame: Make, signal: Make, told: dict[str, Any]
) -> None:
    """An account stands in both calls, so that it is in the roster says nothing."""
    decoder = TeamsDecoder("Minutes")
    decoder.decode(signal("self", key=ADA))

    def of_call(call: str, thread: str, people: dict[str, Any]) -> Any:
        return frame(f"/v4/f/x/callAgent/{call}/rosterUpdate/", {"threadId": thread, **people}, call=call)

    both = {"participants": {**THEIRS["participants"], ADA: person("Minutes")}}
    decoder.decode(of_call(OTHER_CALL, OTHER_THREAD, both))
    decoder.decode(of_call(CALL, THREAD, roster(ada=person("Minutes"), grace=person("Grace"))))
    assert names_of(decoder.decode(signal(**told))) == ["Minutes", "Grace"]
    assert names_of(decoder.decode(of_call(OTHER_CALL, OTHER_THREAD, both))) == []


def test_an_account_that_is_in_two_calls_is_told_by_its_endpoint_or_by_whom_the_page_shows(
    frame: Make, signal: Make
) -> None:
    ours, theirs = f"/conv/{CALL}/rosterUpdate/", f"/conv/{OTHER_CALL}/rosterUpdate/"
    both = {"participants": {**THEIRS["participants"], ADA: person("Minutes", endpoint="another-endpoint")}}
    here_too = roster(ada=person("Minutes", endpoint="endpoint-00000001"), grace=person("Grace"))
    by_endpoint = TeamsDecoder("Minutes")
    assert names_of(by_endpoint.decode(frame(theirs, both, call=""))) == []
    assert names_of(by_endpoint.decode(frame(ours, here_too, call=""))) == ["Minutes", "Grace"]

    by_page, elsewhere = TeamsDecoder("Minutes"), roster(ada=person("Minutes"), grace=person("Grace"))
    told = [*by_page.decode(frame(theirs, both, call="")), *by_page.decode(frame(ours, elsewhere, call=""))]
    assert names_of(told) == []
    tiles = [{"key": "Grace", "name": "Grace", "avatar": None, "is_self": False}]
    shown = by_page.decode(signal("roster", people=tiles, whole=False))
    assert names_of(claim for claim in shown if isinstance(claim, Claim) and claim.source is Source.PROTOCOL) == [
        "Minutes",
        "Grace",
    ]


def test_few_tiles_place_a_full_roster_and_one_person_who_is_in_both_calls_places_none(
    frame: Make, signal: Make
) -> None:
    decoder = TeamsDecoder("Minutes")
    decoder.decode(signal("self", key=ADA))
    many = {f"8:orgid:{number}": person(f"Guest {number}") for number in range(20)}
    tiles = [
        {"key": name, "name": name, "avatar": None, "is_self": False} for name in ("Guest 1", "Guest 2", "Guest 3")
    ]
    decoder.decode(signal("roster", people=tiles, whole=False))
    both = {"participants": {**THEIRS["participants"], ADA: person("Minutes"), "8:orgid:1": person("Guest 1")}}
    assert names_of(decoder.decode(frame(f"/conv/{OTHER_CALL}/rosterUpdate/", both, call=""))) == []
    full = {"participants": {**many, ADA: person("Minutes")}}
    assert len(names_of(decoder.decode(frame(f"/conv/{CALL}/rosterUpdate/", full, call="")))) == 21


def test_what_tells_of_several_calls_at_once_is_of_none(frame: Make) -> None:
    several_calls = {"calls": [{"threadId": THREAD}, {"threadId": OTHER_THREAD}], **roster(**OURS)}
    assert names_of(TeamsDecoder("Minutes").decode(frame("/conv/x/rosterUpdate/", several_calls))) == []


def test_an_end_before_it_is_known_which_call_is_this_one_is_believed_unless_it_is_of_a_call_of_others(
    frame: Make,
) -> None:
    """Denied in the lobby: nobody is told of there."""
    decoder = TeamsDecoder("Minutes")
    decoder.decode(frame(f"/conv/{OTHER_CALL}/rosterUpdate/", THEIRS, call=""))
    decoder.decode(frame(f"/conv/{OTHER_CALL}/conversation/conversationEnd/", {"subCode": 5000}, call=""))
    assert not decoder.noted
    decoder.decode(frame(f"/conv/{CALL}/conversation/conversationEnd/", {"subCode": 5854}, call=""))
    assert decoder.noted == {"conversation_end:5854"}


# --- who is here already when a bot comes late -----------------------------------------------------------------------


def test_the_full_roster_comes_by_an_answer_and_the_bots_own_change_is_none(frame: Make, signal: Make) -> None:
    decoder = TeamsDecoder("Minutes")
    decoder.decode(frame(f"/conv/{CALL}/rosterUpdate/", roster(own=person("Minutes"))))
    assert not decoder.roster_heard, "the others are still to be looked for"
    url = "https://api.flightproxy.teams.microsoft.com/api/v2/ep/x/conv/roster?i=1"
    full = {"roster": roster(**OURS, grace=person("Grace"))}
    told = decoder.decode(signal("fetch", url=url, payload=json.dumps(full).encode()))
    assert (names_of(told), decoder.roster_heard) == (["Ada", "Minutes", "Grace"], True)
    assert told[0] == here(Source.PROTOCOL, told[0].subjects, 1_000, Extent.SNAPSHOT)  # type: ignore[union-attr]


@pytest.mark.parametrize(("count", "is_heard"), [(None, True), (2, True), (3, False)])
def test_a_change_of_some_is_no_full_roster_while_the_page_counts_more(
    frame: Make, signal: Make, count: int | None, is_heard: bool
) -> None:
    decoder = TeamsDecoder("Minutes")
    decoder.decode(frame(f"/conv/{CALL}/rosterUpdate/", roster(**OURS)))
    decoder.decode(signal("banner", alone=False, recorded=False, count=count))
    assert decoder.roster_heard is is_heard


@given(payload=st.one_of(st.text(), st.binary()), start=st.sampled_from(["3:::", "", "3:::{", "3:::[1,"]))
def test_nothing_that_arrives_breaks_the_decoder(payload: str | bytes, start: str) -> None:
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
    data = {"payload": json.dumps(told), "url": "https://x/roster"}
    TeamsDecoder().decode(SimpleNamespace(kind="fetch", data=data, at_ms=0))  # type: ignore[arg-type]
