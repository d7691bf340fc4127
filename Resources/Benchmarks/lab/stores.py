# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores of Orthanc that hold so many small images, made once and kept for the next run.

By an Orthanc without the plugin, over HTTP, which is the fastest way in that is one of Orthanc's
own: the index and the storage area are what any client would have left. 50 images a series, one
series a study, one study a patient.
"""

import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.images import make_grey_image
from harness.orthanc import OrthancServer
from lab.options import ROOT
from lab.processes import ClientError, check_stored, count_instances
from lab.senders import post_all

KEPT = ROOT / "build" / "stores"
VERSION = 1  # to be changed with the images

UIDS = "1.2.826.0.1.3680043.8.498.1"
ROWS = 16
IN_SERIES = 50
CLIENTS = 2
AT_ONCE = 1000  # images in memory


class SmallImages:
    """Images of 1 kB, by their number; all are of the same length."""

    def __init__(self) -> None:
        buffer = BytesIO()
        make_grey_image(*self._name(0), ROWS).save_as(buffer, enforce_file_format=True)
        self._pattern = buffer.getvalue()

    def make(self, number: int) -> bytes:
        content = self._pattern
        (before, old), (patient, new) = self._name(0), self._name(number)
        for was, now in zip([before, *old], [patient, *new], strict=True):
            content = content.replace(was.encode(), now.encode())
        return content

    @staticmethod
    def _name(number: int) -> tuple[str, tuple[str, str, str]]:
        group = 10_000_000 + number // IN_SERIES
        uids = (f"{UIDS}.1.{group}", f"{UIDS}.2.{group}", f"{UIDS}.3.{100_000_000 + number}")
        return f"STORED-{group}", uids


def copy_store(count: int, target: Path) -> None:
    """Makes the storage folder of a server."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-r", f"{keep_store(count, target.parent)}/.", target], check=True)


def keep_store(count: int, scratch: Path) -> Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = find_kept()
    if count not in kept:
        begin = max((size for size in kept if size < count), default=0)
        with TemporaryDirectory(prefix="store-", dir=scratch) as name:
            folder = Path(name)
            if begin:
                shutil.copytree(kept[begin], folder / "storage")
            print(f"A store of {count} images is made from one of {begin}, once", flush=True)
            grow(folder, begin, count)
            save(folder / "storage", count)
    return find_kept()[count]


def find_kept() -> dict[int, Path]:
    return {
        int(path.name.partition("-")[0]): path
        for path in KEPT.glob(f"*-v{VERSION}")
        if path.is_dir()
    }


def save(storage: Path, count: int) -> None:
    """There as a whole, or not at all."""
    target = KEPT / f"{count}-v{VERSION}"
    with TemporaryDirectory(prefix="partial-", dir=KEPT) as name:
        partial = Path(name) / "storage"
        subprocess.run(["cp", "-r", storage, partial], check=True)
        if not target.exists():
            partial.rename(target)


def grow(folder: Path, begin: int, end: int) -> None:
    """Adds images up to that number."""
    images = SmallImages()
    # Nothing is lost by power cuts here
    with OrthancServer(folder, options={"SyncStorageArea": False}) as server:
        if (found := count_instances(server)) != begin:
            raise ClientError(f"the kept store has {found} images, not {begin}: remove {KEPT}")
        for first in range(begin, end, AT_ONCE):
            numbers = range(first, min(end, first + AT_ONCE))
            post_all(server, map(images.make, numbers), CLIENTS)
        check_stored(server, end)
