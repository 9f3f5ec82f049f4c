"""Participants, their speaking events, sources, and the view that brings everything at once."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.fake_clock import FakeClock
from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.transcripts import Transcripts
from sederunt.errors import NotFound
from sederunt.model.bot import Bot
from sederunt.model.participant import Participant, SpeakingEvent, SpeakingKind
from sederunt.model.status import BotStatus, Trigger
from sederunt.model.transcript import NameGuess, Segment, Transcript, Utterance, Word

MakeBot = Callable[..., Bot]
STARTED, STOPPED = SpeakingKind.STARTED, SpeakingKind.STOPPED

WORD = Word(word="hello", start=1.0, end=1.5, confidence=0.9, speaker=1)
UTTERANCE = Utterance(start=1.0, end=1.5, speaker=1, confidence=0.9, transcript="Hello.", words=(WORD,))
TRANSCRIPT = Transcript(
    detected_lang="en",
    segments=(
        Segment(
            start=1.0,
            end=1.5,
            speaker=1,
            confidence=0.9,
            transcript="Hello. こんにちは",
            utterances=(UTTERANCE,),
            potential_speaker_names=(NameGuess(name="Ada", confidence=0.6),),
        ),
        Segment(start=2.0, end=3.0, speaker=0, confidence=0.8, transcript="Yes.", speaker_name="Zoë"),
    ),
)


@pytest.fixture
async def bot(bots: Bots, make_bot: MakeBot) -> Bot:
    return await bots.create(make_bot(status=BotStatus.JOINING), job=False)


@pytest.fixture
def ada(clock: FakeClock) -> Participant:
    return Participant(key="spaces/1", name="Ada", avatar="https://x.test/a.png", first_seen_at=clock.now())


async def test_a_roster_grows_and_names_improve(bots: Bots, bot: Bot, ada: Participant, clock: FakeClock) -> None:
    guest = Participant(key="g", name="Guest", avatar=None, first_seen_at=clock.now())
    await bots.save_participants(bot.id, [ada, guest], {"11": "spaces/1"})
    clock.advance(9)
    late = Participant(key="a", name="Late \x00\ud83d", avatar=None, first_seen_at=clock.now())
    renamed = replace(guest, name="Grace", first_seen_at=clock.now())
    await bots.save_participants(bot.id, [renamed, late, ada], {"11": "spaces/1", "22": "g"})
    found = await bots.participants(bot.id)
    assert [(person.key, person.name) for person in found] == [("spaces/1", "Ada"), ("g", "Grace"), ("a", "Late ?")]
    assert found[1].first_seen_at == guest.first_seen_at
    assert await bots.sources(bot.id) == {"11": "spaces/1", "22": "g"}


async def test_speaking_events_may_be_given_whole_each_time(bots: Bots, bot: Bot, ada: Participant) -> None:
    said = [SpeakingEvent(type=kind, timestamp=at) for kind, at in ((STARTED, 10), (STOPPED, 20), (STARTED, 20))]
    for known in (said[:1], said[:2], said, said):
        await bots.save_participants(bot.id, [replace(ada, events=tuple(known))])
    [person] = await bots.participants(bot.id, with_events=True)
    assert person.events == tuple(said)
    assert (await bots.participants(bot.id))[0].events == ()


async def test_an_entry_that_is_nobodys_is_deleted(bots: Bots, bot: Bot, ada: Participant) -> None:
    spoke = (SpeakingEvent(type=STARTED, timestamp=10), SpeakingEvent(type=STOPPED, timestamp=20))
    await bots.save_participants(bot.id, [ada, replace(ada, key="spaces/7", events=spoke)])
    await bots.save_participants(bot.id, [replace(ada, events=spoke)], withdrawn={"spaces/7": 0})
    [person] = await bots.participants(bot.id, with_events=True)
    assert (person.key, person.events) == (ada.key, spoke)


async def test_a_roster_of_no_bot_is_refused(bots: Bots, make_bot: MakeBot) -> None:
    with pytest.raises(NotFound):
        await bots.save_participants(make_bot().id, [])


async def test_a_transcript_comes_back_as_it_was_and_is_replaced_whole(bot: Bot, database: Database) -> None:
    transcripts = Transcripts(database)
    assert await transcripts.get(bot.id) is None
    await transcripts.save(bot.id, Transcript(segments=()))
    await transcripts.save(bot.id, TRANSCRIPT)
    assert await transcripts.get(bot.id) == TRANSCRIPT


async def test_a_view_brings_everything_in_order(bots: Bots, bot: Bot, ada: Participant, database: Database) -> None:
    await bots.record_transition(bot.id, Trigger.ADMITTED)
    await bots.add_event(bot.id, "chat_message", {"content": "hi \ud83d"})
    said = tuple(SpeakingEvent(type=kind, timestamp=at) for kind, at in ((STARTED, 10), (STOPPED, 20), (STARTED, 20)))
    people = [replace(ada, events=said), replace(ada, key="z"), replace(ada, key="b")]
    await bots.save_participants(bot.id, people)
    await Transcripts(database).save(bot.id, TRANSCRIPT)
    view = await bots.view(bot.id, bot.account_id, with_speaker_events=True)
    assert view.bot == await bots.get(bot.id)
    assert list(view.events) == await bots.events(bot.id)
    assert [event.event for event in view.events] == ["status_update", "chat_message"]
    assert list(view.participants) == await bots.participants(bot.id, with_events=True) == people
    assert view.transcript == TRANSCRIPT
    plain = await bots.view(bot.id, bot.account_id)
    assert list(plain.participants) == [replace(person, events=()) for person in people]


async def test_a_view_of_a_fresh_bot_is_empty(bots: Bots, bot: Bot) -> None:
    view = await bots.view(bot.id, bot.account_id, with_speaker_events=True)
    assert (view.bot, view.events, view.participants, view.segments_json) == (bot, (), (), "[]")
    assert view.transcript == Transcript(segments=())
