"""Who gets in, what they may do, and that nobody sees anything of another account."""

import asyncio
import hmac
import html
import os
import re
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import delete, select, update
from standardwebhooks.webhooks import WebhookVerificationError

from harness.api_room import ApiRoom, api_room, tone_wav
from harness.console_room import BASE, Furnished, Visitor, link_for, people_of, session_of, visitor
from sederunt.accounts import password_hashing
from sederunt.accounts.sign_in import MemberRole
from sederunt.api.access.sessions import COOKIE
from sederunt.api.routes import ROUTES
from sederunt.clock import SYSTEM_CLOCK
from sederunt.console.app import PAGES
from sederunt.database.tables import sessions
from sederunt.model.budgets import count_of
from sederunt.model.status import Trigger
from sederunt.model.transcript import ENDS_EARLY, WORDLESS
from sederunt.settings import BusSettings


async def test_without_a_session_every_page_leads_to_the_sign_in(room: ApiRoom, furnished: Furnished) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as anyone:
        for method, path, _, _ in PAGES:
            answer = await anyone.request(method, path.replace("{id}", furnished.finished["id"]))
            assert "zanzibar" not in answer.text.lower()
            if method != "GET":
                assert answer.status_code == 401, path
                continue
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith(f"{BASE}/sign-in?next="), path
        assert (await anyone.get("/sign-in")).status_code == 200


async def test_what_a_script_asks_after_the_session_has_ended_is_refused(room: ApiRoom, furnished: Furnished) -> None:
    """A redirect would lead it to the page of the sign-in, whose 200 reads as if it had been done."""
    owner = await visitor(room)
    csrf = {"X-CSRF-Token": await owner.csrf()}
    async with room.database.begin() as connection:
        await connection.execute(delete(sessions))
    for method, path, _, _ in PAGES:
        asked = path.replace("{id}", furnished.finished["id"])
        answer = await owner.client.request(method, asked, headers=csrf)
        assert (answer.status_code, "sign in" in answer.json()["message"]) == (401, True), path
    assert (await owner.page("/people")).status_code == 303


async def test_bots_are_found_by_a_meeting_link_of_any_length(room: ApiRoom) -> None:
    context = (
        "%7b%22Tid%22%3a%22" + "72f988bf-86f1-41ef-91ab-2d7cd011db47" + "%22%2c%22Oid%22%3a%22" + "a" * 36 + "%22%7d"
    )
    link = f"https://teams.microsoft.com/l/meetup-join/19%3ameeting_{'N' * 48}%40thread.v2/0?context={context}"
    assert len(link) > 200
    bot = {"service": "teams", "meeting_url": link, "bot_name": "Minutes", "transcription_model": "none"}
    owner = await visitor(room)
    assert (await owner.ask("POST", "/bot", bot)).status_code == 200
    found = await owner.client.get("/bots", params={"search": link})
    assert (found.status_code, "Minutes" in found.text) == (200, True)
    assert "Nothing fits" in (await owner.client.get("/bots", params={"search": link + "x"})).text
    assert (await owner.client.get("/bots", params={"search": "x" * 9000})).status_code == 400


async def test_a_recording_that_failed_is_told_as_that(room: ApiRoom, furnished: Furnished) -> None:
    """Whether it could not be fetched, or its file is here and could not be transcribed."""
    owner, removed = await visitor(room), "had its time and was removed"
    wanted = {"recording_url": "https://files.example.org/talk", "transcription_model": "whisper"}
    unfetched = (await owner.ask("POST", "/recording", wanted)).json()["id"]
    untranscribed = (await room.recording(tone_wav(2)))["id"]
    for made, file_is_here in ((unfetched, False), (untranscribed, True)):
        sentence = {"message": "It is no sound that can be read."}
        await room.recordings.record_transition(UUID(made), Trigger.CRASHED, data=sentence)
        page = (await owner.page(f"/recordings/{made}")).text
        assert sentence["message"] in page
        assert ("data-player" in page, "Take it with you" in page) == (file_is_here, file_is_here)
        for claim in (removed, "Nothing was said", "not there any more"):
            assert claim not in page, claim
    silent = (await room.recording(tone_wav(2)))["id"]
    await room.recordings.record_transition(UUID(silent), Trigger.TRANSCRIBED)
    assert "Nothing was said" in (await owner.page(f"/recordings/{silent}")).text
    await room.recordings.media_removed(UUID(silent))
    assert "Nothing was said" in (await owner.page(f"/recordings/{silent}")).text
    await room.recordings.media_removed(UUID(furnished.recording["id"]))
    assert removed in (await owner.page(f"/recordings/{furnished.recording['id']}")).text


