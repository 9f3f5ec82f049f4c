"""What a vendor keeps of a resource is deleted there, however often it has to be asked."""

import asyncio
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from obstore.store import MemoryStore

from harness.fake_clock import FakeClock
from harness.vendors.speechmatics import Speechmatics
from sederunt.accounts.vendor_access import VendorAccess
from sederunt.jobs.vendor_deletion import FIRST_PAUSE_S, VendorDeletion
from sederunt.practice.clips import SHIPPED
from sederunt.settings import Settings
from sederunt.storage.objects import Objects
from sederunt.transcription.models import find, providers
from sederunt.transcription.plugins import provider
from sederunt.transcription.provider import Task
from sederunt.transcripts.vendor_memory import Owner, VendorMemory, copies_of, keep_copies_only, prefix_of

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
