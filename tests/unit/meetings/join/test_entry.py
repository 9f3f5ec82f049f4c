"""What the end of a way in means for whoever waited to be let in."""

import pytest

from sederunt.meetings.join.entry import was_shown_out
from sederunt.model.bot import Service
from sederunt.platforms.evidence import PageSnapshot
from sederunt.platforms.registry import platform_of

MARKETING = "https://workspace.google.com/products/meet/"


@pytest.mark.parametrize(
    ("service", "url", "status", "is_out"),
    [
        ("gmeet", MARKETING, 200, True),
        ("teams", "https://www.microsoft.com/microsoft-teams/log-in", 200, True),
        ("zoom", "https://www.example.com/", 200, True),
        ("gmeet", "https://meet.google.com/abc-defg-hij", 503, False),
        ("gmeet", "chrome-error://chromewebdata/", 0, False),
        ("gmeet", "https://accounts.google.com/v3/signin", 200, False),
    ],
)
def test_who_waited_and_is_led_to_another_host_was_shown_out(service: str, url: str, status: int, is_out: bool) -> None:
    """Led from the lobby to a page about the product, bots ended as taken for robots (Meet) or as failed (Teams)."""
    platform = platform_of(Service(service))
    reading = platform.judge(PageSnapshot(url=url, status=status), joined=False)
    assert was_shown_out(platform, reading) is is_out
