# SPDX-License-Identifier: GPL-3.0-or-later
"""What a process holds and which it has started, as the kernel counts it (proc(5))."""

import os
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

# Before the command of a process for limit_files(): or else a write beyond the limit would end it
# (setrlimit(2))
WITH_LIMITED_FILES = ["env", "--ignore-signal=XFSZ"]


def run(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    """A program until its end, and what it says; the options are those of subprocess.run."""
    usual = {"capture_output": True, "text": True, "timeout": 300, "check": False}
    return subprocess.run(command, **(usual | options))


def count_descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def get_resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def forget_peak(pid: int) -> None:
    """What get_peak_bytes() says is from now on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", "ascii")


def get_peak_bytes(pid: int) -> int:
    """The most that was resident since the process began, or its peak was forgotten."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def get_own_bytes(pid: int) -> int:
    """What is resident, of what it shares with others its share (proc(5), Pss)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    return int(rollup.partition("\nPss:")[2].split()[0]) * 1024


def list_children(pid: int) -> list[int]:
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            parent = stat.read_text("ascii", "replace").rpartition(")")[2].split()[1]
            if int(parent) == pid:
                children.append(int(stat.parent.name))
    return children


def is_running(pid: int) -> bool:
    """Whether there is such a process, which is no zombie that nobody waits for."""
    with suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
        return stat.rpartition(")")[2].split()[0] != "Z"
    return False


@contextmanager
def keep_children_still(pid: int) -> Iterator[None]:
    """The processes that this one has started, and theirs, do nothing while the body runs."""
    still = []
    waiting = list_children(pid)
    while waiting:
        child = waiting.pop()
        os.kill(child, signal.SIGSTOP)
        still.append(child)
        waiting += list_children(child)
    try:
        yield
    finally:
        for child in still:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGCONT)


@contextmanager
def allow_descriptors(count: int) -> Iterator[None]:
    """This process, and those that it starts, may have as many open."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before, count), max(most, count)))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, max(most, count)))


@contextmanager
def limit_files(pid: int, size: int) -> Iterator[None]:
    """No file that the process writes gets larger than that: a full disk, as far as it can see."""
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
