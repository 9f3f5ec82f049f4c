"""Targets: elements of a page to click or to fill, and the steps of the way in that use them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sederunt.platforms.evidence import READ, Showing
from sederunt.platforms.page_state import PageState


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One control. Selectors are tried left to right, then the button labels, then the backstop selectors."""

    id: str
    selectors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # whole labels of buttons, normalised; a final "*" allows more
    but_not: tuple[str, ...] = ()  # labels that disqualify, written the same way
    backstops: tuple[str, ...] = ()
    within: tuple[str, ...] = ()  # only inside one of these
    holding: tuple[str, ...] = ()  # … whose text has one of these phrases
    lacking: tuple[str, ...] = ()  # … and none of these
    showing: Showing = Showing.VISIBLE
    disabled_too: bool = False  # a disabled control is found as well
    source: str = ""  # where it was seen: tags of docs/platforms.md
    seen: str = READ  # when, as year-month


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundControl:
    """A target that is on the page now."""

    id: str
    handle: str  # a selector that only this element matches, in its own frame
    label: str
    value: str
    disabled: bool
    covered: bool = False  # another element lies over it
    boxless: bool = False  # it has no area to click

    @property
    def takes_pointer(self) -> bool:
        """Return whether a click of the pointer would reach it now."""
        return not (self.covered or self.boxless)


class Act(StrEnum):
    CLICK = "click"
    FILL_NAME = "fill_name"
    FILL_PASSCODE = "fill_passcode"
    FILL_ACCOUNT = "fill_account"
    FILL_PASSWORD = "fill_password"  # noqa: S105


# On the way in, steps are taken in these states.
ON_THE_WAY = frozenset(
    {PageState.LOADING, PageState.DIALOG, PageState.PREJOIN, PageState.LOBBY, PageState.RECONNECTING}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One act of the way in, done whenever its target is present. Earlier steps go first."""

    target: Target
    act: Act = Act.CLICK
    states: frozenset[PageState] = ON_THE_WAY
    most: int = 3  # times in all; a target that is still present after that is left alone
    again_s: float = 2.0  # pause before the same step once more
    unpointed: int = 1  # which repeat goes without the pointer; the first if something lies over the control
    patience_s: float = 0.0  # how long the target must be present first
    without_name_s: float = 0.0  # … and how long while no name is filled in yet: the field may appear late
    knocks: bool = False  # asks to be let in: the next page may be a waiting room, even if nothing says so
    beside: tuple[str, ...] = ()  # ids of targets, one of which must be present too
    apart: tuple[str, ...] = ()  # ids of targets, none of which may be present

    @property
    def id(self) -> str:
        return self.target.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Journey:
    """The way into one site."""

    steps: tuple[Step, ...]
    loading_s: float = 30.0  # if nothing known is shown for this long, load again
    reloads: int = 2
    # Refusals that may be premature: row id → (pause in seconds, how often to load again before it is believed).
    load_again: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    # Refusals that mean that nobody answered: row id → seconds after which the bot asks again.
    ask_again: Mapping[str, float] = field(default_factory=dict)
    name_means_guest: bool = True  # a signed-in browser is never asked for a name
