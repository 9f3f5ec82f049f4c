"""What follows from claims: the faults of believing the first for ever, and each rule of the tables."""

from collections.abc import Iterable
from dataclasses import replace

from sederunt.claims.changes import PersonLeft, PersonSpoke, PersonTracked, RosterChange
from sederunt.claims.claim import Claim, Extent, Fact, Source, Subject
from sederunt.claims.fold import Fold
from sederunt.claims.marks import SpeechMarks
from sederunt.claims.register import is_bot_name
from sederunt.claims.rules import CONTRADICTED_MS, DOUBT_MS, MOST_PEOPLE, ONLY_ONE_MS, TALKS_MS, UNEXPLAINED_MS
from sederunt.model.participant import SpeakingKind

S = 1000
T = 1_000_000_000  # any moment


def here(*people: str, at: float = 0, source: Source = Source.PROTOCOL, kind: Extent = Extent.SNAPSHOT) -> Claim:
    """People as "key=name"; "*" before it marks the bot itself."""
    subjects = tuple(
        Subject(key=(parts := one.lstrip("*").partition("="))[0], name=parts[2] or parts[0], is_self=one[0] == "*")
        for one in people
    )
    return Claim(fact=Fact.HERE, source=source, kind=kind, at_ms=T + round(at * S), subjects=subjects)


def gone(key: str, at: float) -> Claim:
    subjects = (Subject(key=key),)
    return Claim(fact=Fact.HERE, source=Source.PROTOCOL, at_ms=T + round(at * S), subjects=subjects, holds=False)


def listed(*names: str, at: float = 0) -> Claim:
    return here(*names, at=at, source=Source.LIST)


def speaks(*keys: str, at: float, source: Source = Source.PROTOCOL) -> Claim:
    subjects = tuple(Subject(key=key) for key in keys)
    return Claim(fact=Fact.SPEAKS, source=source, kind=Extent.SNAPSHOT, at_ms=T + round(at * S), subjects=subjects)


def large(key: str, at: float) -> Claim:
    return Claim(
        fact=Fact.STAGE,
        source=Source.STAGE,
        kind=Extent.SNAPSHOT,
        at_ms=T + round(at * S),
        subjects=(Subject(key=key),),
    )


def sound(media: str, on: bool, at: float) -> Claim:
    return Claim(
        fact=Fact.SOUND, source=Source.CAPTURE, at_ms=T + round(at * S), subjects=(Subject(media=media),), holds=on
    )


def owns(media: str, key: str, at: float) -> Claim:
    subject = Subject(media=media, key=key)
    return Claim(fact=Fact.OWNS, source=Source.PROTOCOL, at_ms=T + round(at * S), subjects=(subject,))


def only_one(at: float) -> Claim:
    return Claim(fact=Fact.COUNT, source=Source.BANNER, at_ms=T + round(at * S), number=1)


def am(name: str, source: Source, at: float = 0) -> Claim:
    return Claim(fact=Fact.SELF, source=source, at_ms=T + round(at * S), subjects=(Subject(name=name),))


def folded(*claims: Claim, until: float | None = None) -> Fold:
    """The fold of these, a second of time after another."""
    fold = Fold()
    play(fold, claims, until)
    return fold


def play(fold: Fold, claims: Iterable[Claim], until: float | None = None) -> list[RosterChange]:
    changes: list[RosterChange] = []
    now = T
    for claim in claims:
        while now + S < claim.at_ms:
            now += S
            changes += fold.pass_time(now)
        changes += fold.take(claim)
    changes += fold.settle()
    while until is not None and now < T + until * S:
        now += S
        changes += fold.pass_time(now)
    return changes


def spoken(fold: Fold) -> dict[str, list[tuple[float, float | None]]]:
    """Name → marks in seconds."""
    found: dict[str, list[tuple[float, float | None]]] = {}
    for one in fold.participants:
        moments = [(event.timestamp - T) / S for event in one.events]
        ends: list[float | None] = [*moments[1::2], *([None] if len(moments) % 2 else [])]
        if moments:
            found[one.name] = list(zip(moments[::2], ends, strict=True))
    return found


def names_here(fold: Fold) -> list[str]:
    return sorted(one.name for one in fold.participants if one.key in fold.company)


# --- the faults that were seen ------------------------------------------------------------------------


def test_whoever_is_large_before_the_protocol_tells_of_speakers_keeps_no_marks_of_others_speech() -> None:
    """Zoom in speaker view: the first claim was never withdrawn."""
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        large("Bob", 0),
        large("Ada", 1),
        sound("mix", True, 5),
        speaks("2", at=5.6),
        sound("mix", False, 20),
        speaks(at=20.5),
        sound("mix", True, 25),
        speaks("1", at=25.5),
        sound("mix", False, 30),
        speaks(at=30.5),
    )
    assert spoken(fold) == {"Bob": [(5.6, 20.5)], "Ada": [(25.5, 30.5)]}
    _, withdrawn = fold.take_changed()
    assert withdrawn == {"1": T + 5 * S}


def test_whom_the_stronger_source_names_too_keeps_the_mark_without_a_break() -> None:
    large_ones = (large("Bob", 0), large("Ada", 1))
    fold = folded(here("1=Ada", "2=Bob"), *large_ones, sound("mix", True, 5), speaks("1", at=5.6), speaks(at=9))
    assert spoken(fold) == {"Ada": [(5, 9)]}


def test_whom_a_page_told_of_first_and_who_is_renamed_is_one_person_who_stays() -> None:
    """Zoom: tiles, known by name alone, came before the roster; then the one tile was gone, as was the person."""
    fold = folded(
        here("Ada", "Bob", source=Source.TILES),
        here("1=Ada", "2=Bob", at=1, kind=Extent.SEVERAL),
        speaks("2", at=5),
        speaks(at=9),
        here("2=Robert (he/him)", at=10, kind=Extent.SEVERAL),
        here("Ada", "Robert (he/him)", at=10.3, source=Source.TILES),
    )
    changes = play(fold, [speaks("2", at=12), speaks(at=14)], until=30)
    assert spoken(fold) == {"Robert (he/him)": [(5, 9), (12, 14)]}
    assert names_here(fold) == ["Ada", "Robert (he/him)"]
    assert not [change for change in changes if isinstance(change, PersonTracked | PersonLeft)]


