"""The files that operators start from, judged by the tools of their formats; no container or cluster runs here."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sederunt.cli.run_files import alive_file

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "sederunt"
PROGRAMS = Path(sys.executable).parent
KUBERNETES = ("1.28", "1.35")
EVERYTHING = (
    "--set",
    "api.ingress.enabled=true,host.autoscaling.enabled=true,host.autoscaling.botsPerHost=12,api.ingress.tlsSecret=cert",
)


def run(program: str | Path, *arguments: str | Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], input=given, capture_output=True, text=True, check=False, timeout=120)


def judged(program: str, *arguments: str | Path) -> None:
    done = run(PROGRAMS / program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def helm(*arguments: str | Path) -> str:
    if platform.machine() != "x86_64":
        pytest.skip("the tests' helm is made for amd64 alone")
    done = run(PROGRAMS / "helm", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(*arguments: str | Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(helm("template", "x", CHART, *arguments)) if each]


def test_the_image_is_built_as_its_linter_wants() -> None:
    judged("hadolint", DEPLOY / "Dockerfile")


def test_the_image_and_the_pages_install_the_packages_that_the_setup_installs() -> None:
    setup = (ROOT / "scripts" / "setup").read_text()
    wanted = re.search(r"proof=\(\n(.*?)\n\)", setup, re.DOTALL)
    assert wanted is not None
    recipes = [(DEPLOY / "Dockerfile").read_text()]
    for page in ("deploy.md", "fifty-bots.md"):
        recipes += re.findall(r"^apt-get install .*\n", (ROOT / "docs" / page).read_text(), re.M)
    assert len(recipes) == 3
    packages = re.findall(r"\[([a-z-]+)\]", wanted[1])
    assert packages
    for recipe in recipes:
        assert [package for package in packages if not re.search(rf"\s{package}\s", recipe)] == [], recipe


@pytest.mark.parametrize("name", ["compose.yaml", "compose.scale.yaml"])
def test_compose_files_follow_the_specification(name: str) -> None:
    judged("check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / name)


def test_the_chart_renders_what_kubernetes_takes(tmp_path: Path) -> None:
    helm("lint", "--strict", CHART)
    manifest = tmp_path / "all.yaml"
    manifest.write_text(helm("template", "x", CHART, *EVERYTHING))
    for version in KUBERNETES:
        judged("kubernetes-validate", "--strict", "--quiet", "--no-warn", "-k", version, manifest)


def test_every_container_of_the_chart_is_closed() -> None:
    pods = [each["spec"]["template"]["spec"] for each in rendered() if each["kind"] == "Deployment"]
    assert len(pods) == 3
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            closed = container["securityContext"]
            assert (closed["allowPrivilegeEscalation"], closed["readOnlyRootFilesystem"]) == (False, True)
            assert closed["capabilities"] == {"drop": ["ALL"]}


def test_a_host_is_given_longer_than_its_drain() -> None:
    hosts = [each for each in rendered("--set", "host.drainSeconds=7200") if each["metadata"]["name"] == "x-host"]
    pod = next(each["spec"]["template"]["spec"] for each in hosts if each["kind"] == "Deployment")
    assert pod["containers"][0]["args"] == ["host", "--drain-timeout", "7200"]
    assert pod["terminationGracePeriodSeconds"] > 7200


@pytest.mark.parametrize("role", ["api", "host", "worker"])
def test_a_role_that_stands_still_is_not_alive(role: str, tmp_path: Path) -> None:
    pods = {
        each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in rendered() if "replicas" in each["spec"]
    }
    probe = pods[f"x-{role}"]["containers"][0]["livenessProbe"]
    services = yaml.safe_load((DEPLOY / "compose.scale.yaml").read_text())["services"]
    asked = [probe["exec"]["command"]]
    if role != "api":  # the image asks it by its port
        asked.append([word.replace("$$", "$") for word in services[role]["healthcheck"]["test"][1:]])

    def is_alive() -> set[bool]:
        done = [run(*(word.replace("/data/", f"{tmp_path}/") for word in command)) for command in asked]
        return {each.returncode == 0 for each in done}

    file = alive_file(tmp_path, role)
    assert is_alive() == {False}
    file.parent.mkdir()
    file.touch()
    assert is_alive() == {True}
    long_ago = file.stat().st_mtime - 200
    os.utime(file, (long_ago, long_ago))
    assert is_alive() == {False}
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 60  # who is only late has a minute more


def test_numbers_of_a_values_file_stay_numbers(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(
        "settings:\n  SEDERUNT_API__MAX_UPLOAD_BYTES: 4000000000\n  SEDERUNT_HOST__MAX_LOAD: 0.5\n"
        "  SEDERUNT_PRICING__STORAGE_1_YEAR_PER_HOUR: 0.01\n  SEDERUNT_API__MCP: false\n"
    )
    (api,) = [
        each
        for each in rendered("-f", values, *EVERYTHING)
        if each["kind"] == "Deployment" and "api" in each["metadata"]["name"]
    ]
    given = {each["name"]: each.get("value") for each in api["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert given["SEDERUNT_API__MAX_UPLOAD_BYTES"] == "4000000000"
    assert (given["SEDERUNT_HOST__MAX_LOAD"], given["SEDERUNT_API__MCP"]) == ("0.5", "false")


def test_hosts_grow_by_seats_where_the_cluster_knows_them() -> None:
    grown = rendered("--set", "host.autoscaling.enabled=true,host.autoscaling.botsPerHost=12")
    [scaler] = [each["spec"] for each in grown if each["kind"] == "HorizontalPodAutoscaler"]
    seats, cpu = scaler["metrics"]
    assert (cpu["resource"]["name"], seats["external"]["target"]) == (
        "cpu",
        {"type": "AverageValue", "averageValue": "12"},
    )
    named, (state,) = (
        seats["external"]["metric"]["name"],
        seats["external"]["metric"]["selector"]["matchLabels"].values(),
    )
    assert re.search(rf"`{named}` \| gauge .*`{state}`", (ROOT / "docs" / "operations.md").read_text())
    assert all(each["kind"] != "HorizontalPodAutoscaler" for each in rendered())


def test_no_role_reaches_private_networks_but_what_the_values_name() -> None:
    policies = [each["spec"] for each in rendered() if each["kind"] == "NetworkPolicy"]
    assert len(policies) == 3
    for policy in policies:
        blocks = [to["ipBlock"] for rule in policy["egress"] for to in rule.get("to", ()) if "ipBlock" in to]
        assert {"10.0.0.0/8", "169.254.0.0/16"} <= set(blocks[0]["except"])
        assert policy["ingress"] == [] or policy["ingress"][0]["ports"] == [{"port": "http", "protocol": "TCP"}]


@pytest.mark.parametrize("value", ["hosts.replicas=3", "publicUrl=bots.example.com", "settings.BUS_URL=x"])
def test_a_value_that_means_nothing_is_refused(value: str) -> None:
    helm("version")  # or the test is skipped
    assert run(PROGRAMS / "helm", "template", "x", CHART, "--set", value).returncode != 0


def test_the_page_installs_on_an_empty_machine_and_leaves_settings_alone(tmp_path: Path) -> None:
    """Debian 12 has no /etc/sysusers.d; the settings may hold the only key of what is sealed."""
    block = _section("systemd").split("```")[1]
    lines = [line.partition(" && ")[0] for line in block.splitlines() if "install " in line]
    script = "set -e\n" + "\n".join(lines).replace(" /etc/", f" {tmp_path}/etc/")
    settings = tmp_path / "etc" / "sederunt" / "sederunt.env"
    assert run("bash", "-c", f"cd {ROOT}\n{script}").stderr == ""
    assert settings.read_text() == (DEPLOY / "systemd" / "sederunt.env").read_text()
    assert settings.stat().st_mode & 0o777 == 0o600
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(lines) == 4
    settings.write_text("mine")
    assert run("bash", "-c", f"cd {ROOT}\n{script}").stderr == ""
    assert settings.read_text() == "mine"


def _section(heading: str) -> str:
    """Return what docs/deploy.md says under a heading."""
    return (ROOT / "docs" / "deploy.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("unit", sorted(path.name for path in (DEPLOY / "systemd").glob("*.service")))
def test_systemd_takes_the_units_and_finds_them_closed(unit: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    # Where the units expect it, nothing is installed here: a program that is there stands in.
    copy = tmp_path / unit
    copy.write_text((DEPLOY / "systemd" / unit).read_text().replace("/opt/sederunt/bin/sederunt", "/usr/bin/true"))
    done = run("systemd-analyze", "verify", "--man=no", copy)
    assert (done.returncode, done.stderr) == (0, "")
    exposure = run("systemd-analyze", "security", "--offline=true", "--threshold=30", copy)
    assert exposure.returncode == 0, exposure.stdout[-300:]


@pytest.mark.parametrize("unit", sorted(path.name for path in (DEPLOY / "systemd").glob("*.service")))
def test_a_unit_waits_longer_than_its_drain(unit: str) -> None:
    text = (DEPLOY / "systemd" / unit).read_text()
    drain = re.search(r"--drain-timeout (\d+)", text)
    wait = re.search(r"^TimeoutStopSec=(\d+)", text, re.MULTILINE)
    assert wait is not None
    assert drain is None or int(wait[1]) > int(drain[1])


def test_every_setting_that_the_files_name_exists() -> None:
    known = set(re.findall(r"`(SEDERUNT_[A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text()))
    text = "\n".join(path.read_text() for path in DEPLOY.rglob("*") if path.is_file())
    named = set(re.findall(r"\b(SEDERUNT_[A-Z_]+[A-Z])\b", text)) - {"SEDERUNT_PUBLIC_URL"}
    assert {name.removesuffix("_FILE") for name in named} - known == set()


def test_the_seccomp_profile_leaves_namespaces_and_forbids_the_rest() -> None:
    profile = json.loads((DEPLOY / "chromium-seccomp.json").read_text())
    refused = {name for group in profile["syscalls"] for name in group["names"]}
    assert {group["action"] for group in profile["syscalls"]} == {"SCMP_ACT_ERRNO"}
    assert refused.isdisjoint({"clone", "clone3", "unshare", "chroot"})  # what the browser's sandbox is made of
    assert {"mount", "ptrace", "bpf", "setns", "init_module", "kexec_load", "keyctl"} <= refused


def test_the_image_forbids_browsers_to_fetch_beforehand() -> None:
    recipe = (DEPLOY / "Dockerfile").read_text()
    copied = re.search(r"^COPY .*?(\S+) /etc/chromium/policies/managed/\S+\.json$", recipe, re.MULTILINE)
    assert copied is not None
    assert json.loads((ROOT / copied[1]).read_text())["NetworkPredictionOptions"] == 2  # never


def test_the_example_has_every_variable_that_compose_asks_for() -> None:
    wanted = set(re.findall(r"\$\{([A-Z0-9_]+)", (DEPLOY / "compose.scale.yaml").read_text()))
    given = set(re.findall(r"^#?([A-Z0-9_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert wanted == given


def test_what_the_page_tells_to_set_for_a_container_reaches_it() -> None:
    told = set(re.findall(r"`(SEDERUNT_[A-Z_]+)`", _section("One container")))
    assert "SEDERUNT_API__TRUSTED_PROXIES" in told
    assert told - set(re.findall(r"\$\{([A-Z0-9_]+)", (DEPLOY / "compose.yaml").read_text())) == set()
