"""What a vendor keeps of a resource is deleted there, however often it has to be asked."""

import asyncio
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from obstore.store import MemoryStore

from harness.fake_clock import FakeClock
from harness.vendors.gladia import Gladia
from harness.vendors.live import Listener, pcm_of
from harness.vendors.speechmatics import Speechmatics
from sederunt.accounts.vendor_access import VendorAccess
from sederunt.jobs.vendor_deletion import FIRST_PAUSE_S, VendorDeletion
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.gladia.vendor import VENDOR as GLADIA
from sederunt.transcription.models import find, providers
from sederunt.transcription.plugins import provider
from sederunt.transcription.provider import Task
from sederunt.transcripts.vendor_memory import LiveCopies, Owner, VendorMemory, copies_of, keep_copies_only, prefix_of

RESOURCE, ACCOUNT = UUID(int=7), UUID(int=8)


async def test_copies_are_noted_and_deleted_when_the_vendor_answers_again(tmp_path: Path) -> None:
    objects, clock = Objects(MemoryStore()), FakeClock()
    with Speechmatics() as vendor:
        settings = Settings(data=tmp_path, providers={"speechmatics": {"url": vendor.url, "key": vendor.key}})
        keys = VendorAccess(cast(Any, None), settings)  # the operator's key: no credential is opened
        access = await keys.of(ACCOUNT, None, providers()["speechmatics"])
        model = find("speechmatics")
        assert model is not None
        owner = Owner(provider="speechmatics", account_id=ACCOUNT, credential_id=None)
        memory = VendorMemory(objects, RESOURCE, "file", owner)
        task = Task(path=SHIPPED / "jfk.wav", model=model, access=access, reference="r", memory=memory)
        result = await asyncio.to_thread(provider("speechmatics").transcribe, settings, task)
        assert result.copies
        await keep_copies_only(objects, RESOURCE)
        noted = [copy.copy for copies in (await copies_of(objects, RESOURCE)).values() for copy in copies]
        assert noted == list(result.copies)

        deletion = VendorDeletion(objects, keys, settings, clock)
        vendor.fault("status", status=503, times=None)
        assert await deletion.erase(RESOURCE) is None
        assert await deletion.erase(RESOURCE) is None, "not before the pause is over"
        vendor.faults.clear()
        vendor.fault("status", status=423, times=None)  # the job is still at work there
        clock.advance(FIRST_PAUSE_S + 1)
        assert await deletion.erase(RESOURCE) is None
        vendor.faults.clear()
        clock.advance(2 * FIRST_PAUSE_S + 1)
        assert await deletion.erase(RESOURCE) == len(noted)
        assert await objects.keys(prefix_of(RESOURCE)) == []
        assert await deletion.erase(RESOURCE) == 0


@pytest.mark.parametrize("is_killed", [False, True], ids=["session known", "killed before the answer came"])
async def test_live_sessions_at_gladia_are_deleted_with_the_bot(
    tmp_path: Path, is_killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, clock = Objects(MemoryStore()), FakeClock()
    owner = Owner(provider="gladia", account_id=ACCOUNT, credential_id=None)
    with Gladia() as vendor:
        addresses = {"url": vendor.url, "socket_url": vendor.socket_url, "key": vendor.key}
        settings = Settings(data=tmp_path, providers={"gladia": addresses})
        copies = LiveCopies(objects, RESOURCE, "1-1", owner)
        if is_killed:
            monkeypatch.setattr(copies, "replace", _nothing)
        listener = Listener(GLADIA, settings, vendor.key, "gladia-realtime", copies=copies)
        await listener.say(pcm_of(SHIPPED / "jfk.wav")[:32_000])
        await listener.end()
        assert len(vendor.ledger.kept) == 1
        await keep_copies_only(objects, RESOURCE)
        deletion = VendorDeletion(objects, VendorAccess(cast(Any, None), settings), settings, clock)
        assert await deletion.erase(RESOURCE) == 1
        assert vendor.ledger.kept == set()
        assert await objects.keys(prefix_of(RESOURCE)) == []


async def _nothing(_copy: str, _other: str | None) -> None:
    """Note nothing, as a host that was killed."""


async def test_a_live_session_that_gladia_refused_leaves_nothing_to_delete(tmp_path: Path) -> None:
    objects = Objects(MemoryStore())
    copies = LiveCopies(objects, RESOURCE, "1-1", Owner(provider="gladia", account_id=ACCOUNT, credential_id=None))
    with Gladia() as vendor:
        settings = Settings(data=tmp_path, providers={"gladia": {"url": vendor.url, "socket_url": vendor.socket_url}})
        listener = Listener(GLADIA, settings, "another key", "gladia-realtime", copies=copies)
        await listener.say(pcm_of(SHIPPED / "jfk.wav")[:8_000])
        await listener.end()
    assert [copy for found in (await copies_of(objects, RESOURCE)).values() for copy in found] == []
