"""Deliver one resource's webhooks strictly in order, until none is left or one has to wait."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import UUID

import httpx2

from sederunt import counters, log
from sederunt.clock import Clock
from sederunt.database.deliveries import Deliveries, Delivery, DeliveryState
from sederunt.webhooks import schedule
from sederunt.webhooks.destinations import Destinations
from sederunt.webhooks.sender import send

logger = log.get(component="webhooks")

WRITE_AGAIN_S = 1.0
WRITTEN_WITHIN_S = 600.0  # after a longer outage of the database the webhook is repeated, with the same id


@dataclass(frozen=True, kw_only=True, slots=True)
class Deliverer:
    """Delivers webhooks, with all that this needs."""

    deliveries: Deliveries
    client: httpx2.AsyncClient  # guarded, follows no redirect
    secrets_of: Callable[[UUID], Awaitable[Sequence[str]]]  # an account's secrets, in the form of Standard Webhooks
    clock: Clock
    timeout_s: float
    skribby_signature: bool = False
    destinations: Destinations = field(default_factory=Destinations)

    async def deliver_all(self, resource_id: UUID, cut_off: asyncio.Event | None = None) -> int:
        """Deliver a resource's pending events that may be tried now; returns how many attempts were made.

        After a failed attempt this stores the time of the next one and returns, so that no place in a queue waits for
        a receiver that is down. Call again at that time (`Deliveries.due`).

        Args:
            cut_off: once set, another worker may have this resource: no further attempt is made.
        """
        attempts = 0
        while not (cut_off is not None and cut_off.is_set()):
            delivery = await self.deliveries.next(resource_id)
            if delivery is None:
                break
            if delivery.next_attempt_at is not None and delivery.next_attempt_at > self.clock.now():
                break
            if pause_s := self.destinations.pause_s(delivery.url, delivery.account_id, self.clock.monotonic()):
                await self.deliveries.postpone(delivery.id, self.clock.now() + timedelta(seconds=pause_s))
                break
            attempts += 1
            if not await self.deliver_once(delivery):
                break
        return attempts

    async def deliver_once(self, delivery: Delivery) -> bool:
        """Make and record one attempt; returns whether the next event may follow."""
        with self.destinations.attempt(delivery.url, delivery.account_id):
            secrets = await self.secrets_of(delivery.account_id)
            result = await send(
                self.client,
                delivery,
                secrets,
                clock=self.clock,
                timeout_s=self.timeout_s,
                skribby_signature=self.skribby_signature,
            )
        receiver_state = (
            "in_trouble" if self.destinations.is_in_trouble(delivery.url, delivery.account_id) else "answering"
        )
        has_answer = result.attempt.status is not None
        is_back = self.destinations.note(
            delivery.url, delivery.account_id, answered=has_answer, now_s=self.clock.monotonic()
        )
        made_before = len(delivery.attempts)
        state, next_attempt_at = schedule.after(
            result.attempt, made_before, retryable=result.retryable, retry_after_s=result.retry_after_s
        )
        await self._write_down(
            partial(
                self.deliveries.record_attempt,
                delivery.id,
                result.attempt,
                state=state,
                next_attempt_at=next_attempt_at,
            )
        )
        if state is DeliveryState.DELIVERED:
            counters.add("webhook_seconds", receiver_state, (self.clock.now() - delivery.created_at).total_seconds())
        if is_back:
            await self.deliveries.hasten(delivery.url, delivery.account_id)
        logger.info(
            "webhook attempted",
            action=f"webhook_{state}",
            resource=delivery.resource,
            resource_id=str(delivery.resource_id),
            delivery_id=str(delivery.id),
            attempt=made_before + 1,
            status=result.attempt.status,
            ms=result.attempt.ms,
        )
        return state is not DeliveryState.PENDING

    async def _write_down(self, write: Callable[[], Awaitable[None]]) -> None:
        """Record an attempt, with retries while the database fails: a repeated job would deliver the event again."""
        deadline = self.clock.monotonic() + WRITTEN_WITHIN_S
        while True:
            try:
                return await write()
            except Exception as error:  # whatever the driver raises
                if self.clock.monotonic() >= deadline:
                    raise
                logger.warning("attempt not written, tried again", action="attempt_kept", error=str(error)[:200])
            await self.clock.sleep(WRITE_AGAIN_S)
