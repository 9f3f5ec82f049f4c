"""Learns whose voice a label of mixed sound is, from speaking marks, and remembers it for a whole stay."""

from collections import defaultdict
from dataclasses import replace

from sederunt.transcripts.attribution import MeetingFacts, NamedUtterance

# A voice belongs to a person whose marks cover this many seconds of it, and this share of all its named speech.
PROVEN_S, PROVEN_SHARE = 1.5, 0.7


class VoiceNames:
    """The names of voices. Marks may be late, lost or wrong for a while; a voice that has a name keeps it then."""

    def __init__(self) -> None:
        self._seconds: dict[int, dict[str, float]] = defaultdict(dict)  # label → participant key → seconds

    def recalled(self, part: NamedUtterance, meeting: MeetingFacts) -> NamedUtterance:
        """Learn whose voice a label is from a part that speaking marks name; give a part without marks the name that
        was learned for its label."""
        label, seconds = part.utterance.speaker, max(0.1, part.utterance.end - part.utterance.start)
        if part.name is not None:
            own_totals = self._seconds[label]
            own_totals[part.voice] = own_totals.get(part.voice, 0.0) + seconds
            return part
        totals = self._seconds.get(label, {})
        key, most_s = max(totals.items(), key=lambda pair: pair[1], default=("", 0.0))
        is_proven = most_s >= max(PROVEN_S, PROVEN_SHARE * sum(totals.values()))
        name = next((participant.name for participant in meeting.participants if participant.key == key), None)
        if not is_proven or name is None or (part.guesses and name not in {guess.name for guess in part.guesses}):
            return part
        return replace(part, voice=key, name=name, guesses=None)
