"""Every vendor's answers, varied within what is legal: the words stay; an answer that cannot be read is a fault."""

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.transcription.assemblyai.parse import parse as assemblyai
from sederunt.transcription.cloud.reading import Unreadable
from sederunt.transcription.deepgram.parse import parse as deepgram
from sederunt.transcription.elevenlabs.parse import parse as elevenlabs
from sederunt.transcription.gladia.parse import parse as gladia
from sederunt.transcription.models import providers
from sederunt.transcription.provider import Result
from sederunt.transcription.revai.parse import parse as revai
from sederunt.transcription.salad.parse import parse as salad
from sederunt.transcription.soniox.parse import parse as soniox
from sederunt.transcription.speechmatics.parse import parse as speechmatics

SAID = (("We", 0.5), ("meet", 1.0), ("in", 1.25), ("2024.", 1.5))
TEXT = " ".join(word for word, _ in SAID)
LENGTH_S = 4.0
# Fields that say nothing of the words: any of them may be absent, null, or of another type.
OPTIONAL = frozenset(
    {"confidence", "score", "logprob", "speaker", "speaker_id", "channel", "language", "language_code", "languages"}
    | {"language_probability", "language_confidence", "detected_language", "metadata", "audio_duration", "id"}
)


@dataclass(frozen=True)
class Golden:
    """An answer as the vendor's documents print it, and where its words and its text are."""

    parse: Callable[..., Result]
    body: dict[str, Any]
    words: tuple[str, ...]  # the way to the list of words
    text: tuple[str, ...] = ()  # the way to the whole text, where there is one


def _at(key: str, word: str, start: float, scale: float, **more: Any) -> dict[str, Any]:
    return {key: word, "start": start * scale, "end": (start + 0.2) * scale, **more}


def _words(key: str, scale: float = 1.0, **more: Any) -> list[dict[str, Any]]:
    return [_at(key, word, start, scale, **more) for word, start in SAID]


GOLDEN: dict[str, Golden] = {
    "deepgram": Golden(
        deepgram,
        {
            "metadata": {"request_id": "a1", "duration": LENGTH_S, "channels": 1},
            "results": {
                "channels": [
                    {
                        "detected_language": "en",
                        "alternatives": [
                            {
                                "transcript": TEXT,
                                "confidence": 0.98,
                                "words": [
                                    {**word, "punctuated_word": word["word"]}
                                    for word in _words("word", confidence=0.9, speaker=0)
                                ],
                            }
                        ],
                    }
                ]
            },
        },
        ("results", "channels", "0", "alternatives", "0", "words"),
        ("results", "channels", "0", "alternatives", "0", "transcript"),
    ),
    "assemblyai": Golden(
        assemblyai,
        {
            "id": "t1",
            "status": "completed",
            "text": TEXT,
            "audio_duration": 4,
            "language_code": "en_us",
            "words": _words("text", 1000, confidence=0.9, speaker="A", channel=None),
            "utterances": None,
        },
        ("words",),
        ("text",),
    ),
    "elevenlabs": Golden(
        elevenlabs,
        {
            "language_code": "eng",
            "language_probability": 0.98,
            "text": TEXT,
            "audio_duration_secs": LENGTH_S,
            "words": [
                item
                for word in _words("text", type="word", speaker_id="speaker_0", logprob=-0.1)
                for item in ({**word, "text": " ", "type": "spacing"}, word)
            ],
        },
        ("words",),
        ("text",),
    ),
    "soniox": Golden(
        soniox,
        {
            "id": "t1",
            "text": TEXT,
            "tokens": [
                {
                    "text": f" {word}",
                    "start_ms": start * 1000,
                    "end_ms": start * 1000 + 200,
                    "confidence": 0.9,
                    "speaker": "1",
                    "language": "en",
                }
                for word, start in SAID
            ],
        },
        ("tokens",),
        ("text",),
    ),
    "gladia": Golden(
        gladia,
        {
            "id": "g1",
            "status": "done",
            "result": {
                "metadata": {"audio_duration": LENGTH_S},
                "transcription": {
                    "full_transcript": TEXT,
                    "languages": ["en"],
                    "utterances": [
                        {
                            "text": TEXT,
                            "start": 0.5,
                            "end": 1.7,
                            "speaker": 0,
                            "channel": 0,
                            "language": "en",
                            "words": [{**word, "word": " " + word["word"]} for word in _words("word", confidence=0.9)],
                        }
                    ],
                },
            },
        },
        ("result", "transcription", "utterances", "0", "words"),
        ("result", "transcription", "full_transcript"),
    ),
    "salad": Golden(
        salad,
        {"text": TEXT, "duration": 0.001, "word_segments": _words("word", score=0.9, speaker="SPEAKER_00")},
        ("word_segments",),
        ("text",),
    ),
    "speechmatics": Golden(
        speechmatics,
        {
            "format": "2.9",
            "job": {"id": "j", "duration": 4},
            "metadata": {"language_pack_info": {"word_delimiter": " "}},
            "results": [
                {
                    "type": "word",
                    "start_time": start,
                    "end_time": start + 0.2,
                    "alternatives": [{"content": word, "confidence": 0.9, "language": "en", "speaker": "S1"}],
                }
                for word, start in SAID
            ],
        },
        ("results",),
    ),
    "revai": Golden(
        revai,
        {
            "monologues": [
                {
                    "speaker": 0,
                    "elements": [
                        element
                        for word, start in SAID
                        for element in (
                            {"type": "text", "value": word, "ts": start, "end_ts": start + 0.2, "confidence": 0.9},
                            {"type": "punct", "value": " "},
                        )
                    ],
                }
            ]
        },
        ("monologues", "0", "elements"),
    ),
}
VENDORS = sorted(GOLDEN)


