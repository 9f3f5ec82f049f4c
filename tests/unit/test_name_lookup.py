"""Names are looked up beside one another, whatever some name server does."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from sederunt.addresses import leads_to_public
from sederunt.browser.document_origins import MOST_LOOKUPS, Places
from sederunt.name_lookup import LookupThreads

PUBLIC = "8.8.8.8"


class NameServer:
    """Answers for all names but silent ones, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.speaks = threading.Event()

    def getaddrinfo(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        self.asked.append(host)
        if host.startswith("silent"):
            self.speaks.wait()
        return [(0, 0, 0, "", (PUBLIC, port))]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    server = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", server.getaddrinfo)
    yield server
    server.speaks.set()


async def test_names_whose_server_is_silent_hold_up_no_other_name(server: NameServer) -> None:
    waiting = [asyncio.create_task(leads_to_public(f"https://silent{n}.example")) for n in range(60)]
    await asyncio.sleep(0)
    assert await leads_to_public("https://good.example", within_s=5)
    assert "good.example" in server.asked
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_silent_names_of_one_browser_keep_no_thread_from_another(server: NameServer) -> None:
    hostile, neighbour = Places(None), Places(None)
    waiting = [asyncio.create_task(hostile.may_open(f"https://silent{n}.example/")) for n in range(300)]
    await asyncio.sleep(0)
    assert await neighbour.may_open("https://good.example/")
    assert len([host for host in server.asked if host.startswith("silent")]) <= MOST_LOOKUPS
    assert not await hostile.may_open("https://good.example/"), "its share is used up"
    server.speaks.set()
    await asyncio.gather(*waiting)
    assert await hostile.may_open("https://good.example/")


async def test_a_name_that_leads_nowhere_in_time_is_not_taken_for_a_public_one(
    server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server is asked a second time, by the browser, and may name this network then."""
    assert not await leads_to_public("https://silent.example", within_s=0.01)

    def fails(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    assert not await leads_to_public("https://broken.example")


def test_a_lookup_that_nobody_waits_for_any_longer_is_not_begun(server: NameServer) -> None:
    threads = LookupThreads(most=1)
    first, second = threads.look_up("silent.example", 80), threads.look_up("other.example", 80)
    assert second.cancel()
    third = threads.look_up("third.example", 80)
    server.speaks.set()
    assert first.result(5) == third.result(5) == [ip_address(PUBLIC)]
    assert server.asked == ["silent.example", "third.example"]


def test_a_thread_that_is_free_is_taken_before_another_one_begins(server: NameServer) -> None:
    threads = LookupThreads(most=3)
    for n in range(20):
        threads.look_up(f"{n}.example", 80).result(5)
    assert threads._begun <= 2  # the first may be on its way back to the queue


def test_the_faults_of_a_lookup_reach_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_found(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", none_found)
    with pytest.raises(socket.gaierror):
        LookupThreads().look_up("nowhere.example", 80).result(5)
