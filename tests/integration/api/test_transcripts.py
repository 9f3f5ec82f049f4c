"""Transcripts in every format, put right by people, and found by search: of one account only."""

import asyncio
import json
import threading
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import pytest

from harness.api_room import ApiRoom, tone_wav
from sederunt.api.access.long_answers import LongAnswers
from sederunt.api.resources import transcripts
from sederunt.model.search_terms import Part, Phrase, excerpt
from sederunt.model.transcript import NameGuess, Segment, Transcript, Utterance, Word
from sederunt.transcripts.export import FORMATS


def spoken(start: float, text: str, **fields: Any) -> Segment:
    words = tuple(
        Word(word=word, start=start + n / 2, end=start + n / 2 + 0.4, confidence=0.9)
        for n, word in enumerate(text.split())
    )
    utterance = Utterance(start=start, end=words[-1].end, speaker=0, confidence=0.9, transcript=text, words=words)
    return Segment(
        start=start, end=words[-1].end, speaker=0, confidence=0.9, transcript=text, utterances=(utterance,), **fields
    )


TRANSCRIPT = Transcript(
    segments=(
        spoken(0.5, "Welcome to the sederent of March.", speaker_name="Ada"),
        spoken(70, "Thanks <b>& hello.", potential_speaker_names=(NameGuess(name="Bo", confidence=0.6),)),
        spoken(90, "So be it.", speaker_name="Ada"),
    ),
    detected_lang="en",
)


