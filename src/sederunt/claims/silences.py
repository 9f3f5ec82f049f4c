"""Tracks when sound was heard, and which claims of speech a silence makes doubtful."""

from sederunt.claims.claim import Source
from sederunt.claims.rules import SPEECH, Trust
from sederunt.claims.table import SourceTable

_NEVER_MS = -1  # before any claim, even one of the very first moment


class Silences:
    """The sound and silence of the whole meeting so far."""

    def __init__(self) -> None:
        self.last_sound_ms: int | None = None
        self.pauses = 0  # how often sound began again
        self._was_heard = False  # whether any sound was weighed
        self._since_ms: int | None = None  # when the present silence began; None during sound, or before any
        self._doubtful_ms: dict[Source, int] = {}  # source → claims that began before that moment outlived a silence

    def note_sound(self, at_ms: int) -> None:
        """Note that sound was heard at a moment."""
        self.last_sound_ms = max(at_ms, self.last_sound_ms or at_ms)

    def weigh(self, is_sounding: bool, now_ms: int) -> None:
        """Note whether sound is heard now, and which claims become doubtful."""
        if is_sounding:
            if not self._was_heard:  # a claim from long before the first sound is not speech
                quiet_limits = ((row.source, row.quiet_ms) for row in SPEECH.values() if row.quiet_ms is not None)
                self._doubtful_ms |= {source: now_ms - quiet_ms for source, quiet_ms in quiet_limits}
            elif self._since_ms is not None:
                self.pauses += 1
            self._was_heard, self._since_ms = True, None
            self.note_sound(now_ms)
        elif self.last_sound_ms is not None:
            self._since_ms = now_ms if self._since_ms is None else self._since_ms
            for row in SPEECH.values():
                if row.quiet_ms is not None and now_ms - self._since_ms >= row.quiet_ms:
                    self._doubtful_ms[row.source] = self._since_ms

    def doubted_until(self, trust: Trust, table: SourceTable) -> int:
        """Return the moment up to which speech must have begun to be doubted: it outlived a silence.

        If the source resumes, such speech counts again with sound, unless it has claimed anything since.
        """
        doubtful_ms = self._doubtful_ms.get(trust.source, _NEVER_MS)
        can_resume = trust.resumes and self._since_ms is None
        if can_resume and not any(word.since_ms > doubtful_ms for word in table.words.values()):
            return _NEVER_MS
        return doubtful_ms