async def test_a_link_works_once_and_its_session_is_kept_from_scripts_and_other_sites(room: ApiRoom) -> None:
    link = await link_for(room)
    token = link.partition("token=")[2]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as somebody:
        assert "Sign in" in (await somebody.get(link)).text  # looking does not use it up
        answer = await somebody.post("/welcome", data={"token": token})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"].lower()
        assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
        page = await somebody.get("/")
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|style=", page.text)
        again = await somebody.post("/welcome", data={"token": token})
        assert (again.status_code, "used already" in again.text) == (404, True)
        kept = await room.database.query(select(sessions)).all()
        assert len(kept) == 1
        assert somebody.cookies[COOKIE] not in str(kept)


async def test_a_password_signs_in_and_a_wrong_one_tells_nothing(room: ApiRoom) -> None:
    owner = await visitor(room)
    profile = {"name": "Ada", "email": "Ada@Example.org", "password": "a long enough one"}
    headers = {"X-CSRF-Token": await owner.csrf()}
    short = await owner.client.post("/profile", json={**profile, "password": "short"}, headers=headers)
    assert short.status_code == 400
    assert (await owner.client.post("/profile", json=profile, headers=headers)).status_code == 200
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as ada:
        for email, password in (("ada@example.org", "a wrong one...."), ("eve@example.org", "a long enough one")):
            refused = await ada.post("/sign-in", data={"email": email, "password": password})
            assert (refused.status_code, "do not fit together" in refused.text) == (400, True)
        form = {"email": "ada@example.org", "password": "a long enough one", "next": "//evil.example/"}
        answer = await ada.post("/sign-in", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "Ada" in (await ada.get("/")).text


@dataclass
class Hashing:
    """Takes the place of Argon2: what was hashed where, and how much at once."""

    may_end: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    threads: set[tuple[str, int]] = field(default_factory=set)  # name, niceness
    at_once: int = 0
    most: int = 0

    def verified(self, _hashed: str, _password: str) -> bool:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        niceness = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        self.threads.add((threading.current_thread().name, niceness))
        self.begun.set()
        self.may_end.wait(60)
        self.at_once -= 1
        return False


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hashing]:
    made = Hashing()
    monkeypatch.setattr(password_hashing, "_verified", made.verified)
    yield made
    made.may_end.set()


async def test_who_tries_too_often_has_to_wait(room: ApiRoom, hashing: Hashing) -> None:
    hashing.may_end.set()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as eve:
        told = [await eve.post("/sign-in", data={"email": "a@b.example", "password": str(n)}) for n in range(12)]
    assert "Too many tries" in told[-1].text


def somebody_at(room: ApiRoom, address: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app, client=(address, 1)), base_url=BASE, timeout=60)


async def tried(client: httpx2.AsyncClient, number: int = 0) -> httpx2.Response:
    return await client.post("/sign-in", data={"email": f"{number}@b.example", "password": "a wrong one...."})


async def test_a_network_of_the_sixth_version_tries_as_often_as_one_address(room: ApiRoom, hashing: Hashing) -> None:
    hashing.may_end.set()
    most = count_of("sign_in_tries")
    for number in range(most + 1):
        async with somebody_at(room, f"2001:db8:1:2::{number + 1:x}") as eve:
            refused = await tried(eve, number)
    assert (refused.status_code, "Too many tries" in refused.text) == (429, True)
    assert int(refused.headers["retry-after"]) > 0
    async with somebody_at(room, "2001:db8:1:3::1") as ada:
        assert (await tried(ada, most + 1)).status_code == 400


async def test_passwords_are_checked_one_at_a_time_in_a_thread_that_gives_way(room: ApiRoom, hashing: Hashing) -> None:
    hashing.may_end.set()
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(somebody_at(room, f"192.0.2.{n}")) for n in range(20)]
        answers = await asyncio.gather(*(tried(person, n) for n, person in enumerate(people)))
    assert {answer.status_code for answer in answers} == {400}
    assert hashing.most == 1
    [(name, niceness)] = hashing.threads
    assert name.startswith("passwords")
    assert niceness >= password_hashing.NICENESS


