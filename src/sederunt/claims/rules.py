"""Who is believed about what: precedence, freshness and contradiction, one row per kind of fact. Milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass

from sederunt.claims.claim import Fact, Source
from sederunt.model.budgets import count_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Trust:
    """How far one source is believed about one kind of fact.

    Rows stand in order of precedence.
    """

    source: Source
    lifetime_ms: int | None = None  # how long a claim stands that is not said again; None: until it is taken back
    quiet_ms: int | None = None  # speech is not believed once no sound was captured for so long
    resumes: bool = True  # … and is again as soon as there is sound; else once it is claimed anew


MINUTE = 60_000

TRUST: Mapping[Fact, tuple[Trust, ...]] = {
    Fact.HERE: (Trust(source=Source.PROTOCOL), Trust(source=Source.LIST), Trust(source=Source.TILES)),
    # Captured sound of a person's own comes first, and for that person alone.
    Fact.SPEAKS: (
        # Sites tell of changes alone: a lecture is one claim. One whose end was lost ends with the next, or in silence.
        Trust(source=Source.PROTOCOL, lifetime_ms=30 * MINUTE, quiet_ms=20_000),
        # A hand that is raised looks like speech, and goes on through silence.
        Trust(source=Source.MARKS, lifetime_ms=5 * MINUTE, quiet_ms=6_000, resumes=False),
        Trust(source=Source.STAGE, lifetime_ms=30 * MINUTE),
    ),
    Fact.SOUND: (Trust(source=Source.CAPTURE, lifetime_ms=10 * MINUTE),),
    Fact.SELF: (
        Trust(source=Source.PROTOCOL),
        Trust(source=Source.LIST),
        Trust(source=Source.CHAT),
        Trust(source=Source.ENTRY),
    ),
    Fact.SHARES: (Trust(source=Source.PROTOCOL), Trust(source=Source.LIST), Trust(source=Source.TILES)),
    Fact.COUNT: (Trust(source=Source.BANNER), Trust(source=Source.LIST)),
    Fact.RECORDED: (Trust(source=Source.PROTOCOL), Trust(source=Source.BANNER)),
}

# What a site says again of who speaks is claimed again after so long.
RENEW_MS = 30_000
# A stronger source that begins to tell who speaks knew of the moments before, too: what weaker ones said of them goes.
REACH_MS = 5_000
# Sound of nobody in particular for so long while the strongest source names nobody and a weaker one does.
UNEXPLAINED_MS = 8_000
# The strongest source said nothing for so long while a weaker one, of others, spoke this often.
OUTSPOKEN_MS, OUTSPOKEN_TIMES = 20_000, 3
# The strongest source went on naming one and the same person through so many pauses of the sound, beside several
# others: it does not follow what is heard.
STUCK_PAUSES = 4
# A list that lags by a minute must not put anybody out who is here, nor bring back who left.
CONTRADICTED_MS = 90_000
# A page's list of so many rows may be scrolled: who is not in it may be further down.
SHORT_LIST = 8
# Whom the page lists and the protocol does not know, while it knows as many as are listed: a lag, or another spelling.
NEWCOMER_MS = 30_000
# "You are the only one here" must stand so long.
ONLY_ONE_MS = 20_000
# Nobody's word confirms that anybody is here for so long: the page's list is to be looked at.
DOUBT_MS = 60_000
# A roster that lags shows who left for so long beside the new entry under which they are back already.
REPLACED_MS = 60_000
# Who was heard is here for so long, whatever lists say; sound on its way when somebody left comes a little late.
HEARD_MS, HEARD_LATE_MS = 60_000, 2_000
# A message that leaves people out is believed to be a full list once so many before it were, and once it is repeated.
FULL_LISTS, REPEATED_MS = 2, 3_000

# Somebody with a bot's name who spoke so lately is a person: notetakers say nothing, or announce themselves once.
TALKS_MS = 3 * MINUTE

# What is kept at most.
MOST_SUBJECTS = 5_000  # of one source on one kind of fact
MOST_PEOPLE = count_of("people")
MOST_UNBOUND = 200  # marks of somebody whom no source lists
MOST_STRANGERS = 200  # such people
MARKS_KEPT_MS = 15 * MINUTE  # marks in memory, once they are written
MOST_MARKS = (
    3_000  # of one person among them: three a second, faster than marks are read; only a page that lies has more
)

ORDER: Mapping[Fact, Mapping[Source, int]] = {
    fact: {row.source: place for place, row in enumerate(rows)} for fact, rows in TRUST.items()
}
SPEECH: Mapping[Source, Trust] = {row.source: row for row in TRUST[Fact.SPEAKS]}


def lifetime_of(fact: Fact, source: Source) -> int | None:
    """Return how long such a claim stands by the table; None where it does not end by itself."""
    return next((row.lifetime_ms for row in TRUST.get(fact, ()) if row.source is source), None)
