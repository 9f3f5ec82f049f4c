"""Which kind of browser a bot gets."""

import pytest

from sederunt.meetings.join.page_request import browser_mode
from sederunt.settings import BrowserSettings


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        (BrowserSettings(), "headful"),
        (BrowserSettings(host_rules="MAP meet.google.com 127.0.0.1:8443"), "shell"),
        (BrowserSettings(host_rules="MAP meet.google.com 127.0.0.1:8443", mode="headful"), "headful"),
        (BrowserSettings(mode="shell"), "shell"),
    ],
)
def test_real_services_get_a_visible_browser_practice_sites_the_light_one(settings: BrowserSettings, mode: str) -> None:
    assert browser_mode(settings) == mode
