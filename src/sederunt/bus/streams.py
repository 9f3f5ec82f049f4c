"""The table of streams and queues, their subjects, and the function that makes the server match it."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NotFoundError

# How long the server remembers message ids. An outbox row is repeated within seconds of a crash, or after an outage.
DUPLICATE_WINDOW_S = 3600.0

# A listener may come back this late and continue where it was; the longest meeting lasts four hours.
FEED_AGE_S = 12 * 3600.0
FEED_BYTES = 2 << 30

# Jobs given out and not yet settled, over all holders; a job that waits for its next attempt counts too.
MAX_HELD = 100_000

# The server's answer to a second message for a resource that may have only one.
ALREADY_QUEUED = 10077
_STREAM_EXISTS = 10058


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """One kind of job: a stream that forgets a message once it is settled, and one consumer shared by all holders."""

    kind: str
    one_per_resource: bool = False  # a second message for the same resource is refused while one is there

    @property
    def stream(self) -> str:
        return f"JOBS_{self.kind.upper()}"

    @property
    def subjects(self) -> str:
        return f"job.{self.kind}.>"


QUEUES: Mapping[str, Queue] = {
    queue.kind: queue
    for queue in (
        Queue(kind="attend"),
        Queue(kind="assemble"),
        Queue(kind="fetch"),
        Queue(kind="transcribe"),
        # One message per resource keeps its webhooks in order: nobody else can be at the same resource.
        Queue(kind="deliver", one_per_resource=True),
        Queue(kind="peaks", one_per_resource=True),
    )
}

ALL_JOBS = "job.>"  # subscribers hear each job that is published
FEEDS = "FEEDS"


def job_subject(kind: str, resource_id: UUID | str) -> str:
    """Return the subject of a job. Its id makes it possible to ask the queue about one resource."""
    return f"job.{QUEUES[kind].kind}.{resource_id}"


def command_subject(bot_id: UUID | str) -> str:
    return f"bot.{bot_id}.do"


def place_subject(bot_id: UUID | str, epoch: int) -> str:
    """Return the subject on which the holder of a bot with this epoch is asked to give up its place."""
    return f"bot.{bot_id}.place.{epoch}"


def held_subject(kind: str, resource_id: UUID | str) -> str:
    """Return the subject on which a job's holder answers for it."""
    return f"held.{kind}.{resource_id}"


def holds_subject(host: str) -> str:
    """Return the subject on which a host is asked what it holds. Dots and blanks in a name would split it."""
    return f"host.{_token(host)}.holds"


def windows_subject(host: str) -> str:
    """Return the subject on which a host is asked for a sign-in window."""
    return f"host.{_token(host)}.windows"


def account_check_subject(host: str) -> str:
    """Return the subject on which a host is asked whether a meeting account still gets in."""
    return f"host.{_token(host)}.account-check"


def window_subject(window_id: str, action: str) -> str:
    """Return the subject on which a sign-in window is asked to `look`, `act` or `end`."""
    return f"window.{window_id}.{action}"


def _token(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)


def events_subject(bot_id: UUID | str) -> str:
    return f"feed.{bot_id}.events"


def live_subject(bot_id: UUID | str) -> str:
    """Return the subject on which the server repeats each stored event with its sequence number."""
    return f"live.{bot_id}.events"


def audio_subject(bot_id: UUID | str) -> str:
    """Return the subject of a bot's audio. It is not stored: only present listeners hear it."""
    return f"feed.{bot_id}.audio"


def drafts_subject(bot_id: UUID | str) -> str:
    """Return the subject of drafts: what is being said and may still change. They are not stored; the final segment
    follows among the events.
    """
    return f"feed.{bot_id}.drafts"


def next_subject(queue: Queue) -> str:
    """Return the subject on which the server is asked for one job."""
    return f"$JS.API.CONSUMER.MSG.NEXT.{queue.stream}.{queue.kind}"