def test_every_vendor_that_ships_has_its_answer_here() -> None:
    shipped = {row.name for row in providers().values() if row.needs_key}
    assert shipped == set(GOLDEN)


def heard(result: Result) -> str:
    return " ".join(each.transcript for each in result.utterances)


def begins(result: Result) -> list[float]:
    return [word.start for each in result.utterances for word in each.words]


def varied(value: Any, chance: random.Random) -> Any:
    """The same answer from another hand: order, unknown fields, optional ones absent or null, numbers as texts."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        found: dict[str, Any] = {"x_new": {"nested": [None, 1]}} if chance.random() < 0.3 else {}
        for name in names:
            way = chance.random()
            if name in OPTIONAL and way < 0.2:
                continue
            if name in OPTIONAL and way < 0.4:
                found[name] = None
            else:
                found[name] = varied(value[name], chance)
        return found
    if isinstance(value, list):
        return [varied(each, chance) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return chance.choice([value, float(value), str(value)])
    return value


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_golden_answer_is_read_whole(vendor: str) -> None:
    golden = GOLDEN[vendor]
    result = golden.parse(golden.body)
    assert heard(result) == TEXT
    assert begins(result) == [start for _, start in SAID]


@pytest.mark.parametrize("vendor", VENDORS)
@given(seed=st.integers(0, 2**32))
def test_no_word_is_lost_by_what_vendors_may_vary(vendor: str, seed: int) -> None:
    golden = GOLDEN[vendor]
    result = golden.parse(varied(golden.body, random.Random(seed)))
    assert " ".join(heard(result).split()) == TEXT
    assert begins(result) == [start for _, start in SAID]


def replaced(body: dict[str, Any], way: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The answer with something else at the end of a way; `...` takes it out."""
    body = deepcopy(body)
    here: Any = body
    for step in way[:-1]:
        here = here[int(step)] if isinstance(here, list) else here[step]
    if value is ...:
        del here[way[-1]]
    else:
        here[way[-1]] = value
    return body


@pytest.mark.parametrize("words", [..., None, [], {}, "none", 0])
@pytest.mark.parametrize("vendor", [name for name in VENDORS if GOLDEN[name].text])
def test_a_text_without_words_is_no_silence(vendor: str, words: Any) -> None:
    golden = GOLDEN[vendor]
    result = golden.parse(replaced(golden.body, golden.words, words), LENGTH_S)
    assert " ".join(heard(result).split()) == TEXT
    times = begins(result)
    assert times == sorted(times)
    assert 0 <= times[0] < times[-1] < LENGTH_S


