"""Lists of the console that may be long come in parts."""

import html
import re

from harness.api_room import ApiRoom
from harness.console_room import Visitor, visitor
from sederunt.accounts.meeting_accounts import SignIn
from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.console.page import ROWS
from sederunt.model.bot import Service

MADE = range(ROWS + 2)


async def in_parts(owner: Visitor, path: str, parameter: str, pattern: str) -> list[list[str]]:
    """What a list of a page shows, and what it shows behind its link for more."""
    parts: list[list[str]] = []
    while True:
        text = (await owner.page(path)).text
        parts.append(re.findall(pattern, text))
        more = re.search(rf'rel="next" href="([^"]*{parameter}=[^"&]*)"', text)
        if more is None:
            return parts
        path = html.unescape(more[1])


async def test_keys_come_in_parts_the_newest_first(room: ApiRoom) -> None:
    owner = await visitor(room)
    names = [(await room.keys.create(room.account_id, f"key-{n:03}"))[1].name for n in MADE][::-1]
    assert await in_parts(owner, "/keys", "keys", r"key-\d+") == [names[:ROWS], names[ROWS:]]


async def test_credentials_and_meeting_accounts_come_in_parts(room: ApiRoom) -> None:
    owner = await visitor(room)
    hints, emails = [f"{n:04}" for n in MADE], [f"bot-{n:03}@example.org" for n in MADE]
    for hint, email in zip(hints, emails, strict=True):
        await room.credentials.add(room.account_id, "deepgram", "k" * 30 + hint)
        await room.meeting_accounts.add(room.account_id, SignIn(service=Service("gmeet"), email=email, password="x"))
    assert await in_parts(owner, "/keys", "credentials", r"…(\d{4})<") == [hints[:ROWS], hints[ROWS:]]
    shown = await in_parts(owner, "/keys", "accounts", r"<td>(bot-\d+@example.org)<")
    assert shown == [emails[:ROWS], emails[ROWS:]]


async def test_people_come_in_parts(room: ApiRoom) -> None:
    owner = await visitor(room)
    names = [f"person-{n:03}" for n in MADE]
    for name in names:
        await SignIns(room.database).people.add(name, room.account_id, MemberRole.VIEWER)
    shown = await in_parts(owner, "/people", "members", r"<td>(person-\d+)")
    assert shown == [names[: ROWS - 1], names[ROWS - 1 :]]  # behind the owner
