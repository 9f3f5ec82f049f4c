"""What a container may use, as its control group says; and what is around it."""

from pathlib import Path

from sederunt.jobs.cgroup import cores_allowed, memory_left_mb


def written(root: Path, name: str, **files: str) -> None:
    group = root / name
    group.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (group / file.replace("_", ".", 1)).write_text(text)


def test_the_narrowest_group_decides_and_the_page_cache_gives_way(tmp_path: Path) -> None:
    root, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("0::/pods/bot\n")
    written(root, "", cpu_stat="usage_usec 9000000\n")
    stat = "anon 5\ninactive_file 1000000000\nactive_file 3\n"
    written(root, "pods", memory_max="8000000000\n", memory_current="6000000000\n", memory_stat=stat)
    usage = "usage_usec 2500000\nuser_usec 1\n"
    written(root, "pods/bot", memory_max="max\n", cpu_max="400000 100000\n", cpu_stat=usage)
    assert memory_left_mb(root, own) == 3000
    allowed = cores_allowed(root, own)
    assert allowed is not None
    assert (allowed.cores, allowed.busy_s) == (4, 2.5)


def test_without_a_limit_the_machine_is_ours(tmp_path: Path) -> None:
    root, own = tmp_path / "cgroup", tmp_path / "own"
    for text in ("0::/\n", "12:memory:/docker/1\n", ""):
        own.write_text(text)
        assert (memory_left_mb(root, own), cores_allowed(root, own)) == (None, None)
    written(root, "", memory_max="max\n", cpu_max="max 100000\n")
    own.write_text("0::/\n")
    assert (memory_left_mb(root, own), cores_allowed(root, own)) == (None, None)
    assert memory_left_mb(root, tmp_path / "none") is None
