"""The launch profile: a table of flags, and what the operator chose."""

from pathlib import Path

import pytest

from sederunt.browser import launch
from sederunt.browser.launch import EVERY, FLAGS, Mode, arguments, find_executable, launch_profile
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings


def line(mode: Mode = "shell", **settings: object) -> list[str]:
    return list(arguments(BrowserSettings(**settings), mode))


def test_every_flag_has_its_reason() -> None:
    assert all(flag.why and flag.text.startswith("--") and flag.modes for flag in FLAGS)


@pytest.mark.parametrize("mode", EVERY)
def test_features_are_disabled_by_one_switch_since_only_the_last_counts(mode: Mode) -> None:
    assert sum(argument.startswith("--disable-features=") for argument in line(mode)) == 1


def test_the_known_disaster_is_not_among_the_flags() -> None:
    assert not [flag for flag in FLAGS if "frame-rate-limit" in flag.text or "single-process" in flag.text]


def test_certificates_are_checked_unless_the_operator_says_otherwise() -> None:
    assert "--ignore-certificate-errors" not in line("headful")
    assert "--ignore-certificate-errors" in line(ignore_certificate_errors=True)


def test_host_rules_reach_the_command_line() -> None:
    assert "--host-resolver-rules=MAP a b" in line(host_rules="MAP a b")


def test_nothing_of_this_machine_is_found_but_our_own_socket_and_what_the_operator_maps() -> None:
    rules = BrowserSettings(host_rules="MAP a 127.0.0.1:1")
    told = list(arguments(rules, "shell", endpoints=["127.0.0.1:9"], loopback=False))
    (found,) = [flag.partition("=")[2].split(",") for flag in told if flag.startswith("--host-resolver-rules=")]
    assert found[:3] == ["MAP a 127.0.0.1:1", "MAP 127.0.0.1:9 127.0.0.1:9", "MAP 127.* ~NOTFOUND"]
    assert not [flag for flag in line() if flag.startswith("--host-resolver-rules=")]


def test_what_the_rules_map_to_may_be_reached_and_nothing_else_of_this_machine() -> None:
    rules = "MAP meet.google.com 127.0.0.1:4000, MAP *.zoom.us [::1]:4001,EXCLUDE a,MAP b 10.0.0.1,MAP c ~NOTFOUND"
    told = list(arguments(BrowserSettings(host_rules=rules), "shell", endpoints=["127.0.0.1:9"]))
    spaces = ("127.0.0.1:9", "127.0.0.1:4000", "[::1]:4001", "10.0.0.1:80", "10.0.0.1:443")
    assert f"--ip-address-space-overrides={','.join(f'{space}=public' for space in spaces)}" in told
    assert not [flag for flag in told if "use-fake-ui" in flag]


def test_the_sandbox_is_left_out_only_where_it_is_not_wanted() -> None:
    assert "--no-sandbox" in list(arguments(BrowserSettings(), "shell", sandbox=False))
    assert "--no-sandbox" not in list(arguments(BrowserSettings(), "shell", sandbox=True))


def test_a_machine_that_rules_name_is_reached_at_its_address() -> None:
    assert "127.0.0.1:4001" in set(launch.public_endpoints("MAP a localhost:4001"))


def test_connections_of_public_pages_stay_out_of_this_network() -> None:
    feature = "LocalNetworkAccessChecksWebRTC"
    assert any(feature in argument for argument in line() if argument.startswith("--enable-features="))
    assert not any(feature in argument for argument in line(host_rules="MAP a 127.0.0.1:1"))


def test_a_browser_is_told_nothing_of_our_environment_but_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "SEDERUNT_SECRET_KEYS", "DATABASE_URL"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("LC_TIME", "C")
    profile = launch_profile(BrowserSettings(executable=Path("/bin/sh")), "headful", temporary=Path("/t"), display=":7")
    assert "hush" not in profile.environment.values()
    assert (profile.environment["LC_TIME"], profile.environment["DISPLAY"]) == ("C", ":7")


def test_a_missing_program_is_told_with_its_remedy() -> None:
    with pytest.raises(SetupError, match="chromium-headless-shell"):
        find_executable(BrowserSettings(shell_executable=Path("/nowhere/shell")), "shell")


def test_chromium_itself_serves_where_no_shell_is_packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "PROGRAMS", {"shell": ("no-such-shell",)})
    chosen = BrowserSettings(executable=Path("/bin/sh"))
    assert find_executable(chosen, "shell") == Path("/bin/sh")


def test_children_are_marked_and_see_no_settings_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEDERUNT_SECRET_KEYS", "hush")
    profile = launch_profile(BrowserSettings(executable=Path("/bin/sh")), "headful", temporary=Path("/t"), display=":7")
    assert [name for name in profile.environment if name.startswith("SEDERUNT_")] == ["SEDERUNT_OWNER"]
    assert (profile.environment["DISPLAY"], profile.environment["TMPDIR"]) == (":7", "/t")
    assert not profile.headless
