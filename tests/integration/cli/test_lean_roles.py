"""Which libraries each process of an idle service loads: an import at the wrong place costs memory for ever."""

import json
import subprocess
import sys

import pytest

# Role → (what it imports before it takes work, what must not come with it).
NEVER = ("rich", "pygments", "faster_whisper", "ctranslate2", "onnxruntime", "sederunt.bench")
ROLES = {
    "serve": (
        ("sederunt.cli.serve",),
        ("sqlalchemy", "alembic", "cryptography", "numpy", "av", "playwright", "uvicorn", "starlette", "httpx2"),
    ),
    "host": (("sederunt.cli.roles", "sederunt.jobs.roles"), ("uvicorn", "starlette", "jinja2", "numpy", "av")),
    "worker": (("sederunt.cli.roles", "sederunt.jobs.roles"), ("uvicorn", "starlette", "jinja2", "playwright")),
    "api": (("sederunt.cli.roles", "sederunt.cli.served_api"), ("playwright", "numpy", "av", "authlib", "joserfc")),
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_loads_what_it_uses(role: str) -> None:
    wanted, unwanted = ROLES[role]
    names = ", ".join(("sederunt.cli.main", *wanted))
    code = f"import {names}, json, sys; print(json.dumps(sorted(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300)
    loaded = set(json.loads(told.stdout))
    assert "sederunt.log" in loaded
    assert not loaded & {*unwanted, *NEVER}
