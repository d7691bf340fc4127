# SPDX-License-Identifier: GPL-3.0-or-later
"""DCMTK's sockets by themselves and with Orthanc at one end: reports 000 and 001 again.

DCMTK's own switches are two environment variables, TCP_NODELAY and TCP_BUFFER_LENGTH; both ends get
the same here. iperf3 shows what the path carries with such buffers.
"""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from harness.distance import has_netem
from harness.images import Image
from harness.orthanc import find_free_port
from harness.receivers import Receiver, StoreScp
from lab import dcmtk_moves as moves
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.dcmtk_moves import FROM_ARCHIVE, LOOPBACK, MOVE, NONE, STORE, TRIAL, Route
from lab.machine import describe_packages
from lab.options import Option, make_plan, make_series
from lab.senders import STORESCU
from lab.tables import Table, show

# Reports 000 and 001: TCP_BUFFER_LENGTH, slow and fast; what DCMTK set by itself then
BEFORE, AFTER = 129075, 129076
FIXED_BUFFER = 65536

BUFFERS = [NONE, 4096, 16384, 65536, BEFORE, AFTER, 262144, 1048576, 4194304]
OF_PAIR = [NONE, 65536, BEFORE, AFTER, 4194304]  # which is like loopback, but for its packets
SERVER_BUFFERS = [NONE, 65536, BEFORE, AFTER]

LIMITS = Path("/proc/sys/net/core")  # of buffers that a program asks for (socket(7))
LIMITED = ("rmem_max", "wmem_max")
USUAL_LIMIT = 212992  # before Linux 6.18


def store(
    path: Route, images: list[Image], receiver: Receiver, environment: dict[str, str]
) -> Figures:
    files = [image.path for image in images]
    command = [STORESCU, path.address, str(receiver.port), *files]
    seconds, _ = path.run(command, environment)
    return moves.describe(images, seconds)


def use_iperf(path: Route, buffer: str, seconds: float, receiver: Receiver) -> Figures:
    command = ["iperf3", "--client", path.address, "--port", str(receiver.port), "--json"]
    command += ["--time", f"{seconds:g}"] + ([] if buffer == NONE else ["--window", buffer])
    _, said = path.run(command)
    return {"speed": json.loads(said)["end"]["sum_received"]["bits_per_second"] / 1e6}


def choose_images(
    images: list[Image], seconds: float, send: Callable[[list[Image]], Figures]
) -> list[Image]:
    """As many as take about so long, found out by trials, which warm up, too."""
    each = 1 / send(images[:1])["throughput"]
    if TRIAL * each < seconds and len(images) > TRIAL:
        whole = TRIAL / send(images[:TRIAL])["throughput"]
        each = max(whole - each, whole / TRIAL) / (TRIAL - 1)  # without the program's start
    return images[: max(1, round(seconds / each))]


def find_iperf_obstacle(buffer: str, limit: int) -> str | None:
    """iperf3 ends where the kernel gives less than it asks for; DCMTK goes on with what it gets."""
    if buffer == NONE or int(buffer) <= 2 * limit:
        return None
    return f"the kernel gives no buffers of {buffer} bytes (net.core.wmem_max, rmem_max: {limit})"


def read_limits() -> dict[str, int]:
    """In bytes; the kernel doubles what it gives. Some kernels show them to the machine only."""
    paths = {name: LIMITS / name for name in LIMITED}
    return {
        name: int(path.read_text("ascii")) if path.exists() else USUAL_LIMIT
        for name, path in paths.items()
    }


def open_path(arguments: Namespace, name: str, images: list[Image], room: Room) -> Bench:
    if obstacle := moves.find_route_obstacle(name):
        return lambda factors: Entry({}, {factors["Path"]: obstacle})
    limit = min(read_limits().values())
    path = Route(room, name)
    port = find_free_port()
    iperf = room.enter(
        Receiver(port, ["iperf3", "--server", "--bind", path.address, "--port", str(port)])
    )

    def enter(factors: Factors) -> Entry:
        buffer = factors["TCP_BUFFER_LENGTH"]
        contestants = {}
        obstacle = find_iperf_obstacle(buffer, limit)
        for nagle, no_delay in moves.NAGLE.items():
            environment = moves.make_environment(buffer, no_delay)
            receiver = StoreScp(find_free_port(), environment=environment)
            room.enter(receiver)
            send = partial(store, path, receiver=receiver, environment=environment)
            some = choose_images(images, arguments.transfer_seconds, send)
            contestants[nagle] = partial(send, some)
        if obstacle:
            return Entry(contestants, {moves.IPERF: obstacle})
        measure = partial(use_iperf, path, buffer, arguments.iperf_seconds, iperf)
        return Entry({**contestants, moves.IPERF: measure})

    return enter


