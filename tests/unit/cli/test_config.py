"""What `sederunt config` prints."""

import json

import pytest
from typer import Typer
from typer.testing import CliRunner

from sederunt.cli.config import STARS, config, flat, origin_of
from sederunt.settings import Settings, load

app = Typer()
app.command()(config)


def test_every_setting_is_printed() -> None:
    names = {name for name, _ in flat(Settings())}
    for field in Settings.model_fields:
        assert any(name == field or name.startswith(f"{field}.") for name in names), field


def test_secrets_are_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_BUS__TOKEN", "do-not-show")
    monkeypatch.setenv("SEDERUNT_SECRET_KEYS", '["do-not-show-either-at-all-please-xx"]')
    monkeypatch.setenv("SEDERUNT_DATABASE__URL", "postgresql://u:do-not-show@h/d")
    monkeypatch.setenv("SEDERUNT_BUS__URL", "nats://u:do-not-show@h:4222")
    monkeypatch.setenv("SEDERUNT_PROVIDERS", '{"deepgram": {"key": "do-not-show"}}')
    printed = CliRunner().invoke(app, []).stdout
    assert "do-not-show" not in printed
    assert printed.count(STARS) >= 3


def test_each_value_names_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_API__PORT", "9000")
    rows = json.loads(CliRunner().invoke(app, ["--format", "json", "--data", "/tmp/elsewhere"]).stdout)
    origins = {row["name"]: (row["value"], row["origin"]) for row in rows}
    assert origins["api.port"] == ("9000", "SEDERUNT_API__PORT")
    assert origins["data"] == ("/tmp/elsewhere", "command line")
    assert origins["log.level"] == ("info", "default")


def test_a_secret_from_a_file_names_the_file_variable() -> None:
    assert origin_of("bus.token", {"SEDERUNT_BUS__TOKEN_FILE": "/run/token"}) == "SEDERUNT_BUS__TOKEN_FILE"


def test_a_section_given_whole_is_the_origin_of_its_parts() -> None:
    assert origin_of("storage.options.region", {"SEDERUNT_STORAGE__OPTIONS": "{}"}) == "SEDERUNT_STORAGE__OPTIONS"
    assert load().api.port == 8080
