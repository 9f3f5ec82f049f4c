"""How a bot's page is opened: which kind of browser, which capture, from settings and the bot's own wishes."""

from typing import Literal

from sederunt.browser.pool import PageRequest
from sederunt.meetings.join.identity import Identity
from sederunt.model.bot import Bot
from sederunt.platforms.platform import Platform
from sederunt.settings import Settings
from sederunt.transcription.models import has_sockets


def page_request(
    bot: Bot, platform: Platform, settings: Settings, *, identity: Identity, avatar: bytes | None
) -> PageRequest:
    """The request for one page of this bot."""
    return PageRequest(
        bot_id=bot.id,
        mode=browser_mode(settings),
        backend="worklet" if settings.capture.backend == "worklet" else "encoded",
        forward=settings.capture.forward,
        batch_ms=batch_ms(bot, settings),
        video=bot.config.video,
        watch=platform.watch_plan(),
        hosts=tuple(platform.origins),
        storage_state=identity.storage_state,
        signs_in=identity.has_to_sign_in,
        avatar=avatar,
    )


def batch_ms(bot: Bot, settings: Settings) -> int:
    """How long the page gathers packets: each message costs, which only a live listener is worth."""
    live = has_sockets(bot.config.transcription_model, realtime_audio=bot.config.realtime_audio)
    return settings.capture.live_batch_ms if live else settings.capture.batch_ms


def browser_mode(settings: Settings) -> Literal["shell", "headless", "headful"]:
    """Headful for the real services, which look closely; the shell where host rules lead to practice sites."""
    if settings.browser.mode != "auto":
        return settings.browser.mode
    return "shell" if settings.browser.host_rules else "headful"