def test_no_two_events_of_a_person_share_a_moment() -> None:
    """Meet: of a start and a stop of one moment the store kept the start alone, so the mark had no end."""
    marks = SpeechMarks()
    for start_ms, stop_ms in ((5, 9), (8, 8), (20, 20)):
        marks.start("Ada", Source.CAPTURE, start_ms)
        marks.stop("Ada", stop_ms)
    assert [event.timestamp for event in marks.events("Ada")] == [5, 9, 10, 11, 20, 21]


def test_a_full_list_that_leaves_somebody_out_means_that_they_left() -> None:
    """Meet: the periodic full list omits who left, and nothing else tells of it."""
    fold = folded(here("*0=Bot", "1=Ada", "2=Bob"), here("*0=Bot", "1=Ada", at=30))
    assert names_here(fold) == ["Ada"]
    assert fold.why()["2"]["left"].rule == "left out of a full list"
    play(fold, [here("*0=Bot", at=60)])
    assert fold.company_seen
    assert not fold.has_company


def test_messages_that_were_full_lists_before_are_full_lists_when_they_leave_people_out_twice() -> None:
    def told(*people: str, at: float) -> Claim:
        return here(*people, at=at, kind=Extent.SEVERAL)

    fold = folded(*(told("*0=Bot", "1=Ada", "2=Bob", at=10 * n) for n in range(4)), told("*0=Bot", at=40))
    assert names_here(fold) == ["Ada", "Bob"]  # it may be a change of the bot alone
    play(fold, [told("*0=Bot", at=50)])
    assert names_here(fold) == []


def closed(at: float) -> Claim:
    return Claim(fact=Fact.HERE, source=Source.LIST, kind=Extent.CLOSED, at_ms=T + round(at * S))


def test_who_left_before_messages_were_known_to_be_full_lists_is_gone_by_a_look_at_the_page_s_list() -> None:
    """Meet: the list that had them last was the first of all, and those since leave them out without a word."""
    first = [here("*0=Bot", "1=Ada"), here("*0=Bot", "1=Ada", at=1, kind=Extent.SEVERAL)]
    fold = folded(*first, here("*0=Bot", at=2, kind=Extent.SEVERAL))
    assert not fold.doubts_company  # it may be a change of the bot alone
    play(fold, [here("*0=Bot", at=6, kind=Extent.SEVERAL)])
    assert names_here(fold) == ["Ada"]
    assert fold.doubts_company
    play(fold, [listed("*Bot", at=8), closed(10)])
    assert not fold.has_company
    assert fold.company_seen
    assert fold.why()["1"]["left"].rule == "not listed for long"


def test_whom_messages_leave_out_for_long_is_gone_where_the_page_has_no_list() -> None:
    told = [here("*0=Bot", at=at, kind=Extent.SEVERAL) for at in range(2, 120, 4)]
    assert not folded(here("*0=Bot", "1=Ada"), *told).has_company
    shown = here("*0=Bot", "Ada", at=1, source=Source.TILES)
    assert names_here(folded(here("*0=Bot", "1=Ada"), shown, *told)) == ["Ada"]


def test_whom_messages_leave_out_and_the_list_has_stays() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), *(here("*0=Bot", at=at, kind=Extent.SEVERAL) for at in range(2, 30, 2)))
    assert fold.doubts_company
    play(fold, [listed("*Bot", "Ada", at=30), closed(32), here("*0=Bot", at=40, kind=Extent.SEVERAL)], until=60)
    assert names_here(fold) == ["Ada"]


def test_whose_going_nobody_told_is_gone_by_two_looks_at_the_page_s_list() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), until=70)
    assert fold.doubts_company
    play(fold, [listed("*Bot", at=80), closed(82)], until=170)
    assert names_here(fold) == ["Ada"]  # one look may be at a list that lags
    play(fold, [listed("*Bot", at=175), closed(177)])
    assert not fold.has_company


def test_people_of_whom_nothing_is_told_are_doubted_but_not_those_who_are_shown_or_heard() -> None:
    known = here("*0=Bot", "1=Ada")
    assert folded(known, until=DOUBT_MS / S + 6).doubts_company
    assert not folded(known, until=DOUBT_MS / S - 6).doubts_company
    assert not folded(known, here("Ada", at=1, source=Source.TILES), until=600).doubts_company
    assert not folded(known, listed("*Bot", "Ada", at=1), until=600).doubts_company
    assert not folded(known, owns("m", "1", 1), sound("m", True, 2), until=300).doubts_company
    assert not folded(here("*0=Bot"), until=600).doubts_company


def test_while_everybody_counts_as_gone_who_came_without_a_word_is_found_on_the_list() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), gone("1", 5))
    assert not fold.has_company
    assert fold.doubts_company
    play(fold, [listed("*Bot", "Cy", at=8), closed(10)], until=45)
    assert names_here(fold) == ["Cy"]


def test_whom_looks_at_the_list_confirm_stays_however_silent() -> None:
    looks = [claim for at in range(70, 1000, 95) for claim in (listed("*Bot", "Ada", at=at), closed(at + 2))]
    assert names_here(folded(here("*0=Bot", "1=Ada"), *looks, until=1100)) == ["Ada"]


def test_who_came_between_two_looks_at_the_list_stays() -> None:
    bob = here("2=Bob", at=120, kind=Extent.DELTA)
    fold = folded(
        here("*0=Bot", "1=Ada"),
        listed("*Bot", "Ada", at=70),
        closed(72),
        bob,
        listed("*Bot", "Ada", at=165),
        closed(167),
    )
    assert names_here(fold) == ["Ada", "Bob"]


