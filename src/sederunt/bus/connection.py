"""One process's connection to NATS: it reconnects for ever, publishes durably, and sends and serves requests.

The client library gives up for good when the server refuses it (a token that changed, a limit reached). A host in
the middle of a meeting must not: `Bus` then makes a new client and puts every subscription back.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlparse
from uuid import UUID

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError

from sederunt import log
from sederunt.bus import streams
from sederunt.errors import SederuntError, SetupError
from sederunt.settings import BusSettings
from sederunt.tracing import ORIGIN_FIELDS, carried, continuing, origin_in

logger = log.get(component="bus")

RETRY_S = 0.25  # between two tries to reconnect
FLUSH_S = 2.0
PONG_S = 60  # longer than a connection without answers is kept
STORES_NO_JOBS = "stores no jobs"  # the name in self-tests
UNSTORED_S = 5.0  # two unstored jobs in a row so far apart are a fault of the server, not one late confirmation
CONFIRM_S = 5.0  # how long one confirmation may take before the request is repeated

OnMessage = Callable[[Msg], Awaitable[None]]
Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class NoResponder(SederuntError):
    """No process serves the subject."""


class BusAway(SederuntError):
    """NATS could not be reached, or did not answer, in time."""


class Subscription:
    """A subscription that outlives the client it was made on."""

    def __init__(self, bus: "Bus", subject: str, on_message: OnMessage) -> None:
        self._bus = bus
        self.subject = subject
        self._on_message = on_message
        self._inner: ClientSubscription | None = None

    async def attach(self, client: Client) -> None:
        self._inner = await client.subscribe(self.subject, cb=self._on_message)

    async def close(self) -> None:
        self._bus.forget(self)
        if self._inner is not None:
            with contextlib.suppress(NatsError):
                await self._inner.unsubscribe()
                await self._bus.flush()


class Bus:
    """The connection. Make it with `connect`; all coroutines may be called at any time, also while NATS is away."""

    def __init__(self, settings: BusSettings, *, name: str) -> None:
        if settings.url is None:
            raise SetupError("No NATS address: start `sederunt serve`, or set SEDERUNT_BUS__URL.")
        self.settings = settings
        self.name = name
        self._servers = [url.strip() for url in settings.url.split(",")]
        self._client = Client()
        self._subscriptions: set[Subscription] = set()
        self._on_back: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._pings: set[asyncio.Task[None]] = set()
        self._unstored: dict[str, tuple[float, float]] = {}  # queue → first and last job in a row that was not stored
        self._up = asyncio.Event()
        self.ack_wait_before_s: float | None = None  # as an earlier process had declared it
        self._refused = ""  # the server's answer to the last declaration of the streams
        self._closing = False

    @classmethod
    async def connect(cls, settings: BusSettings, *, name: str, within_s: float = 30.0) -> "Bus":
        """Connect and declare the streams. Raises SetupError if there is no address, BusAway after `within_s`."""
        bus = cls(settings, name=name)
        try:
            async with asyncio.timeout(within_s):
                await bus._open()
                bus._up.set()
                bus.ack_wait_before_s = await bus._declared_ack_wait_s()
                await bus._declare_until_done()
        except TimeoutError:
            await bus.close()
            problem = f"could not keep the queues ({bus._refused})" if bus._refused else "did not answer"
            raise BusAway(f"NATS at {log.redact(str(settings.url))} {problem} within {within_s:g} s.") from None
        return bus

    @property
    def connected(self) -> bool:
        return self._client.is_connected

    @property
    def closed(self) -> bool:
        """Return whether `close` was called: nothing is sent after that."""
        return self._closing

    @property
    def local(self) -> bool:
        """Return whether every server is on this machine: then a lost connection means that the server is down."""
        return all(urlparse(url).hostname in ("127.0.0.1", "localhost", "::1") for url in self._servers)

    @property
    def client(self) -> Client:
        """Return the current client; another one replaces it when a server refuses it."""
        return self._client

    @property
    def js(self) -> JetStreamContext:
        return self._client.jetstream(timeout=CONFIRM_S)

    async def close(self) -> None:
        """Close the connection after flushing; subscriptions end."""
        self._closing = True
        for task in list(self._tasks):
            task.cancel()
        await self.flush()
        # Before the first connect the client asserts that it was opened.
        with contextlib.suppress(NatsError, OSError, AssertionError):
            await self._client.close()
        for ping in list(self._pings):
            ping.cancel()

    def when_back(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` first after every reconnect. Return a function that stops this."""
        self._on_back.append(callback)
        return lambda: self._on_back.remove(callback)

    # Publishing

    async def publish(self, subject: str, payload: bytes, message_id: str, *, within_s: float = 10.0) -> bool:
        """Store a message; return True if it is new, False if the server already has this id, or the resource's job.

        Repeats until the server has confirmed it. Raises BusAway after `within_s`; the message may be stored or not.
        """
        queue = subject.rpartition(".")[0]
        is_unanswered = False  # an earlier try may have been stored, so that a duplicate may be our own
        try:
            async with asyncio.timeout(within_s):
                while True:
                    try:
                        ack = await self.js.publish(subject, payload, headers={"Nats-Msg-Id": message_id})
                        self._unstored.pop(queue, None)
                        return not ack.duplicate or is_unanswered
                    except APIError as error:
                        if error.err_code == streams.ALREADY_QUEUED:
                            self._unstored.pop(queue, None)
                            return False
                        logger.warning("publish refused", action="publish_refused", subject=subject, error=str(error))
                    except (NatsError, NoStreamResponseError) as error:
                        is_unanswered = is_unanswered or not isinstance(error, NoStreamResponseError)
                        logger.debug("publish unanswered", action="publish_unanswered", error=str(error))
                    await asyncio.sleep(RETRY_S)
        except TimeoutError:
            if self.connected and subject.startswith("job."):
                now = asyncio.get_running_loop().time()
                self._unstored[queue] = (self._unstored.get(queue, (now, now))[0], now)
            raise BusAway(f"NATS did not confirm a message to {subject} within {within_s:g} s.") from None

    @property
    def stores_jobs(self) -> bool:
        """Return False if the server is up but one of its queues repeatedly stores nothing: a file that could not be
        made on a full disk keeps a stream from storing until the server restarts.
        """
        return all(last - first < UNSTORED_S for first, last in self._unstored.values())

    async def publish_job(self, kind: str, resource_id: UUID | str, payload: bytes, message_id: str) -> bool:
        """Put a job into its queue."""
        return await self.publish(streams.job_subject(kind, resource_id), payload, message_id)

    async def tell(self, subject: str, payload: bytes, reply: str = "") -> None:
        """Send without confirmation. Nothing is sent while NATS is away, since it would be stale later."""
        if self.connected:
            with contextlib.suppress(NatsError, OSError):
                await self._client.publish(subject, payload, reply=reply)

    async def confirm(self, subject: str, payload: bytes, *, within_s: float) -> bool:
        """Send and wait for the server's own answer; return False if none came. For acknowledgements."""
        if not self.connected:
            return False
        try:
            await self._client.request(subject, payload, timeout=within_s)
        except (NatsError, OSError):
            return False
        return True

    async def queued(self, kind: str) -> frozenset[str]:
        """Return the ids of the resources with a job of this kind queued or at work. Raises BusAway."""
        try:
            return await streams.queued(self.js, streams.QUEUES[kind])
        except (NatsError, OSError) as error:
            raise BusAway(f"NATS did not list the queue '{kind}': {error}") from None

    async def depth(self, kind: str) -> streams.Depth:
        """Return how many jobs a queue holds, and since when. Raises BusAway."""
        try:
            return await streams.depth(self.js, streams.QUEUES[kind])
        except (NatsError, OSError) as error:
            raise BusAway(f"NATS did not tell of the queue '{kind}': {error}") from None

    # Commands by request and reply

    async def request(self, subject: str, message: Mapping[str, Any], *, within_s: float = 5.0) -> dict[str, Any]:
        """Ask and wait. Raises NoResponder at once if nobody serves the subject, BusAway if no answer came in time."""
        try:
            async with asyncio.timeout(within_s):
                await self._up.wait()
                answer = await self._client.request(subject, _question(message), timeout=within_s)
        except NoRespondersError:
            raise NoResponder(f"Nobody answers on {subject}.") from None
        except (TimeoutError, NatsError, OSError):
            raise BusAway(f"No answer on {subject} within {within_s:g} s.") from None
        result: dict[str, Any] = json.loads(answer.data)
        return result

    async def ask(self, subject: str, message: Mapping[str, Any], *, reply: str) -> None:
        """Ask without waiting: the answer, or the server's notice that nobody serves the subject, comes to `reply`."""
        await self.tell(subject, _question(message), reply=reply)

    async def command(self, bot_id: UUID | str, message: Mapping[str, Any], *, within_s: float = 5.0) -> dict[str, Any]:
        """Ask the host that holds this bot: {"do": "stop" | "chat" | "are-you-there", …}."""
        return await self.request(streams.command_subject(bot_id), message, within_s=within_s)

    async def serve(self, subject: str, answer: Answer) -> Subscription:
        """Answer requests until the subscription is closed.

        A fault of ours is answered as {"error": sentence}, and so is a request that is interrupted by the end.
        """

        async def reply(msg: Msg, result: Mapping[str, Any]) -> None:
            if msg.reply:
                await self.tell(msg.reply, json.dumps(result).encode())

        async def on_message(msg: Msg) -> None:
            try:
                request = json.loads(msg.data)
                with continuing(origin_in(request)):
                    result = await answer({name: value for name, value in request.items() if name not in ORIGIN_FIELDS})
            except asyncio.CancelledError:  # by the client, when a subscription is closed
                await reply(msg, {"error": "It ended before this was done."})
                raise
            except Exception as error:
                logger.exception("request failed", action="request_failed", subject=subject)
                result = {"error": str(error)}
            await reply(msg, result)

        return await self.subscribe(subject, on_message)

    async def subscribe(self, subject: str, on_message: OnMessage) -> Subscription:
        """Hear a subject; `on_message` is awaited for one message after another."""
        subscription = Subscription(self, subject, on_message)
        self._subscriptions.add(subscription)
        try:
            # While away the client keeps the subscription and sends it when it is back.
            with contextlib.suppress(NatsError):
                await subscription.attach(self._client)
                await self.flush()
        except asyncio.CancelledError:
            await subscription.close()  # nobody else can close it
            raise
        return subscription

    async def flush(self) -> None:
        """Wait until the server, if it is connected, has seen everything sent so far."""
        # The client's ping overtakes messages in its own buffer; a second ping cannot.
        for _ in range(2):
            if self.connected:
                ping = asyncio.ensure_future(self._ping())
                self._pings.add(ping)
                ping.add_done_callback(self._pings.discard)
                await asyncio.wait({ping}, timeout=FLUSH_S)

    async def _ping(self) -> None:
        """Ping; never cancel this: the client stops reading for good when an abandoned ping is answered."""
        with contextlib.suppress(NatsError, OSError):
            await self._client.flush(PONG_S)

    def forget(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    def new_inbox(self) -> str:
        return self._client.new_inbox()

    # Staying connected

    async def _open(self) -> None:
        self._client = Client()
        token = self.settings.token.get_secret_value() if self.settings.token else None
        await self._client.connect(
            servers=self._servers,
            token=token,
            name=self.name,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RETRY_S,  # type: ignore[arg-type]  # annotated int, slept as given
            connect_timeout=3,
            ping_interval=5,
            max_outstanding_pings=2,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnected,
            reconnected_cb=self._on_reconnected,
            closed_cb=self._on_closed,
        )

    async def _on_error(self, error: Exception) -> None:
        logger.debug("connection to NATS failed", action="bus_error", error=str(error))

    async def _on_disconnected(self) -> None:
        self._up.clear()
        self._unstored.clear()
        if not self._closing:
            logger.warning("connection to NATS lost", action="bus_lost")

    async def _on_reconnected(self) -> None:
        logger.info("connected to NATS again", action="bus_back")
        self._up.set()
        for callback in list(self._on_back):
            callback()
        self._spawn(self._declare_until_done())

    async def _on_closed(self) -> None:
        self._up.clear()
        if not self._closing:
            self._spawn(self._revive())

    async def _revive(self) -> None:
        """Replace a client that gave up: make another, with the same subscriptions."""
        logger.warning("NATS refused the connection", action="bus_refused")
        await asyncio.sleep(1.0)
        await self._open()
        for subscription in list(self._subscriptions):
            await subscription.attach(self._client)
        await self._on_reconnected()

    async def _declared_ack_wait_s(self) -> float | None:
        """Return the declared ack wait; None if there is none, or the server does not answer."""
        try:
            return await streams.declared_ack_wait_s(self.js)
        except (NatsError, OSError):
            return None

    async def _declare_until_done(self) -> None:
        """Declare streams and queues again: a server that has just started answers before its storage is read,
        and may be new.
        """
        while True:
            try:
                await streams.declare(self.js, ack_wait_s=self.settings.ack_wait_s, replicas=self.settings.replicas)
                return
            except (NatsError, OSError) as error:
                self._refused = str(error)
                logger.debug("streams not declared", action="declare_failed", error=str(error))
                await asyncio.sleep(RETRY_S)

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _question(message: Mapping[str, Any]) -> bytes:
    return json.dumps({**message, **carried()}).encode()
