"""What the kernel tells of processes."""

import os
import subprocess

from sederunt.browser.processes import is_ending


def test_a_process_whose_pipes_are_closed_is_ending_before_its_end_is_told() -> None:
    for _ in range(20):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"x")
            assert child.stdout.read(1) == b"x"
            assert not is_ending(child.pid)
            child.kill()
            assert child.stdout.read() == b""  # closed
            assert is_ending(child.pid)
        assert is_ending(child.pid)
    assert not is_ending(os.getpid())