def test_a_bot_that_was_let_in_had_company_though_nobody_was_ever_listed() -> None:
    """Whoever let it in may be gone before the first list comes."""
    let_in = Claim(fact=Fact.LET_IN, source=Source.ENTRY, at_ms=T)
    assert not folded(let_in).company_seen  # no list was read: who is left cannot be told
    fold = folded(let_in, here("*0=Bot", at=2))
    assert fold.company_seen
    assert not fold.has_company
    assert not folded(here("*0=Bot", at=2)).company_seen  # came first, and waits for its people


def test_a_removal_or_an_end_that_is_taken_back_afterwards_was_none() -> None:
    for fact in (Fact.REMOVED, Fact.OVER):
        end = Claim(fact=fact, source=Source.PROTOCOL, at_ms=T + 2 * S)
        back = Claim(fact=fact, source=Source.ENTRY, at_ms=T + 3 * S, holds=False)
        assert fact not in folded(end, back).told
        assert fact in folded(replace(back, at_ms=T + S), end).told
        again = folded(end, back, replace(end, at_ms=T + 4 * S))
        assert again.told[fact].since_ms == T + 4 * S


def test_a_roster_that_is_told_after_the_end_of_a_meeting_is_of_one_that_goes_on() -> None:
    """The end of a first connection came late, while the second stood."""
    over = Claim(fact=Fact.OVER, source=Source.PROTOCOL, at_ms=T + 2 * S)
    removed = replace(over, fact=Fact.REMOVED)
    later = here("*0=Bot", "1=Ada", at=3)
    assert Fact.OVER not in folded(over, later).told
    assert Fact.REMOVED in folded(removed, later).told, "whose entry a roster may go on to show for a while"
    assert Fact.OVER in folded(here("*0=Bot", at=1), over, gone("1", 3), listed("Ada", at=4)).told


def test_changes_of_single_people_put_nobody_out() -> None:
    everyone = ("*0=Bot", "1=Ada", "2=Bob")
    fold = folded(
        *(
            here(*who, at=5 * n, kind=Extent.SEVERAL)
            for n, who in enumerate([everyone, everyone, ["1=Ada"], ["*0=Bot"]])
        ),
        *(here("1=Ada", at=30 + n, kind=Extent.SEVERAL) for n in range(5)),
    )
    assert names_here(fold) == ["Ada", "Bob"]


def test_the_page_that_says_nobody_else_is_here_is_believed_after_a_while() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), only_one(10), until=25)
    assert names_here(fold) == ["Ada"]
    play(fold, [], until=40 + ONLY_ONE_MS / S)
    assert not fold.has_company
    assert fold.why()["1"]["left"].rule == "only one here"


def test_a_counter_that_is_wrong_puts_nobody_out_whom_the_protocol_names_afterwards() -> None:
    fold = folded(here("*0=Bot", "1=Ann", "2=Eve"), speaks("1", at=4), only_one(7))
    play(fold, (speaks(str(1 + n % 2), at=10 + n * 10) for n in range(20)), until=210)
    assert names_here(fold) == ["Ann", "Eve"]


def source_speaks(media: str, at: float) -> Claim:
    return replace(speaks(at=at), subjects=(Subject(media=media),))


def test_whoever_a_source_belongs_to_spoke_from_when_it_was_said_to_speak() -> None:
    fold = folded(here("*0=Bot", "1=Ada", "2=Bob"), speaks("1", at=2), source_speaks("20", 5))
    assert marks(fold) == {"Ada": [2, 5], "Bob": []}
    changes = play(fold, [owns("20", "2", 8)], until=8)
    assert [(one.participant.name, one.speaking, one.at_ms) for one in changes if isinstance(one, PersonSpoke)] == [
        ("Bob", True, T + 5 * S)
    ]
    play(fold, [speaks("2", at=9), speaks(at=11)], until=12)
    assert marks(fold) == {"Ada": [2, 5], "Bob": [5, 11]}


def test_a_weaker_source_names_who_speaks_where_the_stronger_one_knows_no_more_than_the_source() -> None:
    fold = folded(here("*0=Bot", "1=Ada", "2=Bob"), owns("mix", "", 1), speaks("1", at=2), sound("mix", True, 2))
    play(fold, [source_speaks("20", 5), speaks("2", at=5, source=Source.MARKS)], until=5 + UNEXPLAINED_MS / S + 2)
    assert marks(fold)["Bob"]


def marks(fold: Fold) -> dict[str, list[float]]:
    return {one.name: [(event.timestamp - T) / S for event in one.events] for one in fold.participants}


def test_who_speaks_is_company_whatever_their_name() -> None:
    """ "Bot" is a surname; a notetaker says nothing, or announces itself once."""
    fold = folded(here("*0=Minutes", "1=Eve", "2=Jan Bot", "3=Acme Notetaker"), speaks("3", at=2), gone("1", 20))
    play(fold, [speaks(at=12), speaks("2", at=30), speaks(at=40)], until=60)
    assert fold.has_company
    play(fold, [], until=40 + TALKS_MS / S + 2)
    assert not fold.has_company


def test_a_voice_is_nobodys_who_is_not_here() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), owns("11", "1", 1), here("*0=Bot", at=10), sound("11", True, 20), until=21)
    assert names_here(fold) == ["Ada"]
    play(fold, [sound("11", False, 22)], until=120)
    assert names_here(fold) == []


def test_a_signed_in_bot_knows_itself_by_the_row_that_says_you() -> None:
    fold = folded(here("7=Acme Account", "1=Ada"), listed("*Acme Account", "Ada", at=3), gone("1", 60))
    assert [one.name for one in fold.participants] == ["Ada"]
    assert not fold.has_company
    assert fold.own_keys == {"7"}


