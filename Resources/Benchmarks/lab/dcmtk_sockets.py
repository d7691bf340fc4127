# SPDX-License-Identifier: GPL-3.0-or-later
"""DCMTK's sockets by themselves and with Orthanc at one end: reports 000 and 001 again.

DCMTK's own switches are two environment variables, TCP_NODELAY and TCP_BUFFER_LENGTH; both ends get
the same here. iperf3 shows what the path carries with such buffers.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from harness.distance import NEAR, Distance, find_obstacle, has_netem, private_network
from harness.images import Image
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import Receiver, StoreScp, describe_modality
from lab.cells import Bench, Contestant, Entry, Experiment, Factors, Figure, Figures, Stage
from lab.curves import Curves, draw_curves
from lab.machine import describe_packages
from lab.options import add_plan, make_series
from lab.processes import SAME_PIXELS, ClientError, check_images, run_clients
from lab.report import format_parts
from lab.results import Results
from lab.retrieve import IN_MEMORY, MOVER, count_files
from lab.senders import STORESCU, use_http

NONE = "none"
BEFORE, AFTER = 129075, 129076  # report 000: slow with the one, fast with the other
BUFFERS = [NONE, 4096, 16384, 65536, BEFORE, AFTER, 262144, 1048576, 4194304]
OF_PAIR = [NONE, 65536, BEFORE, AFTER, 4194304]  # which is like loopback, but for its packets
SERVER_BUFFERS = [NONE, 65536, BEFORE, AFTER]

# The last one is slower than 10 Gb/s, and further away: as much is under way
LOOPBACK, PAIR, AWAY = "loopback", "veth, between two network namespaces", "5 ms away"
PATHS = [LOOPBACK, PAIR, AWAY]
ROUND_TRIPS = {PAIR: 0, AWAY: 0.005}
TRIAL = 10  # images that say how long one takes, where the first is sent soon
LIMITS = Path("/proc/sys/net/core")  # of buffers that a program asks for (socket(7))
LIMITED = ("rmem_max", "wmem_max")
USUAL_LIMIT = 212992  # before Linux 6.18

STORE, MOVE, TO_ORTHANC = "storescu → storescp", "C-MOVE by movescu", "storescu → Orthanc"
TRANSFERS = [STORE, MOVE, TO_ORTHANC]

NAGLE_ON, NAGLE_OFF, IPERF = "Nagle on", "Nagle off", "iperf3"
NAGLE = {NAGLE_ON: "0", NAGLE_OFF: "1"}

SHIPPED, TUNED = "Orthanc as shipped", "Orthanc with the plugin"
ITSELF, OTHER = "movescu receives", "storescp receives"
RECEIVER = "RECEIVER"

# Report 000: seconds for 1000 CT images by movescu, which receives, and by storescu; report 001:
# the gain without fixed buffers, and seconds before the first image
PUBLISHED_MOVE, PUBLISHED_STORE, PUBLISHED_GAIN, PUBLISHED_WAIT = 300, 1, 5.2 / 1.5, 1
JUMP = 2  # a factor that is one


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


# The answer


class Medians:
    """Each cell's figures, by its factors."""

    def __init__(self, results: Results) -> None:
        self._found = {
            (*cell.factors.values(), name): {
                figure: median(values)
                for figure in results.figures
                if (values := cell.list_values(name, figure))
            }
            for cell in results.cells
            for name in cell.list_contestants()
        }

    def get(
        self, path: str, transfer: str, buffer: int | str, name: str, figure: str = "speed"
    ) -> float | None:
        return self._found.get((path, transfer, str(buffer), name), {}).get(figure)

    def list_curves(self) -> Curves:
        """Speed by buffer; none is no point."""
        curves: Curves = {}
        for (path, transfer, buffer, name), figures in self._found.items():
            if transfer == STORE and buffer != NONE:
                label = f"{name}, {path.partition(',')[0]}"
                curves.setdefault(label, []).append((int(buffer), figures["speed"]))
        return {name: sorted(points) for name, points in curves.items() if len(points) > 1}


def say_jump(medians: Medians) -> Iterable[str]:
    for path in PATHS:
        for name in NAGLE:
            before, after = (medians.get(path, STORE, it, name) for it in (BEFORE, AFTER))
            if before and after:
                verdict = "still there" if after > JUMP * before else "no longer there"
                yield (
                    f"- {path}, {name}: {BEFORE:,} bytes give {before:.0f} Mb/s, {AFTER:,} give "
                    f"{after:.0f}, {after / before:.2f} times as much. Published: slow and fast. "
                    f"The jump is {verdict}."
                )


