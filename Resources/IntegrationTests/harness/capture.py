# SPDX-License-Identifier: GPL-3.0-or-later
"""A packet capture on loopback by Wireshark's tshark, as a second opinion on the plugin's times."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from harness.clients import get_output
from harness.metrics import wait_until

START_SECONDS = 20


@dataclass(frozen=True)
class Turn:
    """Consecutive segments in one direction: times of the first and the last, since 1970."""

    is_request: bool
    first: float
    last: float


def find_obstacle() -> str | None:
    if shutil.which("tshark") is None:
        return "tshark is not installed"
    command = ["tshark", "-i", "lo", "-a", "duration:0", "-w", "/dev/null"]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return f"tshark may not capture: {tried.stderr.strip()}" if tried.returncode else None


@contextmanager
def capture(port: int, path: Path) -> Iterator[None]:
    """Writes the headers of all that goes over this port to the file while the body runs."""
    headers = 96  # bytes of a packet: Ethernet, IP and TCP with its options
    command = ["tshark", "-q", "-i", "lo", "-f", f"tcp port {port}", "-s", str(headers), "-w", path]
    log = path.with_suffix(".log")
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        assert wait_until(lambda: "Capturing on" in log.read_text(), START_SECONDS), log.read_text()
        time.sleep(0.5)  # it says so somewhat before it does
        yield
        time.sleep(0.5)  # until the kernel has handed over the last packets
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def read_turns(path: Path, port: int) -> list[Turn]:
    """Who spoke when on the one connection that was captured, acknowledgements left out."""
    fields = ["frame.time_epoch", "tcp.dstport", "tcp.len"]
    command = ["tshark", "-r", path, "-T", "fields", "-o", "tcp.relative_sequence_numbers:FALSE"]
    for field in fields:
        command += ["-e", field]
    segments = []
    for line in get_output(command).splitlines():
        parts = line.split("\t")
        if len(parts) == len(fields) and parts[2] not in ("", "0"):
            segments.append((int(parts[1]) == port, float(parts[0])))
    turns = []
    for is_request, group in groupby(segments, key=lambda segment: segment[0]):
        times = [moment for _, moment in group]
        turns.append(Turn(is_request, times[0], times[-1]))
    return turns
