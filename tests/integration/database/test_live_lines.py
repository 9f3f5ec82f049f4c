"""Lines of live transcripts: kept once each, replaced by revisions, gone with their bot and with its media."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sederunt.database.bots import Bots
from sederunt.database.engine import Database
from sederunt.database.live_lines import LiveLineStore
from sederunt.database.retention import Deletions
from sederunt.errors import NotFound, Superseded
from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus
from sederunt.model.transcript import LiveLine, NameGuess, Segment, Utterance, Word

MakeBot = Callable[..., Bot]


def line(number: int, start: float, text: str = "Good morning.") -> LiveLine:
    word = Word(word="Good", start=start, end=start + 0.3, confidence=0.5, speaker=1)
    utterance = Utterance(start=start, end=start + 1, speaker=1, confidence=0.5, transcript=text, words=(word,))
    return LiveLine(
        segment_id=f"000001.01-{number}",
        revision=0,
        source="7",
        voice="source 7\x00",
        segment=Segment(
            start=start,
            end=start + 1,
            speaker=1,
            confidence=0.5,
            transcript=text,
            utterances=(utterance,),
            potential_speaker_names=(NameGuess(name="Ada \ud800", confidence=0.4),),
        ),
    )


@pytest.fixture
def lines(database: Database) -> LiveLineStore:
    return LiveLineStore(database)


async def test_lines_come_back_as_they_were_by_time(bots: Bots, make_bot: MakeBot, lines: LiveLineStore) -> None:
    bot, other = [await bots.create(make_bot(status=BotStatus.RECORDING), job=False) for _ in range(2)]
    await lines.save(bot.id, [line(2, 5.0), line(1, 7.25)], epoch=0)
    await lines.save(bot.id, [line(3, 1.5)], epoch=0)
    await lines.save(other.id, [line(1, 2.0)], epoch=0)
    found = await lines.of(bot.id)
    assert [each.segment.start for each in found] == [1.5, 5.0, 7.25]
    assert found[1] == replace(line(2, 5.0), voice="source 7")


async def test_a_revision_takes_the_place_of_what_was_told(bots: Bots, make_bot: MakeBot, lines: LiveLineStore) -> None:
    bot = await bots.create(make_bot(status=BotStatus.RECORDING), job=False)
    await lines.save(bot.id, [line(1, 5.0)], epoch=0)
    await lines.save(bot.id, [replace(line(1, 4.5, "Good night."), revision=1, voice="ada")], epoch=0)
    (found,) = await lines.of(bot.id)
    assert (found.segment.transcript, found.segment.start, found.revision, found.voice) == (
        "Good night.",
        4.5,
        1,
        "ada",
    )


async def test_a_host_that_was_given_up_writes_nothing(bots: Bots, make_bot: MakeBot, lines: LiveLineStore) -> None:
    bot = await bots.create(make_bot(status=BotStatus.RECORDING), job=False)
    held = await bots.claim(bot.id, "other")
    with pytest.raises(Superseded):
        await lines.save(bot.id, [line(1, 5.0)], epoch=held.epoch - 1)
    with pytest.raises(NotFound):
        await lines.save(make_bot().id, [line(1, 5.0)], epoch=0)
    assert await lines.of(bot.id) == []


async def test_lines_go_with_their_bot_and_with_its_media(
    bots: Bots, make_bot: MakeBot, lines: LiveLineStore, database: Database
) -> None:
    deleted, expired = [await bots.create(make_bot(status=BotStatus.FINISHED), job=False) for _ in range(2)]
    for bot in (deleted, expired):
        await lines.save(bot.id, [line(1, 5.0)], epoch=0)
    await bots.media_removed(expired.id)
    assert await lines.of(expired.id) == []
    await bots.request_deletion(deleted.id, deleted.account_id)
    for deletion in await Deletions(database).unfinished():
        await Deletions(database).finish(deletion)
    assert await lines.of(deleted.id) == []
