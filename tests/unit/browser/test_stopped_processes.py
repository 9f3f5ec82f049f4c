"""Which processes count as stopped, and for how long they have to be."""

import os
import signal
import subprocess
import sys

import pytest

from sederunt.browser.process_watch import stopped
from sederunt.browser.stopped_processes import (
    LOOKS_IN_A_ROW,
    LOOKS_UNTIL_ALL,
    ProcessState,
    SessionProcesses,
    StoppedProcesses,
    kind_of,
    state_of,
)


def state(pid: int, is_stopped: bool, started: int = 1) -> ProcessState:
    return ProcessState(pid=pid, parent=1, session=1, started=started, is_stopped=is_stopped)


def test_a_process_has_to_be_stopped_in_several_looks_in_a_row() -> None:
    watch = StoppedProcesses()
    told = [[one.pid for one in watch.look([state(7, stops), state(8, False)])] for stops in (True, True, False)]
    told += [[one.pid for one in watch.look([state(7, True)])] for _ in range(LOOKS_IN_A_ROW)]
    assert told == [[], [], [], [], [], [7]]


def test_a_later_process_of_the_same_number_counts_for_itself() -> None:
    watch = StoppedProcesses()
    for _ in range(LOOKS_IN_A_ROW - 1):
        watch.look([state(7, True, started=1)])
    assert watch.look([state(7, True, started=2)]) == []


@pytest.mark.parametrize("sent", [signal.SIGSTOP, None])
def test_the_kernel_tells_a_stopped_process_from_one_that_waits(sent: signal.Signals | None) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        try:
            if sent is not None:
                os.kill(process.pid, sent)
                os.waitpid(process.pid, os.WUNTRACED)  # it has stopped
            found = SessionProcesses().look([], [process.pid])[process.pid]
            assert (found.is_stopped, found.parent) == (sent is not None, os.getpid())
        finally:
            process.kill()


def test_processes_of_other_sessions_are_read_once_and_then_now_and_then() -> None:
    read: list[int] = []

    def counted(pid: int) -> ProcessState | None:
        read.append(pid)
        return state_of(pid)

    processes = SessionProcesses(counted)
    command = [sys.executable, "-c", "print(flush=True); input()"]

    def started() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    with started() as one:
        looks = [processes.look([one.pid], []).keys() for _ in range(LOOKS_UNTIL_ALL)]
        with started() as other:  # nobody asked for it before
            looks += [processes.look([one.pid, other.pid], []).keys() for _ in range(2)]
            one.kill()
            one.wait()
            looks.append(processes.look([one.pid, other.pid], []).keys())
            other.kill()
    assert looks == [{one.pid}] * LOOKS_UNTIL_ALL + [{one.pid, other.pid}] * 2 + [{other.pid}]
    assert read.count(one.pid) == LOOKS_UNTIL_ALL + 2
    assert read.count(os.getpid()) == 2, "at the first look, and when another session was asked for"


def test_the_kind_of_a_process_is_read_from_its_command_line() -> None:
    kinds = {
        "renderer": ["--type=renderer", "--headless=old"],
        "network.mojom.NetworkService": ["--type=utility", "--utility-sub-type=network.mojom.NetworkService"],
        "browser": ["--no-sandbox"],
    }
    for kind, words in kinds.items():
        command = [sys.executable, "-c", "print(flush=True); input()", *words]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                process.stdout.readline()  # it is what it was started as
                assert kind_of(process.pid) == kind
            finally:
                process.kill()
    assert kind_of(process.pid) == ""


@pytest.mark.parametrize(
    ("kind", "cause", "recovery"),
    [
        ("network.mojom.NetworkService", "network_service_stopped", "fresh_browser"),
        ("renderer", "renderer_stopped", "fresh_page"),
        ("gpu-process", "gpu_process_stopped", "by_browser"),
        ("video_capture.mojom.VideoCaptureService", "VideoCaptureService_stopped", "by_browser"),
        ("", "process_stopped", "by_browser"),
    ],
)
def test_each_kind_has_its_recovery(kind: str, cause: str, recovery: str) -> None:
    assert (stopped(kind).cause, stopped(kind).recovery) == (cause, recovery)
