"""Stored notes on requests to a vendor and its copies: for the next try, and for deleting the resource.

There is one object per file under "vendor/<resource>/", apart from the media, which is deleted earlier. Once the
transcript is saved, only the vendor's copies stay noted, and whose key deletes them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sederunt.storage.objects import Objects


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorCopy:
    """A copy of a resource's data at a vendor."""

    provider: str
    account_id: UUID
    credential_id: UUID | None
    copy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Whose key is used with a vendor."""

    provider: str
    account_id: UUID
    credential_id: UUID | None

    def to_json(self) -> dict[str, str | None]:
        return {
            "provider": self.provider,
            "account_id": str(self.account_id),
            "credential_id": str(self.credential_id) if self.credential_id else None,
        }


class VendorMemory:
    """See `transcription.provider.Memory`. Create it on the event loop; a provider's thread reads and writes it."""

    def __init__(self, objects: Objects, resource_id: UUID, name: str, owner: Owner) -> None:
        self._objects, self._key, self._owner = objects, f"{prefix_of(resource_id)}{name}.json", owner
        self._loop = asyncio.get_running_loop()

    def read(self) -> Mapping[str, Any]:
        record: Mapping[str, Any] = self._wait_for(_read(self._objects, self._key))
        return dict(_files(record))

    def write(self, notes: Mapping[str, Any]) -> None:
        data = json.dumps({**self._owner.to_json(), "files": notes}).encode()
        self._wait_for(self._objects.put(self._key, data))

    def _wait_for(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class LiveCopies:
    """A vendor's copies of one stay's live sessions: `transcription.sessions.CopyNotes`."""

    def __init__(self, objects: Objects, resource_id: UUID, stay: str, owner: Owner) -> None:
        self._objects, self._key, self._owner = objects, f"{prefix_of(resource_id)}live-{stay}.json", owner
        self._copies: list[str] = []
        self._writing = asyncio.Lock()

    async def add(self, copy: str) -> None:
        self._copies.append(copy)
        await self._save()

    async def replace(self, copy: str, other: str | None) -> None:
        self._copies = [each for each in self._copies if each != copy] + ([other] if other else [])
        await self._save()

    async def _save(self) -> None:
        async with self._writing:
            files = {"live": {"copies": self._copies}}
            await self._objects.put(self._key, json.dumps({**self._owner.to_json(), "files": files}).encode())


async def keep_copies_only(objects: Objects, resource_id: UUID) -> None:
    """Forget the notes for another try, once the transcript is saved."""
    for key in await objects.keys(prefix_of(resource_id)):
        record = await _read(objects, key)
        copies = {name: {"copies": notes["copies"]} for name, notes in _files(record) if notes.get("copies")}
        if copies:
            await objects.put(key, json.dumps({**record, "files": copies}).encode())
        else:
            await objects.delete(key)


async def copies_of(objects: Objects, resource_id: UUID) -> dict[str, list[VendorCopy]]:
    """Return the vendors' copies of a resource, by the key of the object that notes them."""
    copies: dict[str, list[VendorCopy]] = {}
    for key in await objects.keys(prefix_of(resource_id)):
        record = await _read(objects, key)
        credential = record.get("credential_id")
        copies[key] = [
            VendorCopy(
                provider=record["provider"],
                account_id=UUID(record["account_id"]),
                credential_id=UUID(credential) if credential else None,
                copy=copy,
            )
            for _, notes in _files(record)
            for copy in notes.get("copies", ())
        ]
    return copies


def prefix_of(resource_id: UUID) -> str:
    """Return the key prefix of the notes about a resource."""
    return f"vendor/{resource_id}/"


def _files(record: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return list(record.get("files", {}).items())


async def _read(objects: Objects, key: str) -> dict[str, Any]:
    if await objects.size(key) is None:
        return {}
    record: dict[str, Any] = json.loads(await objects.get(key))
    return record
