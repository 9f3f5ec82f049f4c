"""The dashboard's figures are true with several apis: each of them tells of the whole installation."""

import json
import re
from pathlib import Path

from sederunt.counters import MEASURES

DASHBOARD = Path(__file__).parents[3] / "deploy" / "observability" / "grafana.json"
# What an api counts of itself.
OWN = ("sederunt_http_", "sederunt_listeners", "sederunt_sockets_closed", "sederunt_upload")


def expressions(value: object) -> list[str]:
    if isinstance(value, dict):
        return [
            *([value["expr"]] if "expr" in value else []),
            *(e for each in value.values() for e in expressions(each)),
        ]
    return [e for each in value for e in expressions(each)] if isinstance(value, list) else []


def test_what_every_api_tells_is_not_added_up() -> None:
    found = expressions(json.loads(DASHBOARD.read_text()))
    assert found
    assert any(f"sederunt_{name}" in text for name in MEASURES for text in found)
    for text in found:
        is_ratio = "histogram_quantile" in text or " / " in text
        names = re.findall(r"sederunt_\w+", text)
        if "sum" in text and not is_ratio:
            assert all(name.startswith(OWN) for name in names), text
