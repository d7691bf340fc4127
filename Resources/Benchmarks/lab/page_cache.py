# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel keeps of files in memory, and how it forgets it, without root."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

AT_ONCE = 1000  # files: a command's length has a limit


def evict(files: Sequence[Path]) -> None:
    """The next who reads them waits for the disk: what is not written yet stays, thus fsync."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def get_cached_share(files: Sequence[Path]) -> float:
    """The part of their bytes that is in memory (fincore(1))."""
    command = ["fincore", "--bytes", "--noheadings", "--raw", "--output", "RES"]
    cached = 0
    for first in range(0, len(files), AT_ONCE):
        finished = subprocess.run(
            [*command, *files[first : first + AT_ONCE]],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        cached += sum(map(int, finished.stdout.split()))
    return cached / sum(path.stat().st_size for path in files)
