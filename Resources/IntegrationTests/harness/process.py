# SPDX-License-Identifier: GPL-3.0-or-later
"""What a process holds, as the kernel counts it (proc(5))."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def count_descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def get_resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * resource.getpagesize()


@contextmanager
def allow_descriptors(count: int) -> Iterator[None]:
    """This process, and those that it starts, may have as many open."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before, count), max(most, count)))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, max(most, count)))