@pytest.mark.parametrize("vendor", VENDORS)
def test_words_under_another_name_are_a_fault_and_no_silence(vendor: str) -> None:
    golden = GOLDEN[vendor]
    body = replaced(golden.body, golden.words, [{"renamed": "We"}])
    for way in (golden.text, (*golden.words[:-1], "text")):
        if way:
            body = replaced(body, way, "")
    with pytest.raises(Unreadable):
        assert heard(golden.parse(body)) == "", "nothing could be read of it, and it was taken for silence"


@pytest.mark.parametrize("body", [None, [], "text", 7, {}, {"message": "moved"}])
@pytest.mark.parametrize("vendor", VENDORS)
def test_an_answer_without_a_place_for_words_is_a_fault(vendor: str, body: Any) -> None:
    with pytest.raises(Unreadable):
        GOLDEN[vendor].parse(body)


@pytest.mark.parametrize("vendor", VENDORS)
def test_silence_is_no_fault(vendor: str) -> None:
    golden = GOLDEN[vendor]
    body = replaced(golden.body, golden.words, [])
    if golden.text:
        body = replaced(body, golden.text, "")
    if vendor == "gladia":
        body = replaced(body, golden.words[:-2], [])
    assert golden.parse(body).utterances == ()


# How each vendor says that it does not know whose voice a word is; Gladia and Rev.ai tell voices by longer stretches.
NOBODY = {"speechmatics": "UU", "assemblyai": "UNKNOWN"}
BY_WORD = [name for name in VENDORS if name not in ("gladia", "revai")]


def spoken_by(vendor: str, labels: list[Any]) -> list[tuple[int, str]]:
    """Who says what in the golden answer whose words have these labels, as it is read; None is the vendor's nobody."""
    golden = GOLDEN[vendor]
    body = deepcopy(golden.body)
    items: Any = body
    for step in golden.words:
        items = items[int(step)] if isinstance(items, list) else items[step]
    words = [item for item in items if item.get("type") != "spacing"]
    for word, label in zip(words, labels, strict=True):
        place = word["alternatives"][0] if vendor == "speechmatics" else word
        place["speaker_id" if vendor == "elevenlabs" else "speaker"] = NOBODY.get(vendor) if label is None else label
    return [(each.speaker, each.transcript) for each in golden.parse(body).utterances]


@pytest.mark.parametrize("vendor", BY_WORD)
def test_a_word_without_a_voice_has_that_of_the_word_before_it_else_of_the_next(vendor: str) -> None:
    assert spoken_by(vendor, ["A", None, "B", "B"]) == [(0, "We meet"), (1, "in 2024.")]
    assert spoken_by(vendor, ["A", "B", None, "B"]) == [(0, "We"), (1, "meet in 2024.")]
    assert spoken_by(vendor, [None, "A", "A", "B"]) == [(0, "We meet in"), (1, "2024.")]
    assert spoken_by(vendor, [None, None, None, None]) == [(0, TEXT)]


def test_what_has_no_voice_as_a_whole_goes_on_with_the_one_before_it() -> None:
    def said(speaker: Any, at: float) -> dict[str, Any]:
        return {"speaker": speaker, "start": at, "end": at + 0.4, "text": "Yes.", "timestamp": [at, at + 0.4]}

    parts = [said("A", 0), said("B", 1), said(None, 2), said("A", 3)]
    monologues = [
        {"speaker": part["speaker"], "elements": [{"type": "text", "value": "Yes", "ts": part["start"]}]}
        for part in parts
    ]
    found = [
        gladia({"result": {"transcription": {"utterances": parts}}}),
        salad({"sentence_level_timestamps": parts}),
        revai({"monologues": monologues}),
    ]
    assert [[each.speaker for each in result.utterances] for result in found] == [[0, 1, 1, 0]] * 3


def test_numbers_that_are_words_are_words() -> None:
    body = replaced(GOLDEN["deepgram"].body, GOLDEN["deepgram"].words, [{"word": 2024, "start": 0, "end": 1}])
    assert heard(deepgram(body)) == "2024"


def test_languages_come_in_any_spelling() -> None:
    for tag in ("en", "EN", "en-US", "EN_us", "eng", "ENG"):
        assert elevenlabs({"words": [], "language_code": tag}).detected_lang == "en"
        assert assemblyai({"words": [], "language_code": tag}).detected_lang == "en"
