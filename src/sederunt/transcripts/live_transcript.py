"""The transcript of a bot transcribed live: its published lines, unless they are incomplete."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sederunt.model.bot import HOST_LOST, PLANNED_MOVE, Gap
from sederunt.model.history import LIVE_TROUBLE, Event
from sederunt.model.transcript import LiveLine, Transcript

# A track with this much audible sound but no final segment was not transcribed; less may be a cough.
UNHEARD_S = 5.0
# After these, the words spoken at that moment may never have become final.
_CUT_SHORT = frozenset({HOST_LOST, PLANNED_MOVE})
# No word lasts longer, and no line of a voice overlaps its next by more: such times were guessed.
LONGEST_WORD_S, OVERLAP_S = 3.0, 0.2


def transcript_of_lines(lines: Iterable[LiveLine], detected_lang: str | None = None) -> Transcript:
    """Return the final segments as published, by time."""
    segments = sorted((line.segment for line in lines), key=lambda segment: (segment.start, segment.end))
    return Transcript(segments=tuple(segments), detected_lang=detected_lang)


def doubt(
    lines: Sequence[LiveLine],
    *,
    events: Iterable[Event],
    gaps: Iterable[Gap],
    tracks: Iterable[Mapping[str, Any]],
) -> str | None:
    """Return why the lines may be incomplete; None if nothing suggests it.

    Args:
        events, gaps: the bot's.
        tracks: `sources` of tracks.json.
    """
    for event in events:
        if event.event == LIVE_TROUBLE:
            return f"live transcription had trouble: {event.data.get('message')}"
        if event.data.get("cause") in _CUT_SHORT:
            return "its host was lost in the middle of the meeting"
    if any(gap.cause in _CUT_SHORT for gap in gaps):
        return "its host was lost, and what was being said then never became final"
    sources = {line.source for line in lines}
    for track in tracks:
        if track["heard_s"] >= UNHEARD_S and track["source"] not in sources:
            return f"{track['heard_s']:.0f} s were heard of {track['source']}, and no word was transcribed"
    return doubtful_time(lines)


def doubtful_time(lines: Iterable[LiveLine]) -> str | None:
    """Return what is wrong with the times of published lines; None if they are plausible."""
    lines_by_voice: dict[tuple[str, str], list[LiveLine]] = {}
    for line in sorted(lines, key=lambda line: line.segment.start):
        lines_by_voice.setdefault((line.source, line.voice), []).append(line)
        for word in (word for utterance in line.segment.utterances for word in utterance.words):
            if word.end - word.start > LONGEST_WORD_S:
                return f"one word lasts from {word.start:.1f} to {word.end:.1f} s"
    for voice_lines in lines_by_voice.values():
        for earlier, later in pairwise(voice_lines):
            if earlier.segment.end - later.segment.start > OVERLAP_S:
                return (
                    f"what one voice said until {earlier.segment.end:.1f} s goes on behind {later.segment.start:.1f} s"
                )
    return None
