"""Make the rows and targets of a site's tables. Rows of a group share fields such as phase, state and reason."""

from typing import Any, TypedDict, Unpack

from sederunt.model.status import StopReason
from sederunt.platforms.evidence import EvidenceRow, Kind, Phase, Showing
from sederunt.platforms.page_state import PageState
from sederunt.platforms.targets import Target

Patterns = str | tuple[str, ...]


class RowFields(TypedDict, total=False):
    """The fields of EvidenceRow that a group may share and a row may set."""

    state: PageState | None
    reason: StopReason | None
    cause: str
    phase: Phase
    within: tuple[str, ...]
    whole: bool
    showing: Showing
    at_least: int
    least_px: tuple[int, int]
    unless: tuple[str, ...]
    beside: tuple[str, ...]
    settle_s: float
    seen: str


def phrases(text: Patterns) -> tuple[str, ...]:
    """Split "one | another" into its phrases; a tuple stays as it is. For texts and labels, which contain no bar."""
    return text if isinstance(text, tuple) else tuple(phrase.strip() for phrase in text.split(" | "))


class Rows:
    """Makes rows of one site. Ids begin with the site's name; a row's own fields override those of the group."""

    def __init__(self, site: str, **shared: Unpack[RowFields]) -> None:
        self._site, self._shared = site, shared

    def id(self, name: str) -> str:
        """Write a row's full id, as other rows refer to it."""
        return f"{self._site}.{name}"

    def signal(self, name: str, words: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match words that the decoder noted."""
        return self._row(name, Kind.SIGNAL, phrases(words), source, overrides)

    def status(self, name: str, pattern: str, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match the HTTP status of the document."""
        return self._row(name, Kind.STATUS, (pattern,), source, overrides)

    def address(self, name: str, patterns: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match the address of the top frame by regular expressions; a text is one of them."""
        return self._row(name, Kind.ADDRESS, _whole(patterns), source, overrides)

    def title(self, name: str, text: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match phrases in the title of the top frame."""
        return self._row(name, Kind.TITLE, phrases(text), source, overrides)

    def selector(self, name: str, selectors: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match elements by CSS; a text is one selector."""
        return self._row(name, Kind.SELECTOR, _whole(selectors), source, overrides)

    def text(self, name: str, text: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match phrases in the site's own words."""
        return self._row(name, Kind.TEXT, phrases(text), source, overrides)

    def stem(self, name: str, stems: tuple[str, ...], source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match a line of the site's own words by regular expressions: its meaning, however it is worded."""
        return self._row(name, Kind.STEM, stems, source, overrides)

    def button(self, name: str, labels: Patterns, source: str, **overrides: Unpack[RowFields]) -> EvidenceRow:
        """Match buttons by their whole labels."""
        return self._row(name, Kind.BUTTON, phrases(labels), source, overrides)

    def _row(self, name: str, kind: Kind, patterns: tuple[str, ...], source: str, overrides: RowFields) -> EvidenceRow:
        fields: RowFields = {**self._shared, **overrides}
        return EvidenceRow(id=self.id(name), kind=kind, patterns=patterns, source=source, **fields)


def _whole(patterns: Patterns) -> tuple[str, ...]:
    return patterns if isinstance(patterns, tuple) else (patterns,)


class TargetFields(TypedDict, total=False):
    """The fields of Target that a site may set."""

    selectors: tuple[str, ...]
    names: Patterns
    but_not: Patterns
    backstops: tuple[str, ...]
    within: tuple[str, ...]
    holding: Patterns
    lacking: Patterns
    showing: Showing
    disabled_too: bool
    seen: str


class Targets:
    """Makes targets of one site. Ids begin with the site's name."""

    def __init__(self, site: str, **shared: Unpack[TargetFields]) -> None:
        self._site, self._shared = site, shared

    def __call__(self, name: str, source: str, **overrides: Unpack[TargetFields]) -> Target:
        """Make one target; labels may be written as "one | another"."""
        fields: dict[str, Any] = {**self._shared, **overrides}
        for field in ("names", "but_not", "holding", "lacking"):
            fields[field] = phrases(fields.get(field, ()))
        return Target(id=f"{self._site}.{name}", source=source, **fields)
