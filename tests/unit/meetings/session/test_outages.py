"""What becomes of an outage: told, marked as a gap once the page is back, or the end of the page."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sederunt.meetings.session.media_link import MediaLink
from sederunt.meetings.session.outages import Outages
from sederunt.model.trouble import PageTrouble

ZERO_MS = 1_000_000


class Told:
    """A journal that remembers."""

    def __init__(self) -> None:
        self.bot = SimpleNamespace(id="b")
        self.causes: list[str] = []
        self.gaps: list[tuple[float, float, str]] = []
        self.is_away = False

    def note_trouble(self, trouble: PageTrouble) -> None:
        self.causes.append(trouble.cause)

    async def add_gap(self, start_s: float, end_s: float, cause: str) -> None:
        if self.is_away:
            raise OSError("database away")
        self.gaps.append((start_s, end_s, cause))


@pytest.fixture
def stage() -> Any:
    page, recorder = SimpleNamespace(documents=1), SimpleNamespace(last_frame_ms=None, is_refused=False)
    link, journal = MediaLink(replaces_mute=True), Told()
    outages = Outages(cast(Any, page), link, cast(Any, recorder), cast(Any, journal), started_ms=ZERO_MS)

    async def at(second: int) -> Any:
        now_ms = ZERO_MS + second * 1000
        found = outages.found(float(second), now_ms, shown_speaking=False, has_company=True, site_reconnects=False)
        return await outages.tell(found, now_ms)

    def left_over(second: int) -> Any:
        return outages.left_over(ZERO_MS + second * 1000)

    return SimpleNamespace(page=page, recorder=recorder, link=link, journal=journal, at=at, left_over=left_over)


def peers(up: int, down: int) -> dict[str, Any]:
    return {"event": "peers", "track": 0, "up": up, "down": down, "closed": 0}


async def test_an_outage_that_the_page_outlives_is_told_and_becomes_a_gap(stage: Any) -> None:
    stage.link.take(peers(1, 0))
    stage.recorder.last_frame_ms = ZERO_MS + 55_000
    await stage.at(56)
    stage.link.take(peers(0, 1))
    for second in range(60, 66):
        assert await stage.at(second) is None
    stage.link.take(peers(1, 0))
    await stage.at(66)
    await stage.at(67)
    assert (stage.journal.causes, stage.journal.gaps) == (["connection_lost"], [(55.0, 66.0, "connection_lost")])


async def test_a_gap_that_the_database_does_not_take_is_written_when_it_is_back(stage: Any) -> None:
    """A host whose link was cut has neither meeting nor database for a while."""
    stage.journal.is_away = True
    stage.link.take(peers(0, 1))
    stage.recorder.last_frame_ms = ZERO_MS + 55_000
    for second in range(56, 64):
        await stage.at(second)
    stage.link.take(peers(1, 0))
    await stage.at(64)
    stage.journal.is_away = False
    for second in range(65, 80):
        await stage.at(second)
    assert stage.journal.gaps == [(55.0, 64.0, "connection_lost")]


async def test_an_outage_in_which_the_stay_ends_is_left_over_and_one_that_was_not_written_too(stage: Any) -> None:
    """A minute of the recording was missing, and no gap said so."""
    stage.journal.is_away = True
    stage.recorder.last_frame_ms = ZERO_MS + 55_000
    stage.link.take(peers(0, 1))
    for second in range(56, 62):
        await stage.at(second)
    assert stage.left_over(70) == ((55.0, 70.0),)
    stage.link.take(peers(1, 0))
    await stage.at(75)
    assert stage.left_over(80) == ((55.0, 70.0),), "it is over; nothing was written"


async def test_an_outage_that_lasts_ends_the_page_and_one_of_a_document_that_is_gone_does_not(stage: Any) -> None:
    stage.link.take(peers(0, 1))
    ends = [await stage.at(second) for second in range(20)]
    assert next(ended.cause for ended in ends if ended is not None) == "connection_lost"
    stage.page.documents = 2
    assert [await stage.at(second) for second in range(20, 60)] == [None] * 40


async def test_a_disk_that_takes_nothing_is_told_once_for_each_time(stage: Any) -> None:
    for second, is_refused in enumerate((False, True, True, False, True)):
        stage.recorder.is_refused = is_refused
        await stage.at(second)
    assert stage.journal.causes == ["disk_refuses", "disk_refuses"]


async def test_sound_that_comes_late_is_told_once_for_each_time_and_silence_is_not_late(stage: Any) -> None:
    heard_until_s = [1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5, 6, 7, 14, 15, 10, 11, 12]
    for second, last_s in enumerate(heard_until_s, start=2):
        stage.recorder.last_frame_ms = ZERO_MS + last_s * 1000
        await stage.at(second)
    assert stage.journal.causes == ["sound_late", "sound_late"]


async def test_one_batch_that_was_held_up_is_not_told(stage: Any) -> None:
    for second, last_s in ((10, 1), (11, 10), (12, 3), (13, 12), (14, 5), (15, 14)):
        stage.recorder.last_frame_ms = ZERO_MS + last_s * 1000
        await stage.at(second)
    assert stage.journal.causes == []
