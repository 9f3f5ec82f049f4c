"""How a bot's page is opened: the kind of browser and the capture, from settings and the bot's configuration."""

from typing import Literal

from sederunt.browser.page_request import PageRequest
from sederunt.meetings.join.identity import Identity
from sederunt.model.bot import Bot, BotConfig
from sederunt.platforms.platform import Platform
from sederunt.settings import BrowserSettings, CaptureSettings
from sederunt.transcription.models import has_sockets, is_live_here


def page_request(
    bot: Bot,
    platform: Platform,
    capture: CaptureSettings,
    browser: BrowserSettings,
    *,
    identity: Identity,
    avatar: bytes | None,
) -> PageRequest:
    """Return the request for one page of this bot. `avatar` is what its camera shows; None for no camera."""
    return PageRequest(
        bot_id=bot.id,
        account_id=bot.account_id,
        mode="shell" if bot.config.host_rules else browser_mode(browser),
        host_rules=bot.config.host_rules,
        backend="worklet" if capture.backend == "worklet" else "encoded",
        forward=capture.forward,
        batch_ms=batch_ms(bot.config, capture),
        video=bot.config.video,
        watch=platform.watch_plan(),
        hosts=tuple(platform.origins),
        storage_state=identity.storage_state,
        signs_in=identity.has_to_sign_in,
        avatar=avatar,
    )


def batch_ms(config: BotConfig, capture: CaptureSettings) -> int:
    """Return how long the page gathers packets: each message has a cost that is worth it only for live listeners."""
    if is_live_here(config.transcription_model):
        return capture.live_batch_ms
    if config.realtime_audio:
        return capture.sockets_batch_ms
    is_vendor_live = has_sockets(config.transcription_model, realtime_audio=False)
    return capture.vendor_batch_ms if is_vendor_live else capture.batch_ms


def browser_mode(browser: BrowserSettings) -> Literal["shell", "headless", "headful"]:
    """Return headful for the real services, which look closely; the shell if host rules lead to practice sites."""
    if browser.mode != "auto":
        return browser.mode
    return "shell" if browser.host_rules else "headful"
