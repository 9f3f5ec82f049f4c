"""The job `attend`: sit in one meeting for one bot. May be given out again at any time; the row knows the rest."""

from sederunt import log
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.bus.streams import command_subject
from sederunt.errors import SetupError
from sederunt.jobs.house import House
from sederunt.jobs.work import Again, GiveUp, Job
from sederunt.meetings.attend import attend as sit_in
from sederunt.meetings.endings import give_up_lost, retry_challenged
from sederunt.meetings.orders import Orders
from sederunt.meetings.seat import Seat
from sederunt.model.bot import Verdict
from sederunt.model.status import BotStatus, Trigger
from sederunt.transcription.models import is_live_here

# Statuses in which a host has something to do; anything later belongs to the workers.
ATTENDED = frozenset(
    {BotStatus.BOOTING, BotStatus.JOINING, BotStatus.RECORDING, BotStatus.LEAVING, BotStatus.BOT_DETECTED}
)

MOST_TRIES_WITHOUT_BROWSER = 6

logger = log.get(room="jobs")


async def attend(job: Job, house: House) -> None:
    """Claim the bot, answer its commands, and sit in its meeting until the row says what came of it."""
    bot = await house.bots.get(job.id)
    if bot.status not in ATTENDED:
        return
    bot = await house.bots.claim(job.id, house.name)
    orders = Orders(job.cut_off)
    commands = await house.bus.serve(command_subject(job.id), orders.obey)
    if is_live_here(bot.config.transcription_model):
        house.transcribed_live.add(bot.id)
    try:
        if bot.status is BotStatus.BOT_DETECTED:
            await retry_challenged(bot, seat_of(house))
        else:
            await sit_in(bot, seat_of(house), orders)
    except SetupError as error:
        # This host has no browser that works; another may. A bot that none can seat must not wait for ever.
        if job.delivered >= MOST_TRIES_WITHOUT_BROWSER:
            raise GiveUp(str(error)) from error
        raise
    finally:
        house.transcribed_live.discard(bot.id)
        await commands.close()
    if job.cut_off.is_set():
        raise Again(0.0, "this host was cut off")


async def give_up(job: Job, house: House, error: BaseException) -> None:
    """Every attempt failed by our fault: what was recorded is processed, a bot that was never inside has failed."""
    bot = await house.bots.get(job.id)
    logger.error("bot given up", action="given_up", bot_id=str(job.id), error=str(error))
    if bot.status in (BotStatus.RECORDING, BotStatus.LEAVING):
        await give_up_lost(bot, seat_of(house), cause="host_lost")
    elif bot.status in ATTENDED:
        data = {"cause": "engine_failed", "seen": str(error)[:500]}
        await house.bots.record_transition(
            job.id, Trigger.CRASHED, data=data, changes={"verdict": Verdict.ENGINE_FAILED}
        )


def seat_of(house: House) -> Seat:
    """What this host lends a bot."""
    assert house.pool is not None, "bots sit on hosts, which have browsers"
    return Seat(
        settings=house.settings,
        bots=house.bots,
        objects=house.objects,
        pool=house.pool,
        events=house.events,
        bus=house.bus,
        live_lines=house.live_lines,
        accounts=MeetingAccounts(house.database, house.sealer),
        clock=house.clock,
        host=house.name,
    )
