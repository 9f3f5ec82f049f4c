"""What a read costs does not grow with what is stored: counted in work, a thousand bots against twenty thousand."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from harness.filled import Work, fill
from harness.some_bot import NINE
from sederunt.database.bots import Bots
from sederunt.database.deliveries import DeliveryState
from sederunt.database.delivery_lists import DeliveryLists
from sederunt.database.engine import Database
from sederunt.database.holdings import Holdings
from sederunt.database.recordings import Recordings
from sederunt.database.search import Search
from sederunt.model.search_terms import phrases
from sederunt.model.status import BotStatus, RecordingStatus

FEW, MANY = 1_000, 20_000
AGAIN = 2.0  # times as much work as before is no growth, where twenty times as much is stored
FLOOR = 200  # less than this counts as this: pages and plans differ a little


async def test_no_read_does_more_work_where_more_is_stored(database: Database) -> None:
    account = database.default_account_id
    await fill(database, account, FEW, transcripts=50, lines=20)
    work = Work(database)
    reads = await reads_of(database)
    before = {name: await cost(work, read) for name, read in reads.items()}
    await fill(database, account, MANY - FEW, transcripts=950, lines=20)
    after = {name: await cost(work, read) for name, read in reads.items()}
    grown = {name: (before[name], after[name]) for name in reads if after[name] > AGAIN * max(before[name], FLOOR)}
    assert grown == {}


async def reads_of(database: Database) -> dict[str, Callable[[], Awaitable[object]]]:
    """Every read that callers, the console or housekeeping make of what an account has in plenty."""
    account = database.default_account_id
    search, holdings = Search(database), Holdings(database)
    bots, recordings, deliveries = Bots(database), Recordings(database), DeliveryLists(database)
    first = await bots.find(account, limit=10)
    some = first.bots[0].id
    failed = first.bots[0].status
    return {
        "bots": lambda: bots.find(account),
        "bots, second page": lambda: bots.find(account, cursor=first.cursor),
        "bots of the most frequent status": lambda: bots.find(account, status=failed),
        "bots of a status that none has": lambda: bots.find(account, status=BotStatus.FAILED),
        "bots by metadata that most have": lambda: bots.find(account, metadata={"team": "everybody"}),
        "bots by metadata that few have": lambda: bots.find(account, metadata={"team": "few"}),
        "bots by metadata that none has": lambda: bots.find(account, metadata={"team": "none"}),
        "one bot": lambda: bots.get(some, account),
        "bots at work": lambda: bots.active_count(account),
        "bots that need a job": lambda: bots.all_accounts.with_status(BotStatus.PROCESSING),
        "bots whose media has had its time": lambda: bots.all_accounts.expired(NINE + timedelta(days=400)),
        "models at work": bots.all_accounts.models_at_work,
        "recordings that need a job": lambda: recordings.with_status(RecordingStatus.TRANSCRIBING),
        "deliveries": lambda: deliveries.find(account),
        "deliveries that were given up": lambda: deliveries.find(account, state=DeliveryState.GIVEN_UP),
        "deliveries that wait": lambda: deliveries.find(account, state=DeliveryState.PENDING),
        "deliveries of a bot": lambda: deliveries.find(account, resource_id=some),
        "deliveries of a bot that wait": lambda: deliveries.find(
            account, resource_id=some, state=DeliveryState.PENDING
        ),
        "resources without a holding": holdings.unmeasured,
        "lines with a word of one line": lambda: search.find(account, phrases('"project7"')),
        "lines with a frequent word": lambda: search.find(account, phrases('"budget"')),
        "lines with a word that nobody said": lambda: search.find(account, phrases("zebra")),
    }


async def cost(work: Work, read: Callable[[], Awaitable[object]]) -> int:
    work.done = 0
    await read()
    return work.done