async def test_who_waits_too_long_for_the_check_of_a_password_is_told_to_come_again(
    room: ApiRoom, hashing: Hashing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with somebody_at(room, "192.0.2.1") as ada, somebody_at(room, "192.0.2.2") as eve:
        first = asyncio.create_task(tried(ada, 1))
        assert await asyncio.to_thread(hashing.begun.wait, 60)
        monkeypatch.setattr(password_hashing, "WAIT_S", 0.01)
        refused = await tried(eve, 2)
        assert (refused.status_code, "try again" in refused.text) == (429, True)
        assert refused.headers["retry-after"]
        hashing.may_end.set()
        assert (await first).status_code == 400


@pytest.mark.parametrize("path", ["/sign-in", "/welcome", "/sign-out"])
async def test_a_form_of_many_fields_is_refused(room: ApiRoom, path: str) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as eve:
        refused = await eve.post(path, data={f"field{n}": "x" for n in range(21)})
    assert (refused.status_code, "more than 20 fields" in refused.text) == (400, True)


async def test_no_other_site_signs_anybody_in_here(room: ApiRoom) -> None:
    token = (await link_for(room)).partition("token=")[2]
    elsewhere = [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": BASE},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as led:
        for headers in elsewhere:
            for path, form in (("/welcome", {"token": token}), ("/sign-in", {"email": "eve@example.org"})):
                refused = await led.post(path, data=form, headers=headers)
                assert (refused.status_code, "another site" in refused.text) == (403, True), headers
        assert "Grace Hopper" in (await led.get(f"/welcome?token={token}")).text  # whose session this would be
        for headers in ({"Origin": BASE}, {"Sec-Fetch-Site": "same-origin", "Origin": "http://inside.example"}):
            token = (await link_for(room)).partition("token=")[2]
            assert (await led.post("/welcome", data={"token": token}, headers=headers)).status_code == 303


async def test_without_an_address_of_ours_a_page_without_an_origin_signs_nobody_in(
    tmp_path: Path, bus_settings: BusSettings
) -> None:
    async with (
        api_room(tmp_path / "data", bus_settings, SYSTEM_CLOCK, api={"public_url": None}) as room,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as led,
    ):
        for origin in ("null", "http://["):
            refused = await led.post("/sign-in", data={"email": "eve@example.org"}, headers={"Origin": origin})
            assert (refused.status_code, "another site" in refused.text) == (403, True), origin


@pytest.mark.parametrize(
    "wanted", ["//[", "/\t/[", "//evil.example", "/\t/evil.example", "/\\evil.example", "http://["]
)
async def test_nobody_is_led_elsewhere_behind_the_sign_in(room: ApiRoom, wanted: str) -> None:
    token = (await link_for(room)).partition("token=")[2]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE) as browser:
        assert 'name="next" value="/"' in (await browser.get("/sign-in", params={"next": wanted})).text
        await browser.post("/welcome", data={"token": token})
        led = await browser.get("/sign-in", params={"next": wanted})
    assert (led.status_code, led.headers["location"]) == (303, "/")


async def test_a_new_password_ends_other_sessions_and_needs_the_current_one_later(room: ApiRoom) -> None:
    found_open = await visitor(room)
    [person] = await people_of(room)
    profile = {"name": "Ada", "email": "ada@example.org", "password": "a long enough one"}

    async def save(by: Visitor, **fields: str) -> httpx2.Response:
        headers = {"X-CSRF-Token": await by.csrf()}
        return await by.client.post("/profile", json={**profile, **fields}, headers=headers)

    assert (await save(found_open)).status_code == 200
    async with room.database.begin() as connection:
        an_hour_ago = room.database.clock.now() - timedelta(hours=1)
        await connection.execute(update(sessions).values(created_at=an_hour_ago))
    assert 'name="current"' in (await found_open.page("/people")).text
    guessed = await save(found_open, password="an evil one...", current="a guess")
    assert (guessed.status_code, list(guessed.json()["errors"])) == (400, ["current"])
    assert (await save(found_open, current="a long enough one")).status_code == 200
    for _ in range(10):
        guessed = await save(found_open, password="an evil one...", current="a guess")
    assert "Too many" in guessed.json()["errors"]["current"][0]
    lost_it = await session_of(room, person)  # by a link, a moment ago
    assert 'name="current"' not in (await lost_it.page("/people")).text
    assert (await save(lost_it, password="another long one")).status_code == 200
    assert (await lost_it.page("/people")).status_code == 200
    assert (await found_open.page("/people")).status_code == 303


async def test_signing_out_everywhere_ends_every_session(room: ApiRoom) -> None:
    first = await visitor(room)
    [person] = await people_of(room)
    second = await session_of(room, person)
    assert (await second.page("/")).status_code == 200
    csrf = await first.csrf()
    forged = await first.client.post("/sign-out", data={"csrf": "x" * 32, "everywhere": "1"})
    assert forged.status_code == 403
    await first.client.post("/sign-out", data={"csrf": csrf, "everywhere": "1"})
    for one in (first, second):
        assert (await one.page("/")).status_code == 303
        assert (await one.client.get("/api/v1/bot")).status_code == 401


async def test_a_request_from_another_site_changes_nothing(room: ApiRoom, furnished: Furnished) -> None:
    owner = await visitor(room)
    paths = [(route.method, f"/api/v1{route.path}") for route in ROUTES if route.method != "GET"]
    paths += [(method, path) for method, path, _, _ in PAGES if method != "GET"]
    for method, path in paths:
        here = path.replace("{id}", furnished.finished["id"]).replace("{correction}", furnished.finished["id"])
        answer = await owner.client.request(method, here, json={})
        assert answer.status_code == 403, path
        assert "too old" in answer.text


@pytest.mark.parametrize("role", list(MemberRole))
async def test_a_role_allows_what_it_says(room: ApiRoom, furnished: Furnished, role: MemberRole) -> None:
    somebody = await visitor(room, role)
    may = {
        MemberRole.OWNER: {"read", "write", "live", "manage"},
        MemberRole.MEMBER: {"read", "write", "live"},
        MemberRole.VIEWER: {"read"},
    }[role]
    for method, path, _, needed in PAGES:
        if method == "GET" and not path.endswith(("/feed", "/picture.png", "/peaks.json")):
            resource = furnished.recording if path.startswith("/recordings") else furnished.finished
            answer = await somebody.page(path.replace("{id}", resource["id"]))
            there = 404 if path.startswith("/sign-in-windows/") else 200  # nobody has one open
            assert answer.status_code == (there if needed in may else 403), path
    for route in ROUTES:
        path = route.path.replace("{id}", "nobody").replace("{correction}", "nobody")
        answer = await somebody.ask(route.method, path, {})
        assert (answer.status_code == 403) is (route.needed not in may), route.name
    bots = (await somebody.page("/bots")).text
    assert ("Send a bot" in bots) is ("write" in may)


async def test_a_form_that_is_sent_before_its_script_is_there_puts_nothing_into_an_address(room: ApiRoom) -> None:
    owner = await visitor(room)
    for path in ("/people", "/keys", "/calendars", "/webhooks", "/bots/new", "/recordings"):
        forms = re.findall(r"<form [^>]*>", (await owner.page(path)).text)
        assert forms, path
        assert [form for form in forms if "data-api" in form and 'method="post"' not in form] == [], path
        assert (await owner.client.post(path, data={"password": "s3cret"})).status_code == 405, path


async def test_the_code_that_is_to_be_copied_verifies_what_is_sent(room: ApiRoom) -> None:
    owner = await visitor(room)
    secret = (await owner.ask("GET", "/webhook-secret")).json()["secret"]
    python, typescript = re.findall(r'data-copy="([^"]*import[^"]*)"', (await owner.page("/webhooks")).text)
    assert "whsec_…" in typescript
    body, now = '{"type": "test"}', room.clock.now()
    headers = {"webhook-id": "one", "webhook-timestamp": str(int(now.timestamp()))}
    signed = hmac.digest(
        b64decode(secret.removeprefix("whsec_")), f"one.{int(now.timestamp())}.{body}".encode(), "sha256"
    )
    headers["webhook-signature"] = f"v1,{b64encode(signed).decode()}"  # as the sentence beside the code says
    for sent, fits in ((body, True), (body.replace("test", "rest"), False)):
        said: dict[str, object] = {"request": SimpleNamespace(body=sent, headers=headers)}
        with nullcontext() if fits else pytest.raises(WebhookVerificationError):
            exec(html.unescape(python).replace("whsec_…", secret), said)
            assert said["event"] == {"type": "test"}


async def test_the_last_owner_stays(room: ApiRoom) -> None:
    owner = await visitor(room)
    [person] = await people_of(room)
    assert (await owner.ask("PATCH", f"/member/{person}", {"role": "viewer"})).status_code == 409
    invited = (await owner.ask("POST", "/member", {"name": "Bo", "role": "owner"})).json()
    assert invited["sign_in_url"].startswith(f"{BASE}/welcome?token=")
    await visitor(room)
    assert (await owner.ask("PATCH", f"/member/{person}", {"role": "member"})).status_code == 200
    assert (await owner.page("/keys")).status_code == 403


async def test_what_is_changed_is_written_down(room: ApiRoom) -> None:
    owner = await visitor(room)
    bot = await owner.ask(
        "POST",
        "/bot",
        {
            "service": "gmeet",
            "meeting_url": "https://meet.google.com/abc-defg-hij",
            "bot_name": "Minutes",
            "transcription_model": "none",
        },
    )
    await room.client.delete(f"/bot/{bot.json()['id']}")  # refused: it is at work
    await room.client.post(f"/bot/{bot.json()['id']}/stop")
    deeds = (await owner.ask("GET", "/audit")).json()["data"]
    assert [(deed["who"], deed["by"], deed["action"], deed["target"]) for deed in deeds] == [
        ("tests", "key", "stopBot", bot.json()["id"]),
        ("Grace Hopper", "person", "createBot", bot.json()["id"]),
    ]


async def test_nothing_of_one_account_is_seen_by_another(room: ApiRoom, furnished: Furnished) -> None:
    """Every page, part, feed, file and route, with every id of the other account."""
    account = await room.accounts.create("other")
    other, owner = await visitor(room, account_id=account.id), await visitor(room)
    ids = [one["id"] for one in (furnished.finished, furnished.live, furnished.scheduled, furnished.recording)]
    word = {"kind": "word", "segment": 0, "word": 0, "after": "Zanzibar"}
    ids.append((await owner.ask("POST", f"/bot/{furnished.finished['id']}/correction", word)).json()["id"])
    for kind in ("key", "credential", "meeting-account", "calendar-feed", "webhook-delivery", "member"):
        rows = (await owner.ask("GET", f"/{kind}")).json()["data"]
        assert rows, kind
        ids += [row["id"] for row in rows]
    secrets_ = [*ids, "zanzibar", "Charles"]

    def clean(answer: httpx2.Response, asked: str = "") -> None:
        for secret in secrets_:
            assert secret == asked or secret not in answer.text, (str(answer.request.url), secret)

    for method, path, _, _ in PAGES:
        for id_ in ids if "{id}" in path else [""]:
            answer = (
                await other.client.request(
                    method, path.replace("{id}", id_), headers={"X-CSRF-Token": await other.csrf()}
                )
                if path != "/practice"
                else await other.page("/")
            )
            if "{id}" in path:
                assert answer.status_code == 404, path
            clean(answer, id_)
    queries = ["/bots?search=Zanzibar", f"/webhooks?resource_id={furnished.finished['id']}", "/search?q=zanzibar"]
    queries += [f"/bots/scheduled?on=2096-10-02&view={view}" for view in ("month", "week", "list")]
    queries += ["/", "/bots", "/recordings", "/calendars", "/webhooks", "/keys", "/people"]
    for query in queries:
        own, answer = await owner.page(query), await other.page(query)
        assert [secret for secret in secrets_ if secret in own.text], query  # there is something to be hidden
        assert answer.status_code == 200
        clean(answer, query.partition("=")[2])
    whole, part = (await owner.page("/operations")).text, (await other.page("/operations")).text
    assert ("Queues" in whole, "Queues" in part) == (True, False)
    assert (
        "This installation" in (await owner.page("/")).text,
        "This installation" in (await other.page("/")).text,
    ) == (
        True,
        False,
    )
    assert (await other.page("/checkup")).status_code == 403
    for route in ROUTES:
        for id_ in ids if "{id}" in route.path else [""]:
            path = route.path.replace("{id}", id_).replace("{correction}", ids[0])
            answer = await other.ask(route.method, path, route.body.example if route.body else None)
            if "{id}" in route.path:
                assert answer.status_code in (400, 404), route.name
            if route.name not in ("createBot",):
                clean(answer, id_)
    assert (await other.ask("GET", "/search?q=zanzibar")).json()["data"] == []
    assert (await room.look(furnished.finished))["status"] == "finished"


async def test_the_page_of_a_recording_says_that_its_file_ends_early(room: ApiRoom) -> None:
    owner = await visitor(room)
    made = (await room.recording(tone_wav(2)))["id"]
    doubts = [{"start": 1.0, "end": 1.5, "why": WORDLESS}, {"start": 2.0, "end": 9.0, "why": ENDS_EARLY}]
    await room.recordings.record_transition(UUID(made), Trigger.TRANSCRIBED, data={"transcript_doubts": doubts})
    page = (await owner.page(f"/recordings/{made}")).text
    assert "In doubt from second 2 on: the file ends early" in page
    assert WORDLESS not in page