def test_what_was_written_of_a_bot_that_did_not_know_itself_yet_is_taken_back() -> None:
    fold = folded(am("Scribe", Source.ENTRY), here("1=Ada", "9=Recorder Account"), until=3)
    assert [one.name for one in fold.take_changed()[0]] == ["Ada", "Recorder Account"]
    told = play(fold, [listed("*Recorder Account", "Ada", at=61)], until=70)
    assert fold.take_changed() == ((), {"9": 0})
    assert [(type(change), change.participant.name) for change in told] == [(PersonLeft, "Recorder Account")]


def test_a_bot_knows_itself_by_its_own_line_in_the_chat_or_by_the_name_shown_before_the_knock() -> None:
    for source in (Source.CHAT, Source.ENTRY):
        fold = folded(here("7=Acme Account", "1=Ada"), am("Acme Account", source, 5), gone("1", 60))
        assert [one.name for one in fold.participants] == ["Ada"]
        assert not fold.has_company


# --- presence ------------------------------------------------------------------------


def test_a_participant_is_announced_once_and_again_when_they_are_back() -> None:
    fold = Fold()
    told = play(fold, [here("1=Ada"), here("1=Ada", at=5), gone("1", 9), here("1=Ada", at=12, kind=Extent.DELTA)])
    assert [type(change) for change in told] == [PersonTracked, PersonLeft, PersonTracked]


def test_somebody_without_a_name_is_announced_once_they_have_one() -> None:
    fold = Fold()
    assert play(fold, [Claim(fact=Fact.HERE, source=Source.PROTOCOL, at_ms=T, subjects=(Subject(key="1"),))]) == []
    (told,) = play(fold, [here("1=Ada", at=2, kind=Extent.DELTA)])
    assert isinstance(told, PersonTracked)
    assert told.participant.name == "Ada"


def test_a_list_that_lags_brings_nobody_back_and_puts_nobody_out() -> None:
    fold = folded(
        here("0=Bot", "1=Ada", "2=Bob"),
        listed("Bot", "Ada", "Bob", at=1),
        gone("2", 10),
        here("3=Cy", at=12, kind=Extent.DELTA),
        until=60,
    )
    assert names_here(fold) == ["Ada", "Cy"]


def test_who_lost_a_delta_comes_and_goes_by_the_list_in_the_end() -> None:
    fold = folded(here("*0=Bob B", "1=Ada"), listed("*Bob B", "Ada", at=1), listed("*Bob B", "Cy", at=10), until=35)
    assert names_here(fold) == ["Ada"]
    play(fold, [], until=45)
    assert names_here(fold) == ["Ada", "Cy"]
    play(fold, [], until=15 + CONTRADICTED_MS / S)
    assert names_here(fold) == ["Cy"]
    assert fold.why()["1"]["left"].rule == "not listed for long"


def test_a_long_list_may_be_scrolled() -> None:
    people = [f"{n}=P{n}" for n in range(100)]
    fold = folded(here("*b=Bot", *people), listed("*Bot", *(f"P{n}" for n in range(20)), at=1), until=300)
    assert len(fold.company) == 100


def test_a_list_shown_before_the_protocol_spoke_is_of_the_same_people() -> None:
    fold = Fold()
    told = play(fold, [listed("Ada", "Bob"), here("1=Ada", "2=Bob", at=2), gone("2", 9)])
    assert [type(change) for change in told] == [PersonTracked, PersonTracked, PersonLeft]
    assert [one.key for one in fold.participants] == ["Ada", "Bob"]


def test_the_page_s_list_puts_nobody_out_once_it_is_closed() -> None:
    fold = folded(
        listed("*Bot", "Ada"), Claim(fact=Fact.HERE, source=Source.LIST, kind=Extent.CLOSED, at_ms=T + S), until=600
    )
    assert names_here(fold) == ["Ada"]


def test_a_tile_of_before_the_list_opened_keeps_nobody_here_whom_the_list_omits() -> None:
    tiles_closed = Claim(fact=Fact.HERE, source=Source.TILES, kind=Extent.CLOSED, at_ms=T + 2 * S)
    tiles = here("*Bot", "Ada", "Bob", at=1, source=Source.TILES)
    fold = folded(tiles, tiles_closed, listed("*Bot", "Ada", "Bob", at=2))
    assert names_here(fold) == ["Ada", "Bob"]
    play(fold, [listed("*Bot", "Ada", at=4)])
    assert names_here(fold) == ["Ada"]


def test_who_has_no_tile_is_here_all_the_same() -> None:
    people = [f"{n}=P{n}" for n in range(100)]
    fold = folded(here(*people), here(*people[:10], at=2, source=Source.TILES), here("3=P3", at=5, source=Source.TILES))
    assert len(fold.company) == 100


def test_two_people_of_one_name_and_two_tabs_of_one_are_told_apart_by_keys() -> None:
    fold = folded(here("1=Ada", "2=Ada"), listed("Ada", at=1), gone("2", 5))
    assert names_here(fold) == ["Ada"]
    assert len(fold.participants) == 2


def test_who_is_renamed_stays_one_person() -> None:
    fold = folded(here("1=Ada"), here("1=Ada Lovelace", at=5, kind=Extent.DELTA))
    assert [(one.key, one.name) for one in fold.participants] == [("1", "Ada Lovelace")]


def test_a_name_spelt_otherwise_on_the_page_is_the_same_person() -> None:
    fold = folded(here("*0=Bot", "1=Ada Lovelace"), listed("*Bot", "Ada L.", at=1), until=300)
    assert names_here(fold) == ["Ada Lovelace"]


def test_other_bots_are_participants_but_no_company() -> None:
    fold = folded(here("n=Acme Notetaker"))
    assert [one.name for one in fold.participants] == ["Acme Notetaker"]
    assert not fold.company
    assert not is_bot_name("Abbott Botham")


