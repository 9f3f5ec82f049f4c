"""The search for planted secrets and content in logs finds what is there, and nothing else."""

import json
from pathlib import Path

import pytest

from harness.leaks import Planted

BODY = {
    "bot_name": "Minutes",
    "webhook_url": "https://hooks.example/?token=hook-token-1",
    "authentication": {"zoom_zak_token": "zak-token-1", "account_id": "01a2072b-1bfa-7778-bffb-b63cf4c121f6"},
    "custom_metadata": {"matter of Zoë": ["the Aberdeen acquisition"]},
    "transcript": [{"transcript": "we sign on Friday", "words": [{"word": "Friday"}]}],
    "participants": [{"name": "Ada Lovelace"}],
}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("asked with zak-token-1", "token"),
        ("signed in as 01a2072b-1bfa-7778-bffb-b63cf4c121f6", ""),  # an id opens nothing
        ("called https://hooks.example/?token=hook-token-1", "token"),
        (json.dumps({"event": "matter of Zoë"}), "metadata"),
        ("[parameters: ('the Aberdeen acquisition',)]", "metadata"),
        ("he said we sign on Friday, and more", "words"),
        ("Minutes, Ada Lovelace and Friday", ""),
    ],
)
def test_a_leak_is_told_by_its_kind(line: str, kind: str, tmp_path: Path) -> None:
    planted = Planted()
    planted.take(BODY)
    log = tmp_path / "serve.log"
    log.write_text(f"before\n{line}\nafter\n")
    planted.logs |= {log, tmp_path / "never-written.log"}
    assert [told.split(" in ")[0] for told in planted.leaked()] == ([kind] if kind else [])


def test_settings_are_secrets_where_their_names_say_so(tmp_path: Path) -> None:
    planted = Planted()
    planted.take_settings(
        {
            "SEDERUNT_PROVIDERS__DEEPGRAM__KEY": "vendor-key-1",
            "SEDERUNT_SECRET_KEYS_FILE": "/run/secrets/keys",
            "SEDERUNT_DATA": "/var/lib/sederunt",
            "API_KEY": "of somebody else",
        }
    )
    assert planted.texts == {"vendor-key-1": "key"}
