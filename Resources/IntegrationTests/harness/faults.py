# SPDX-License-Identifier: GPL-3.0-or-later
"""What breaks under a server, and is mended again while it runs: disks, descriptors, databases.

Each fault is a context manager for what has to be there before Orthanc starts, with what Orthanc is
to be started with, and strike() is one for the time in which it is in force.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer

DISK_MEGABYTES = 64
START_SECONDS = 20


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, timeout=60, capture_output=True)


def find_obstacle(*programs: str, device: str = "/dev/null") -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return None if Path(device).exists() else f"there is no {device}"


class Fault:
    """Nothing breaks."""

    obstacle: str | None = None

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.plugins: list[Path] = []

    def prepare(self, folder: Path) -> AbstractContextManager[None]:
        """Within this the server runs. Sets the members above; the folder is empty."""
        return contextlib.nullcontext()

    def strike(self, server: OrthancServer) -> AbstractContextManager[None]:
        raise NotImplementedError


@contextmanager
def mount_memory(point: Path) -> Iterator[None]:
    point.mkdir()
    run("mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", point)
    try:
        yield
    finally:
        run("umount", "--lazy", point)


class FullDisk(Fault):
    """The disk of the images, or that of the database, or both, takes no byte more, or `left`."""

    obstacle = find_obstacle("mount")

    def __init__(self, storage: bool = True, index: bool = False, left: int = 0) -> None:
        super().__init__()
        self._left = left
        self._storage = storage
        self._index = index

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        self._point = folder / "small-disk"
        with mount_memory(self._point):
            if self._storage:
                self.options["StorageDirectory"] = str(self._point)
            self.options["IndexDirectory"] = str(self._point if self._index else folder)
            yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        filler = self._point / "filler"
        with filler.open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(65536))
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(4096))
            file.truncate(file.tell() - self._left)
        try:
            yield
        finally:
            filler.unlink()


class ReadOnlyDisk(Fault):
    """The disk of the images, as a kernel remounts one that has failed."""

    obstacle = find_obstacle("mount")

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        self._point = folder / "disk"
        with mount_memory(self._point):
            self.options = {"StorageDirectory": str(self._point), "IndexDirectory": str(folder)}
            yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        # A file that is being written at this moment keeps it busy
        assert wait_until(lambda: self._remount("ro"), START_SECONDS)
        try:
            yield
        finally:
            self._remount("rw")

    def _remount(self, mode: str) -> bool:
        command = ["mount", "-o", f"remount,{mode}", self._point]
        return subprocess.run(command, timeout=60, capture_output=True).returncode == 0


class MountedFolder(Fault):
    """The images are where something is mounted, the index is not."""

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        self._source, self._point = folder / "far", folder / "drive"
        for path in (self._source, self._point):
            path.mkdir()
        self.options = {"StorageDirectory": str(self._point), "IndexDirectory": str(folder)}
        self._mount()
        try:
            yield
        finally:
            self._unmount()

    def _mount(self) -> None:
        raise NotImplementedError

    def _unmount(self) -> None:
        raise NotImplementedError


class RemoteFolder(MountedFolder):
    """It is in another program's hands (bindfs, FUSE), as those on a network drive are."""

    obstacle = find_obstacle("bindfs", device="/dev/fuse")

    def _mount(self) -> None:
        self._process = subprocess.Popen(["bindfs", "-f", self._source, self._point])
        assert wait_until(self._point.is_mount, START_SECONDS)

    def _unmount(self) -> None:
        subprocess.run(["umount", "--lazy", self._point], timeout=60)
        self._process.kill()
        self._process.wait()


class HangingFolder(RemoteFolder):
    """It answers nothing any more, and then goes on."""

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


class LostFolder(RemoteFolder):
    """It is gone, and then mounted anew."""

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._process.kill()
        self._process.wait()
        try:
            yield
        finally:
            self._unmount()
            self._mount()


class UnmountedFolder(MountedFolder):
    """The disk of the images is unmounted, and mounted again; Orthanc sees the folder beneath.

    That one is `owner`'s. root may write to whatever is others': without this right, Orthanc is to
    the folder what Debian's user "orthanc" is.
    """

    obstacle = find_obstacle("mount", "setpriv")

    def __init__(self, owner: int) -> None:
        super().__init__()
        self._owner = owner
        self.launcher = ["setpriv", "--bounding-set", "-dac_override"]

    def list_beneath(self) -> list[Path]:
        return [*self._point.iterdir()]

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._unmount()
        try:
            yield
        finally:
            self._mount()

    def _mount(self) -> None:
        os.chown(self._point, self._owner, -1)
        run("mount", "--bind", self._source, self._point)

    def _unmount(self) -> None:
        run("umount", "--lazy", self._point)


class NoDescriptor(Fault):
    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (0, before[1]))
        try:
            yield
        finally:
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)


class LostDatabase(Fault):
    """PostgreSQL is stopped with all its connections, and started again."""

    obstacle = None if POSTGRESQL_PLUGIN.exists() else "not installed: orthanc-postgresql"

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        with PostgreSqlServer() as self._database:
            self.options = self._database.get_options(connections=4)
            self.plugins = [POSTGRESQL_PLUGIN]
            yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._database.stop()
        try:
            yield
        finally:
            self._database.start()


class HangingDatabase(LostDatabase):
    """It takes connections and questions, and answers none."""

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        with self._database.hang():
            yield
