"""For the simulated vendors: they hear with a model on this machine, and are slow where it is busy."""

import pytest

from sederunt.transcription.cloud import live

PATIENCE_S = 90.0


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for a vendor's last words: who gives up sends all of it again, and makes the machine slower."""
    monkeypatch.setattr(live, "DRAIN_S", PATIENCE_S)
