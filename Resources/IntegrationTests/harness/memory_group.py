# SPDX-License-Identifier: GPL-3.0-or-later
"""Control groups (version 1) that limit memory, as a container's does."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.metrics import wait_until

MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
END_SECONDS = 20

# In the group before it executes Orthanc
ENTER = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'


def find_obstacle() -> str | None:
    """Why no group can be made; None if one can."""
    if os.geteuid() != 0:
        return "control groups need root"
    if not (MEMORY_GROUPS / "memory.limit_in_bytes").exists():
        return "no control group of version 1 can limit memory here"
    return None


@contextmanager
def limit_memory(size: int) -> Iterator[list[str]]:
    """A command that executes another one in its own place, in a group that may have so much."""
    group = MEMORY_GROUPS / f"orthanc-perf-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(size), "ascii")
        yield ["sh", "-c", ENTER, "sh", str(group)]
    finally:
        # Whoever the kernel ends is in it for a moment more
        assert wait_until(lambda: not (group / "cgroup.procs").read_text("ascii"), END_SECONDS)
        group.rmdir()
