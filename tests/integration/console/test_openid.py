"""Sign-in by an OpenID provider: who gets in, with which role, and every answer that is not to be believed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import oidc_provider_mock  # type: ignore[import-untyped]
import pytest
from argon2 import PasswordHasher
from playwright.async_api import expect

from harness.api_room import ApiRoom, api_room, on_a_socket
from harness.console_browser import chromium, signed_in
from harness.console_room import BASE, Visitor, link_for, people_of, visitor
from harness.openid_provider import CLIENT, SECRET, openid_provider
from sederunt.accounts.sign_in import MemberRole, SignIns
from sederunt.clock import SYSTEM_CLOCK
from sederunt.settings import BusSettings

OUT, BACK = "/sign-in/openid", "/sign-in/openid/return"


@asynccontextmanager
async def rooms(
    data: Path, bus: BusSettings, issuer: str, public_url: str | None = BASE, **settings: Any
) -> AsyncIterator[ApiRoom]:
    """An installation that knows this provider."""
    known = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "name": "Zanzibar ID", **settings}
    async with api_room(data, bus, SYSTEM_CLOCK, oidc=known, api={"public_url": public_url}) as opened:
        yield opened


def somebody(room: ApiRoom) -> httpx2.AsyncClient:
    """A browser that is signed in nowhere."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(room.app), base_url=BASE, timeout=60)


async def led_back(client: httpx2.AsyncClient, address: str) -> str:
    """Go to the provider; where it leads back to."""
    async with httpx2.AsyncClient() as outside:
        answer = await outside.get(address)
    assert answer.status_code == 303, answer.text
    led = urlsplit(answer.headers["location"])
    assert (led.path, f"{led.scheme}://{led.netloc}") == (BACK, BASE)
    return f"{led.path}?{led.query}"


async def enter(client: httpx2.AsyncClient, query: str = "") -> httpx2.Response:
    """The whole way out and back."""
    out = await client.get(OUT + query)
    assert out.status_code == 303, out.text
    return await client.get(await led_back(client, out.headers["location"]))


FAULTS = [
    "denied",
    "another state",
    "another answerer",
    "answer without issuer",
    "no code",
    "wrong nonce",
    "no nonce",
    "wrong issuer",
    "wrong audience",
    "one of several audiences",
    "expired",
    "from the future",
    "no subject",
    "not signed",
    "signed with the public key as a secret",
    "signed by somebody else",
    "told of somebody else",
]


async def test_who_is_signed_in_and_what_is_not_believed(tmp_path: Path, bus_settings: BusSettings) -> None:
    async with (
        openid_provider() as provider,
        rooms(tmp_path / "data", bus_settings, provider.issuer, first_role="member") as room,
    ):
        for fault in FAULTS:
            provider.fault = fault
            async with somebody(room) as eve:
                answer = await enter(eve)
                assert (answer.status_code, "Sign in" in answer.text) == (400, True), fault
                assert "ada-1" not in answer.text, fault
                assert ("Zanzibar ID did not let you in." in answer.text) is (fault == "denied")
                assert (await eve.get("/bots")).status_code == 303, fault
        provider.fault = ""
        async with somebody(room) as ada:
            answer = await enter(ada, "?next=/bots")
            assert (answer.status_code, answer.headers["location"]) == (303, "/bots")
            page = (await ada.get("/people")).text
            assert "Ada Lovelace" in page
            assert "member" in page
            assert "Choose a password" not in page
        async with somebody(room) as ada:
            assert (await enter(ada, "?next=//evil.example")).headers["location"] == "/"
        members = (await (await visitor(room)).ask("GET", "/member")).json()["data"]
        assert [member["name"] for member in members] == ["Ada Lovelace", "Grace Hopper"]


async def test_an_answer_is_good_once_and_in_the_browser_that_asked(tmp_path: Path, bus_settings: BusSettings) -> None:
    async with (
        openid_provider() as provider,
        rooms(tmp_path / "data", bus_settings, provider.issuer, first_role="member") as room,
        somebody(room) as ada,
        somebody(room) as eve,
    ):
        out = await ada.get(OUT)
        asked = parse_qs(urlsplit(out.headers["location"]).query)
        assert {"state", "nonce", "code_challenge"} <= set(asked)
        cookie = out.headers["set-cookie"].lower()
        assert {"httponly", "samesite=lax", f"path={OUT}"} <= {part.strip() for part in cookie.split(";")}
        for told in ("state", "nonce"):
            assert asked[told][0] not in out.headers["set-cookie"]
        back = await led_back(ada, out.headers["location"])
        stolen = await eve.get(back)
        assert (stolen.status_code, "did not begin in this browser" in stolen.text) == (400, True)
        assert (await ada.get(back)).status_code == 303
        assert (await ada.get(back)).status_code == 400
        nobody = await eve.get(BACK)
        assert nobody.status_code == 400


