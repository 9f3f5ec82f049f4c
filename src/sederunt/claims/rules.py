"""Which source is believed about what: precedence, freshness, contradiction; a row per kind of fact. Milliseconds."""

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
    lifetime_ms: int | None = None  # how long a claim stands unless it is repeated; None: until it is withdrawn
    quiet_ms: int | None = None  # speech is not believed after this long without captured sound
    resumes: bool = True  # … and is again as soon as there is sound; otherwise once it is claimed anew


MINUTE = 60_000

TRUST: Mapping[Fact, tuple[Trust, ...]] = {
    Fact.HERE: (Trust(source=Source.PROTOCOL), Trust(source=Source.LIST), Trust(source=Source.TILES)),
    # A person's own captured sound comes first, but only for that person.
    Fact.SPEAKS: (
        # Sites only report changes: a lecture is one claim. A claim whose end was lost ends with the next, or in
        # silence.
        Trust(source=Source.PROTOCOL, lifetime_ms=30 * MINUTE, quiet_ms=20_000),
        # A raised hand looks like speech, and stays through silence.
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

# A site's repeated report of who speaks is claimed again after this time.
RENEW_MS = 30_000
# A stronger source that begins to report speech also covers this time before: weaker sources' claims about it go.
REACH_MS = 5_000
# Sound without an owner for this long while the strongest source names nobody and a weaker one does.
UNEXPLAINED_MS = 8_000
# The strongest source said nothing for this long while a weaker one named other people this often.
OUTSPOKEN_MS, OUTSPOKEN_TIMES = 20_000, 3
# The strongest source kept naming the same person through this many pauses of the sound, with several other people
# present: it does not follow the sound.
STUCK_PAUSES = 4
# A list that lags by a minute must not put anybody out who is here, nor bring back who left.
CONTRADICTED_MS = 90_000
# A page's list of this many rows may be scrolled: people who are not in it may be further down.
SHORT_LIST = 8
# A person whom the page lists and the protocol does not know, although it knows as many as are listed: a lag, or
# another spelling.
NEWCOMER_MS = 30_000
# "You are the only one here" must stand this long.
ONLY_ONE_MS = 20_000
# No source has confirmed for this long that anybody is here: the page's list is to be read.
DOUBT_MS = 60_000
# A roster that lags shows a person's old entry for this long beside the new one under which they have come back.
REPLACED_MS = 60_000
# A person who was heard counts as here for this long, whatever lists say; sound may arrive a little after they left.
HEARD_MS, HEARD_LATE_MS = 60_000, 2_000
# A message that leaves people out is taken for a full list if this many before it were, and once it is repeated.
FULL_LISTS, REPEATED_MS = 2, 3_000

# Somebody with a bot's name who spoke this recently is a person: notetakers are silent, or announce themselves once.
TALKS_MS = 3 * MINUTE

# Limits of memory.
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
    """Return how long such a claim stands by the table; None if it does not expire."""
    return next((row.lifetime_ms for row in TRUST.get(fact, ()) if row.source is source), None)
