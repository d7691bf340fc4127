# SPDX-License-Identifier: GPL-3.0-or-later
"""Client programs, bounded in time, and the processor time of a server."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from harness.images import Image
from harness.orthanc import OrthancServer
from harness.process import list_children

CLIENT_SECONDS = 180
END_SECONDS = 30  # for what is asked to end; longer than the harness gives a server

# What DCMTK's programs take from the environment of whoever starts them (its envvars.txt)
DCMTK_SWITCHES = ("TCP_NODELAY", "TCP_BUFFER_LENGTH")

SAME_PIXELS = 0.99  # of an image's bytes: heads may differ

PR_SET_CHILD_SUBREAPER = 36  # sys/prctl.h

libc = ctypes.CDLL(None, use_errno=True)


class ClientError(RuntimeError):
    """A client failed, was not done in time, or an image was lost; the message says what."""


def forget_switches() -> None:
    """What is measured as it comes has none that its user has set."""
    for name in DCMTK_SWITCHES:
        os.environ.pop(name, None)


def adopt_orphans() -> None:
    """What was started by somebody who ends before it is this process's child then (prctl(2))."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> None:
    """Whatever this process, or what it has started, has left running."""
    begin = time.monotonic()
    asked: set[int] = set()
    while (children := list_children(os.getpid())) and time.monotonic() < begin + 2 * END_SECONDS:
        for child in children:
            with suppress(OSError):  # it has ended meanwhile, or is another user's
                if child not in asked:
                    asked.add(child)
                    os.kill(child, signal.SIGTERM)
                elif time.monotonic() > begin + END_SECONDS:
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, os.WNOHANG)
        time.sleep(0.05)


class ProcessorClock:
    """User and system time of all threads, ended ones too, to the nanosecond
    (clock_getcpuclockid(3))."""

    def __init__(self, pid: int) -> None:
        clock = ctypes.c_int()
        error = libc.clock_getcpuclockid(pid, ctypes.byref(clock))
        if error != 0:
            raise OSError(error, os.strerror(error), f"process {pid}")
        self._clock = clock.value

    def read(self) -> float:
        return time.clock_gettime(self._clock)


def watch_processor(pid: int) -> Callable[[], float]:
    """The seconds of processor time, from now on, of a process and of its children."""
    before = read_processor_times(pid)
    return lambda: sum(
        now - before.get(number, 0) for number, now in read_processor_times(pid).items()
    )


def read_processor_times(pid: int) -> dict[int, float]:
    """The processor time so far of a process and of each of its children, by their numbers."""
    times = {pid: ProcessorClock(pid).read()}
    for child in list_children(pid):
        with suppress(OSError):  # it has ended meanwhile
            times[child] = ProcessorClock(child).read()
    return times


def run_clients(
    commands: Sequence[Sequence[str | Path]],
    environment: dict[str, str] | None = None,
    seconds: float = CLIENT_SECONDS,
    codes: Collection[int] = (0,),
) -> tuple[float, list[str]]:
    """Runs programs all at once: the seconds until the last has ended, and what each said.

    `codes`: those with which they may end.
    """
    begin = time.monotonic()
    processes: list[subprocess.Popen[str]] = []
    try:
        for command in commands:
            processes.append(  # one by one: those that run are ended if another cannot
                subprocess.Popen(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, **(environment or {})},
                    text=True,
                )
            )
        said = [
            process.communicate(timeout=max(0.1, begin + seconds - time.monotonic()))[0]
            for process in processes
        ]
    except subprocess.TimeoutExpired as error:
        raise ClientError(f"{commands[0][0]} was not done after {seconds} s") from error
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    duration = time.monotonic() - begin

    for process, text in zip(processes, said, strict=True):
        if process.returncode not in codes:
            raise ClientError(f"{commands[0][0]} failed with {process.returncode}: {text}")
    return duration, said


def check_stored(server: OrthancServer, count: int, size: int = 0) -> None:
    statistics = server.get_json("/statistics")
    stored, bytes_stored = statistics["CountInstances"], int(statistics["TotalUncompressedSize"])
    if stored != count:
        raise ClientError(f"{stored} of {count} images are stored")
    if bytes_stored < SAME_PIXELS * size:
        raise ClientError(f"{bytes_stored} of {size} bytes are stored")


def check_images(server: OrthancServer, images: Sequence[Image]) -> None:
    check_stored(server, len(images), sum(image.get_size() for image in images))


def check_syntax(
    server: OrthancServer, syntax: str, instances: Sequence[str] | None = None
) -> None:
    """Of these, or of all that are stored, some are looked at: whether they have this one."""
    for instance in (instances or server.get_json("/instances"))[::20]:
        found = server.get(f"/instances/{instance}/metadata/TransferSyntax").text
        if found != syntax:
            raise ClientError(f"an image is stored as {found}")


def count_instances(server: OrthancServer) -> int:
    return server.get_json("/statistics")["CountInstances"]