@pytest.fixture
async def bot(room: ApiRoom) -> dict[str, Any]:
    made = await room.bot_in("transcribing")
    await room.transcripts.save(UUID(made["id"]), TRANSCRIPT)
    return made


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Whose turn it was at what takes long."""
    taken: list[UUID] = []
    turn = LongAnswers.turn

    def taking(answers: LongAnswers, account_id: UUID) -> AbstractAsyncContextManager[None]:
        taken.append(account_id)
        return turn(answers, account_id)

    monkeypatch.setattr(LongAnswers, "turn", taking)
    return taken


async def transcript(room: ApiRoom, bot: dict[str, Any], **query: str) -> dict[str, Any]:
    answer = await room.client.get(f"/bot/{bot['id']}/transcript", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_every_format_holds_every_word(room: ApiRoom, bot: dict[str, Any]) -> None:
    for name, (media_type, _) in FORMATS.items():
        answer = await room.client.get(f"/bot/{bot['id']}/transcript", params={"format": name})
        assert answer.headers["content-type"] == media_type
        assert answer.headers["content-disposition"].endswith(f'.{name}"')
        for word in ("Welcome", "sederent", "hello.", "Ada", "Bo (?)"):
            assert word in answer.text, (name, word)
    vtt = (await room.client.get(f"/bot/{bot['id']}/transcript", params={"format": "vtt"})).text
    assert "00:01:10.000 --> " in vtt
    assert "&lt;b&gt;&amp; hello." in vtt
    refused = await room.client.get(f"/bot/{bot['id']}/transcript", params={"format": "docx"})
    assert set(refused.json()["errors"]) == {"format"}


async def test_others_are_answered_while_hours_of_words_are_written(
    room: ApiRoom, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others_answered = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def write(transcript: Transcript, title: str) -> str:
        loop.call_soon_threadsafe(begun.set)
        assert others_answered.wait(30), "nobody else was answered"
        return title

    monkeypatch.setitem(FORMATS, "txt", ("text/plain", write))
    asked = asyncio.create_task(room.client.get(f"/bot/{bot['id']}/transcript", params={"format": "txt"}))
    await asyncio.wait_for(begun.wait(), 30)
    assert (await room.client.get(f"/bot/{bot['id']}")).status_code == 200
    others_answered.set()
    assert (await asked).text.startswith(bot["bot_name"])


async def test_a_word_a_speaker_and_a_name_are_put_right_beside_the_original(
    room: ApiRoom, bot: dict[str, Any]
) -> None:
    asked: list[dict[str, Any]] = [
        {"kind": "word", "segment": 0, "word": 3, "after": "sederunt"},
        {"kind": "speaker", "segment": 1, "after": "Bo"},
        {"kind": "participant", "before": "Ada", "after": "Ada Lovelace"},
    ]
    for body in asked:
        answer = await room.client.post(f"/bot/{bot['id']}/correction", json=body)
        assert answer.status_code == 200, answer.text
    read = await transcript(room, bot)
    assert [(s["speaker_name"], s["transcript"]) for s in read["transcript"]] == [
        ("Ada Lovelace", "Welcome to the sederunt of March."),
        ("Bo", "Thanks <b>& hello."),
        ("Ada Lovelace", "So be it."),
    ]
    assert [(c["before"], c["after"], c["made_by"]) for c in read["corrections"]] == [
        ("sederent", "sederunt", "tests"),
        (None, "Bo", "tests"),
        ("Ada", "Ada Lovelace", "tests"),
    ]
    heard = json.loads(json.dumps((await transcript(room, bot, corrected="false"))["transcript"]))
    assert heard == (await room.look(bot))["transcript"]
    assert heard[0]["speaker_name"] == "Ada"
    for correction in read["corrections"]:
        assert (await room.client.delete(f"/bot/{bot['id']}/correction/{correction['id']}")).status_code == 200
    assert (await transcript(room, bot))["transcript"] == heard


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "word", "segment": 3, "word": 0, "after": "x"}, "segment"),
        ({"kind": "word", "segment": 0, "word": 6, "after": "x"}, "word"),
        ({"kind": "word", "segment": 0, "after": "x"}, "word"),
        ({"kind": "speaker", "after": "x"}, "segment"),
        ({"kind": "participant", "before": "Eve", "after": "x"}, "before"),
        ({"kind": "speaker", "segment": 0, "after": ""}, "after"),
    ],
)
async def test_what_cannot_be_put_right_is_told_by_field(
    room: ApiRoom, bot: dict[str, Any], body: dict[str, Any], field: str
) -> None:
    answer = await room.client.post(f"/bot/{bot['id']}/correction", json=body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


async def test_others_are_answered_while_a_correction_is_looked_at(
    room: ApiRoom, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others_answered = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def apply(heard: Transcript, made: object) -> Transcript:
        loop.call_soon_threadsafe(begun.set)
        assert others_answered.wait(30), "nobody else was answered"
        return heard

    monkeypatch.setattr(transcripts, "corrected", apply)
    body = {"kind": "participant", "before": "Ada", "after": "Bo"}
    asked = asyncio.create_task(room.client.post(f"/bot/{bot['id']}/correction", json=body))
    await asyncio.wait_for(begun.wait(), 30)
    assert (await room.client.get(f"/bot/{bot['id']}")).status_code == 200
    others_answered.set()
    assert (await asked).status_code == 200


async def test_corrections_are_made_in_turn_and_so_many_of_a_transcript(
    room: ApiRoom, bot: dict[str, Any], turns: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MOST_CORRECTIONS", 1)
    address = f"/bot/{bot['id']}/correction"
    body = {"kind": "participant", "before": "Ada", "after": "Bo"}
    made = await room.client.post(address, json=body)
    assert (made.status_code, turns) == (200, [room.account_id])
    refused = await room.client.post(address, json={**body, "before": "Bo"})
    assert (refused.status_code, refused.json()["budget"]) == (403, "corrections")
    turns.clear()
    async with await room.other_account() as stranger:
        assert (await stranger.delete(f"{address}/{made.json()['id']}")).status_code == 404
    assert (await room.client.delete(f"{address}/{made.json()['id']}")).status_code == 200
    assert turns == [room.account_id]
    assert (await room.client.post(address, json=body)).status_code == 200


async def test_a_bot_without_a_transcript_cannot_be_put_right(room: ApiRoom) -> None:
    made = await room.bot_in("recording")
    body = {"kind": "speaker", "segment": 0, "after": "x"}
    assert (await room.client.post(f"/bot/{made['id']}/correction", json=body)).status_code == 409


async def test_words_are_found_until_the_bot_is_deleted_and_by_its_account_only(
    room: ApiRoom, bot: dict[str, Any]
) -> None:
    found = (await room.client.get("/search", params={"q": "march sed"})).json()
    [line] = found["data"]
    assert (line["resource"], line["id"], line["segment"], line["speaker_name"]) == ("bot", bot["id"], 0, "Ada")
    assert [part["text"] for part in line["excerpt"] if part["match"]] == ["sederent", "March"]
    assert "".join(part["text"] for part in line["excerpt"]) == "Welcome to the sederent of March."
    async with await room.other_account() as other:
        assert (await other.get("/search", params={"q": "march"})).json()["data"] == []
    for body in ({"kind": "word", "segment": 0, "word": 3, "after": "zanzibar"},):
        assert (await room.client.post(f"/bot/{bot['id']}/correction", json=body)).status_code == 200
    assert len((await room.client.get("/search", params={"q": "zanzibar"})).json()["data"]) == 1
    await room.finish(UUID(bot["id"]))
    assert (await room.client.delete(f"/bot/{bot['id']}")).status_code == 200
    assert (await room.client.get("/search", params={"q": "march"})).json()["data"] == []


async def test_others_are_answered_while_a_search_is_made_in_its_turn(
    room: ApiRoom, bot: dict[str, Any], turns: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others_answered = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def cut(text: str, asked: Sequence[Phrase]) -> list[Part]:
        loop.call_soon_threadsafe(begun.set)
        assert others_answered.wait(30), "nobody else was answered"
        return excerpt(text, asked)

    monkeypatch.setattr(transcripts, "excerpt", cut)
    asked = asyncio.create_task(room.client.get("/search", params={"q": "march"}))
    await asyncio.wait_for(begun.wait(), 30)
    assert (await room.client.get(f"/bot/{bot['id']}")).status_code == 200
    others_answered.set()
    assert len((await asked).json()["data"]) == 1
    assert turns == [room.account_id]


@pytest.mark.parametrize(
    "query", [{}, {"q": "  "}, {"q": "x" * 201}, {"q": "a", "limit": "0"}, {"q": "a", "cursor": "x"}]
)
async def test_a_search_for_nothing_is_refused(room: ApiRoom, query: dict[str, str]) -> None:
    assert (await room.client.get("/search", params=query)).status_code == 400


async def test_two_transcripts_are_compared_and_each_with_a_reference(room: ApiRoom, bot: dict[str, Any]) -> None:
    again = await room.recording(tone_wav())
    other = Transcript(segments=(spoken(0.6, "welcome to the sederunt of march"), spoken(70, "thanks and hello")))
    await room.transcripts.save(UUID(again["id"]), other)
    ids = {"first": bot["id"], "second": again["id"]}
    reference = "Welcome to the sederunt of March. Thanks and hello. So be it."
    answer = await room.client.post("/comparison", json={**ids, "reference": reference})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [(side["resource"], side["words"]) for side in (found["first"], found["second"])] == [
        ("bot", 12),
        ("recording", 9),
    ]
    # Of 12 words one was misheard and one heard as another; the second lacks the last three.
    assert [found[name]["word_error_rate"] for name in ("first", "second")] == [round(2 / 12, 4), round(3 / 12, 4)]
    marked = [[part["text"] for part in row[name] if not part["same"]] for row in found["rows"] for name in ids]
    assert marked == [["sederent"], ["sederunt"], ["<b>&"], ["and"], ["So be it."], []]
    plain = (await room.client.post("/comparison", json=ids)).json()
    assert (plain["first"]["word_error_rate"], plain["reference_words"]) == (None, None)
    async with await room.other_account() as stranger:
        refused = await stranger.post("/comparison", json=ids)
    assert (refused.status_code, sorted(refused.json()["errors"])) == (400, ["first", "second"])
