"""Decode callers' pictures in a sandboxed process: a small file may unpack to gigabytes."""

import asyncio
import threading
from asyncio.subprocess import PIPE

from sederunt.media.reader_processes import end_where_stopped
from sederunt.media.sandbox import READER_ENVIRONMENT, raise_fault
from sederunt.model.budgets import count_of
from sederunt.python_child import python_command

CPU_S = count_of("picture_cpu_s")  # the largest accepted picture needs 1.4 s (measured)
_CHILD = "sederunt.media.sandboxed_image_child"


async def sandboxed_image(data: bytes, *, gives_way: int = 0) -> bytes:
    """Return a picture converted by `still`. Raises UnsupportedMedia and BrokenMedia.

    Args:
        gives_way: how much the process gives way to others, as nice(2) counts it.
    """
    child = await asyncio.create_subprocess_exec(
        *python_command("-m", _CHILD, str(CPU_S), str(gives_way)),
        env=READER_ENVIRONMENT,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    threading.Thread(target=end_where_stopped, args=[child.pid], daemon=True).start()
    try:
        picture, error_output = await child.communicate(data)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    raise_fault(child.returncode or 0, error_output, CPU_S)
    return picture