async def test_a_provider_that_is_another_or_away_is_told(tmp_path: Path, bus_settings: BusSettings) -> None:
    async with (
        openid_provider(fault="another issuer") as provider,
        rooms(tmp_path / "a", bus_settings, provider.issuer) as room,
        somebody(room) as ada,
    ):
        answer = await ada.get(OUT)
        assert (answer.status_code, "calls itself" in answer.text) == (400, True)
    async with rooms(tmp_path / "b", bus_settings, "http://127.0.0.1:9") as room, somebody(room) as ada:
        answer = await ada.get(OUT)
        assert (answer.status_code, "Zanzibar ID cannot be reached" in answer.text) == (400, True)
    async with api_room(tmp_path / "c", bus_settings, SYSTEM_CLOCK) as room, somebody(room) as ada:
        assert (await ada.get(OUT)).status_code == 404
        assert "Sign in with" not in (await ada.get("/sign-in")).text


async def test_roles_follow_the_claims_of_who_came_by_them(tmp_path: Path, bus_settings: BusSettings) -> None:
    rule: dict[str, Any] = {"role_claim": "groups", "roles": {"admins": "owner", "staff": "member"}}
    rule |= {"account_claim": "team", "accounts": {"a": "default", "b": "other"}}
    async with (
        openid_provider(more={"groups": ["staff"], "team": "b"}) as provider,
        rooms(tmp_path / "data", bus_settings, provider.issuer, **rule) as room,
    ):
        other = await room.accounts.create("other")
        async with somebody(room) as ada:
            await enter(ada)
            page = (await ada.get("/people")).text
            assert "other, member" in page
            boss = await visitor(room, account_id=other.id)
            provider.more["groups"] = ["admins", "staff"]
            await enter(ada)
            assert "other, owner" in (await ada.get("/people")).text
            provider.more["team"] = "a"
            await enter(ada)
            assert "default, owner" in (await ada.get("/people")).text
            names = {member["name"] for member in (await boss.ask("GET", "/member")).json()["data"]}
            assert names == {"Grace Hopper"}, "who moved has left the account before"
            owner = await visitor(room)
            provider.more["groups"] = ["strangers"]
            gone = await enter(ada)
            assert (gone.status_code, "no place here" in gone.text) == (403, True)
            assert (await ada.get("/bots")).status_code == 303, "the session from before has ended"
            names = {member["name"] for member in (await owner.ask("GET", "/member")).json()["data"]}
            assert names == {"Grace Hopper"}
            deeds = (await owner.ask("GET", "/audit")).json()["data"]
            assert [deed["action"] for deed in deeds] == []
            told = (await boss.ask("GET", "/audit")).json()["data"]
            assert [(deed["who"], deed["action"]) for deed in told] == [("Ada Lovelace", "joinByIdentity")]


async def test_an_address_alone_makes_nobody_somebody_else(tmp_path: Path, bus_settings: BusSettings) -> None:
    claims = {"sub": "ada-1", "name": "Ada", "email": "ada@example.org", "email_verified": True}
    async with (
        openid_provider(claims=claims) as provider,
        rooms(
            tmp_path / "data", bus_settings, provider.issuer, first_role="viewer", email_domains=["example.org"]
        ) as room,
    ):
        eve = await visitor(room, MemberRole.OWNER)
        profile = {"name": "Eve", "email": "ada@example.org", "password": "a long enough one"}
        headers = {"X-CSRF-Token": await eve.csrf()}
        assert (await eve.client.post("/profile", json=profile, headers=headers)).status_code == 200
        async with somebody(room) as ada:
            await enter(ada)
            assert "default, viewer" in (await ada.get("/people")).text
        provider.claims = {**claims, "sub": "bo-2", "email_verified": False}
        async with somebody(room) as bo:
            assert (await enter(bo)).status_code == 403
        provider.claims = {**claims, "sub": "bo-2", "email": "bo@elsewhere.example"}
        async with somebody(room) as bo:
            assert (await enter(bo)).status_code == 403


