"""When a bot knocks, and how long it waits before it knocks again: no person is back after ten milliseconds."""

import random

from sederunt.model.bot import WAITING_ROOM_MIN, Bot

FIRST_S = 2.0
GROWTH = 2.0
JITTER = 0.5  # the most that is added, as a share of the pause
LONGEST_S = 30.0
KNOCK_AHEAD_S = 1.0  # before the scheduled time: a waiting room shows a guest only after a moment
# A bot that is sent early, as one of many, knocks up to this much earlier: forty knocks in one second would take ten.
SPREAD_S, SPREAD_SHARE = 5.0, 0.1  # the most; the share of the time by which the bot was sent early


def pause_before_s(repetition: int) -> float:
    """Choose the pause in seconds before a repetition (from 1): at least 2, growing, never the same."""
    return min(LONGEST_S, FIRST_S * GROWTH ** (repetition - 1)) * (1 + random.uniform(0, JITTER))  # noqa: S311


def knocks_in_s(due_in_s: float) -> float:
    """Return in how many seconds a bot knocks if it is due in `due_in_s` seconds."""
    return due_in_s - KNOCK_AHEAD_S - min(max(due_in_s, 0.0) * SPREAD_SHARE, SPREAD_S)


def host_may_be_late(bot: Bot) -> bool:
    """Return whether the caller expects a late host: the bot was scheduled, or the caller gave a waiting time, even the
    default one. A caller who sends a bot at once without one learns of a wrong meeting number sooner."""
    config = bot.config
    has_own_wait = config.waiting_time_given or config.stop_options.waiting_room_timeout != WAITING_ROOM_MIN
    return bot.scheduled_for is not None or has_own_wait
