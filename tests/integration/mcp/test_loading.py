"""An api that no language model's client speaks to does not load the protocol's library: 24 MB."""

import subprocess
import sys

import pytest

PROGRAM = "import sys, {module}; loaded = {{'mcp', 'mcp_types'}} & set(sys.modules); print(sorted(loaded))"


@pytest.mark.parametrize("module", ["sederunt.console.app", "sederunt.cli.mcp", "sederunt.cli.bots"])
def test_the_library_is_not_loaded_before_it_is_needed(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "[]\n"


def test_to_look_for_the_library_does_not_load_it() -> None:
    look = PROGRAM.format(module="sederunt.mcp.endpoint as endpoint; print(endpoint.is_installed())")
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True\n[]\n"
