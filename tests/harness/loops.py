"""Files whose tests share one event loop, as the browsers and servers that they share live on it."""

from collections.abc import Iterable
from inspect import iscoroutinefunction
from pathlib import Path

import pytest


def one_for_each_file(folder: Path, items: Iterable[pytest.Item]) -> None:
    """Mark the asynchronous tests of a folder so that each file has one loop; for `pytest_collection_modifyitems`."""
    for item in items:
        if item.path.parent == folder and iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
