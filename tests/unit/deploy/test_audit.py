"""The audit of what the locks install: which licences are agreed to, and how pip-audit's answer is read."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"


def script(name: str) -> ModuleType:
    spec = spec_from_loader(name, SourceFileLoader(name, str(SCRIPTS / name)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def component(licence: str, name: str = "a") -> dict[str, Any]:
    return {"name": name, "version": "1", **({"licenses": [{"license": {"name": licence}}]} if licence else {})}


def test_every_locked_package_has_a_licence_that_was_agreed_to() -> None:
    sbom = script("sbom")
    components = [found for lock in sbom.LOCKS for found in sbom._components(SCRIPTS.parent / lock)]
    assert len(components) > 50
    assert script("audit").refused_licences(components) == []


@pytest.mark.parametrize("licence", ["", "Proprietary", "AGPL-3.0-only", "MIT AND GPL-3.0-only", "LGPL-3.0-or-later"])
def test_another_licence_is_told(licence: str) -> None:
    assert len(script("audit").refused_licences([component(licence)])) == 1
    assert script("audit").refused_licences([component("LGPL-3.0-or-later", "recurring-ical-events")]) == []


def test_what_could_not_be_looked_up_is_no_clean_bill() -> None:
    weak = {"id": "PYSEC-1", "fix_versions": ["2.1"]}
    packages = [
        {"name": "a", "version": "2.0", "vulns": [weak]},
        {"name": "b", "version": "1.0", "vulns": []},
        {"name": "c", "skip_reason": "Dependency not found on PyPI"},
    ]
    found = script("audit").weaknesses({"dependencies": packages})
    assert found == (["a 2.0: PYSEC-1, mended in 2.1"], 2, 1)
