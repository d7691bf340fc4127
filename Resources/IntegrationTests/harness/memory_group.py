# SPDX-License-Identifier: GPL-3.0-or-later
"""Control groups that limit memory, as a container's does: of version 1, or of version 2."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.metrics import wait_until

END_SECONDS = 20

# In the group before it executes Orthanc
ENTER = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'


@dataclass(frozen=True)
class Version:
    """Where a version's groups are, and what it calls their files."""

    root: Path
    limit: str
    used: str
    unlimited: str

    def has_memory(self) -> bool:
        """Whether groups made in its root can limit memory."""
        delegated = self.root / "cgroup.subtree_control"
        if not delegated.exists():  # version 1
            return (self.root / self.limit).exists()
        with suppress(OSError):  # it has no such controller, or processes of its own
            delegated.write_text("+memory", "ascii")
        return "memory" in delegated.read_text("ascii").split()


# The kernel's documentation: cgroup-v1/memory, and "Memory" of cgroup-v2
VERSIONS = [
    Version(Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "-1"),
    Version(Path("/sys/fs/cgroup"), "memory.max", "memory.current", "max"),
]


def find_version() -> Version | None:
    return next((version for version in VERSIONS if version.has_memory()), None)


def find_obstacle() -> str | None:
    """Why no group can be made; None if one can."""
    if os.geteuid() != 0:
        return "control groups need root"
    return None if find_version() else "no control group can limit memory here"


class MemoryGroup:
    def __init__(self, version: Version, path: Path) -> None:
        self.launcher = ["sh", "-c", ENTER, "sh", str(path)]
        self._version = version
        self._path = path

    def limit(self, size: int | None) -> None:
        """To so many bytes; None: no longer."""
        text = self._version.unlimited if size is None else str(size)
        (self._path / self._version.limit).write_text(text, "ascii")

    def count_bytes(self) -> int:
        return int((self._path / self._version.used).read_text("ascii"))

    def is_empty(self) -> bool:
        return not (self._path / "cgroup.procs").read_text("ascii")


@contextmanager
def make_group() -> Iterator[MemoryGroup]:
    """Without a limit to begin with."""
    version = find_version()
    assert version is not None, find_obstacle()
    path = version.root / f"orthanc-perf-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    path.mkdir()
    group = MemoryGroup(version, path)
    try:
        yield group
    finally:
        # Whoever the kernel ends is in it for a moment more
        assert wait_until(group.is_empty, END_SECONDS)
        path.rmdir()


@contextmanager
def limit_memory(size: int) -> Iterator[list[str]]:
    """A command that executes another one in its own place, in a group that may have so much."""
    with make_group() as group:
        group.limit(size)
        yield group.launcher
