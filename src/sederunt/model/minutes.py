"""The minutes that a bot is charged for."""

from sederunt.model.bot import Bot
from sederunt.model.status import BotStatus, StopReason

FREE_WAITING_MIN = 10  # a bot that was not admitted pays the base price for waiting longer


def seconds_of(bot: Bot) -> float | None:
    """Return the seconds in the meeting; None for a bot that never was in one, or still is."""
    ended_at = bot.recording_ended_at or bot.finished_at
    if bot.recording_started_at is None or ended_at is None:
        return None
    return (ended_at - bot.recording_started_at).total_seconds()


def minutes_of(bot: Bot) -> int:
    """Return the minutes in the meeting, rounded up; 0 if it never was in one."""
    return max(0, -int(-(seconds_of(bot) or 0) // 60))


def waiting_minutes_of(bot: Bot) -> int:
    """Return the minutes of vain waiting beyond the free ones, whoever ended the wait."""
    if bot.status is not BotStatus.NOT_ADMITTED:
        return 0
    limit = bot.config.stop_options.waiting_room_timeout
    if bot.stop_reason is StopReason.WAITING_ROOM_TIMEOUT or bot.finished_at is None:
        waited_minutes = limit if bot.stop_reason is StopReason.WAITING_ROOM_TIMEOUT else 0
    else:
        began_at = max(bot.created_at, bot.scheduled_for or bot.created_at)
        waited_minutes = min(limit, -int(-(bot.finished_at - began_at).total_seconds() // 60))
    return max(0, waited_minutes - FREE_WAITING_MIN)
