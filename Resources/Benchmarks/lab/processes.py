# SPDX-License-Identifier: GPL-3.0-or-later
"""Client programs, bounded in time, and the processor time of a server."""

import ctypes
import os
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from harness.orthanc import OrthancServer
from harness.process import list_children

CLIENT_SECONDS = 180

libc = ctypes.CDLL(None, use_errno=True)


class ClientError(RuntimeError):
    """A client failed, was not done in time, or an image was lost; the message says what."""


class ProcessorClock:
    """User and system time of all threads of a process, also of those that have ended.

    To the nanosecond, unlike /proc/PID/stat (clock_getcpuclockid(3)).
    """

    def __init__(self, pid: int) -> None:
        clock = ctypes.c_int()
        error = libc.clock_getcpuclockid(pid, ctypes.byref(clock))
        if error != 0:
            raise OSError(error, os.strerror(error), f"process {pid}")
        self._clock = clock.value

    def read(self) -> float:
        return time.clock_gettime(self._clock)


def read_processor_times(pid: int) -> dict[int, float]:
    """The processor time so far of a process and of each of its children, by their numbers."""
    times = {pid: ProcessorClock(pid).read()}
    for child in list_children(pid):
        with suppress(OSError):  # it has ended meanwhile
            times[child] = ProcessorClock(child).read()
    return times


def get_time_since(before: dict[int, float], pid: int) -> float:
    """The processor time of both since then."""
    return sum(now - before.get(number, 0) for number, now in read_processor_times(pid).items())


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


def check_stored(server: OrthancServer, count: int) -> None:
    stored = count_instances(server)
    if stored != count:
        raise ClientError(f"{stored} of {count} images are stored")


def count_instances(server: OrthancServer) -> int:
    return server.get_json("/statistics")["CountInstances"]
