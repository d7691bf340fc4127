# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks that are slow in earnest: a file system whose every write waits, and a throttled disk.

Both need root and are the kernel's own: mount(8) with the option "sync", and the block I/O
controller of control groups (version 1: blkio; version 2: io).
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEBIBYTE = 1024 * 1024


def find_mount_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "mounting needs root"
    if shutil.which("mkfs.ext4") is None:
        return "not installed: mkfs.ext4 (e2fsprogs)"
    return None if Path("/dev/loop-control").exists() else "there are no loop devices"


@contextmanager
def mount_synchronously(folder: Path) -> Iterator[Path]:
    """An empty file system on which each single write waits until the disk has it."""
    image = folder / "disk.img"
    point = folder / "disk"
    with image.open("wb") as file:
        file.truncate(512 * MEBIBYTE)
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, timeout=60)
    subprocess.run(["mount", "-o", "loop,sync", image, point], check=True, timeout=60)
    try:
        yield point
    finally:
        # Lazily: where a test has failed, Orthanc still runs, and lets go of the disk at its end
        subprocess.run(["umount", "--lazy", point], check=True, timeout=60)
        image.unlink()


def find_throttle_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "control groups need root"
    if (CGROUPS / "blkio" / "blkio.throttle.write_iops_device").exists():
        return None
    controllers = CGROUPS / "cgroup.subtree_control"
    if controllers.exists() and "io" in controllers.read_text("ascii").split():
        return None
    return "no control group can throttle a disk here"


def _name_disk(path: Path) -> str:
    """The number of the disk, not of its partition, that holds the path."""
    device = path.stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    disk = link.parent if (link / "partition").exists() else link
    return (disk / "dev").read_text("ascii").strip()


@contextmanager
def throttle_writes(path: Path, per_second: int) -> Iterator[Path]:
    """A control group that may write so often to the disk; yields the file for process ids."""
    name = f"slow{os.getpid()}"
    if (CGROUPS / "blkio").exists():
        group = CGROUPS / "blkio" / name
        limit = ("blkio.throttle.write_iops_device", f"{_name_disk(path)} {per_second}")
    else:
        group = CGROUPS / name
        limit = ("io.max", f"{_name_disk(path)} wiops={per_second}")
    group.mkdir()
    try:
        (group / limit[0]).write_text(limit[1], "ascii")
        yield group / "cgroup.procs"
    finally:
        for pid in (group / "cgroup.procs").read_text("ascii").split():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                (group.parent / "cgroup.procs").write_text(pid, "ascii")
        group.rmdir()
