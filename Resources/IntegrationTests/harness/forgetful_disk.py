# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that forgets, when the power is cut, whatever no program has asked it to keep (FUSE).

It keeps what is in a file at its fsync(2) or fdatasync(2), with the name that the file has, as the
file systems with a journal do (ext4, XFS, btrfs): POSIX would have the folder synced as well. A
file that was removed, renamed or linked is so for good at the next sync of any. A folder is kept
with a file in it, or by its own sync. Of what was not synced it keeps nothing: real disks are
kinder, they write back after some seconds.

As a program it is the file system itself: forgetful_disk.py LIVE KEPT MOUNT_POINT.
"""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

START_SECONDS = 60


def find_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "mounting needs root"
    try:
        Path("/dev/fuse").open("rb").close()
    except OSError as error:
        return f"there is no FUSE: {error}"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return "mounting is forbidden here" if tried.returncode != 0 else None


class ForgetfulDisk:
    """Mounted at `point` within `with`."""

    def __init__(self, folder: Path) -> None:
        self.point = folder / "disk"
        self.kept = folder / "kept"  # what would be there after a power cut
        self._live = folder / "live"
        self._process: subprocess.Popen[bytes] | None = None
        for path in (self.point, self.kept, self._live):
            path.mkdir()

    def __enter__(self) -> Self:
        self._mount()
        return self

    def __exit__(self, *_: object) -> None:
        self._unmount()

    def cut_power(self) -> None:
        """Whoever uses the disk must be dead by now. It is mounted anew with what it has kept."""
        self._unmount()
        shutil.rmtree(self._live)
        subprocess.run(["cp", "--archive", self.kept, self._live], check=True)  # owners, too
        self._mount()

    def _mount(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._live, self.kept, self.point],
            # Or else it would take libfuse of version 2 where that is installed, too
            env={**os.environ, "FUSE_LIBRARY_NAME": "fuse3"},
        )
        deadline = time.monotonic() + START_SECONDS
        while not self.point.is_mount():
            assert self._process.poll() is None, "the file system ended"
            assert time.monotonic() < deadline, "the file system was not mounted"
            time.sleep(0.02)

    def _unmount(self) -> None:
        assert self._process is not None
        # Lazily: where a test has failed, Orthanc still runs, and lets go of the disk at its end
        subprocess.run(["umount", "--lazy", self.point], check=True, timeout=60)
        # It would end by itself, but not while another namespace's copy of the mounts has it
        self._process.kill()
        self._process.wait()


def serve(live: Path, kept: Path, point: Path) -> None:
    """The file system, until it is unmounted."""
    import mfusepy  # which needs libfuse, unlike the tests that only look for it

    copying = kept.with_name("copying")

    class Files(mfusepy.Operations):
        """All is in `live`; what is synced is copied to `kept`."""

        use_ns = True

        def __init__(self) -> None:
            self._lock = threading.Lock()
            self._pending: list[Callable[[Path], object]] = []  # changes of names, in their order

        def fsync(self, path: str, datasync: int, fh: int) -> int:
            with self._lock:
                self._keep_names()
                target = self._in(kept, path)
                self._keep_folder(target.parent)
                # In one piece: at the end of this process all of it is kept, or what was before
                shutil.copyfile(f"/proc/self/fd/{fh}", copying)
                self._keep_owner(copying, os.stat(fh))
                copying.replace(target)
            return 0

        def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
            with self._lock:
                self._keep_names()
                self._keep_folder(self._in(kept, path))
            return 0

        def _keep_folder(self, folder: Path) -> None:
            if folder != kept:
                self._keep_folder(folder.parent)
                folder.mkdir(exist_ok=True)
                self._keep_owner(folder, (live / folder.relative_to(kept)).stat())

        @staticmethod
        def _keep_owner(path: Path, status: os.stat_result) -> None:
            os.chown(path, status.st_uid, status.st_gid)
            path.chmod(stat.S_IMODE(status.st_mode))

        def unlink(self, path: str) -> int:
            return self._change(lambda root: self._in(root, path).unlink())

        def rename(self, old: str, new: str) -> int:
            return self._change(lambda root: self._in(root, old).rename(self._in(root, new)))

        def link(self, target: str, source: str) -> int:
            return self._change(
                lambda root: self._in(root, target).hardlink_to(self._in(root, source))
            )

        def rmdir(self, path: str) -> int:
            return self._change(lambda root: self._in(root, path).rmdir())

        def _change(self, change: Callable[[Path], object]) -> int:
            change(live)
            with self._lock:
                self._pending.append(change)
            return 0

        def _keep_names(self) -> None:
            for change in self._pending:
                with suppress(OSError):  # of what was never kept
                    change(kept)
            self._pending.clear()

        def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
            status = os.lstat(self._in(live, path))
            names = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_blocks")
            times = {name: getattr(status, f"{name}_ns") for name in ("st_atime", "st_mtime")}
            return {name: getattr(status, name) for name in names} | times

        def readdir(self, path: str, fh: int) -> list[str]:
            return [".", "..", *(entry.name for entry in self._in(live, path).iterdir())]

        def mkdir(self, path: str, mode: int) -> int:
            self._in(live, path).mkdir(mode)
            self._give(path)
            return 0

        def create(self, path: str, mode: int, fi: object = None) -> int:
            descriptor = os.open(self._in(live, path), os.O_RDWR | os.O_CREAT, mode)
            self._give(path)
            return descriptor

        def _give(self, path: str) -> None:
            """To whom has asked for it."""
            user, group, _ = mfusepy.fuse_get_context()
            os.chown(self._in(live, path), user, group)

        def open(self, path: str, flags: int) -> int:
            return os.open(self._in(live, path), flags & ~os.O_APPEND)

        def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
            return os.pread(fh, size, offset)

        def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
            return os.pwrite(fh, data, offset)

        def truncate(self, path: str, length: int, fh: int | None = None) -> int:
            os.truncate(self._in(live, path), length)
            return 0

        def release(self, path: str, fh: int) -> int:
            os.close(fh)
            return 0

        def chmod(self, path: str, mode: int) -> int:
            self._in(live, path).chmod(mode)
            return 0

        def chown(self, path: str, uid: int, gid: int) -> int:
            os.chown(self._in(live, path), uid, gid)
            return 0

        def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
            os.utime(self._in(live, path), ns=times)
            return 0

        def statfs(self, path: str) -> dict[str, int]:
            status = os.statvfs(live)
            names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_frsize", "f_namemax")
            return {name: getattr(status, name) for name in names}

        @staticmethod
        def _in(root: Path, path: str) -> Path:
            return root / path.removeprefix("/")

    mfusepy.FUSE(
        Files(),
        str(point),
        foreground=True,
        fsname="forgetful",
        hard_remove=True,
        allow_other=True,  # than root
    )


if __name__ == "__main__":
    serve(*map(Path, sys.argv[1:]))
