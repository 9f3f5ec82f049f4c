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


@pytest.mark.parametrize(
    ("rules", "url", "is_open"),
    [
        # A pattern is compared with the host alone, then with host and port; an address without a port has one, too.
        ("MAP accounts.example 127.0.0.1:4000", "https://accounts.example/x", True),
        ("MAP accounts.example:443 127.0.0.1:4000", "https://accounts.example/x", True),
        ("MAP accounts.example:443 127.0.0.1:4000", "https://accounts.example:443/x", True),
        ("MAP accounts.example:443 127.0.0.1:4000", "https://someone@accounts.example/x", True),
        ("MAP accounts.example:80 127.0.0.1:4000", "http://accounts.example/x", True),
        ("MAP *.example:443 127.0.0.1:4000", "https://accounts.example/x", True),
        ("map ACCOUNTS.example:443 127.0.0.1:4000", "https://Accounts.Example/x", True),
        ("MAP accounts.example:8443 127.0.0.1", "https://accounts.example:8443/x", True),
        ("MAP accounts.example:443 127.0.0.1:4000", "http://accounts.example/x", False),
        ("MAP accounts.example:443 127.0.0.1:4000", "https://accounts.example:8443/x", False),
        ("MAP accounts.example:443 127.0.0.1:4000", "https://other.example/x", False),
        # A host that is excluded is not mapped, wherever that stands.
        ("MAP *:443 127.0.0.1:4000,EXCLUDE accounts.example", "https://accounts.example/x", False),
        ("EXCLUDE *.example,MAP * 127.0.0.1:4000", "https://accounts.example/x", False),
    ],
)
async def test_host_rules_are_read_as_chromium_reads_them(rules: str, url: str, is_open: bool) -> None:
    """Names under .example never resolve: without a rule that fits, the document is refused."""
    assert await Places(rules).may_open(url) is is_open
