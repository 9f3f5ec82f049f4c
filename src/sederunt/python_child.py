"""Command lines of child processes that run Python.

`python -m` and `python -c` look for modules in the current directory first, and the service may have been started in
one that anybody can write to.
"""

import sys


def python_command(*arguments: str) -> list[str]:
    """Return the command line of this Python, without the current directory among the places it imports from."""
    return [sys.executable, "-P", *arguments]
