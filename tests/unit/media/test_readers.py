"""Files of one account wait for each other, those of others go before them, and who reads for long gives way."""

import asyncio
import threading
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.accounting import Ledger
from sederunt.errors import BrokenMedia
from sederunt.media.readers import GIVES_WAY, Readers, until_read
from sederunt.model.budgets import BUDGETS, default_of

ADA, BEN, CLEO = UUID(int=1), UUID(int=2), UUID(int=3)


class Room:
    """Readers of two places, and files that are read until they are told to end."""

    def __init__(self, clock: FakeClock, *, places: int = 2, share: int = 1, ada: float = 1.0) -> None:
        self.clock = clock
        self.ledger = Ledger({name: default_of(name) for name in BUDGETS} | {"readers": share}, {ADA: ada})
        self.readers = Readers(self.ledger, places, clock.monotonic)
        self.reading: list[tuple[UUID, int]] = []

    def file(self, account: UUID) -> "asyncio.Task[None]":
        async def read() -> None:
            async with self.readers.place(account) as gives_way:
                self.reading.append((account, gives_way))
                await asyncio.Event().wait()

        return asyncio.create_task(read())

    async def whose(self) -> list[UUID]:
        for _ in range(5):
            await asyncio.sleep(0)
        return [account for account, _ in self.reading]


async def end(*files: "asyncio.Task[None]") -> None:
    for file in files:
        file.cancel()
    await asyncio.gather(*files, return_exceptions=True)


async def test_a_flood_of_one_account_leaves_places_to_others(clock: FakeClock) -> None:
    room = Room(clock)
    flood = [room.file(ADA) for _ in range(5)]
    assert await room.whose() == [ADA]
    other = room.file(BEN)
    assert await room.whose() == [ADA, BEN]
    assert room.ledger.told()["readers"]["refused"] == 4
    await end(flood[0])
    assert await room.whose() == [ADA, BEN, ADA]
    await end(*flood, other)
    assert not room.ledger.held("readers")


async def test_whoever_has_the_fewest_is_next(clock: FakeClock) -> None:
    room = Room(clock, places=3, share=2)
    files = [room.file(account) for account in (ADA, ADA, ADA, BEN, BEN, CLEO)]
    assert await room.whose() == [ADA, ADA, BEN]
    await end(files[0])
    assert await room.whose() == [ADA, ADA, BEN, CLEO]
    await end(*files)


async def test_an_account_of_twice_the_weight_has_twice_the_readers(clock: FakeClock) -> None:
    room = Room(clock, places=3, ada=2.0)
    files = [room.file(account) for account in (BEN, BEN, BEN, ADA, ADA, ADA)]
    assert await room.whose() == [BEN, ADA, ADA]
    await end(*files)


async def test_who_hangs_up_while_waiting_holds_no_place(clock: FakeClock) -> None:
    room = Room(clock)
    files = [room.file(ADA) for _ in range(3)]
    await room.whose()
    files[1].cancel()
    files[0].cancel()  # in the same turn of the loop: the place is free before the other one is out of the line
    assert await room.whose() == [ADA, ADA]
    await end(*files)
    assert not room.ledger.held("readers")


async def test_who_reads_for_long_gives_way_until_it_is_paid_back(clock: FakeClock) -> None:
    room = Room(clock)
    for expected in (0, GIVES_WAY):
        file = room.file(ADA)
        await room.whose()
        assert room.reading[-1] == (ADA, expected)
        clock.advance(12)
        await end(file)
    assert room.readers.gives_way(BEN) == 0
    clock.advance(150)
    assert room.readers.gives_way(ADA) == 0


async def test_what_is_read_in_a_thread_is_waited_for_however_often_one_is_cancelled() -> None:
    reads, told_to_end, may_end = threading.Event(), threading.Event(), threading.Event()

    def act(*, left: threading.Event) -> None:
        reads.set()
        if left.wait(60):
            told_to_end.set()
        may_end.wait(60)
        raise OSError("nobody is told")

    reading = asyncio.create_task(until_read(act))
    assert await asyncio.to_thread(reads.wait, 60)
    for _ in range(3):
        reading.cancel()
        await asyncio.sleep(0)
    assert await asyncio.to_thread(told_to_end.wait, 60)
    assert not reading.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_what_is_read_in_a_thread_comes_back_and_so_do_its_faults() -> None:
    assert await until_read(lambda *, left: left.is_set()) is False

    def broken(*, left: threading.Event) -> None:
        raise BrokenMedia("The file is empty.")

    with pytest.raises(BrokenMedia):
        await until_read(broken)
