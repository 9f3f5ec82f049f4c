"""Deletes the vendors' copies of a resource that is deleted here; repeatedly, until the vendors confirm it."""

from __future__ import annotations

import asyncio
from uuid import UUID

from sederunt import log
from sederunt.accounts.vendor_access import VendorAccess
from sederunt.clock import Clock
from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.models import providers
from sederunt.transcription.plugins import provider
from sederunt.transcripts.vendor_memory import VendorCopy, copies_of, prefix_of

# Pauses before a vendor that does not confirm is asked again; each is twice as long as the last.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 3600.0

# A job still in progress cannot be deleted yet (Soniox, Rev.ai: 409, Speechmatics: 423).
_BUSY = frozenset({409, 423})

logger = log.get(component="jobs")


class VendorDeletion:
    """Asks vendors to delete. Remembers, in this process, which vendors to leave alone for a while.

    A copy that is not deleted is tried again after a growing pause. If its vendor did not accept the request, that
    vendor gets no other request with the same key within `FIRST_PAUSE_S`, instead of a hundred in vain.
    """

    def __init__(self, objects: Objects, access: VendorAccess, settings: Settings, clock: Clock) -> None:
        self._objects, self._access, self._settings, self._clock = objects, access, settings, clock
        self._waits: dict[UUID, tuple[float, float]] = {}  # resource → (not before, last pause)
        self._silent: dict[tuple[str, UUID, UUID | None], float] = {}  # vendor, account, credential → not before

    async def has_copies(self, resource_id: UUID) -> bool:
        """Return whether a vendor may have data of a resource."""
        return bool(await self._objects.keys(prefix_of(resource_id)))

    async def erase(self, resource_id: UUID) -> int | None:
        """Delete the copies. Returns how many were deleted, None if some remain and have to be tried again later.

        A copy that can never be deleted from here, because its key is gone or refused, is logged and given up.
        """
        now = self._clock.now().timestamp()
        not_before, last_pause_s = self._waits.get(resource_id, (0.0, FIRST_PAUSE_S / 2))
        if now < not_before:
            return None
        erased_count = 0
        for key, copies in (await copies_of(self._objects, resource_id)).items():
            for copy in copies:
                vendor = (copy.provider, copy.account_id, copy.credential_id)
                if now < self._silent.get(vendor, 0.0):
                    return None
                if (error := await self._erase(resource_id, copy)) is not None:
                    pause_s = min(LONGEST_PAUSE_S, last_pause_s * 2)
                    self._waits[resource_id] = (now + pause_s, pause_s)
                    if error.status not in _BUSY:
                        self._silent[vendor] = now + FIRST_PAUSE_S
                    return None
                self._silent.pop(vendor, None)
                erased_count += 1
            await self._objects.delete(key)
        self._waits.pop(resource_id, None)
        return erased_count

    async def _erase(self, resource_id: UUID, copy: VendorCopy) -> ProviderError | None:
        """Return the fault if the copy remains and another try may succeed."""
        facts = {"id": str(resource_id), "provider": copy.provider}
        try:
            access = await self._access.of(copy.account_id, copy.credential_id, providers()[copy.provider])
            account = provider(copy.provider).account
            if access is not None and account is not None:
                await asyncio.to_thread(account.erase, self._settings, access, copy.copy)
        except ProviderError as error:
            if error.retryable or error.kind is ProviderFault.PAYMENT or error.status in _BUSY:
                logger.warning("vendor copy not deleted yet", action="vendor_copy_waits", why=str(error), **facts)
                return error
            logger.error("vendor copy given up", action="vendor_copy_left", why=str(error), copy=copy.copy, **facts)
        except (SetupError, KeyError) as error:
            logger.error("vendor copy given up", action="vendor_copy_left", why=str(error), copy=copy.copy, **facts)
        return None
