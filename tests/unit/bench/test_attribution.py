"""The figures by which transcripts with speakers are judged."""

from typing import Any

from sederunt.bench.attribution import score

SAID = [("Ada", "red green blue black"), ("Charles", "lion tiger bear"), ("Ada", "oak elm")]


def heard(*told: tuple[int, str | None, str]) -> list[dict[str, Any]]:
    return [
        {"start": float(at), "speaker": speaker, "speaker_name": name, "transcript": text}
        for at, (speaker, name, text) in enumerate(told)
    ]


def test_a_perfect_transcript_has_no_error_whatever_the_numbers_of_its_speakers() -> None:
    found = score(
        SAID, heard((7, "Ada", "red green blue black"), (3, "Charles", "lion tiger bear"), (7, "Ada", "oak elm"))
    )
    assert (found.cp_word_errors, found.named_right, found.named) == (0.0, 1.0, 9)


def test_words_under_the_wrong_speaker_are_missing_there_and_added_here() -> None:
    found = score(SAID, heard((0, "Ada", "red green blue black lion tiger bear oak elm")))
    assert found.errors == 6  # three added to Ada, three missing from Charles
    assert (found.named, found.right) == (9, 6)


def test_a_voice_split_in_two_costs_all_that_the_smaller_half_said() -> None:
    found = score(SAID, heard((0, None, "red green blue black"), (1, None, "lion tiger bear"), (2, None, "oak elm")))
    assert found.errors == 4
    assert (found.named, found.named_right) == (0, 0.0)


def test_a_misheard_word_is_still_named_right() -> None:
    found = score(SAID[:1], heard((0, "Ada", "red grain blue black")))
    assert (found.errors, found.right) == (1, 4)


def test_scores_of_meetings_add_up() -> None:
    one = score(SAID[:1], heard((0, "Ada", "red green blue black")))
    other = score(SAID[:1], heard((0, "Charles", "red green blue black")))
    assert ((one + other).words, (one + other).errors, (one + other).named_right) == (8, 0, 0.5)
