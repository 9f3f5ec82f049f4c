"""SQLAlchemy's asyncio engine without its mapper, which nothing here uses and which takes 7 MB of each process.

`sqlalchemy.ext.asyncio` loads the mapper for its sessions. Its module `engine` needs none of them, so that one is
loaded as a member of a package whose own code has not run. Whoever imports the package later gets it whole.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

_PACKAGE = "sqlalchemy.ext.asyncio"


@contextmanager
def _without_running(name: str) -> Iterator[None]:
    """Have a package's members importable without its own code, for as long as the block lasts."""
    spec = find_spec(name) if name not in sys.modules else None
    if spec is None:
        yield
        return
    sys.modules[name] = module_from_spec(spec)
    try:
        yield
    finally:
        del sys.modules[name]


with _without_running(_PACKAGE):
    from sqlalchemy.ext.asyncio.engine import AsyncConnection, AsyncEngine, create_async_engine

__all__ = ["AsyncConnection", "AsyncEngine", "create_async_engine"]
