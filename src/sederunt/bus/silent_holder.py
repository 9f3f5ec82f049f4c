"""Wait for a job's holder that does not answer while the message server still believes it connected.

A machine that loses its power or its network says no goodbye: the server keeps its subscriptions for minutes, so a
question to it is lost instead of being refused at once ("no responders"). The server's belief therefore does not matter
here. A process that is given such a job keeps it by confirmed acknowledgements, asks the holder repeatedly, and takes
the job when the holder has been silent for longer than the two ack waits after which it leaves by itself.

A wait counts only if the server confirms each round. While the server is down or frozen, a living holder cannot answer
either, and nobody else is given anything.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from nats.aio.msg import Msg

from sederunt.bus.connection import Bus, BusAway, NoResponder

ASK_S = 1.0  # how long a holder may take to say that it holds a job
ASK_EVERY_S = 2.0  # between two questions to a holder that did not answer
MARGIN_S = 1.0  # how long a holder may take to notice that its two ack waits are over


class Holder(StrEnum):
    """What was learned about the holder of a job."""

    ADOPTED = "adopted"  # it works on this very job, and uses our delivery from now on
    HANDING_OVER = "handing_over"  # it works on until the asker has taken its place
    BUSY = "busy"  # it works on another job of this resource
    GONE = "gone"  # nobody answers for the resource
    SILENT = "silent"  # somebody is connected for it, but did not answer
    UNKNOWN = "unknown"  # the server did not confirm that we have the job


async def ask(bus: Bus, subject: str, question: Mapping[str, Any]) -> Holder:
    """Ask the holder of a job once."""
    try:
        answer = await bus.request(subject, question, within_s=ASK_S)
    except NoResponder:
        return Holder.GONE
    except BusAway:
        return Holder.SILENT
    return _told(answer)


async def wait_out(bus: Bus, subject: str, question: Mapping[str, Any], *, proven_s: float) -> Holder:
    """Ask until somebody answers, or the holder has been silent for two ack waits (SILENT).

    A late answer counts: a holder on a busy machine may need seconds for each answer, and is alive.

    Args:
        proven_s: how long it has been silent already: a job that is given out again proves one ack wait.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 2 * bus.settings.ack_wait_s + MARGIN_S - proven_s
    answers: asyncio.Queue[Holder] = asyncio.Queue()

    async def heard(msg: Msg) -> None:
        is_refusal = msg.headers is not None and msg.headers.get("Status") == "503"  # the server's: no responders
        answers.put_nowait(Holder.GONE if is_refusal else _told(json.loads(msg.data)))

    inbox = bus.new_inbox()
    subscription = await bus.subscribe(inbox, heard)
    try:
        while True:
            if not await bus.confirm(str(question["handle"]), b"+WPI", within_s=bus.settings.ack_wait_s / 3):
                return Holder.UNKNOWN
            if loop.time() >= deadline:
                return Holder.SILENT
            await bus.ask(subject, question, reply=inbox)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ASK_EVERY_S):
                    return await answers.get()
    finally:
        await subscription.close()


def _told(answer: Mapping[str, Any]) -> Holder:
    if answer.get("handing_over"):
        return Holder.HANDING_OVER
    return Holder.ADOPTED if answer.get("adopted") else Holder.BUSY
