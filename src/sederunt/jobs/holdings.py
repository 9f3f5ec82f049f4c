"""Measures what a bot or recording has in storage, for its account's limits."""

from sederunt.database.holdings import Holding, Holdings
from sederunt.storage.objects import Objects


async def measure(holding: Holding, holdings: Holdings, objects: Objects) -> None:
    """Write down what a resource has in storage now."""
    stored_bytes = await objects.stored_bytes(f"{holding.resource}s/{holding.resource_id}/")
    previous = await holdings.of(holding.resource_id)
    await holdings.note(
        Holding(
            resource=holding.resource,
            resource_id=holding.resource_id,
            account_id=holding.account_id,
            stored_bytes=stored_bytes,
            sound_s=holding.sound_s or (previous.sound_s if previous else 0.0),
        )
    )
