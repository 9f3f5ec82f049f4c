"""How often drafts are read: as often as configured, or as the machine allows. Pure."""

from dataclasses import dataclass

# Share of a thread's time that is planned; the rest is for bursts of sound.
_PLANNED = 0.8
# Weight of a new measurement.
_FRESH = 0.1
LONGEST_S = 4.0


@dataclass(slots=True)
class Pace:
    """Recent costs of readings, in seconds of a thread."""

    step_s: float
    threads: int = 1
    draft_s: float = 0.1
    final_share: float = 0.05  # a thread's seconds that finals take per second of speech

    def drafted(self, seconds: float) -> None:
        self.draft_s += _FRESH * (seconds - self.draft_s)

    def finished(self, seconds: float, sound_s: float) -> None:
        self.final_share += _FRESH * (min(1.0, seconds / max(1.0, sound_s)) - self.final_share)

    def step(self, talkers: int) -> float:
        """Return the seconds between two drafts of a stream while so many speak at once."""
        room = self.threads * _PLANNED - talkers * self.final_share
        if room <= 0:
            return LONGEST_S
        return min(LONGEST_S, max(self.step_s, talkers * self.draft_s / room))

    def is_pressed(self, talkers: int) -> bool:
        """Return whether there is no time for readings that may turn out unnecessary."""
        return self.step(talkers) > 1.25 * self.step_s
