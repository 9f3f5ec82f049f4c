"""Meetings that demand to know who comes: as a guest first, then as the account the caller named."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import TOLD_RECORDED, Receiver
from harness.service import Service
from harness.signed_in import keep_account
from sederunt.practice.client import MeetingHandle, PracticeClient
from sederunt.practice.script import Service as Site
from sederunt.practice.script import Variant, demo

PASSWORD = "Trombone-84 staple"


async def demanding(meetings: PracticeClient, site: Site = "gmeet", **variant: Any) -> MeetingHandle:
    return await meetings.open_meeting(demo(Variant(entry="sign_in", **variant), service=site, turns=1))


def names(service: Service) -> str:
    """Everything below the data directory, as text: no file may hold a state, sealed or not, but the database."""
    found = ""
    for path in service.data.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # queues drop their files while we look
            found += "" if "sederunt.db" in path.name else path.read_bytes().decode("latin-1")
    return found


@pytest.mark.parametrize("site", ["gmeet", "teams"])
async def test_a_bot_signs_in_where_guests_are_not_let_in(
    api: httpx2.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    service: Service,
    tmp_path: Path,
    site: Site,
) -> None:
    account = keep_account(service, tmp_path, site, "secretary@example.org")
    meeting = await demanding(meetings, site)
    bot = await send_bot(api, meeting.url, receiver, service=site, authentication={"account_id": account})
    await reach(receiver, bot, "recording")
    assert "secretary@example.org" not in names(service)
    await reach(receiver, bot, "finished")
    assert receiver.statuses(bot["id"]) == [*TOLD_RECORDED]
    found = await look(api, bot)
    assert found["stop_reason"] == "meeting_ended"
    assert found["capture"]["packets"]


async def test_a_guest_needs_no_account_where_none_is_demanded(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, service: Service, tmp_path: Path
) -> None:
    account = keep_account(service, tmp_path, "gmeet", "secretary@example.org")
    meeting = await meetings.open_meeting(unhurried(demo(turns=0), ends=False))
    bot = await send_bot(api, meeting.url, receiver, authentication={"account_id": account})
    assert (await meeting.wait_for("admitted", timeout_s=60))["name"] == "Minutes"
    await reach(receiver, bot, "recording")
    await meeting.end()
    await reach(receiver, bot, "finished")


async def test_always_authenticate_signs_in_first(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, service: Service, tmp_path: Path
) -> None:
    account = keep_account(service, tmp_path, "gmeet", "secretary@example.org")
    meeting = await meetings.open_meeting(unhurried(demo(turns=0), ends=False))
    authentication = {"account_id": account, "always_authenticate": True}
    bot = await send_bot(api, meeting.url, receiver, authentication=authentication)
    assert (await meeting.wait_for("admitted", timeout_s=60))["name"] == "secretary"
    await reach(receiver, bot, "recording")
    await meeting.end()
    await reach(receiver, bot, "finished")


@pytest.mark.parametrize("account", ["stale", ""])
async def test_a_state_that_is_void_ends_in_invalid_credentials_with_evidence(
    api: httpx2.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    service: Service,
    tmp_path: Path,
    account: str,
) -> None:
    meeting = await demanding(meetings)
    authentication = {"account_id": keep_account(service, tmp_path, "gmeet", account)}
    bot = await send_bot(api, meeting.url, receiver, authentication=authentication)
    await reach(receiver, bot, "invalid_credentials")
    found = await look(api, bot)
    assert found["verdict"] == "never_admitted"
    assert set(found["evidence"]) == {"screenshot", "page_text", "signals"}


def keep_password(service: Service, site: Site, email: str, password: str = PASSWORD) -> str:
    """Store an address and a password; the id of the account."""
    return service.run("accounts", "add-meeting", site, email, given=f"{password}\n").strip()


@pytest.mark.parametrize("site", ["gmeet", "teams"])
async def test_a_password_signs_in_and_the_state_it_gave_is_used_from_then_on(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, service: Service, site: Site
) -> None:
    account = keep_password(service, site, "registrar@example.org")
    for how in ("by password", "by the state"):
        meeting = await demanding(meetings, site)
        bot = await send_bot(api, meeting.url, receiver, service=site, authentication={"account_id": account})
        assert (await meeting.wait_for("admitted", timeout_s=90))["name"] == "registrar", how
        await reach(receiver, bot, "finished")
        assert receiver.statuses(bot["id"]) == [*TOLD_RECORDED], how
        assert (await look(api, bot))["stop_reason"] == "meeting_ended"
    assert PASSWORD not in names(service)
    told = [line for line in service.log.read_text().splitlines() if "signed_in" in line and account in line]
    assert len(told) == 1, told


async def test_always_authenticate_signs_in_by_password_where_no_account_is_demanded(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, service: Service
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(turns=0), ends=False))
    authentication = {
        "account_id": keep_password(service, "gmeet", "registrar@example.org"),
        "always_authenticate": True,
    }
    bot = await send_bot(api, meeting.url, receiver, authentication=authentication)
    assert (await meeting.wait_for("admitted", timeout_s=90))["name"] == "registrar"
    await reach(receiver, bot, "recording")
    await meeting.end()
    await reach(receiver, bot, "finished")


async def test_a_void_state_is_made_good_by_the_password(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, service: Service, tmp_path: Path
) -> None:
    account = keep_account(service, tmp_path, "gmeet", "stale", password=PASSWORD)
    meeting = await demanding(meetings)
    bot = await send_bot(api, meeting.url, receiver, authentication={"account_id": account})
    assert (await meeting.wait_for("admitted", timeout_s=90))["name"] == "minutes"
    await reach(receiver, bot, "finished")
    assert receiver.statuses(bot["id"]) == [*TOLD_RECORDED]


# What the site says to the account, and how the bot ends: once, for a password is not tried again. Each on one site;
# the pages of both are read in the integration tier.
ANSWERS: list[tuple[Site, str, str, str, str]] = [
    ("gmeet", "registrar@example.org", "wrong", "invalid_credentials", "refused"),
    ("teams", "nobody@example.org", PASSWORD, "invalid_credentials", "refused"),
    ("gmeet", "verify@example.org", PASSWORD, "auth_required", "verify"),
    ("teams", "robot@example.org", PASSWORD, "bot_detected", "captcha|robot"),
    ("gmeet", "lost@example.org", PASSWORD, "auth_required", "unknown_question"),
]


@pytest.mark.parametrize(("site", "email", "password", "ending", "row"), ANSWERS)
async def test_what_the_sign_in_pages_answer_is_the_ending(
    api: httpx2.AsyncClient,
    meetings: PracticeClient,
    receiver: Receiver,
    service: Service,
    site: Site,
    email: str,
    password: str,
    ending: str,
    row: str,
) -> None:
    account = keep_password(service, site, email, password)
    meeting = await demanding(meetings, site)
    authentication = {"account_id": account, "always_authenticate": True}
    bot = await send_bot(api, meeting.url, receiver, service=site, authentication=authentication)
    await reach(receiver, bot, ending, timeout_s=300)  # a page that says nothing is given time to say something
    found = await look(api, bot)
    assert receiver.statuses(bot["id"]) == ["joining", ending]
    decided = found["events"][-1]["data"]
    assert re.search(row, decided.get("evidence") or decided["cause"]), decided
    assert set(found["evidence"]) == {"screenshot", "page_text", "signals"}
    assert PASSWORD not in json.dumps(found)
    assert PASSWORD not in names(service)  # evidence and logs among them


async def test_without_an_account_it_is_told_that_one_is_needed(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await demanding(meetings)
    bot = await send_bot(api, meeting.url, receiver, authentication={"always_authenticate": True})
    await reach(receiver, bot, "auth_required")
    guest = await send_bot(api, meeting.url, receiver)
    await reach(receiver, guest, "auth_required")
    assert set((await look(api, guest))["evidence"]) == {"screenshot", "page_text", "signals"}


@pytest.mark.parametrize(("token", "ending"), [("zak-of-the-host", "finished"), ("stale", "invalid_credentials")])
async def test_a_zoom_token_opens_the_meeting_while_it_is_valid(
    api: httpx2.AsyncClient, meetings: PracticeClient, receiver: Receiver, token: str, ending: str
) -> None:
    meeting = await demanding(meetings, "zoom", launcher=False)
    authentication = {"zoom_zak_token": token}
    bot = await send_bot(api, meeting.url, receiver, service="zoom", authentication=authentication)
    await reach(receiver, bot, ending)
    assert token not in json.dumps(await look(api, bot))
