"""Zoom's own messages, and what its page shows, become claims."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject, gone, here, speak
from sederunt.claims.fold import Fold
from sederunt.claims.rules import RENEW_MS
from sederunt.model.events import ChatReceived
from sederunt.model.participant import Participant
from sederunt.model.transcript import Utterance
from sederunt.platforms.zoom.decode import ZoomDecoder, message_in_row, person_in_row
from sederunt.transcripts.attribution import MeetingFacts, SourceSpeech, attribute

ADA, GRACE = 16778240, 16779264
Make = Callable[..., Any]


def encoded(name: str) -> str:
    return base64.b64encode(name.encode()).decode()


@pytest.fixture
def control(signal: Make) -> Make:
    def make(evt: int, body: Any, *, wrapped: bool = False, at_ms: int = 1_000) -> Any:
        text = json.dumps({"evt": evt, "body": body, "seq": 1})
        return signal("worker", at_ms=at_ms, payload=json.dumps({"type": "message", "data": text}) if wrapped else text)

    return make


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_control_socket_tells_who_is_here(control: Make, wrapped: bool) -> None:
    body = {"add": [{"id": ADA, "dn2": encoded("Ada"), "bBotUser": False}, {"id": GRACE, "dn2": encoded("Sederunt")}]}
    assert ZoomDecoder("Sederunt").decode(control(7937, body, wrapped=wrapped)) == [
        Claim(fact=Fact.SELF, source=Source.ENTRY, at_ms=1_000, subjects=(Subject(name="Sederunt"),)),
        told(Subject(key=str(ADA), name="Ada"), Subject(key=str(GRACE), name="Sederunt")),
    ]


def told(*people: Subject) -> Claim:
    return here(Source.PROTOCOL, people, 1_000)


def test_updates_and_removals_are_maps_by_id(control: Make) -> None:
    decoder = ZoomDecoder()
    decoder.decode(control(7937, {"add": [{"id": ADA, "dn2": encoded("Ada")}]}))
    renamed = decoder.decode(control(7937, {"update": {str(ADA): {"dn2": encoded("Ada King")}}}))
    muted = decoder.decode(control(7937, {"update": {str(ADA): {"muted": True}}}))
    left = decoder.decode(control(7937, {"remove": {str(ADA): {}}}))
    assert (renamed, muted, left) == (
        [told(Subject(key=str(ADA), name="Ada King"))],
        [told(Subject(key=str(ADA)))],
        [gone(str(ADA), 1_000)],
    )


def test_speakers_are_nodes_of_people_and_an_empty_body_is_silence(control: Make) -> None:
    decoder = ZoomDecoder()
    decoder.decode(control(7937, {"add": [{"id": ADA, "dn2": encoded("Ada")}, {"id": 7, "dn2": encoded("Small")}]}))
    assert decoder.decode(control(12033, {"asn1": ADA + 1})) == [speak(Source.PROTOCOL, [str(ADA)], 1_000)]
    both = decoder.decode(control(12033, {"asn1": 7, "asn2": ADA + 1}))
    assert both == [speak(Source.PROTOCOL, [str(ADA), "7"], 1_000)]
    later = 1_000 + RENEW_MS
    again = decoder.decode(control(12033, {"asn1": 7, "asn2": ADA + 1}, at_ms=later))
    assert again == [speak(Source.PROTOCOL, [str(ADA), "7"], later)], "it goes on"
    assert decoder.decode(control(12033, {})) == [speak(Source.PROTOCOL, [], 1_000)]
    assert decoder.decode(control(12033, {}, at_ms=later)) == []


@pytest.mark.parametrize(
    ("entry", "name", "is_self"),
    [
        ({"name": "Ada Lovelace", "key": "Ada Lovelace,(Host) computer audio muted"}, "Ada Lovelace", False),
        ({"name": "Sederunt", "key": "Sederunt,(me) computer audio unmuted,video off"}, "Sederunt", True),
        ({"name": "Sederunt", "key": "Sederunt (Host, me),computer audio unmuted"}, "Sederunt", True),
        ({"name": "Lovelace, Ada,(Guest) no audio", "key": "Lovelace, Ada,(Guest) no audio"}, "Lovelace, Ada", False),
        ({"name": "Grace Hopper (Guest)", "key": ""}, "Grace Hopper", False),
    ],
)
def test_a_row_of_the_panel_is_a_person(entry: dict[str, Any], name: str, is_self: bool) -> None:
    person = person_in_row(entry)
    assert person is not None
    assert (person.key, person.name, person.is_self) == (name, name, is_self)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"sender": "Ada", "text": "Hello: all"}, ("Ada", "Hello: all")),
        ({"sender": "Ada to Everyone: Hello: all", "text": "Hello: all"}, ("Ada", "Hello: all")),
        ({"sender": "Ada", "text": "Ada to Everyone, 10:42 AM, Hello, all"}, ("Ada", "Hello, all")),
        (
            {"sender": "Ada to Everyone, 10:42 AM, Hello", "text": "Ada to Everyone, 10:42 AM, Hello"},
            ("Ada", "Hello"),
        ),
        ({"sender": "Ada", "text": "Talk to Grace: she knows"}, ("Ada", "Talk to Grace: she knows")),
        (
            {"sender": "Ada to Everyone, 10:42 AM, first line second line", "text": "first line\nsecond line"},
            ("Ada", "first line\nsecond line"),
        ),
        ({"sender": "Ada to Everyone: Great job 🎉", "text": "Great job"}, ("Ada", "Great job")),
        ({"sender": "Ada to Grace (direct message): On it", "text": "Re: x\nOn it"}, ("Ada", "Re: x\nOn it")),
        ({"sender": "Ada to Grace, 9:05, image", "text": "screen.png"}, ("Ada", "screen.png")),
        ({"sender": "Path to Zero, Inc.", "text": "Good morning"}, ("Path to Zero, Inc.", "Good morning")),
        ({"sender": "Path to Zero, Inc.", "text": ""}, ("Path to Zero, Inc.", "")),
    ],
)
def test_a_chat_row_is_read_from_its_parts_or_its_label(entry: dict[str, Any], expected: tuple[str, str]) -> None:
    assert message_in_row(entry) == expected


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("You to Everyone: Hi", "Hi"),
        ("You to Everyone, 10:42 AM, Hello, I record. Bye", "Hello, I record.\nBye"),
    ],
)
def test_own_messages_are_marked(signal: Make, label: str, text: str) -> None:
    shown = signal("chat", id="chat-message-1", sender=label, text=text)
    assert ZoomDecoder().decode(shown) == [
        ChatReceived(username="You", content=text, at_ms=1_000, message_id="chat-message-1", is_own=True, by_page=True)
    ]


def test_rows_marks_and_the_stage_name_people_alike(signal: Make) -> None:
    decoder, source = ZoomDecoder(), Source.LIST
    rows = [{"name": "Ada", "key": "Ada,computer audio muted", "avatar": None, "is_self": False}]
    assert decoder.decode(signal("roster", people=rows))[1] == here(
        source, [Subject(key="Ada", name="Ada")], 1_000, Extent.SNAPSHOT
    )
    assert decoder.decode(signal("speaking", keys=["Ada"])) == [speak(Source.MARKS, ["Ada"], 1_000)]
    (large,) = decoder.decode(signal("stage", key="Ada (Host)"))
    (nobody,) = decoder.decode(signal("stage", key=""))
    assert isinstance(large, Claim)
    assert isinstance(nobody, Claim)
    assert (large.subjects, nobody.subjects) == ((Subject(key="Ada"),), ())


def test_on_a_page_with_nothing_but_a_stage_whoever_was_large_is_here(signal: Make) -> None:
    decoder, fold = ZoomDecoder(), Fold()

    def after(kind: str, at_ms: int, **data: object) -> set[str]:
        for claim in decoder.decode(signal(kind, at_ms=at_ms, **data)):
            assert isinstance(claim, Claim)
            fold.take(claim)
        fold.settle()
        return set(fold.company)

    assert after("stage", 1_000, key="Ada (Host)") == {"Ada"}
    assert after("stage", 2_000, key="Grace") == {"Ada", "Grace"}
    assert after("stage", 3_000, key="Grace's screen") == {"Ada", "Grace"}
    rows = [{"name": "Grace", "key": "Grace,computer audio muted", "avatar": None, "is_self": False}]
    assert after("roster", 4_000, people=rows, whole=True) == {"Grace"}
    assert after("stage", 5_000, key="Ada") == {"Grace"}


def test_audio_streams_that_carry_nodes_are_their_peoples_and_a_single_one_is_everybodys(
    control: Make, signal: Make
) -> None:
    decoder = ZoomDecoder()
    people = [{"id": ADA, "dn2": encoded("Ada")}, {"id": GRACE, "dn2": encoded("Grace")}]
    decoder.decode(control(7937, {"add": people}))

    def stream(track: int, node: int) -> dict[str, str]:
        return owners(decoder.decode(audio_stream(signal, track, node)))

    assert stream(0, ADA) == {"track-0@1000": ""}
    assert stream(1, GRACE) == {
        "track-0": str(ADA),
        "track-0@1000": str(ADA),
        "track-1": str(GRACE),
        "track-1@1000": str(GRACE),
    }
    assert stream(1, GRACE) == {}


def audio_stream(signal: Make, track: int, node: int, at_ms: int = 1_000) -> Any:
    name = f"{node | 1}%2Baudio%2BCS%2B1"
    return signal("capture", at_ms=at_ms, event="stream", media="audio", track=track, stream=name)


def owners(events: Sequence[Claim | ChatReceived]) -> dict[str, str]:
    claims = [event for event in events if isinstance(event, Claim) and event.fact is Fact.OWNS]
    return {subject.media: subject.key for claim in claims for subject in claim.subjects}


def test_a_receiver_that_is_used_again_is_nobodys_until_it_is_known_whose_and_from_when(
    control: Make, signal: Make
) -> None:
    decoder, barbara = ZoomDecoder(), 16780288
    people = [{"id": ADA, "dn2": encoded("Ada")}, {"id": GRACE, "dn2": encoded("Grace")}]
    decoder.decode(control(7937, {"add": people}))
    decoder.decode(audio_stream(signal, 0, ADA))
    decoder.decode(audio_stream(signal, 1, GRACE))
    assert owners(decoder.decode(audio_stream(signal, 0, barbara, at_ms=9_000))) == {"track-0": "", "track-0@9000": ""}
    named = decoder.decode(control(7937, {"add": [{"id": barbara, "dn2": encoded("Barbara")}]}, at_ms=9_500))
    assert owners(named) == {"track-0": str(barbara), "track-0@9000": str(barbara)}
    back = owners(decoder.decode(audio_stream(signal, 0, ADA, at_ms=20_000)))
    assert back == {"track-0": str(ADA), "track-0@20000": str(ADA)}


@pytest.mark.parametrize("kind", ["audio", "graph"])
def test_a_new_track_is_nobodys_whoever_had_its_number_on_an_earlier_page(signal: Make, kind: str) -> None:
    decoder = ZoomDecoder()

    def attached(kind: str) -> Any:
        return replace(signal("capture"), data={"event": "attached", "track": 0, "kind": kind})

    assert owners(decoder.decode(attached("video"))) == {}
    assert owners(decoder.decode(attached(kind))) == {"track-0@1000": ""}


def test_what_was_said_before_a_page_broke_keeps_its_name_though_the_next_counts_otherwise(
    control: Make, signal: Make
) -> None:
    people = {"add": [{"id": ADA, "dn2": encoded("Ada")}, {"id": GRACE, "dn2": encoded("Grace")}]}
    links: dict[str, str] = {}
    for at_ms, order in ((1_000, (ADA, GRACE)), (20_000, (GRACE, ADA))):
        page = ZoomDecoder()
        page.decode(control(7937, people, at_ms=at_ms))
        for track, node in enumerate(order):
            links |= owners(page.decode(audio_stream(signal, track, node, at_ms=at_ms)))
    seen = datetime(2026, 1, 1, tzinfo=UTC)
    meeting = MeetingFacts(
        duration_s=60,
        participants=[
            Participant(key=str(key), name=name, avatar=None, first_seen_at=seen)
            for key, name in ((ADA, "Ada"), (GRACE, "Grace"))
        ],
        links=links,
    )
    heard = [
        SourceSpeech(source="track-0", utterances=[uttered("before", 5.0), uttered("after", 30.0)]),
        SourceSpeech(source="track-1", utterances=[uttered("as well", 8.0), uttered("still", 33.0)]),
    ]
    found = [(segment.speaker_name, segment.transcript) for segment in attribute(heard, meeting).segments]
    assert found == [("Ada", "before"), ("Grace", "as well"), ("Grace", "after"), ("Ada", "still")]


def uttered(text: str, start: float) -> Utterance:
    return Utterance(start=start, end=start + 1, speaker=0, confidence=0.9, transcript=text, words=())


@pytest.mark.parametrize("name", ["{}%2Baudio%2BCS%2B1", "{}+CS+audio", "{}%252B0%252BCS%252B"])
@pytest.mark.parametrize("told", [ADA, ADA + 1], ids=["by user", "by node"])
def test_another_node_of_a_user_is_the_same_person(control: Make, signal: Make, told: int, name: str) -> None:
    decoder = ZoomDecoder()
    for number, node in enumerate((ADA, GRACE)):
        stream = name.format(node + 2)
        decoder.decode(signal("capture", event="stream", media="audio", track=number, stream=stream))
    people = [{"id": told, "dn2": encoded("Ada")}, {"id": GRACE, "dn2": encoded("Grace")}]
    named = owners(decoder.decode(control(7937, {"add": people})))
    assert (named["track-0"], named["track-1"]) == (str(told), str(GRACE))


def test_small_numbers_that_share_no_bits_are_two_people(control: Make) -> None:
    decoder = ZoomDecoder()
    decoder.decode(control(7937, {"add": [{"id": 7, "dn2": encoded("Small")}]}))
    assert decoder.decode(control(12033, {"asn1": 8})) == [speak(Source.PROTOCOL, ["8"], 1_000)]


def test_who_speaks_before_the_roster_tells_of_them_is_told_by_the_id_that_it_will_tell(control: Make) -> None:
    decoder = ZoomDecoder()
    assert decoder.decode(control(12033, {"asn1": ADA + 1})) == [speak(Source.PROTOCOL, [str(ADA)], 1_000)]
    listed = decoder.decode(control(7937, {"add": [{"id": ADA, "dn2": encoded("Ada")}]}))
    assert listed == [here(Source.PROTOCOL, [Subject(key=str(ADA), name="Ada")], 1_000)]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["evt", "body", "add", "update", "remove", "id", "dn2", "asn1", "data"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    ),
    st.sampled_from([7937, 12033, None]),
)
def test_no_json_breaks_the_decoder(told: object, evt: int | None) -> None:
    from types import SimpleNamespace

    for message in (told, {"evt": evt, "body": told}):
        data = {"payload": json.dumps(message)}
        ZoomDecoder().decode(SimpleNamespace(kind="worker", data=data, at_ms=0))  # type: ignore[arg-type]
