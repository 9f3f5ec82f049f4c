"""docs/backup.md, followed: its commands are run as they stand there, while a service works, and the copy is served."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from harness.journeys import reach
from harness.receiver import Receiver
from harness.service import COMMAND, Service

SPEECH = Path(__file__).parents[2] / "src/sederunt/practice/speech"
PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


def commands(name: str) -> list[str]:
    """Return the shell lines below the page's heading of this name."""
    section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section is not None
    blocks = re.findall(r"^```sh\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def play(lines: list[str], folder: Path) -> str:
    """Run the lines in a folder where `data` is the data directory; return what they print."""
    program = folder / "bin" / "sederunt"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
        program.chmod(0o755)
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    command = ["/bin/sh", "-e", "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def served(data: Path) -> Iterator[str]:
    """Serve a data directory that has a key already; provide the API's address."""
    command = [*COMMAND, "serve", "--data", str(data), "--port", "0"]
    with (data.parent / "restored.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Listening on"):
                yield line.split()[2] + "/api/v1"
                break
        else:
            raise AssertionError((data.parent / "restored.log").read_text()[-2000:])
    finally:
        process.terminate()
        process.wait(90)
        process.stdout.close()


async def test_a_copy_made_while_the_service_runs_is_served_with_all_that_was_in_it(
    start_service: Callable[..., Service], receiver: Receiver, tmp_path: Path
) -> None:
    service = start_service()
    sound = (SPEECH / "jfk.wav").read_bytes()
    async with service.client() as api:
        fields = {"transcription_model": "whisper", "webhook_url": receiver.url, "lang": "en"}
        made = (await api.post("/recording", data=fields, files={"recording_file": ("speech", sound)})).json()
        await reach(receiver, made, "finished", timeout_s=120)
        before = (await api.get(f"/recording/{made['id']}")).json()
    (tmp_path / "data").symlink_to(service.data)
    said = play(commands("Back up"), tmp_path)
    assert "sealing key is not among them" in said
    assert not (tmp_path / "copy" / "sealing.key").exists()
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    service.stop()
    shutil.rmtree(service.data)

    play(commands("Restore"), tmp_path)
    with served(tmp_path / "copy") as address:
        headers = {"Authorization": f"Bearer {service.key}"}
        async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as api:
            after = (await api.get(f"/recording/{made['id']}")).json()
            assert after["transcript"] == before["transcript"]
            assert (await api.get(after["recording_url"])).content == sound


def test_a_copy_goes_into_no_directory_that_holds_something(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    (data / "sederunt.db").touch()
    target.mkdir()
    (target / "mine").touch()
    done = subprocess.run(
        [*COMMAND, "backup", str(target), "--data", str(data)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "is there already" in done.stderr) == (1, True), done.stderr
    missing = [*COMMAND, "backup", str(tmp_path / "other"), "--data", str(tmp_path / "nowhere")]
    done = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert (done.returncode, "There is no database" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "other").exists()
