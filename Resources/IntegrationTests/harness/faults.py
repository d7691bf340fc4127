# SPDX-License-Identifier: GPL-3.0-or-later
"""What breaks under a server, and is mended again while it runs: disks, limits, its clock.

Each fault is a context manager for what has to be there before Orthanc starts, with what Orthanc is
to be started with, and strike() is one for the time in which it is in force.
"""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness import distance, memory_group, wire
from harness.clients import get_output
from harness.ledger import HERE, Place
from harness.load import meanwhile
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.process import list_children
from harness.slow_disk import MEBIBYTE

DISK_MEGABYTES = 64
START_SECONDS = 20

# For images of half a megabyte
ADDRESS_SPACE_LEFT = 32 * MEBIBYTE

FAKETIME = list(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


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
    may_end = False  # Orthanc, and it takes the kernel a moment

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.plugins: list[Path] = []
        self.environment: dict[str, str] = {}
        self.launcher: list[str] = []
        self.place = HERE  # of senders during the fault

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


@contextmanager
def limit(pid: int, kind: int, most: int) -> Iterator[None]:
    before = resource.prlimit(pid, kind)
    hard = before[1]
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)  # infinity is -1
    resource.prlimit(pid, kind, (soft, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, kind, before)


class NoDescriptor(Fault):
    def strike(self, server: OrthancServer) -> AbstractContextManager[None]:
        return limit(server.pid, resource.RLIMIT_NOFILE, 0)


class NoAddressSpace(Fault):
    """Little more than the process has now.

    What Orthanc has freed, it can use again. Of malloc's arenas, one for each of some threads, each
    has 64 MiB of address space by itself (HEAP_MAX_SIZE of glibc's arena.c): what is to meet the
    limit has to be larger.
    """

    def strike(self, server: OrthancServer) -> AbstractContextManager[None]:
        pages = int(Path(f"/proc/{server.pid}/statm").read_text("ascii").split()[0])
        most = pages * resource.getpagesize() + ADDRESS_SPACE_LEFT
        return limit(server.pid, resource.RLIMIT_AS, most)


class NoMemory(Fault):
    """A control group that gives nothing more: the kernel ends a process of it."""

    obstacle = memory_group.find_obstacle()
    may_end = True

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        with memory_group.make_group() as self._group:
            self.launcher = self._group.launcher
            yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._group.limit(self._group.count_bytes() + MEBIBYTE)
        try:
            yield
        finally:
            self._group.limit(None)


class NoProcess(Fault):
    """No process and no thread more: as another user, since root has no such limit."""

    obstacle = find_obstacle("setpriv", "prlimit")

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        self._user = 100_000 + os.getpid() % 100_000
        self.launcher = ["setpriv", f"--reuid={self._user}", f"--regid={self._user}"]
        self.launcher += ["--clear-groups"]
        home = folder / "home"
        home.mkdir()
        os.chown(home, self._user, self._user)
        self.options = {"StorageDirectory": str(home), "IndexDirectory": str(home)}
        yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        self._allow(server, "1")
        for child in list_children(server.pid):  # the programs of engines: new ones are needed
            os.kill(child, signal.SIGKILL)
        try:
            yield
        finally:
            most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            self._allow(server, "unlimited" if most == resource.RLIM_INFINITY else str(most))

    def _allow(self, server: OrthancServer, count: str) -> None:
        """The soft limit. As that user: root of a container may not do it to others."""
        run(*self.launcher, "prlimit", f"--pid={server.pid}", f"--nproc={count}:")


class ClockSetBack(Fault):
    """The wall clock of Orthanc and its programs (libfaketime); the monotonic one goes on."""

    obstacle = None if FAKETIME else "not installed: libfaketime"
    _offset = 0  # seconds

    @contextmanager
    def prepare(self, folder: Path) -> Iterator[None]:
        self._clock = folder / "clock"
        self._clock.write_text("+0", "ascii")
        self.environment = {
            "LD_PRELOAD": str(FAKETIME[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        yield

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        """It stays so: nobody sets a clock forward again."""
        self._offset -= 3600
        self._clock.write_text(str(self._offset), "ascii")
        time.sleep(2)  # until Orthanc has noticed
        yield


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


class BadNetwork(Fault):
    """Senders are where frames are lost, come twice, and overtake each other."""

    obstacle = distance.find_obstacle()

    def __init__(self) -> None:
        super().__init__()
        self.options = {"RemoteAccessAllowed": True}

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        # Their round trip is 4 ms, give or take 4
        with distance.Distance(0.004, 0.03, duplication=0.03, variation=0.002) as path:
            self.place = Place(path.get_launcher(), distance.NEAR)
            try:
                yield
                # What is cut off in mid-connection, Orthanc waits for, as it ends, too
                assert wait_until(lambda: not list_connections(distance.FAR))
            finally:
                self.place = HERE


def list_connections(address: str) -> str:
    return get_output(["ss", "-tnH", "state", "established", "dst", address]).strip()


# Orthanc gives up a peer that says nothing, and one whose message does not go on
TIMEOUTS = {"DicomScpTimeout": 5, "DicomThreadsCount": 4}
SLOW_PEERS = 500


class SilentPeers(Fault):
    """As many associations as Orthanc has threads for, whose peers never say anything more."""

    def __init__(self) -> None:
        super().__init__()
        self.options = dict(TIMEOUTS)

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        with contextlib.ExitStack() as peers:
            for _ in range(TIMEOUTS["DicomThreadsCount"]):
                peers.enter_context(wire.associate(server, b"SILENT"))
            yield


class SlowPeers(SilentPeers):
    """Peers that send one byte a second: half of them a C-STORE, half of them an upload."""

    @contextmanager
    def strike(self, server: OrthancServer) -> Iterator[None]:
        head = b"POST /instances HTTP/1.1\r\nHost: slow\r\nContent-Length: 500000\r\n\r\n"
        request = wire.make_associate_request(b"SLOW", wire.CT_IMAGE_STORAGE)
        store = wire.make_command(
            wire.C_STORE, wire.CT_IMAGE_STORAGE, wire.HAS_DATA_SET, "1.2.3"
        ) + wire.make_data(bytes(16000), 0)
        ways = [(server.http_port, head, bytes(1000)), (server.dicom_port, request, store)]
        peers = []
        with contextlib.ExitStack() as stack:
            for port, start, message in ways * (SLOW_PEERS // 2):
                peer = stack.enter_context(wire.connect(port))
                peer.sendall(start)
                peers.append((peer, message))
            with meanwhile(partial(_trickle, peers)):
                yield


def _trickle(peers: list[tuple[socket.socket, bytes]], is_over: threading.Event) -> None:
    for position in range(1000):
        for peer, message in peers:
            with contextlib.suppress(OSError):  # Orthanc has had enough of it
                peer.send(message[position : position + 1])
        if is_over.wait(1):
            return
