"""The stored form of transcripts: what comes back, and what the release before this one can read."""

import json
import tracemalloc
from dataclasses import fields

from sederunt.database.transcripts import segments_text, stored_segment, transcript_of
from sederunt.model.transcript import Segment, Transcript, Utterance, Word

# Of the release before: it refuses an utterance with any other field.
KNOWN_BEFORE = {"start", "end", "speaker", "confidence", "transcript", "words"}


def segment(*langs: str | None) -> Segment:
    said = [
        Utterance(
            start=float(at),
            end=at + 0.5,
            speaker=0,
            confidence=0.9,
            transcript="hello",
            words=(Word(word="hello", start=float(at), end=at + 0.5, confidence=0.9, speaker=0),),
            lang=lang,
        )
        for at, lang in enumerate(langs)
    ]
    return Segment(
        start=0.0,
        end=float(len(langs)),
        speaker=0,
        confidence=0.9,
        transcript="hello",
        utterances=tuple(said),
        speaker_name="Ada",
        potential_speaker_names=None,
    )


def test_only_another_language_than_the_transcripts_is_stored_with_an_utterance() -> None:
    text = segments_text(Transcript(segments=(segment("en", "de", None),), detected_lang="en-GB"))
    stored = json.loads(text)[0]["utterances"]
    assert [set(one) - KNOWN_BEFORE for one in stored] == [set(), {"lang"}, set()]
    assert [one.lang for one in transcript_of(text, "en-GB").segments[0].utterances] == [None, "de", None]


def test_a_live_line_without_a_language_is_one_that_the_release_before_reads() -> None:
    assert all(set(one) == KNOWN_BEFORE for one in stored_segment(segment(None, None))["utterances"])
    assert {field.name for field in fields(Utterance)} == KNOWN_BEFORE | {"lang"}


def test_hours_of_words_are_written_one_segment_at_a_time() -> None:
    words = tuple(Word(word="word", start=n, end=n + 0.5, confidence=0.9) for n in range(40))
    said = Utterance(start=0, end=40, speaker=0, confidence=0.9, transcript="word " * 40, words=words)
    segments = tuple(
        Segment(start=0, end=40, speaker=0, confidence=0.9, transcript="", utterances=(said,)) for _ in range(100)
    )
    tracemalloc.start()
    try:
        text = segments_text(Transcript(segments=segments))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * len(text)  # the parts, the whole, and that in its brackets; plain values took 14