def direct_get_subject(stream: str) -> str:
    """Return the subject on which any server with the stream's messages is asked for some of them."""
    return f"$JS.API.DIRECT.GET.{stream}"


async def declare(js: JetStreamContext, *, ack_wait_s: float, replicas: int) -> None:
    """Make streams and consumers match the table. Safe to repeat, also from many processes at once."""
    for queue in QUEUES.values():
        await _declare_stream(
            js,
            StreamConfig(
                name=queue.stream,
                subjects=[queue.subjects],
                retention=RetentionPolicy.WORK_QUEUE,
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW if queue.one_per_resource else DiscardPolicy.OLD,
                discard_new_per_subject=queue.one_per_resource,
                max_msgs_per_subject=1 if queue.one_per_resource else -1,
                duplicate_window=DUPLICATE_WINDOW_S,
                num_replicas=replicas,
            ),
        )
        await js.add_consumer(
            queue.stream,
            ConsumerConfig(
                durable_name=queue.kind,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=ack_wait_s,
                max_deliver=-1,  # the table of retries decides when to give up, and can tell the resource
                max_ack_pending=MAX_HELD,
                filter_subject=queue.subjects,
            ),
        )
    await _declare_stream(js, _feed_stream(replicas))


async def declared_ack_wait_s(js: JetStreamContext) -> float | None:
    """Return the declared ack wait of the hosts' queue; None if it is not declared yet."""
    queue = QUEUES["attend"]
    try:
        ack_wait_s: float | None = (await js.consumer_info(queue.stream, queue.kind)).config.ack_wait
    except NotFoundError:
        return None
    return ack_wait_s


def _feed_stream(replicas: int) -> StreamConfig:
    return StreamConfig(
        name=FEEDS,
        subjects=["feed.*.events"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=FEED_AGE_S,
        max_bytes=FEED_BYTES,
        duplicate_window=DUPLICATE_WINDOW_S,
        allow_direct=True,
        republish=RePublish(src="feed.*.events", dest="live.{{wildcard(1)}}.events"),
        num_replicas=replicas,
    )


async def _declare_stream(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.add_stream(config)
    except BadRequestError as error:
        if error.err_code != _STREAM_EXISTS:
            raise
        await js.update_stream(config)


async def queued(js: JetStreamContext, queue: Queue) -> frozenset[str]:
    """Return the ids of the resources with a job in this queue, waiting or given out."""
    prefix = f"job.{queue.kind}."
    try:
        info = await js.stream_info(queue.stream, subjects_filter=queue.subjects)
    except NotFoundError:
        return frozenset()
    return frozenset(subject.removeprefix(prefix) for subject in info.state.subjects or {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """How much a queue holds."""

    waiting: int
    at_work: int  # given out; a job that waits for its next attempt counts too
    oldest: datetime | None  # when the oldest of both was published


async def depth(js: JetStreamContext, queue: Queue) -> Depth:
    """Return how much a queue holds."""
    info = await js.consumer_info(queue.stream, queue.kind)
    oldest: datetime | None = None
    if info.num_pending or info.num_ack_pending:
        state = (await js.stream_info(queue.stream)).state
        with contextlib.suppress(NotFoundError):  # done meanwhile
            oldest = (await js.get_msg(queue.stream, seq=state.first_seq)).time
    return Depth(waiting=info.num_pending or 0, at_work=info.num_ack_pending or 0, oldest=oldest)


__all__ = [
    "ALL_JOBS",
    "ALREADY_QUEUED",
    "FEEDS",
    "QUEUES",
    "NatsError",
    "Queue",
    "audio_subject",
    "command_subject",
    "declare",
    "declared_ack_wait_s",
    "direct_get_subject",
    "drafts_subject",
    "events_subject",
    "held_subject",
    "holds_subject",
    "job_subject",
    "live_subject",
    "next_subject",
    "place_subject",
    "queued",
    "window_subject",
    "windows_subject",
]