def test_a_page_without_any_list_cannot_tell_who_is_left() -> None:
    fold = folded(speaks("Ada", at=1), speaks(at=3))
    assert not fold.company_seen


def test_whom_an_earlier_page_knew_by_name_alone_is_the_same_participant() -> None:
    fold = Fold()
    fold.recall(folded(listed("Ada")).participants)
    play(fold, [here("8=Ada", "9=Grace")])
    assert [one.key for one in fold.participants] == ["Ada", "9"]


def test_whom_an_earlier_page_knew_by_key_is_the_same_participant_though_the_page_names_them_first() -> None:
    fold = Fold()
    fold.recall(folded(here("8=Ada", "9=Grace")).participants)
    play(fold, [here("Ada", at=1, source=Source.TILES), here("8=Ada", "9=Grace", at=2), speaks("8", at=3)], until=9)
    assert [one.key for one in fold.participants] == ["8", "9"]
    assert spoken(fold).keys() == {"Ada"}


def test_whom_a_page_names_first_and_the_protocol_by_a_new_key_is_who_was_here_before() -> None:
    fold = Fold()
    fold.recall(folded(here("8=Ada")).participants)
    play(fold, [here("Ada", at=1, source=Source.TILES), here("7=Ada", at=2), gone("7", 9)], until=12)
    assert [one.key for one in fold.participants] == ["8"]
    assert not fold.company


def test_who_comes_back_under_another_key_is_one_participant() -> None:
    fold = folded(here("1=Ada", "2=Bob"), gone("1", 3), here("3=Ada", at=6, kind=Extent.DELTA), owns("33", "3", 6))
    assert [(one.key, one.name) for one in fold.participants] == [("1", "Ada"), ("2", "Bob")]
    assert fold.company == {"1", "2"}
    assert fold.sources == {"33": "1"}
    play(fold, [gone("3", 9)])
    assert fold.company == {"2"}
    play(fold, [here("4=Ada", at=12, kind=Extent.DELTA)])
    assert fold.company == {"1", "2"}
    assert len(fold.participants) == 2


def test_two_accounts_of_one_name_are_two_though_the_second_came_when_the_first_had_left() -> None:
    def enters(key: str, at: int, *, lasting: bool) -> Claim:
        one = Subject(key=key, name="Ada", lasting=lasting)
        return Claim(fact=Fact.HERE, source=Source.PROTOCOL, at_ms=T + at * S, subjects=(one,))

    accounts = folded(enters("8:orgid:1", 0, lasting=True), gone("8:orgid:1", 3), enters("8:orgid:2", 6, lasting=True))
    assert [one.key for one in accounts.participants] == ["8:orgid:1", "8:orgid:2"]
    guest = folded(enters("8:orgid:1", 0, lasting=True), gone("8:orgid:1", 3), enters("8:guest:2", 6, lasting=False))
    assert [one.key for one in guest.participants] == ["8:orgid:1"]


def test_who_comes_back_while_the_other_of_that_name_is_here_is_somebody_else() -> None:
    fold = folded(here("1=Ada"), gone("1", 3), here("3=Ada", at=6, kind=Extent.DELTA))
    play(fold, [here("1=Ada", at=8, kind=Extent.DELTA)], until=20)
    assert fold.company == {"1", "3"}


def test_who_is_back_before_they_were_seen_to_leave_is_one_participant_with_all_they_said() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        *(owns("t1", "1", 0), sound("t1", True, 1), sound("t1", False, 4)),
        *(here("7=Ada", at=20, kind=Extent.DELTA), owns("t9", "7", 20), sound("t9", True, 21)),
        until=30,
    )
    fold.take_changed()
    told = play(fold, [gone("1", 40)], until=45)
    assert [(one.key, one.name) for one in fold.participants] == [("1", "Ada"), ("2", "Bob")]
    assert fold.company == {"1", "2"}
    assert spoken(fold) == {"Ada": [(1, 4), (21, None)]}
    assert fold.sources["t9"] == "1"
    assert [type(change) for change in told] == [PersonLeft, PersonSpoke, PersonLeft, PersonTracked, PersonSpoke]
    changed, deleted = fold.take_changed()
    assert ([one.key for one in changed], deleted) == (["1"], {"7": 0})
    play(fold, [sound("t9", False, 50), gone("7", 55)], until=60)
    assert fold.company == {"2"}
    assert spoken(fold) == {"Ada": [(1, 4), (21, 50)]}


def test_two_of_one_name_who_both_spoke_or_of_whom_one_was_here_for_long_stay_two() -> None:
    both = (here("*0=Bot", "1=Ada"), here("7=Ada", at=20, kind=Extent.DELTA))
    voice = (owns("t1", "1", 0), sound("t1", True, 25), sound("t1", False, 28))
    assert len(folded(*both, *voice, gone("1", 40), until=45).participants) == 2
    assert len(folded(*both, gone("1", 90), until=95).participants) == 2
    assert len(folded(*both, gone("7", 40), until=45).participants) == 2
    third = here("8=Ada", at=22, kind=Extent.DELTA)
    assert len(folded(*both, third, gone("1", 40), until=45).participants) == 3


def test_two_of_one_name_stay_two_on_the_next_page() -> None:
    fold = Fold()
    fold.recall(folded(here("1=Sam", "2=Sam")).participants)
    play(fold, [here("2=Sam", "1=Sam", "3=Sam", at=1)], until=5)
    assert fold.company == {"1", "2", "3"}


# --- speech ------------------------------------------------------------------------


def test_own_sound_is_believed_before_any_display() -> None:
    fold = folded(
        here("1=Ada"), owns("11", "1", 0), sound("11", True, 1), speaks("1", at=2), sound("11", False, 3), until=9
    )
    assert spoken(fold) == {"Ada": [(1, 3)]}


def test_speech_heard_before_its_owner_is_known_counts_from_when_it_began() -> None:
    fold = folded(here("1=Ada"), sound("11", True, 5), owns("11", "1", 8), sound("11", False, 9))
    assert spoken(fold) == {"Ada": [(5, 9)]}