async def test_a_sign_in_is_connected_by_its_owner_alone(tmp_path: Path, bus_settings: BusSettings) -> None:
    async with (
        openid_provider() as provider,
        rooms(tmp_path / "data", bus_settings, provider.issuer, passwords=False) as room,
    ):
        owner, viewer = await visitor(room), await visitor(room, MemberRole.VIEWER)
        async with somebody(room) as ada:
            assert (await enter(ada)).status_code == 403, "nobody made a place for them"
        forged = await owner.client.post("/profile/identity")
        assert forged.status_code == 403
        assert await connect(owner) == 303
        assert "Connected" in (await owner.page("/people")).text
        assert await connect(viewer) == 409, "it is the owner's"
        async with somebody(room) as ada:
            await enter(ada)
            assert "default, owner" in (await ada.get("/people")).text
            refused = await ada.post("/sign-in", data={"email": "a@b.example", "password": "a long enough one"})
            assert (refused.status_code, "not by password" in refused.text) == (403, True)
            assert 'name="password"' not in refused.text
        headers = {"X-CSRF-Token": await owner.csrf()}
        assert (await owner.client.delete("/profile/identity", headers=headers)).status_code == 200
        assert (await owner.client.delete("/profile/identity", headers=headers)).status_code == 404
        async with somebody(room) as ada:
            assert (await enter(ada)).status_code == 403


async def test_who_came_by_the_provider_has_no_password_beside_it(tmp_path: Path, bus_settings: BusSettings) -> None:
    """It would let in whom the provider knows no more."""
    profile = {"name": "Ada", "email": "ada@example.org", "password": "a long enough one"}
    async with (
        openid_provider() as provider,
        rooms(tmp_path / "data", bus_settings, provider.issuer, first_role="member") as room,
    ):
        async with somebody(room) as ada:
            await enter(ada)
            token = await Visitor(ada).csrf()
            refused = await ada.post("/profile", json=profile, headers={"X-CSRF-Token": token})
            assert refused.status_code == 403
        [person] = await people_of(room)
        of_before = PasswordHasher().hash(profile["password"])  # that was refused
        await SignIns(room.database).people.change(person, email=profile["email"], password_hash=of_before)
        async with somebody(room) as ada:
            assert (await ada.post("/sign-in", data=profile)).status_code == 400


async def connect(one: Visitor) -> int:
    """Connect one's sign-in; the last status."""
    begun = await one.client.post("/profile/identity", headers={"X-CSRF-Token": await one.csrf()})
    return (await one.client.get(await led_back(one.client, begun.json()["address"]))).status_code


@pytest.mark.chromium
async def test_with_a_browser_at_another_peoples_provider(tmp_path: Path, bus_settings: BusSettings) -> None:
    ada = oidc_provider_mock.User(
        sub="ada@example.org", claims={"name": "Ada Lovelace", "email": "ada@example.org", "groups": ["admins"]}
    )
    rule = {"role_claim": "groups", "roles": {"admins": "owner"}}
    with oidc_provider_mock.run_server_in_thread(user_claims=[ada], require_nonce=True) as server:
        issuer = f"http://localhost:{server.server_port}"
        async with (
            rooms(tmp_path / "data", bus_settings, issuer, None, **rule) as room,
            on_a_socket(room.app) as port,
            chromium() as browser,
        ):
            page = await browser.new_page()
            await page.goto(f"http://127.0.0.1:{port}/bots/scheduled")
            await page.get_by_role("link", name="Sign in with Zanzibar ID").click()
            await page.get_by_role("button", name="ada@example.org").click()
            await expect(page.get_by_role("heading", name="Scheduled")).to_be_visible()
            await expect(page.locator(".who")).to_contain_text("Ada Lovelace")
            await expect(page.locator(".who")).to_contain_text("owner")
            await page.get_by_role("button", name="Sign out").click()
            link = f"http://127.0.0.1:{port}{await link_for(room, MemberRole.VIEWER)}"
            async with signed_in(browser, link) as bo:
                await bo.go("/people")
                await bo.page.get_by_role("button", name="Connect").click()
                await bo.page.locator("input[name=sub]").fill("bo@example.org")
                await bo.page.get_by_role("button", name="Authorize").click()
                await expect(bo.page.get_by_text("Connected: you can sign in with it")).to_be_visible()
                assert await bo.findings() == []
