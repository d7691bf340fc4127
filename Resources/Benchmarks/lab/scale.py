# SPDX-License-Identifier: GPL-3.0-or-later
"""How cost grows: with what is stored, who has called, who is connected, sizes, and senders.

One axis at a time. At each place, an Orthanc with the plugin beside one without, which take turns
with the same block of images. Sockets are tuned alike in both, by DCMTK's own switch, so that the
plugin has nothing to win.
"""

import math
import time
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from harness import process, wire
from harness.images import Image, identify, make_grey_image
from harness.orthanc import OrthancServer
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.machine import read_first_match
from lab.options import Option, make_plan, make_series
from lab.overhead import NO_DELAY, SAME_SOCKETS
from lab.processes import ClientError, check_stored, count_instances, watch_processor
from lab.senders import Send, Target, use_http, use_storescu
from lab.stores import copy_store

WITHOUT, WITH = "Orthanc", "Orthanc with the plugin"
SCRAPE = "scrape of /perf/metrics"

OPTIONS = {"DicomScpTimeout": 0}  # idle associations stay
DESCRIPTORS = 4096

PATIENT = "SCALE"
UIDS = "1.2.826.0.1.3680043.8.498.2"
FRAME_ROWS = 512
FRAME_BYTES = 2 * FRAME_ROWS**2
BLOCK_BYTES = 25e6  # of large images, less of them make a block
COPIES = 10  # of an image that machine, servers and clients may hold at once
CALLERS = 4  # threads that make names known
NAMES = 50  # that call in a block
HEAVY_TURNS = 3


@dataclass(frozen=True)
class Load:
    send: Send
    count: int
    patient: str


class NoRoomError(ClientError):
    """This machine is too small for a place."""


# Makes what an axis is about at a place, and returns the load to measure there
Prepare = Callable[[Namespace, float, OrthancServer, Room], Load]


@dataclass(frozen=True)
class Axis:
    """`unit` names the places, which are the option's of the axis' name.

    From `heavy` on, a turn takes seconds, and few of them have to do. `rounds`: so many times those
    of other axes, where servers differ more from each other.
    """

    unit: str
    question: str
    places: list[float]
    quick: list[float]
    prepare: Prepare
    heavy: float = math.inf
    rounds: int = 1


def load_series(arguments: Namespace, server: OrthancServer) -> Load:
    """CT images by one HTTP client: the load of an axis that is not about sending."""
    images = make_series("scale", arguments.images)
    return Load(use_http(server, images, 1), len(images), "PHANTOM-scale")


def prepare_stored(arguments: Namespace, place: float, server: OrthancServer, _: Room) -> Load:
    check_stored(server, int(place))  # put there before the server was started
    return load_series(arguments, server)


def prepare_idle(arguments: Namespace, place: float, server: OrthancServer, room: Room) -> Load:
    for _number in range(int(place)):
        room.stack.callback(wire.associate(server, b"IDLE").close)
    return load_series(arguments, server)


def prepare_senders(arguments: Namespace, place: float, server: OrthancServer, _: Room) -> Load:
    """The same images at each place, as many as give each sender two."""
    senders = int(place)
    images = make_series("scale", max(arguments.images, 2 * int(max(arguments.senders))))
    send = use_storescu(Target(server.dicom_port, images), senders, NO_DELAY)
    return Load(send, len(images), "PHANTOM-scale")


def prepare_size(arguments: Namespace, place: float, server: OrthancServer, room: Room) -> Load:
    size = place * 1e6
    meminfo = Path("/proc/meminfo").read_text("ascii")
    available = 1024 * int(read_first_match(r"^MemAvailable:\s*(\d+)", meminfo))
    if COPIES * size > available:
        raise NoRoomError(f"{COPIES} copies of {place:g} MB are more than this machine's memory")
    frames = round(size / FRAME_BYTES)
    rows = FRAME_ROWS if frames else int((size / 2) ** 0.5)
    images = []
    folder = room.folder / "images"
    folder.mkdir(exist_ok=True)
    for number in range(max(1, min(arguments.images, int(BLOCK_BYTES / size)))):
        path = folder / f"{number:04}.dcm"
        uids = (f"{UIDS}.1", f"{UIDS}.2", f"{UIDS}.3.{number + 1}")
        if not path.exists():
            make_grey_image(PATIENT, uids, rows, max(1, frames)).save_as(
                path, enforce_file_format=True
            )
        images.append(Image(path, uids[-1]))
    return Load(use_http(server, images, 1), len(images), PATIENT)


def make_data_set(number: int) -> tuple[str, bytes]:
    """A small image without a head, and its SOPInstanceUID."""
    uids = (f"{UIDS}.4", f"{UIDS}.5", f"{UIDS}.6.{number + 1}")
    image = make_grey_image(PATIENT, uids, 16)
    del image.file_meta
    buffer = BytesIO()
    image.save_as(buffer, implicit_vr=True, little_endian=True)
    return uids[-1], buffer.getvalue()