def test_on_a_later_page_the_stage_waits_for_the_protocol_that_told_of_people_before() -> None:
    fold = Fold()
    fold.recall(folded(here("1=Ada", "2=Bob")).participants)
    told = [here("1=Ada", "2=Bob"), large("Bob", 1), sound("t", True, 1), speaks("1", at=8)]
    play(fold, told, until=9)
    assert spoken(fold) == {"Ada": [(8, None)]}


def test_on_a_later_page_the_stage_is_believed_where_the_protocol_stays_silent() -> None:
    fold = Fold()
    fold.recall(folded(here("1=Ada", "2=Bob")).participants)
    play(fold, [here("1=Ada", "2=Bob"), large("Ada", 0), large("Bob", 1), sound("t", True, 1)], until=14)
    assert spoken(fold).keys() == {"Bob"}


def test_a_track_that_changes_hands_while_it_sounds_ends_the_speech_of_who_had_it() -> None:
    fold = folded(
        here("1=Ada", "2=Bob"),
        owns("t", "1", 0),
        sound("t", True, 1),
        owns("t", "", 2),
        owns("t", "2", 2.1),
        sound("t", False, 3),
    )
    assert spoken(fold) == {"Ada": [(1, 2)], "Bob": [(2, 3)]}


def test_speech_shown_before_anybody_is_listed_is_theirs_from_when_it_began() -> None:
    fold = Fold()
    told = play(fold, [speaks("1", at=1), speaks(at=3), speaks("1", at=4), here("1=Ada", at=5), speaks(at=6)])
    assert [change.speaking for change in told if isinstance(change, PersonSpoke)] == [True, False, True, False]
    assert spoken(fold) == {"Ada": [(1, 3), (4, 6)]}


def test_a_hand_that_is_raised_does_not_speak_for_long() -> None:
    """SpeechMarks that outlive a silence are no marks of speech, however often others come and go beside them."""
    marks = Source.MARKS
    fold = folded(
        here("1=Ada", "2=Bob"),
        sound("mix", True, 1),
        speaks("2", at=1, source=marks),
        speaks("1", "2", at=2, source=marks),
        sound("mix", False, 4),
        speaks("1", at=5, source=marks),
        sound("mix", True, 15),
        speaks("1", "2", at=15, source=marks),
        speaks("1", at=20, source=marks),
        sound("mix", False, 20),
        until=40,
    )
    assert spoken(fold)["Bob"] == [(1, 5), (15, 20)]
    ((start, end),) = spoken(fold)["Ada"]
    assert (start, end) == (2, 10)


def test_a_mark_that_outlived_a_silence_gives_way_to_what_was_said_since() -> None:
    """A browser that stops sending in mid-sentence: no site tells that it is silent, and its mark would stay."""

    def talks(key: str, at: float, *, holds: bool = True) -> Claim:
        return replace(speaks(key, at=at), kind=Extent.DELTA, holds=holds)

    silent = [here("1=Ada", "2=Bob"), sound("mix", True, 1), talks("1", 1), sound("mix", False, 4)]
    fold = folded(*silent, sound("mix", True, 40), talks("2", 40.5), sound("mix", False, 50), until=50)
    assert spoken(fold)["Bob"] == [(40.5, None)]
    assert all(end is not None and end <= 40.5 for _, end in spoken(fold)["Ada"])
    # Where nobody is named anew, whoever was named last goes on: some sites tell of changes alone.
    fold = folded(*silent, sound("mix", True, 40), until=45)
    assert spoken(fold)["Ada"][-1] == (40, None)


def test_a_hand_that_was_raised_before_anything_was_heard_does_not_speak() -> None:
    marks = Source.MARKS
    fold = folded(
        here("1=Ada", "2=Bob"),
        speaks("1", at=1, source=marks),
        sound("mix", True, 20),
        speaks("1", "2", at=20, source=marks),
        speaks("1", at=24, source=marks),
        sound("mix", False, 24),
        until=30,
    )
    assert spoken(fold) == {"Ada": [(1, 20)], "Bob": [(20, 24)]}


def test_who_is_shown_speaking_while_their_own_source_is_silent_does_not_speak() -> None:
    marks = Source.MARKS
    known = [here("1=Ada", "2=Bob"), owns("11", "1", 0), owns("22", "2", 0)]
    fold = folded(*known, sound("22", True, 1), speaks("1", at=2, source=marks), sound("22", False, 5), until=9)
    assert spoken(fold) == {"Bob": [(1, 5)]}
    # Sound of nobody's may be theirs: a source that was handed to them may not be told of.
    fold = folded(
        *known, sound("22", True, 1), sound("22", False, 2), sound("33", True, 3), speaks("1", at=3, source=marks)
    )
    assert spoken(fold)["Ada"] == [(3, None)]


def test_a_protocol_that_falls_silent_yields_to_the_page_while_sound_goes_on() -> None:
    fold = folded(
        here("1=Ada", "2=Bob"),
        speaks("1", at=1),
        speaks(at=3),
        sound("mix", True, 10),
        speaks("2", at=10.5, source=Source.MARKS),
        until=30,
    )
    assert spoken(fold)["Bob"][0][0] < 25
    assert fold.why()["2"]["spoke"].source is Source.MARKS


def test_nobody_speaks_for_ever_by_a_claim_that_is_never_taken_back() -> None:
    fold = folded(here("1=Ada"), speaks("1", at=1), until=1900)
    assert not fold.someone_speaks


def test_who_leaves_stops_speaking() -> None:
    fold = Fold()
    told = play(fold, [here("1=Ada"), speaks("1", at=1), gone("1", 5)])
    assert [type(change) for change in told] == [PersonTracked, PersonSpoke, PersonSpoke, PersonLeft]
    assert fold.participants[0].events[-1].type is SpeakingKind.STOPPED


