"""An upload lets others pass, but nobody can hold it up."""

import asyncio

import pytest

from sederunt.api.transport import fair_uploads
from sederunt.api.transport.fair_uploads import Traffic


async def test_who_makes_way_waits_until_nobody_is_being_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_uploads, "LONGEST_S", 600)
    here = Traffic()
    order: list[str] = []
    with here.answering(), here.making_way():  # the upload
        with here.answering():  # another request
            passing = asyncio.create_task(here.let_pass())
            passing.add_done_callback(lambda _: order.append("upload"))
            for _ in range(5):
                await asyncio.sleep(0)
            order.append("answered")
        await passing
    assert order == ["answered", "upload"]


async def test_a_request_that_takes_long_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_uploads, "LONGEST_S", 0.001)
    here = Traffic()
    with here.answering(), here.answering(), here.making_way():
        await asyncio.wait_for(here.let_pass(), 60)


async def test_uploads_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_uploads, "LONGEST_S", 600)
    here = Traffic()
    with here.answering(), here.making_way(), here.answering(), here.making_way():
        await asyncio.wait_for(here.let_pass(), 60)
