# SPDX-License-Identifier: GPL-3.0-or-later
"""DCMTK's sockets by themselves and with Orthanc at one end: reports 000 and 001 again.

DCMTK's own switches are two environment variables, TCP_NODELAY and TCP_BUFFER_LENGTH; both ends get
the same here. iperf3 shows what the path carries with such buffers.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.distance import NEAR, Distance, find_obstacle, has_netem, private_network
from harness.images import Image
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import Receiver, StoreScp, describe_modality
from lab import dcmtk_sockets_page
from lab.cells import Bench, Contestant, Entry, Experiment, Factors, Figure, Figures, Stage
from lab.dcmtk_sockets_page import (
    AWAY,
    IPERF,
    ITSELF,
    LOOPBACK,
    MOVE,
    NAGLE_OFF,
    NAGLE_ON,
    NONE,
    OTHER,
    PAIR,
    PATHS,
    ROUND_TRIPS,
    SHIPPED,
    STORE,
    TO_ORTHANC,
    TRANSFERS,
    TUNED,
)
from lab.machine import describe_packages
from lab.options import add_plan, make_series
from lab.processes import SAME_PIXELS, ClientError, check_images, run_clients
from lab.published import AFTER, BEFORE
from lab.retrieve import IN_MEMORY, MOVER, count_files
from lab.senders import STORESCU, use_http

BUFFERS = [NONE, 4096, 16384, 65536, BEFORE, AFTER, 262144, 1048576, 4194304]
OF_PAIR = [NONE, 65536, BEFORE, AFTER, 4194304]  # which is like loopback, but for its packets
SERVER_BUFFERS = [NONE, 65536, BEFORE, AFTER]

TRIAL = 10  # images that say how long one takes, where the first is sent soon
LIMITS = Path("/proc/sys/net/core")  # of buffers that a program asks for (socket(7))
LIMITED = ("rmem_max", "wmem_max")
USUAL_LIMIT = 212992  # before Linux 6.18

NAGLE = {NAGLE_ON: "0", NAGLE_OFF: "1"}
RECEIVER = "RECEIVER"


def make_environment(buffer: str, no_delay: str | None = None) -> dict[str, str]:
    environment = {} if buffer == NONE else {"TCP_BUFFER_LENGTH": buffer}
    return environment if no_delay is None else {**environment, "TCP_NODELAY": no_delay}


def get_bits(images: list[Image]) -> float:
    return sum(image.get_size() for image in images) * 8


# storescu to storescp


class Route:
    """The one end is here, the other is where clients run."""

    def __init__(self, stack: ExitStack, name: str) -> None:
        self.address = "127.0.0.1"
        self._distance: Distance | None = None
        if name in ROUND_TRIPS:
            stack.enter_context(private_network())
            self._distance = stack.enter_context(Distance(ROUND_TRIPS[name]))
            self.address = NEAR

    def run(
        self, command: list[str | Path], environment: dict[str, str] | None = None
    ) -> tuple[float, str]:
        """Seconds, and what it said."""
        with self._distance.at_far_end() if self._distance else nullcontext():
            seconds, (said,) = run_clients([command], environment)
        return seconds, said


def describe(images: list[Image], seconds: float) -> Figures:
    return {
        "speed": get_bits(images) / seconds / 1e6,
        "throughput": len(images) / seconds,
        "images": len(images),
    }


def store(
    path: Route, images: list[Image], receiver: Receiver, environment: dict[str, str]
) -> Figures:
    files = [image.path for image in images]
    command = [STORESCU, path.address, str(receiver.port), *files]
    seconds, _ = path.run(command, environment)
    return describe(images, seconds)


def use_iperf(path: Route, buffer: str, seconds: float, receiver: Receiver) -> Figures:
    command = ["iperf3", "--client", path.address, "--port", str(receiver.port), "--json"]
    command += ["--time", f"{seconds:g}"] + ([] if buffer == NONE else ["--window", buffer])
    _, said = path.run(command)
    return {"speed": json.loads(said)["end"]["sum_received"]["bits_per_second"] / 1e6}


def choose_images(
    images: list[Image], seconds: float, send: Callable[[list[Image]], Figures]
) -> list[Image]:
    """As many as take about so long, found out by trials, which warm up, too.

    Loopback's packets are larger than a small buffer: 4 KiB take ten seconds for an image there.
    """
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


@contextmanager
def open_path(
    arguments: argparse.Namespace, name: str, images: list[Image], _: Path, __: int
) -> Iterator[Bench]:
    obstacle = find_obstacle() if name in ROUND_TRIPS else None
    if obstacle:
        yield lambda factors: Entry([], {factors["Path"]: obstacle})
        return
    limit = min(read_limits().values())
    with ExitStack() as stack:
        path = Route(stack, name)
        port = find_free_port()
        iperf = stack.enter_context(
            Receiver(port, ["iperf3", "--server", "--bind", path.address, "--port", str(port)])
        )

        def enter(factors: Factors) -> Entry:
            buffer = factors["TCP_BUFFER_LENGTH"]
            contestants = []
            obstacle = find_iperf_obstacle(buffer, limit)
            for nagle, no_delay in NAGLE.items():
                environment = make_environment(buffer, no_delay)
                receiver = StoreScp(find_free_port(), environment=environment)
                stack.enter_context(receiver)
                send = partial(store, path, receiver=receiver, environment=environment)
                some = choose_images(images, arguments.transfer_seconds, send)
                contestants.append(Contestant(nagle, partial(send, some)))
            if obstacle:
                return Entry(contestants, {IPERF: obstacle})
            measure = partial(use_iperf, path, buffer, arguments.iperf_seconds, iperf)
            return Entry([*contestants, Contestant(IPERF, measure)])

        yield enter


# Orthanc at one end


def move(
    server: OrthancServer,
    images: list[Image],
    receiver: str,
    environment: dict[str, str],
    folder: Path,
    port: int,
) -> Figures:
    """A study out of Orthanc; the first image is there when its file is."""
    for file in folder.iterdir():
        file.unlink()
    (study,) = server.get_json("/studies")
    uid = server.get_json(f"/studies/{study}")["MainDicomTags"]["StudyInstanceUID"]
    command: list[str | Path] = ["/usr/bin/movescu", "-S", "-aet", MOVER, "-aem", receiver]
    command += ["--port", str(port), "-od", folder] if receiver == MOVER else []
    command += ["-k", "QueryRetrieveLevel=STUDY", "-k", f"StudyInstanceUID={uid}"]
    command += ["-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)]
    begin = time.time()
    seconds, _ = run_clients([command], environment)
    count, size = count_files(folder)
    if count != len(images) or 8 * size < SAME_PIXELS * get_bits(images):
        raise ClientError(f"{count} of {len(images)} images came, {size} bytes")
    first = min(file.stat().st_mtime for file in folder.iterdir()) - begin
    return {**describe(images, seconds), "first image": max(0, first)}


def store_in_orthanc(
    server: OrthancServer, images: list[Image], environment: dict[str, str]
) -> Figures:
    server.delete_all()
    command = [STORESCU, "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)]
    seconds, _ = run_clients([[*command, *(image.path for image in images)]], environment)
    check_images(server, images)
    return describe(images, seconds)


@contextmanager
def open_servers(
    arguments: argparse.Namespace, buffer: str, images: list[Image], folder: Path, _: int
) -> Iterator[Bench]:
    environment = make_environment(buffer)
    mover, other = find_free_port(), find_free_port()
    modalities = {
        "mover": describe_modality(mover, MOVER),
        "receiver": describe_modality(other, RECEIVER),
    }
    with ExitStack() as stack:
        received = Path(stack.enter_context(TemporaryDirectory(prefix="lab-", dir=IN_MEMORY)))
        folders = {MOVER: received / "mover", RECEIVER: received / "receiver"}
        for place in folders.values():
            place.mkdir()
        command = ["/usr/bin/storescp", "-od", folders[RECEIVER], str(other)]
        stack.enter_context(Receiver(other, command, environment))
        servers = {}
        for name, plugins in ((SHIPPED, []), (TUNED, [arguments.plugin])):
            servers[name] = stack.enter_context(
                OrthancServer(
                    folder / name.rpartition(" ")[2],
                    plugins=plugins,
                    options={"DicomModalities": modalities},
                    environment=environment,
                )
            )

        def enter(factors: Factors) -> Entry:
            if factors["Transfer"] == TO_ORTHANC:
                return Entry(
                    [
                        Contestant(name, partial(store_in_orthanc, server, images, environment))
                        for name, server in servers.items()
                    ]
                )
            contestants = []
            for name, server in servers.items():
                server.delete_all()
                use_http(server, images, 1)()
                for receiver, who in ((MOVER, ITSELF), (RECEIVER, OTHER)):
                    measure = partial(
                        move, server, images, receiver, environment, folders[receiver], mover
                    )
                    contestants.append(Contestant(f"{name}, {who}", measure))
            return Entry(contestants)

        yield enter


def make_stages(arguments: argparse.Namespace) -> list[Stage]:
    images = make_series("dcmtk-sockets", arguments.images)
    plan = (arguments.turns, arguments.seconds)
    stages = []
    for name in arguments.paths if STORE in arguments.transfers else []:
        buffers = arguments.buffers or (OF_PAIR if name == PAIR else BUFFERS)
        cells = [
            {"Path": name, "Transfer": STORE, "TCP_BUFFER_LENGTH": str(buffer)}
            for buffer in buffers
        ]
        stages.append(Stage(cells, partial(open_path, arguments, name, images), *plan))
    for buffer in map(str, arguments.server_buffers):
        cells = [
            {"Path": LOOPBACK, "Transfer": transfer, "TCP_BUFFER_LENGTH": buffer}
            for transfer in (MOVE, TO_ORTHANC)
            if transfer in arguments.transfers
        ]
        if cells:
            some = images[: arguments.server_images]
            stages.append(Stage(cells, partial(open_servers, arguments, buffer, some), *plan))
    return stages


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--paths", nargs="+", choices=PATHS, default=PATHS)
    command.add_argument("--transfers", nargs="+", choices=TRANSFERS, default=TRANSFERS)
    command.add_argument(
        "--buffers",
        nargs="+",
        help="TCP_BUFFER_LENGTH between DCMTK's programs; by itself, fewer over veth",
    )
    command.add_argument(
        "--server-buffers", nargs="+", default=SERVER_BUFFERS, help="the same, with Orthanc"
    )
    command.add_argument(
        "--images", type=int, default=200, help="at most, in each transfer between DCMTK's programs"
    )
    command.add_argument(
        "--transfer-seconds", type=float, default=2, help="of each of these, about"
    )
    command.add_argument(
        "--server-images", type=int, default=100, help="in each transfer with Orthanc"
    )
    command.add_argument("--iperf-seconds", type=int, default=1)
    add_plan(command, 6, 45)


def describe_here(_: argparse.Namespace) -> dict[str, str]:
    limits = {f"net.core.{name}": str(limit) for name, limit in read_limits().items()}
    lines = "netem" if has_netem() else "vde2"
    return {"Lines": lines, **limits, **describe_packages("iperf3", "vde2")}


EXPERIMENT = Experiment(
    "DCMTK's own socket options: Nagle, buffers, movescu, and what the plugin changes",
    add_options,
    make_stages,
    {
        "speed": Figure("Mb/s", is_drawn=False),
        "throughput": Figure("images/s"),
        "first image": Figure("s", is_compared=False),
        "images": Figure("", is_compared=False),
    },
    {
        "paths": [LOOPBACK, AWAY],
        "buffers": [NONE, "65536", str(BEFORE), str(AFTER)],
        "server_buffers": [NONE],
        "images": 20,
        "server_images": 20,
        "transfer_seconds": 0.7,
        "turns": 2,
        "seconds": 6,
    },
    answer=dcmtk_sockets_page.answer,
    facts=describe_here,
)
