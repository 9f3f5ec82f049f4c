"""The minutes that a bot is charged for."""

from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus, StopReason

FREE_WAITING_MIN = 10  # waiting longer than this costs a bot that was not admitted the base price


def minutes_of(bot: Bot) -> int:
    """Return minutes in the meeting, begun ones whole; 0 where it never was in one."""
    ended = bot.recording_ended_at or bot.finished_at
    if bot.recording_started_at is None or ended is None:
        return 0
    return max(0, -int(-(ended - bot.recording_started_at).total_seconds() // 60))


def waiting_minutes_of(bot: Bot) -> int:
    """Return minutes of waiting for nothing beyond the free ones."""
    waited_out = bot.status is BotStatus.NOT_ADMITTED and bot.stop_reason is StopReason.WAITING_ROOM_TIMEOUT
    return max(0, bot.config.stop_options.waiting_room_timeout - FREE_WAITING_MIN) if waited_out else 0
