"""What the message server kept of a bot is overwritten in its files."""

from pathlib import Path
from uuid import uuid4

from sederunt.bus.connection import Bus
from sederunt.bus.erasure import erase_events
from sederunt.bus.feeds import last_sequence
from sederunt.bus.streams import events_subject


async def test_erased_events_are_not_in_the_servers_files(bus: Bus, tmp_path: Path) -> None:
    erased, kept = uuid4(), uuid4()
    for number in range(30):
        for bot, word in ((erased, b"brimblewick"), (kept, b"tattersall")):
            await bus.publish(events_subject(bot), b'{"text": "%s"}' % word, f"{bot}-{number}")
    assert _in_files(tmp_path, b"brimblewick")
    assert _in_files(tmp_path, b"tattersall") == 30
    assert await erase_events(bus, erased) == 30
    assert not _in_files(tmp_path, b"brimblewick")
    assert _in_files(tmp_path, b"tattersall") == 30
    assert (await last_sequence(bus, erased), await last_sequence(bus, kept)) == (0, 60)
    assert await erase_events(bus, erased) == 0


def _in_files(folder: Path, word: bytes) -> int:
    return sum(path.read_bytes().count(word) for path in folder.rglob("*.blk"))