def say_nagle(medians: Medians) -> Iterable[str]:
    for path in PATHS:
        on, off = (medians.get(path, STORE, NONE, name, "throughput") for name in NAGLE)
        if on and off:
            yield (
                f"- {path}, buffers as they come: {on:.0f} images/s with Nagle's algorithm, "
                f"{off:.0f} without: {off / on:.1f} times as many."
            )


def say_fixed(medians: Medians) -> Iterable[str]:
    for path in PATHS:
        for name in (NAGLE_OFF, IPERF):
            free, fixed = (medians.get(path, STORE, it, name) for it in (NONE, 65536))
            if free and fixed:
                yield (
                    f"- {path}, {name}: {fixed:.0f} Mb/s with fixed buffers of 64 KiB, {free:.0f} "
                    f"without: {free / fixed:.2f} times as much. Published for 10 Gb/s: "
                    f"{PUBLISHED_GAIN:.1f} times."
                )


def find_thousand(medians: Medians, buffer: str, name: str) -> float | None:
    """Seconds for report 000's 1000 images by C-MOVE, of which only the first one waits."""
    throughput, images, first = (
        medians.get(LOOPBACK, MOVE, buffer, name, figure)
        for figure in ("throughput", "images", "first image")
    )
    if throughput is None or images is None or first is None:
        return None
    return first + (1000 - 1) * (images / throughput - first) / max(1, images - 1)


def list_moves(
    find: Callable[[str, str], float | None], buffers: list[str]
) -> Iterable[tuple[str, float, float]]:
    """By buffer and server: where movescu receives, and where a storescp does."""
    for buffer in buffers:
        for server in (SHIPPED, TUNED):
            own, other = (find(buffer, f"{server}, {who}") for who in (ITSELF, OTHER))
            if own is not None and other is not None:
                yield f"TCP_BUFFER_LENGTH {buffer}, {server}", own, other


def say_first_images(medians: Medians, buffers: list[str]) -> Iterable[str]:
    find = partial(medians.get, LOOPBACK, MOVE, figure="first image")
    for name, own, other in list_moves(find, buffers):
        is_there = own - other > PUBLISHED_WAIT / 2
        yield (
            f"- {name}: the first image is there after {own:.2f} s where movescu receives, after "
            f"{other:.2f} s with a storescp: the published wait of {PUBLISHED_WAIT} s is "
            f"{'there' if is_there else 'not there'}."
        )


def say_moves(medians: Medians, buffers: list[str]) -> Iterable[str]:
    for name, own, other in list_moves(partial(find_thousand, medians), buffers):
        yield (
            f"- {name}: 1000 images take {own:.0f} s where movescu receives, {other:.0f} s with a "
            f"storescp (published: {PUBLISHED_MOVE} s, and {PUBLISHED_STORE} s by storescu)."
        )


def say_receiving(medians: Medians, buffers: list[str]) -> Iterable[str]:
    for buffer in buffers:
        shipped, tuned = (
            medians.get(LOOPBACK, TO_ORTHANC, buffer, name, "throughput")
            for name in (SHIPPED, TUNED)
        )
        if shipped and tuned:
            yield (
                f"- {TO_ORTHANC}, TCP_BUFFER_LENGTH {buffer}: {shipped:.0f} images/s as shipped, "
                f"{tuned:.0f} with the plugin: {tuned / shipped:.1f} times as many."
            )


def answer(results: Results, folder: Path, name: str) -> list[str]:
    medians = Medians(results)
    buffers = [str(buffer) for buffer in results.options["server_buffers"]]
    said = {
        "Nagle's algorithm": [*say_nagle(medians), *say_receiving(medians, buffers)],
        f"The jump at {AFTER:,} bytes": [*say_jump(medians)],
        "Buffers of 64 KiB": [*say_fixed(medians)],
        "The first image of a C-MOVE": [*say_first_images(medians, buffers)],
        "1000 images by C-MOVE": [*say_moves(medians, buffers)],
    }
    curves = medians.list_curves()
    if curves:
        path = folder / f"{name}-speed-by-buffer.svg"
        title = f"{STORE}, {results.date}"
        draw_curves(title, ("TCP_BUFFER_LENGTH, bytes", "Mb/s: median"), curves, {}, path)
        said["Speed by TCP_BUFFER_LENGTH"] = [f"![Speed by TCP_BUFFER_LENGTH]({path.name})"]
    return format_parts(said)


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
    answer=answer,
    facts=describe_here,
)
