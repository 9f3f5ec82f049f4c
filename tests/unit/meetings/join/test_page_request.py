"""Which kind of browser a bot gets."""

import pytest

from sederunt.meetings.join.page_request import batch_ms, browser_mode
from sederunt.model.bot import BotConfig, Service
from sederunt.settings import BrowserSettings, CaptureSettings


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


@pytest.mark.parametrize(
    ("model", "realtime_audio", "expected"),
    [
        ("whisper", False, 500),
        ("whisper", True, 200),
        ("vendor2-realtime", False, 300),
        ("vendor2-realtime", True, 200),
        ("whisper-realtime", False, 60),
    ],
)
def test_pages_gather_packets_as_long_as_whoever_listens_allows(
    model: str, realtime_audio: bool, expected: int
) -> None:
    config = BotConfig(
        service=Service("gmeet"),
        meeting_url="https://meet.google.com/abc-defg-hij",
        bot_name="Scribe",
        transcription_model=model,
        realtime_audio=realtime_audio,
    )
    assert batch_ms(config, CaptureSettings()) == expected
