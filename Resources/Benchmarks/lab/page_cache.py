# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel keeps of files in memory, how it gets there and is forgotten, without root."""

import os
from collections.abc import Sequence
from pathlib import Path

from harness.process import run

AT_ONCE = 1000  # files: a command's length has a limit
BLOCK = 2**20  # bytes


def evict(files: Sequence[Path]) -> None:
    """The next who reads them waits for the disk: what is not written yet stays, thus fsync."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def read_in(files: Sequence[Path]) -> None:
    """The next who reads them need not wait for the disk, also where a kernel drops what nobody
    has read for a while, though there is room.
    """
    block = bytearray(BLOCK)
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(block):
                pass


def get_cached_share(files: Sequence[Path]) -> float:
    command = ["fincore", "--bytes", "--noheadings", "--raw", "--output", "RES"]
    cached = 0
    for first in range(0, len(files), AT_ONCE):
        finished = run([*command, *files[first : first + AT_ONCE]], check=True)
        cached += sum(map(int, finished.stdout.split()))
    return cached / sum(path.stat().st_size for path in files)
