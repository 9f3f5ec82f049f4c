"""The scripts that drive the published client: one is run as a Node process and says as JSON what it saw."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

RUN_S = 150.0


async def run_script(
    folder: Path, script: str, *arguments: str, stop_after: Awaitable[object] | None = None
) -> dict[str, Any]:
    """What a script of the client's folder saw.

    Args:
        stop_after: what to wait for before the script is told to stop; None where it ends by itself.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *("node", script, *arguments), cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        if stop_after is not None:
            await stop_after
        out, err = await asyncio.wait_for(process.communicate(b"stop\n"), RUN_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, err.decode()[-4000:]
    seen: dict[str, Any] = json.loads(out)
    return seen
