"""Where a bot's tab may go."""

import pytest

from sederunt.browser.document_origins import Places

RULES = "MAP meet.google.com 127.0.0.1:4000,MAP *.zoom.us 127.0.0.1:4001"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1:6379/",
        "http://2130706433/",
        "http://localhost:8080/x",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/",
        "http://10.1.2.3:80/",
        "http://0.0.0.0/",
        "http://nowhere.invalid/",  # asked again by the browser, its server may name this network
    ],
)
async def test_this_machine_and_its_network_are_not_opened(url: str) -> None:
    assert not await Places(RULES).may_open(url)


@pytest.mark.parametrize(
    "url",
    [
        "about:blank",
        "https://meet.google.com/abc",
        "https://app.zoom.us/wc",
        "https://8.8.8.8/",
    ],
)
async def test_mapped_and_public_hosts_are_opened(url: str) -> None:
    assert await Places(RULES).may_open(url)


async def test_where_we_sent_the_tab_is_open_and_no_other_port_of_that_host() -> None:
    places = Places(None)
    places.sent("http://127.0.0.1:4000/room?x")
    assert await places.may_open("http://127.0.0.1:4000/other")
    assert not await places.may_open("http://127.0.0.1:4001/")


async def test_a_rule_without_a_port_opens_the_webs_own_ports_alone() -> None:
    places = Places("MAP localhost 127.0.0.1")
    assert await places.may_open("https://localhost/")
    assert not await places.may_open("http://localhost:6379/")
