"""Test in a worker, now and then, whether this machine's speech model recognises words.

The test is a process of its own: a model loaded for two seconds of sound an hour must not stay in a worker's memory.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sederunt import log
from sederunt.bus.heartbeat import OK
from sederunt.bus.tasks import end
from sederunt.cli.checks import Fault, check_whisper
from sederunt.cli.terminal import tell
from sederunt.die_with_parent import tied
from sederunt.python_child import python_command
from sederunt.settings import Settings, load

logger = log.get(component="cli", role="worker")

FIRST_S = 300.0  # after the worker's start, which is busy
EVERY_S = 3600.0
WITHIN_S = 600.0  # a timeout means a busy machine, not a deaf one
NO_MODEL = "no model"


class SpeechTrial:
    """The result of the last trial; an installation that transcribes only by vendors has no model, and is healthy."""

    def __init__(self, settings: Settings, *, first_s: float = FIRST_S, every_s: float = EVERY_S) -> None:
        self._settings, self._first_s, self._every_s = settings, first_s, every_s
        self._heard = settings.data / "run" / "speech-model-heard"  # also written by earlier workers: most rest early
        self._word = OK

    def state(self) -> str:
        """Return "ok", or what is wrong with the speech model."""
        return self._word

    @asynccontextmanager
    async def tested(self) -> AsyncIterator["SpeechTrial"]:
        """Try the model repeatedly while the block runs."""
        testing = asyncio.create_task(self._run(), name="speech trial")
        try:
            yield self
        finally:
            await end(testing)

    async def _run(self) -> None:
        await asyncio.sleep(self._first_s)
        while True:
            await self.try_once()
            await asyncio.sleep(self._every_s)

    async def try_once(self) -> str:
        """Test the model once; return the state afterwards."""
        try:
            word = await _tried(self._settings)
        except (OSError, TimeoutError) as error:  # no verdict
            logger.warning("the speech model was not tried", action="model_untried", why=str(error))
            return self._word
        self._word = OK if word == NO_MODEL and not self._heard.exists() else word
        if word == OK:
            with contextlib.suppress(OSError):
                self._heard.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._heard.touch()
        if self._word != OK:
            logger.error("the speech model does not hear", action="model_deaf", why=self._word)
        return self._word


async def _tried(settings: Settings) -> str:
    """Return a trial's result. Raises OSError or TimeoutError if it had none."""
    process = await asyncio.create_subprocess_exec(
        *tied(python_command("-m", "sederunt.cli.speech_trial")),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "SEDERUNT_DATA": str(settings.data.resolve())},
    )
    try:
        async with asyncio.timeout(WITHIN_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode in (-signal.SIGKILL, -signal.SIGTERM):  # killed by somebody, or for lack of memory
        raise OSError(f"its trial was ended by signal {-process.returncode}")
    return output.decode(errors="replace").strip() or f"its trial ended with {process.returncode}"


def main() -> None:
    """Write "ok", "no model", or what is wrong, to standard output."""
    settings = load()
    log.configure(settings.log.style, settings.log.level)
    try:
        asyncio.run(check_whisper(settings))
    except Fault as fault:
        from sederunt.transcription.models import find
        from sederunt.transcription.whisper import PROVIDER

        model = find("vendor1")
        missing = model is not None and PROVIDER.fault(settings, model)
        tell(NO_MODEL if missing else str(fault))
    else:
        tell(OK)


if __name__ == "__main__":
    main()