def make_cell(path: str, transfer: str, buffer: object) -> Factors:
    return {"Path": path, "Transfer": transfer, "TCP_BUFFER_LENGTH": str(buffer)}


def make_stages(arguments: Namespace) -> list[Stage]:
    images = make_series("dcmtk-sockets", arguments.images)
    some = images[: arguments.server_images]
    plan = (arguments.turns, arguments.seconds)
    stages = []
    for name in arguments.paths if STORE in arguments.transfers else []:
        buffers = arguments.buffers or (OF_PAIR if name == moves.PAIR else BUFFERS)
        cells = [make_cell(name, STORE, buffer) for buffer in buffers]
        stages.append(Stage(cells, partial(open_path, arguments, name, images), *plan))
    for name, buffer in list_archives(arguments):
        bench = partial(moves.open_archive, arguments, name, buffer, some)
        stages.append(Stage([make_cell(name, FROM_ARCHIVE, buffer)], bench, *plan))
    transfers = [it for it in (MOVE, moves.TO_ORTHANC) if it in arguments.transfers]
    for buffer in map(str, arguments.server_buffers if transfers else []):
        cells = [make_cell(LOOPBACK, transfer, buffer) for transfer in transfers]
        stages.append(Stage(cells, partial(moves.open_servers, arguments, buffer, some), *plan))
    return stages


def list_archives(arguments: Namespace) -> Iterator[tuple[str, str]]:
    """Paths and buffers between dcmqrscp and movescu: the jump was seen on loopback."""
    if FROM_ARCHIVE in arguments.transfers:
        for name in (name for name in moves.CLIENTS if name in arguments.paths):
            for buffer in map(str, arguments.server_buffers):
                if name == LOOPBACK or buffer in (NONE, str(FIXED_BUFFER)):
                    yield name, buffer


def place_store(_: object, factors: Factors, name: str) -> tuple[str, str] | None:
    """Between DCMTK's programs."""
    if factors["Transfer"] != STORE:
        return None
    return f"{factors['Path'].partition(',')[0]}, {name}", factors["TCP_BUFFER_LENGTH"]


def place_way(options: Mapping[str, Any], factors: Factors, name: str) -> tuple[str, str] | None:
    """By all ways, with the buffers that all of them have."""
    buffer = factors["TCP_BUFFER_LENGTH"]
    is_common = buffer in map(str, options["server_buffers"])
    way = f"{factors['Path'].partition(',')[0]}, {factors['Transfer']}, {name}"
    return (way, buffer) if is_common else None


TABLES = [
    Table(
        f"Seconds for {moves.MANY} images",
        "s by TCP_BUFFER_LENGTH",
        place_way,
        moves.compute_seconds,
        has_ranges=True,
    ),
    Table(
        "The first image of a C-MOVE",
        "s by TCP_BUFFER_LENGTH",
        place_way,
        lambda figures: figures.get("first image"),
        has_ranges=True,
    ),
    Table("Speed by TCP_BUFFER_LENGTH", "Mb/s", place_store, chart="TCP_BUFFER_LENGTH, bytes"),
]


def describe_here(_: Namespace) -> dict[str, str]:
    limits = {f"net.core.{name}": str(limit) for name, limit in read_limits().items()}
    lines = "netem" if has_netem() else "vde2"
    return {"Lines": lines, **limits, **describe_packages("iperf3", "vde2", "libgdcm-tools")}


BETWEEN = "between DCMTK's programs"
QUICK = [NONE, "65536", str(BEFORE), str(AFTER)]
EXPERIMENT = Experiment(
    "DCMTK's own socket options: Nagle, buffers, movescu, and what the plugin changes",
    [
        Option("--paths", moves.PATHS, "", [LOOPBACK, moves.AWAY], moves.PATHS),
        Option("--transfers", moves.TRANSFERS, choices=moves.TRANSFERS),
        Option("--buffers", None, f"{BETWEEN}; by itself, fewer over veth", QUICK, nargs="+"),
        Option("--server-buffers", SERVER_BUFFERS, "of a C-MOVE, and with Orthanc", [NONE]),
        Option("--images", 200, f"at most, in each transfer {BETWEEN}", 20),
        Option("--transfer-seconds", 2, "of each of these, about", 0.7, kind=float),
        Option("--server-images", 100, "at most by C-MOVE, and with Orthanc", 20),
        Option("--iperf-seconds", 1),
        *make_plan(6, 45, (2, 6)),
    ],
    make_stages,
    {
        "speed": Figure("Mb/s", is_drawn=False),
        "throughput": Figure("images/s"),
        "first image": Figure("s", is_compared=False),
        "images": Figure("", is_compared=False),
    },
    answer=show(TABLES),
    facts=describe_here,
)
