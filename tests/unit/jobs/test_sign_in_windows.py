"""No account has all the windows of a host."""

import asyncio
from collections.abc import Mapping
from unittest.mock import Mock

import pytest

from sederunt.accounting import Ledger
from sederunt.jobs import sign_in_windows
from sederunt.jobs.sign_in_windows import SignInWindows, WindowWish


async def test_an_account_leaves_a_window_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stand_open(_windows: SignInWindows, _wish: WindowWish, opened: "asyncio.Future[None]") -> None:
        opened.set_result(None)
        await asyncio.Event().wait()

    monkeypatch.setattr(SignInWindows, "_run", stand_open)
    ledger = Ledger()
    windows = SignInWindows(Mock(ledger=ledger))

    async def asked(account: str, number: int) -> Mapping[str, object]:
        wish = {"window_id": f"{account}{number}", "account_id": account, "opened_by": "a", "email": "a@b.example"}
        return await windows.answer({**wish, "service": "gmeet"})

    answers = [await asked("ada", number) for number in range(3)]
    assert [answer["ok"] for answer in answers] == [True, True, False]
    assert "Your account has 2" in str(answers[2]["message"])
    assert (await asked("ben", 0))["ok"]
    assert "Other people" in str((await asked("cleo", 0))["message"])
    assert sign_in_windows.MOST == 3
    await windows.close()
    await asyncio.sleep(0)
    assert not ledger.held("sign_in_windows")
    assert (await asked("ada", 9))["ok"]
    await windows.close()
