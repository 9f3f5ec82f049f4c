"""The adapters hold on sites that speak in other words than those they were tried on, and that are slow to show them.

`WORD_SEEDS=2,3,4` draws other words than the usual ones; with even seeds the site's own channels help.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest

from harness.matrix import Cell, Result, Stage, play_all, show, table
from harness.other_words import other_words
from harness.receiver import Receiver
from harness.service import Practice, Service
from sederunt.practice.script import Service as Site

SEEDS = [int(seed) for seed in os.environ.get("WORD_SEEDS", "1").split(",")]


def in_other_words(service: Site, seed: int) -> list[Cell]:
    words = other_words(service, seed)

    def cell(name: str, entry: str, **more: Any) -> Cell:
        # With odd seeds the site's own channels are of no help: only what its pages show decides.
        site = {"curly": True} if seed % 2 == 0 else {"signals": "page"}
        variant = {"entry": entry, "after_s": 1.0, "words": words, **site, **more.pop("variant", {})}
        return Cell(service=service, name=f"{name}, words {seed}", variant=variant, **more)

    refused: dict[str, Any] = {"status": "not_admitted"}
    cells = [
        cell("unknown meeting", "invalid", **refused, reason="invalid_meeting_url"),
        cell("over already", "ended", **refused, reason="call_already_finished"),
        cell("denied", "deny_after", **refused, reason="request_denied"),
        cell("asks for devices, admitted, ended", "admit_after", variant={"media_prompt": "both", "consent": True}),
        cell("kicked", "open", deeds=[("status:recording", "kick")], reason="kicked", turns=0, ends=False),
        cell("stopped in the lobby", "knock", deeds=[("knocked", "stop")], **refused, reason="manually_stopped"),
    ]
    if service != "gmeet":
        variant = {"launcher": False}  # the page itself asks, not another host
        cells.append(cell("sign-in asked for", "sign_in", variant=variant, status="auth_required", reason=None))
    if service == "zoom":
        cells.append(cell("host elsewhere", "host_elsewhere", **refused, reason="host_in_another_meeting"))
    if service == "gmeet":
        cells.append(cell("nobody answers", "server_timeout", **refused, reason="waiting_room_timeout"))
    return cells


def late(service: Site) -> list[Cell]:
    variant = {"slow_s": 5.0, "after_s": 1.0}
    return [
        Cell(service=service, name="admitted, 5 s late", variant={**variant, "entry": "admit_after"}),
        Cell(service=service, name="denied, 5 s late", variant={**variant, "entry": "deny_after"},
             status="not_admitted", reason="request_denied"),
        Cell(service=service, name="kicked, 5 s late", variant=variant, deeds=[("status:recording", "kick")],
             reason="kicked", turns=0, ends=False),
    ]  # fmt: skip


CELLS = [cell for site in get_args(Site) for seed in SEEDS for cell in in_other_words(site, seed)]
CELLS += [cell for site in get_args(Site) for cell in late(site)]


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, start_service: Callable[..., Service], practice: Practice, receiver: Receiver
) -> Mapping[str, Result]:
    """What came of every selected cell, all played before the first is judged."""
    cells = chosen_cells(request.session.items)
    service = start_service(SEDERUNT_HOST__MAX_LOAD="9")
    stage = Stage(service_url=service.url, key=service.key, control_url=practice.control_url, receiver=receiver)
    found = asyncio.run(play_all(cells, stage))
    show(request.config, table({cell.id: found[cell.id] for cell in cells}))
    return found


def chosen_cells(items: list[pytest.Item]) -> list[Cell]:
    mine = [item for item in items if isinstance(item, pytest.Function) and item.function is test_it_ends_as_it_should]
    return [item.callspec.params["cell"] for item in mine]  # type: ignore[misc]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.id)
def test_it_ends_as_it_should(cell: Cell, results: Mapping[str, Result]) -> None:
    result = results[cell.id]
    assert not result.fault, f"{result.fault}; went {result.bot.get('events')}"
    assert (result.status, result.reason) == (cell.status, cell.reason), (cell.variant.get("words"), result.evidence)
