"""What the environment may say, and what is said of the rest of it."""

from pathlib import Path
from typing import get_origin

import pytest

from sederunt.errors import SetupError
from sederunt.settings import Settings, _variables, ignored, load


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SEDERUNT_BROWSR__WARM", "SEDERUNT_BROWSER__WARM"),
        ("SEDERUNT_API__PORTT", "SEDERUNT_API__PORT"),
        ("SEDERUNT_BUS__TOKN_FILE", "SEDERUNT_BUS__TOKEN"),
    ],
)
def test_a_name_that_is_no_setting_is_refused_with_the_one_that_is(
    name: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(SetupError, match=f"^{name} is no setting; did you mean {meant}\\?$"):
        load()


def test_a_name_like_no_setting_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_ANY__THING", "1")
    with pytest.raises(SetupError, match="SEDERUNT_ANY__THING is no setting: `sederunt config`"):
        load()


def test_what_may_be_somebody_elses_is_told_and_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {"SEDERUNT_SERVICE_HOST": "10.0.0.1", "SEDERUNT_API_PORT": "tcp://10.0.0.1:80", "SEDERUNT_DATA": "data"}
    for name, value in theirs.items():
        monkeypatch.setenv(name, value)
    load()
    assert ignored(theirs) == [
        "SEDERUNT_API_PORT is no setting; did you mean SEDERUNT_API__PORT?",
        "SEDERUNT_SERVICE_HOST is no setting: `sederunt config` prints all that are.",
    ]


def test_every_unusable_value_is_named_and_none_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_API__PORT", "s3cret")
    monkeypatch.setenv("SEDERUNT_LOG__STYLE", "s3cret")
    with pytest.raises(SetupError) as refused:
        load()
    assert "SEDERUNT_API__PORT is not usable" in str(refused.value)
    assert "SEDERUNT_LOG__STYLE is not usable" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEDERUNT_API__MAX_BODY_MB", "0"),
        ("SEDERUNT_API__CONCURRENT_BOTS", "-1"),
        ("SEDERUNT_API__PUBLIC_URL", "bots.example.org"),
        ("SEDERUNT_WEBHOOKS__TIMEOUT_S", "0"),
    ],
)
def test_what_cannot_work_is_refused_before_it_is_tried(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SetupError, match=f"{name} is not usable"):
        load()


@pytest.mark.parametrize(
    "name", [name for name, kind in _variables(Settings) if get_origin(kind) in (dict, frozenset, list, set, tuple)]
)
def test_a_list_or_object_that_is_no_json_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "plain")
    with pytest.raises(SetupError, match=f"^{name} must be JSON"):
        load()


def test_a_list_that_compose_passes_on_empty_counts_as_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_API__TRUSTED_PROXIES", "")
    assert load().api.trusted_proxies == ()
    monkeypatch.setenv("SEDERUNT_API__TRUSTED_PROXIES", '["172.16.0.0/12"]')
    assert load().api.trusted_proxies == ("172.16.0.0/12",)


def test_a_secret_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEDERUNT_BUS__TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(SetupError, match=r"SEDERUNT_BUS__TOKEN_FILE names .*, which cannot be read: No such file"):
        load()


def test_an_empty_variable_counts_as_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_DATA", "")
    monkeypatch.setenv("SEDERUNT_API__PORT", "")
    assert load().data == Path("data")
    assert load().api.port == 8080


def test_settings_with_names_of_their_own_take_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_STORAGE__OPTIONS__REGION", "eu")
    monkeypatch.setenv("SEDERUNT_PROVIDERS__DEEPGRAM__KEY", "k")
    assert load().storage.options == {"region": "eu"}
    assert load().providers["deepgram"].key is not None