def test_when_the_stay_is_over_nobody_speaks() -> None:
    fold = folded(here("1=Ada"), speaks("1", at=1))
    (told,) = fold.hush(T + 2 * S)
    assert isinstance(told, PersonSpoke)
    assert fold.hush(T + 3 * S) == []


def test_what_could_not_be_written_is_still_to_be_written() -> None:
    fold = folded(here("1=Ada"), speaks("1", at=1))
    changed, _ = fold.take_changed()
    assert [one.name for one in changed] == ["Ada"]
    assert fold.take_changed() == ((), {})
    fold.keep_changed(changed, {"1": T})
    assert fold.take_changed() == (changed, {"1": T})


def test_hours_of_a_large_room_stay_small() -> None:
    """SpeechMarks that are written and long past are dropped; who was ever here and why is kept."""
    people = [f"{n}=P{n}" for n in range(100)]
    fold = folded(here(*people))
    for second in range(0, 3600, 4):
        fold.take(speaks(str(second % 100), at=second))
        fold.pass_time(T + (second + 1) * S)
    assert sum(len(one.events) for one in fold.participants) < 1_000
    assert len(fold.why()) == 100


def test_a_page_that_tells_of_ever_new_people_fills_no_memory() -> None:
    fold = Fold()
    for n in range(0, 12_000, 3000):
        fold.take(here(*(f"{m}=P{m}" for m in range(n, n + 3000)), at=n))
    fold.settle()
    assert len(fold.participants) <= MOST_PEOPLE


# --- what sites by other hands may do ------------------------------------------------------------------------


def test_who_is_renamed_in_mid_sentence_goes_on_speaking() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        sound("mix", True, 1),
        speaks("1", at=1),
        here("1=Ada Lovelace", at=3, kind=Extent.DELTA),
        sound("mix", False, 6),
        speaks(at=6),
    )
    assert spoken(fold) == {"Ada Lovelace": [(1, 6)]}
    assert names_here(fold) == ["Ada Lovelace", "Bob"]


def test_who_comes_back_under_a_new_id_is_here_once_and_keeps_what_they_said() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        owns("t1", "1", 0),
        sound("t1", True, 1),
        sound("t1", False, 4),
        gone("1", 10),
        here("7=Ada", at=20, kind=Extent.DELTA),
        owns("t9", "7", 20),
        sound("t9", True, 21),
        sound("t9", False, 25),
        until=30,
    )
    assert names_here(fold) == ["Ada", "Bob"]
    said = [event.timestamp - T for one in fold.participants if one.name == "Ada" for event in one.events]
    assert sorted(said) == [1 * S, 4 * S, 21 * S, 25 * S]


def test_who_comes_back_under_a_new_id_though_nobody_said_that_they_left() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        here("*0=Bot", "2=Bob", "7=Ada", at=20),
        until=30,
    )
    assert names_here(fold) == ["Ada", "Bob"]


def test_two_of_one_name_of_whom_one_speaks_and_the_other_leaves() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Ada"),
        owns("t1", "1", 0),
        owns("t2", "2", 0),
        sound("t2", True, 1),
        sound("t2", False, 4),
        gone("1", 6),
        until=10,
    )
    assert names_here(fold) == ["Ada"]
    assert {one.key: len(one.events) for one in fold.participants if one.name == "Ada"} == {"1": 0, "2": 2}


def test_a_mapping_that_was_wrong_is_put_right_for_what_is_said_from_then_on() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        owns("t", "1", 0),
        sound("t", True, 1),
        sound("t", False, 3),
        owns("t", "2", 10),
        sound("t", True, 11),
        sound("t", False, 14),
    )
    assert spoken(fold)["Bob"] == [(11, 14)]


def test_a_mapping_to_somebody_whom_no_list_knows_names_nobody() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), owns("t", "99", 0), sound("t", True, 1), sound("t", False, 3), until=9)
    assert spoken(fold) == {}


def test_the_bots_own_echo_in_the_mix_is_nobodys_speech() -> None:
    fold = folded(here("*0=Bot", "1=Ada"), sound("mix", True, 1), speaks("0", at=1), speaks(at=3), until=9)
    assert spoken(fold) == {}


def test_a_tile_that_vanishes_while_its_person_speaks_ends_nothing() -> None:
    fold = folded(
        listed("*Bot", "Ada", "Bob"),
        here("Ada", "Bob", at=1, source=Source.TILES),
        sound("mix", True, 2),
        speaks("Ada", at=2, source=Source.MARKS),
        here("Bob", at=3, source=Source.TILES),
        sound("mix", False, 8),
        speaks(at=8, source=Source.MARKS),
    )
    assert spoken(fold) == {"Ada": [(2, 8)]}
    assert "Ada" in names_here(fold)


def test_someone_large_who_shares_a_picture_does_not_speak_while_marks_name_another() -> None:
    fold = folded(
        listed("*Bot", "Ada", "Bob"),
        large("Bob", 1),
        sound("mix", True, 2),
        speaks("Ada", at=2, source=Source.MARKS),
        sound("mix", False, 8),
        speaks(at=8, source=Source.MARKS),
    )
    assert spoken(fold) == {"Ada": [(2, 8)]}


def test_a_list_that_lags_behind_a_return_under_a_new_id_puts_nobody_out() -> None:
    fold = folded(
        here("*0=Bot", "1=Ada", "2=Bob"),
        listed("*Bot", "Ada", "Bob", at=1),
        gone("1", 10),
        listed("*Bot", "Bob", at=30),
        here("7=Ada", at=31, kind=Extent.DELTA),
        listed("*Bot", "Bob", at=60),
        until=100,
    )
    assert names_here(fold) == ["Ada", "Bob"]