class Callers:
    """Small images by C-STORE, each over an association of a name of its own."""

    def __init__(self, server: OrthancServer, names: int) -> None:
        self._server = server
        self._names = names
        self._images = [make_data_set(number) for number in range(NAMES)]

    def call(self, name: int, number: int) -> None:
        title = f"PEER_{name % self._names}".encode()
        connection = wire.associate(self._server, title, wire.CT_IMAGE_STORAGE)
        status = wire.store(connection, *self._images[number])
        wire.release(connection)
        if status != 0:
            errors = [line for line in self._server.log.splitlines() if line.startswith("E")]
            raise ClientError(f"C-STORE is answered by {status:04x}: {'; '.join(errors[-3:])}")

    def make_known(self) -> None:
        """Each sends the same image, so that nothing is stored but names."""
        with ThreadPoolExecutor(CALLERS) as pool:
            list(pool.map(lambda name: self.call(name, 0), range(self._names)))
        self._server.delete_all()

    def send(self) -> float:
        begin = time.monotonic()
        step = max(1, self._names // NAMES)
        for number in range(NAMES):
            self.call(number * step, number)
        return time.monotonic() - begin


def prepare_peers(_: Namespace, place: float, server: OrthancServer, __: Room) -> Load:
    callers = Callers(server, int(place))
    callers.make_known()
    return Load(callers.send, NAMES, PATIENT)


AXES = {
    "stored": Axis(
        "instances stored",
        "small ones, in the store before",
        [1_000, 100_000, 300_000],
        [100, 1_000],
        prepare_stored,
        rounds=2,
    ),
    "peers": Axis(
        "calling names", "that have sent before", [1, 256, 1_000, 10_000], [1, 100], prepare_peers
    ),
    "idle": Axis("idle associations", "that are open", [0, 100, 1_000], [0, 50], prepare_idle),
    "size": Axis("MB an image", "of 1e6 bytes", [0.05, 5, 500], [0.05, 5], prepare_size, 50),
    "senders": Axis("storescu", "at once", [1, 8, 64], [1, 4], prepare_senders, 32),
}


def get_memory(pid: int) -> int:
    """The server's peak, and what the processes that it has started have for themselves."""
    memory = process.get_peak_bytes(pid)
    for child in process.list_children(pid):
        with suppress(OSError):  # it has ended meanwhile
            memory += process.get_own_bytes(child)
    return memory


def measure(server: OrthancServer, load: Load, has_plugin: bool) -> Figures:
    before = count_instances(server)
    process.forget_peak(server.pid)
    processor = watch_processor(server.pid)
    seconds = load.send()
    used = processor()
    memory = get_memory(server.pid)
    check_stored(server, before + load.count)
    server.request("DELETE", f"/patients/{identify(load.patient)}").raise_for_status()
    check_stored(server, before)
    figures = {
        "throughput": load.count / seconds,
        "processor time": used / load.count * 1000,
        "memory": memory / 1e6,
    }
    if has_plugin:
        processor = watch_processor(server.pid)
        server.get("/perf/metrics").raise_for_status()
        figures[SCRAPE] = 1000 * processor()
    return figures


def open_pair(arguments: Namespace, name: str, place: float, room: Room) -> Bench:
    """Both servers, started anew; who is started first changes from round to round."""
    perf = {**SAME_SOCKETS, "MaximumPeers": arguments.maximum_peers}
    kinds: dict[str, dict[str, Any]] = {
        WITHOUT: {},
        WITH: {"plugins": [arguments.plugin], "perf": perf},
    }
    room.enter(process.allow_descriptors(DESCRIPTORS))
    servers: dict[str, OrthancServer] = {}
    for who in list(kinds) if room.number % 2 == 0 else reversed(kinds):
        home = room.folder / ("with" if who == WITH else "without")
        if name == "stored":
            copy_store(int(place), home / "storage")
        server = OrthancServer(home, options=OPTIONS, environment=NO_DELAY, **kinds[who])
        servers[who] = room.enter(server)

    def enter(_: Factors) -> Entry:
        contestants = {}
        for who in kinds:
            server = servers[who]
            try:
                load = AXES[name].prepare(arguments, place, server, room)
            except NoRoomError as error:
                return Entry({}, {f"{place:g} {AXES[name].unit}": str(error)})
            contestants[who] = partial(measure, server, load, who == WITH)
        for measure_once in contestants.values():
            measure_once()  # to warm up
        return Entry(contestants)

    return enter


def make_stages(arguments: Namespace) -> list[Stage]:
    # Each place has servers of its own: what one leaves in their memory is not the next one's
    return [
        Stage(
            [{"Axis": name, "At": f"{place:g} {AXES[name].unit}"}],
            partial(open_pair, arguments, name, place),
            min(arguments.turns, HEAVY_TURNS if place >= AXES[name].heavy else arguments.turns),
            arguments.seconds,
            arguments.rounds * AXES[name].rounds,
        )
        for name in arguments.axes
        for place in sorted(getattr(arguments, name))
    ]


EXPERIMENT = Experiment(
    "how cost grows with what is stored, peers, associations, sizes and senders",
    [
        Option("--axes", list(AXES), choices=AXES),
        *(
            Option(f"--{name}", it.places, f"{it.unit}, {it.question}", it.quick, kind=float)
            for name, it in AXES.items()
        ),
        Option("--images", 25, "in each block", 6),
        Option("--maximum-peers", 256, "names that the plugin tells apart"),
        Option("--rounds", 6, "with servers started anew; twice as many of `stored`", 1),
        *make_plan(8, 300, (2, 6)),
    ],
    make_stages,
    {
        "throughput": Figure("instances/s"),
        "processor time": Figure("ms/instance"),
        "memory": Figure("MB, the peak"),
        SCRAPE: Figure("ms of processor time", is_compared=False),
    },
)
