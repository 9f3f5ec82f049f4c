"""Count the answers to the notices of one stay, and stop giving those that do not help."""

from collections import Counter
from collections.abc import Callable, Collection

from sederunt.model.trouble import PageTrouble, Recovery
from sederunt.platforms.targets import FoundControl

MOST_PRESSES = 3
NOTICE_STAYS = "notice_stays"


class NoticeAnswers:
    """Counts how often each control was pressed while its notice stays, or comes back at once.

    Args:
        on_trouble: called once for each control that is given up.
    """

    def __init__(self, on_trouble: Callable[[PageTrouble], None] = lambda trouble: None) -> None:
        self._on_trouble = on_trouble
        self._presses: Counter[str] = Counter()
        self._reported: set[str] = set()

    def note_press(self, control: FoundControl) -> int:
        """Count one press, whether it works or not; return how many there were."""
        self._presses[control.id] += 1
        return self._presses[control.id]

    def may_press(self, control: FoundControl) -> bool:
        """Return whether pressing the control may still help; report a control that is given up."""
        if self._presses[control.id] < MOST_PRESSES:
            return True
        if control.id not in self._reported:
            self._reported.add(control.id)
            description = f'{control.id} ("{control.label}") was pressed {MOST_PRESSES} times, and its notice stays.'
            self._on_trouble(PageTrouble(cause=NOTICE_STAYS, seen=description, recovery=Recovery.NONE))
        return False

    def forget_all_but(self, control_ids: Collection[str]) -> None:
        """Forget the controls whose notices are gone: all but those with these ids."""
        self._presses = Counter({name: count for name, count in self._presses.items() if name in control_ids})
