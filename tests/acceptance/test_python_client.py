"""The first example of the Python client's README, run as it is printed there, brings back the minutes.

In an environment into which its wheel was installed, and nothing else; outside the repository.
"""

import asyncio
import re
from pathlib import Path

from harness.plugin import PYTHON_CLIENT, empty_environment
from harness.service import Service
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo


async def test_the_first_example_of_its_readme_works_as_printed(
    service: Service, meetings: PracticeClient, tmp_path: Path
) -> None:
    readme = (PYTHON_CLIENT / "README.md").read_text(encoding="utf-8")
    commands, example = (re.findall(rf"^```{kind}\n(.*?)^```$", readme, re.M | re.S)[0] for kind in ("", "python"))
    script = tmp_path / commands.splitlines()[-1].split()[1]
    script.write_text(example, encoding="utf-8")
    told = dict(re.findall(r"(SEDERUNT_\w+)=(\S+)", commands))
    assert set(told) == {"SEDERUNT_URL", "SEDERUNT_KEY"}

    meeting = await meetings.open_meeting(demo(turns=2))
    programs = await asyncio.to_thread(empty_environment, tmp_path, PYTHON_CLIENT)
    environment = {"PATH": "/usr/bin:/bin", "SEDERUNT_URL": service.url, "SEDERUNT_KEY": service.key}
    running = await asyncio.create_subprocess_exec(
        programs / "python", script.name, meeting.url, cwd=tmp_path, env=environment, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(running.communicate(), 300)
    first, *said = output.decode().splitlines()
    assert (running.returncode, first) == (0, "finished healthy")
    assert {re.match(r" +[\d.]+  ([^:]+): \w", line)[1] for line in said} == {"Mary Somerville", "Charles Babbage"}  # type: ignore[index]
