# SPDX-License-Identifier: GPL-3.0-or-later
"""One untouched storescu into receivers as they come, all of which write what they receive.

Orthanc syncs each file before it answers, and indexes it; the others leave their files to the
kernel. So there are two figures: until the sender has ended, and until all files are on the disk.
After each turn, the files of either are read again.
"""

import hashlib
import os
import shutil
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import product
from pathlib import Path

import pydicom
from pydicom.errors import InvalidDicomError

from harness.images import Image
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import Receiver
from lab import senders
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.machine import get_version
from lab.options import Option, make_plan, make_series
from lab.processes import ClientError, ProcessorClock, check_images
from lab.ratios import Comparison
from lab.report import ONE_ROUND, format_table, list_ratio_rows
from lab.results import Results
from lab.senders import Target, use_storescu

ORTHANC, TUNED = "Orthanc as shipped", "Orthanc with the plugin"

DICOM_RS = senders.DICOM_RS / "dicom-storescp"

PROGRAMS: dict[str, Callable[[str, Path], list[str | Path]]] = {
    "DCMTK storescp": lambda port, folder: ["/usr/bin/storescp", "-od", folder, port],
    "pynetdicom storescp": lambda port, folder: [
        *(sys.executable, "-m", "pynetdicom", "storescp"),
        *("-od", folder, port),
    ],
    "dicom-rs storescp": lambda port, folder: [DICOM_RS, "-p", port, "-o", folder],
}
RECEIVERS = [ORTHANC, TUNED, *PROGRAMS]


@dataclass(frozen=True)
class Peer:
    """Somebody who receives; `clear` forgets what came, `check` finds all of it, and whole."""

    port: int
    pid: int
    folder: Path
    clear: Callable[[], object]
    check: Callable[[list[Image]], None]


def make_orthanc_peer(server: OrthancServer) -> Peer:
    def check(images: list[Image]) -> None:
        check_images(server, images)  # in its index, too
        check_files(server.storage, images)

    return Peer(server.dicom_port, server.pid, server.storage, server.delete_all, check)


def make_program_peer(receiver: Receiver, folder: Path) -> Peer:
    def clear() -> None:
        for path in list_files(folder):
            path.unlink()

    return Peer(receiver.port, receiver.pid, folder, clear, partial(check_files, folder))


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def identify(path: Path) -> tuple[str, str] | None:
    """An image's UID and a digest of its pixel data; None: it has none, as Orthanc's index."""
    try:
        image = pydicom.dcmread(path, specific_tags=["SOPInstanceUID", "PixelData"])
    except InvalidDicomError:
        return None
    if "PixelData" not in image:
        return None
    return image.SOPInstanceUID, hashlib.sha256(image.PixelData).hexdigest()


@cache
def identify_sent(image: Image) -> tuple[str, str] | None:
    return identify(image.path)


def check_files(folder: Path, images: list[Image]) -> None:
    """All are there once, with the pixel data that was sent."""
    found = Counter(map(identify, list_files(folder)))
    del found[None]
    sent = Counter(map(identify_sent, images))
    if found != sent:
        whole = (found & sent).total()
        raise ClientError(
            f"{whole} of {len(images)} images are in files as sent, {(found - sent).total()} other"
        )


def sync(folder: Path, begin: float) -> float:
    """The seconds until all files that are newer are on the disk."""
    files = [path for path in list_files(folder) if path.stat().st_mtime >= begin]
    started = time.monotonic()
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return time.monotonic() - started


def measure(peer: Peer, images: list[Image]) -> Figures:
    peer.clear()
    clock = ProcessorClock(peer.pid)
    used, begin = clock.read(), time.time()
    seconds = use_storescu(Target(peer.port, images))()
    processor = clock.read() - used
    synced = seconds + sync(peer.folder, begin)
    peer.check(images)
    return {
        "throughput": len(images) / seconds,
        "throughput to the disk": len(images) / synced,
        "processor time": processor / len(images) * 1000,
    }


def start_peer(room: Room, name: str, plugin: Path, folder: Path) -> Peer:
    folder.mkdir()
    if name in PROGRAMS:
        port = find_free_port()
        command = PROGRAMS[name](str(port), folder)
        return make_program_peer(room.enter(Receiver(port, command)), folder)
    plugins = [plugin] if name == TUNED else []
    return make_orthanc_peer(room.enter(OrthancServer(folder, plugins=plugins)))


def open_bench(arguments: Namespace, images: list[Image], room: Room) -> Bench:
    def enter(_: Factors) -> Entry:
        contestants, declined = {}, {}
        for number, name in enumerate(arguments.receivers):
            if name in PROGRAMS and not shutil.which(PROGRAMS[name]("", room.folder)[0]):
                declined[name] = (
                    "it is not there: Resources/Benchmarks/install-dicom-rs.sh builds it"
                )
                continue
            peer = start_peer(room, name, arguments.plugin, room.folder / str(number))
            measure(peer, images[:2])  # to warm up
            contestants[name] = partial(measure, peer, images)
        return Entry(contestants, declined)

    return enter


def make_stages(arguments: Namespace) -> list[Stage]:
    images = make_series("peers", arguments.images)
    cells = [{"Sender": "storescu", "Images": f"{len(images)} CT of 525 kB"}]
    bench = partial(open_bench, arguments, images)
    return [Stage(cells, bench, arguments.turns, arguments.seconds)]


def answer(results: Results, _: object) -> list[str]:
    """The tables of ratios to the first receiver do not tell the plugin from the third."""
    found: dict[str, list[Comparison]] = {}
    for figure, cell in product(results.figures, results.cells):
        for other in cell.list_contestants():
            compared = results.compare_two(cell, figure, other, TUNED)
            if other != TUNED and compared is not None:
                found.setdefault(figure, []).append(compared)
    if not found:
        return []
    head = ["figure", "ratio", "median", "95 % of the median", "range", "larger in turns"]
    rows = [
        [figure, *row[1:-1], f"{sum(b > a for a, b in pairs)} of {len(pairs)}"]
        for figure, comparisons in found.items()
        for comparison, row in zip(comparisons, list_ratio_rows(comparisons), strict=True)
        for pairs in [comparison.get_pairs()]
    ]
    heading = f"### {TUNED} / each other receiver"
    return [heading, "", *format_table(head, rows), ONE_ROUND, ""]


EXPERIMENT = Experiment(
    "one storescu into DCMTK, pynetdicom, dicom-rs, Orthanc and Orthanc with the plugin",
    [
        Option("--receivers", RECEIVERS, choices=RECEIVERS),
        Option("--images", 200, "in each turn", 30),
        *make_plan(25, 900, (2, 60)),
    ],
    make_stages,
    {
        "throughput": Figure("images/s"),
        "throughput to the disk": Figure("images/s"),
        "processor time": Figure("ms/image"),
    },
    Path("/var/tmp"),
    answer,
    facts=lambda _: {"pynetdicom": version("pynetdicom"), "dicom-rs": get_version(DICOM_RS)},
)