def test_whom_the_protocol_names_as_speaking_after_it_said_that_they_left_is_here_where_the_page_shows_them() -> None:
    """A word on somebody's leaving that came late, or twice: what they said from then on was nobody's."""
    told = (
        here("*0=Bot", "1=Ada", "2=Bob"),
        here("Ada", "Bob", "Bot", at=1, source=Source.TILES),
        speaks("2", at=5),
        gone("2", 8),
        speaks("1", at=12),
    )
    fold = folded(*told, speaks("2", at=20), speaks(at=40), until=50)
    assert names_here(fold) == ["Ada", "Bob"]
    (bob,) = (one for one in fold.participants if one.name == "Bob")
    assert sum(event.type is SpeakingKind.STARTED for event in bob.events) == 2
    assert names_here(folded(*told, until=50)) == ["Ada"]
    left_again = folded(*told, speaks("2", at=20), speaks(at=40), gone("2", 45), until=50)
    assert names_here(left_again) == ["Ada"]
    unseen = (here("Ada", "Bot", at=9, source=Source.TILES), speaks("2", at=20))
    assert names_here(folded(*told, *unseen, until=30)) == ["Ada"]  # a late word on who is gone


def test_whoever_is_large_all_the_time_beside_others_is_pinned_and_not_taken_as_speaking() -> None:
    """Zoom with a pinned tile and a protocol that names nobody: everybody's words bore one name."""
    told = (sound("mix", True, 3), sound("mix", False, 8), sound("mix", True, 12))
    three = here("*0=Bot", "1=Ada", "2=Bob")
    assert not spoken(folded(three, large("Bob", 1), *told, until=20))
    follows = folded(three, large("Bob", 1), *told, large("Ada", 14), until=20)
    assert spoken(follows) == {"Bob": [(3, 8), (12, 14)], "Ada": [(14, None)]}
    two = here("*0=Bot", "2=Bob")
    assert spoken(folded(two, large("Bob", 1), *told, until=20)).keys() == {"Bob"}


# --- a protocol that goes on naming one person -----------------------------------------------------------------------

MEETING = here("*0=Bot", "1=Ada", "2=Bob", "3=Cy")


def turns(*starts: float) -> list[Claim]:
    """Sound of the mix from each of these seconds on, for two seconds."""
    return [claim for at in starts for claim in (sound("mix", True, at), sound("mix", False, at + 2))]


def test_a_protocol_that_names_one_person_through_all_pauses_is_not_believed() -> None:
    """Teams without sources and outlines, the dominant speaker stuck: everybody's words bore one name."""
    told = [MEETING, speaks("1", at=1), *turns(1, 4, 7)]
    assert spoken(folded(*told, until=10)) == {"Ada": [(1, None)]}
    told += [*turns(10, 13, 16), speaks("1", at=24), *turns(25, 28)]
    fold = Fold()
    changes = [change for change in play(fold, told, until=32) if isinstance(change, PersonSpoke)]
    assert not spoken(fold), "nor when it says the same again"
    assert [(change.participant.name, change.speaking) for change in changes] == [("Ada", True), ("Ada", False)]
    changed, withdrawn = fold.take_changed()
    assert withdrawn == {"1": T + S}, "what was written is taken back"
    assert {one.name: one.events for one in changed}["Ada"] == ()


def test_a_protocol_that_turns_out_to_follow_the_sound_is_believed_for_what_it_said_before() -> None:
    """A long introduction, and then a question."""
    lecture = [MEETING, speaks("1", at=1), *turns(1, 4, 7, 10, 13, 16)]
    assert spoken(folded(*lecture, speaks("2", at=20), *turns(20), until=24)) == {"Ada": [(1, 20)], "Bob": [(20, None)]}
    silent = spoken(folded(*lecture, speaks(at=19), *turns(20), until=24))
    assert silent == {"Ada": [(1, 19)]}, "it told that nobody spoke"


def test_who_really_speaks_alone_keeps_their_name_where_anything_else_says_so() -> None:
    lecture = [speaks("1", at=1), *turns(1, 4, 7, 10, 13, 16)]

    def beside(*others: Claim) -> list[tuple[float, float | None]]:
        return spoken(folded(*sorted([*lecture, *others], key=lambda claim: claim.at_ms), until=20)).get("Ada", [])

    marked = [speaks("Ada", at=2, source=Source.MARKS), speaks(at=3, source=Source.MARKS)]
    assert beside(MEETING, *marked) == [(1, None)], "the page marks them, too"
    own = [owns("own", "1", 2.5), sound("own", True, 2.5), sound("own", False, 3)]
    assert beside(MEETING, *own)[:1] == [(1, 3)], "sound of their own was heard"
    assert beside(here("*0=Bot", "1=Ada")) == [(1, None)], "nobody else is here"
    assert beside(MEETING, speaks("2", at=0.2)) == [(1, None)], "it has changed before"


def test_marks_of_the_page_are_believed_beside_a_protocol_that_is_stuck() -> None:
    def marks(name: str, at: float) -> list[Claim]:
        return [speaks(name, at=at, source=Source.MARKS), speaks(at=at + 2, source=Source.MARKS)]

    told = [MEETING, speaks("1", at=1), *turns(1, 4, 7, 10, 13, 16, 19, 22)]
    told += [
        claim for name, at in (("Bob", 4), ("Cy", 7), ("Bob", 16), ("Ada", 19), ("Cy", 22)) for claim in marks(name, at)
    ]
    found = spoken(folded(*sorted(told, key=lambda claim: claim.at_ms), until=26))
    assert found == {"Bob": [(16, 18)], "Ada": [(19, 21)], "Cy": [(22, 24)]}


def test_one_person_told_by_their_source_and_then_by_their_key_is_no_change() -> None:
    by_source = replace(speaks("x", at=1), subjects=(Subject(media="10"),))
    told = [MEETING, by_source, *turns(1, 4), owns("10", "1", 6.5), speaks("1", at=6.6), *turns(7, 10, 13, 16)]
    assert not spoken(folded(*told, until=20))
