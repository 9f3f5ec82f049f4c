"""Where `sederunt bots create`, `stop` and `watch` look for the service, by what is typed and what is exported."""

import pytest
from typer.testing import CliRunner

from sederunt.cli import bot_commands
from sederunt.cli.bots import app
from sederunt.cli.running_service import ServicePlace

URL, KEY = "http://127.0.0.1:1", "sk_exported"
EXPORTED = {"SEDERUNT_URL": URL, "SEDERUNT_KEY": KEY}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ServicePlace]:
    """Keep the places that are asked, and ask none."""
    places: list[ServicePlace] = []
    monkeypatch.setattr(bot_commands, "_ask", lambda _act, place, _code=1: places.append(place))
    return places


@pytest.mark.parametrize("command", ["create", "stop", "watch"])
@pytest.mark.parametrize(
    ("typed", "url", "key"),
    [
        ((), URL, KEY),
        (("--url", "http://other"), "http://other", KEY),
        (("--key", "sk_typed"), URL, "sk_typed"),
        (("--data", "/srv/test"), None, None),
        (("--account", "default"), None, None),
        (("--data", "/srv/test", "--account", "customer-b"), None, None),
    ],
)
def test_what_is_typed_goes_before_what_is_exported(
    asked: list[ServicePlace], command: str, typed: tuple[str, ...], url: str | None, key: str | None
) -> None:
    done = CliRunner().invoke(app, [command, "x-1", *typed], env=EXPORTED)
    assert done.exit_code == 0, done.output
    assert [(place.url, place.key) for place in asked] == [(url, key)]


@pytest.mark.parametrize("command", ["create", "stop", "watch"])
@pytest.mark.parametrize(
    ("typed", "exported", "told"),
    [
        (("--url", URL, "--key", KEY, "--data", "/srv/test"), {}, "beside --data"),
        (("--url", URL, "--account", "default"), EXPORTED, "beside --account"),
        (("--key", KEY, "--account", "default"), EXPORTED, "beside --account"),
        (("--key", KEY), {}, "Give --url"),
    ],
)
def test_what_would_be_ignored_is_refused(
    asked: list[ServicePlace], command: str, typed: tuple[str, ...], exported: dict[str, str], told: str
) -> None:
    environment = {"SEDERUNT_URL": None, "SEDERUNT_KEY": None, "COLUMNS": "300", **exported}
    done = CliRunner().invoke(app, [command, "x-1", *typed], env=environment)
    assert (done.exit_code, asked) == (2, [])
    assert told in done.output
