"""A practice meeting for people who want to see a bot at work: the practice sites run as a child of this process.

They start at the first request and end with this process. The bot's configuration says how its browser reaches them;
all other bots go to the real sites as before.
"""

import asyncio
import importlib.util
import json
import secrets
from dataclasses import replace
from uuid import UUID

from sederunt import log
from sederunt.accounting import Rate
from sederunt.api.call import Call
from sederunt.api.checks import Checks
from sederunt.api.resources.bots import announce_created
from sederunt.api.schemas.faults import Faults
from sederunt.bus.tasks import end
from sederunt.database.ids import new_id
from sederunt.die_with_parent import tied
from sederunt.errors import Conflict, LimitReached, TooManyRequests
from sederunt.model.bot import Bot, BotConfig, StopOptions
from sederunt.model.budgets import BUDGETS
from sederunt.model.status import BotStatus
from sederunt.platforms.registry import service_of_link
from sederunt.practice.client import PracticeClient
from sederunt.python_child import python_command

logger = log.get(component="console")

BUDGET = BUDGETS["practice_meetings"]
START_S = 60.0
NAME = "Sederunt"
_MODELS = ("whisper-realtime", "whisper", "none")  # the first that is possible here


class PracticeSites:
    """The practice sites of this process. `close` ends them."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._control_url = ""
        self._host_rules = ""
        self._starting = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._rate = Rate(BUDGET.default, BUDGET.per_s)

    async def open_meeting(self, account_id: UUID) -> tuple[str, str]:
        """Open a meeting; return its address, and the host rules that lead a browser there. Raises TooManyRequests, and
        Conflict if the sites are not installed.
        """
        if wait_s := self._rate.wait_s(account_id):
            sentence = f"This account has opened many practice meetings: try again in {wait_s} s."
            raise TooManyRequests(sentence, wait_s, BUDGET.name)
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                await self._start()
        async with PracticeClient(self._control_url) as client:
            return (await client.open_meeting()).url, self._host_rules

    async def close(self) -> None:
        """End the sites."""
        if self._reading is not None:
            await end(self._reading)
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    async def _start(self) -> None:
        if importlib.util.find_spec("aiortc") is None:
            raise Conflict("The practice sites are not installed: pip install 'sederunt[practice]'.")
        serve = ("practice", "serve", "--port", "0", "--control-port", "0", "--control-token")
        self._process = await asyncio.create_subprocess_exec(
            *tied(python_command("-m", "sederunt.cli.main", *serve)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), START_S)
            facts = json.loads(line)
        except (TimeoutError, ValueError):
            self._process.kill()
            raise Conflict("The practice sites did not start; `sederunt practice serve` says why.") from None
        self._control_url, self._host_rules = facts["control_url"], facts["host_rules"]
        self._reading = asyncio.create_task(_drain(self._process.stdout))
        logger.info("practice sites started", action="practice_started", pid=self._process.pid)


async def _drain(output: asyncio.StreamReader) -> None:
    """Discard the sites' output, so that they never wait for a reader."""
    while await output.read(65_536):
        pass


async def send_practice_bot(call: Call, sites: PracticeSites) -> Bot:
    """Open a meeting and send a bot into it. Raises Conflict, InvalidLink, LimitReached, TooManyRequests."""
    url, host_rules = await sites.open_meeting(call.account_id)
    config = BotConfig(
        service=service_of_link(url),
        meeting_url=url,
        bot_name=NAME,
        transcription_model="none",
        lang="en",
        host_rules=host_rules,
        realtime_audio=True,
        stop_options=StopOptions(last_person_detection=1),
        custom_metadata={"practice": "yes"},
    )
    config = replace(config, transcription_model=await _model(call, config))
    now = call.context.clock.now()
    bot = Bot(
        id=new_id(now),
        account_id=call.account_id,
        config=config,
        status=BotStatus.BOOTING,
        created_at=now,
        secret=secrets.token_urlsafe(24),
        key_id=call.caller.key_id,
    )
    await call.context.bots.create(
        bot, most=call.context.settings.api.concurrent_bots, limits=call.context.account_limits
    )
    announce_created(bot)
    return bot


async def _model(call: Call, config: BotConfig) -> str:
    checks: Checks = call.context.checks
    for model in _MODELS:
        faults: Faults = {}
        candidate = replace(config, transcription_model=model)
        await checks.bot(call.account_id, candidate, {"transcription_model"}, faults)
        try:
            await checks.live_room(candidate, call.context.bots)
        except LimitReached:
            continue
        if not faults:
            return model
    return "none"
