# SPDX-License-Identifier: GPL-3.0-or-later
"""What the transfers of "dcmtk-sockets" have in common, and those with a server at one end.

By C-MOVE out of DCMTK's own server, dcmqrscp, as in report 000, and out of Orthanc. Each end has
the same of DCMTK's switches; Orthanc with the plugin does not go by them.
"""

import shutil
import signal
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pydicom

from harness.distance import FAR, NEAR, Distance, find_obstacle, private_network
from harness.images import Image
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import Receiver, describe_modality
from lab.cells import Bench, Entry, Factors, Figures, Room
from lab.processes import SAME_PIXELS, ClientError, check_images, run_clients
from lab.retrieve import IN_MEMORY, MOVER, count_files
from lab.senders import MOVESCU, STORESCU, use_http

NONE = "none"

# The last one is slower than 10 Gb/s, and further away: as much is under way
LOOPBACK, PAIR, AWAY = "loopback", "veth, between two network namespaces", "5 ms away"
PATHS = [LOOPBACK, PAIR, AWAY]
ROUND_TRIPS = {PAIR: 0, AWAY: 0.005}

STORE, TO_ORTHANC = "storescu → storescp", "storescu → Orthanc"
FROM_ARCHIVE, MOVE = "C-MOVE from dcmqrscp", "C-MOVE from Orthanc"
TRANSFERS = [STORE, FROM_ARCHIVE, MOVE, TO_ORTHANC]

NAGLE_ON, NAGLE_OFF, IPERF = "Nagle on", "Nagle off", "iperf3"
NAGLE = {NAGLE_ON: "0", NAGLE_OFF: "1"}  # as TCP_NODELAY

SHIPPED, TUNED = "Orthanc as shipped", "Orthanc with the plugin"
SERVERS = (SHIPPED, TUNED)
NO_DELAY = "Orthanc with TCP_NODELAY=1"
ITSELF, OTHER, GDCM = "movescu receives", "storescp receives", "gdcmscu receives"

MANY = 1000  # images, as report 000 had


class Route:
    """One end is here, at `address`; clients run at the other, where their ports are `far`."""

    def __init__(self, room: Room, name: str) -> None:
        self.address = self.far = "127.0.0.1"
        self._distance: Distance | None = None
        if name in ROUND_TRIPS:
            room.enter(private_network())
            self._distance = room.enter(Distance(ROUND_TRIPS[name]))
            self.address, self.far = NEAR, FAR

    def run(
        self,
        command: list[str | Path],
        environment: dict[str, str] | None = None,
        codes: Collection[int] = (0,),
    ) -> tuple[float, str]:
        with self._distance.at_far_end() if self._distance else nullcontext():
            seconds, (said,) = run_clients([command], environment, codes=codes)
        return seconds, said


def find_route_obstacle(name: str) -> str | None:
    return find_obstacle() if name in ROUND_TRIPS else None


def make_environment(buffer: str, no_delay: str | None = None) -> dict[str, str]:
    environment = {} if buffer == NONE else {"TCP_BUFFER_LENGTH": buffer}
    return environment if no_delay is None else {**environment, "TCP_NODELAY": no_delay}


def get_bits(images: list[Image]) -> float:
    return sum(image.get_size() for image in images) * 8


def describe(images: list[Image], seconds: float) -> Figures:
    return {
        "speed": get_bits(images) / seconds / 1e6,
        "throughput": len(images) / seconds,
        "images": len(images),
    }


def compute_pace(figures: Figures) -> float:
    """Seconds for each image by C-MOVE, of which only the first one waits."""
    images, first = figures["images"], figures["first image"]
    return max(0, images / figures["throughput"] - first) / max(1, images - 1)


def compute_seconds(figures: Figures) -> float | None:
    """For as many images as published."""
    if "first image" in figures:
        return figures["first image"] + (MANY - 1) * compute_pace(figures)
    return MANY / figures["throughput"] if "throughput" in figures else None


RECEIVER = "RECEIVER"
TRIAL = 10  # images that say how long one takes, where the first one waits

# Of dcmqrscp, whose storage areas have a title each: all images, and those of a trial
ALL, FEW = "ALL", "FEW"
CONFIGURATION = """\
MaxPDUSize = 16384
MaxAssociations = 16
HostTable BEGIN
{hosts}
HostTable END
AETable BEGIN
{areas}
AETable END
"""

# Who receives what dcmqrscp sends, with which setting; elsewhere, only movescu itself
CLIENTS = {
    LOOPBACK: [(nagle, who) for who in (ITSELF, OTHER, GDCM) for nagle in NAGLE],
    PAIR: [(nagle, ITSELF) for nagle in NAGLE],
}

# The storescp with either setting
RECEIVERS = {NAGLE_ON: "NAGLE", NAGLE_OFF: RECEIVER}


@dataclass(frozen=True)
class Source:
    title: str
    port: int
    study: str
    images: list[Image]


@dataclass(frozen=True)
class Destination:
    """Who receives: its title, its port where it runs, and the folder that it fills."""

    title: str
    port: int
    folder: Path


def ask_movescu(
    path: Route, destination: Destination, environment: dict[str, str], source: Source
) -> Figures:
    """It receives by itself, or has somebody else receive."""
    command: list[str | Path] = [MOVESCU, "-S", "-aet", MOVER, "-aem", destination.title]
    if destination.title == MOVER:
        command += ["--port", str(destination.port), "-od", destination.folder]
    command += ["-k", "QueryRetrieveLevel=STUDY", "-k", f"StudyInstanceUID={source.study}"]
    command += ["-aec", source.title, path.address, str(source.port)]
    return fetch(partial(path.run, command, environment), source.images, destination.folder)


def ask_gdcmscu(
    path: Route, destination: Destination, environment: dict[str, str], source: Source
) -> Figures:
    """It receives by itself; DCMTK's switches are none of its own."""
    command: list[str | Path] = ["gdcmscu", "--move", "--studyroot", "--study"]
    command += ["--key", f"20,d={source.study}", "--aetitle", MOVER, "--call", source.title]
    command += ["--port-scp", str(destination.port), "--output", destination.folder]
    command += [path.address, str(source.port)]
    run = partial(path.run, command, environment, codes=(0, -signal.SIGABRT))  # see use_gdcmscu
    return fetch(run, source.images, destination.folder)


def fetch(run: Callable[[], tuple[float, str]], images: list[Image], folder: Path) -> Figures:
    """All images come into the folder; the first one is there when its file is."""
    for file in folder.iterdir():
        file.unlink()
    begin = time.time()
    seconds, _ = run()
    count, size = count_files(folder)
    if count != len(images) or size * 8 < SAME_PIXELS * get_bits(images):
        raise ClientError(f"{count} of {len(images)} images came, {size} bytes")
    first = min(file.stat().st_mtime for file in folder.iterdir()) - begin
    return {**describe(images, seconds), "first image": max(0, first)}


def open_folders(room: Room, titles: Iterable[str]) -> dict[str, Destination]:
    received = Path(room.enter(TemporaryDirectory(prefix="lab-", dir=IN_MEMORY)))
    found = {title: Destination(title, find_free_port(), received / title) for title in titles}
    for destination in found.values():
        destination.folder.mkdir()
    return found


def start_storescp(destination: Destination, environment: dict[str, str]) -> Receiver:
    command = ["/usr/bin/storescp", "-od", destination.folder, str(destination.port)]
    return Receiver(destination.port, command, environment)


def make_archive(folder: Path, areas: dict[str, list[Image]], hosts: dict[str, str]) -> Path:
    """Its configuration: images by its titles, and who may be sent to, as (title, host, port)."""
    for title, images in areas.items():
        (folder / title).mkdir()
        command = ["/usr/bin/dcmqridx", folder / title, *(image.path for image in images)]
        subprocess.run(command, check=True, timeout=60, capture_output=True)
    text = CONFIGURATION.format(
        hosts="\n".join(f"{name} = ({host})" for name, host in hosts.items()),
        areas="\n".join(f"{title} {folder / title} R (1, 1024mb) ANY" for title in areas),
    )
    configuration = folder / "dcmqrscp.cfg"
    configuration.write_text(text, "utf-8")
    return configuration


def open_archive(
    arguments: Namespace, name: str, buffer: str, images: list[Image], room: Room
) -> Bench:
    if obstacle := find_route_obstacle(name):
        return lambda factors: Entry({}, {factors["Path"]: obstacle})
    areas = {FEW: images[:TRIAL], ALL: images}
    study = pydicom.dcmread(images[0].path, stop_before_pixels=True).StudyInstanceUID
    path = Route(room, name)
    destinations = open_folders(room, [MOVER, *RECEIVERS.values()])
    hosts = {
        title.lower(): f"{title}, {path.far}, {destination.port}"
        for title, destination in destinations.items()
    }
    configuration = make_archive(room.folder, areas, hosts)
    environments = {nagle: make_environment(buffer, value) for nagle, value in NAGLE.items()}
    ports = {nagle: find_free_port() for nagle in environments}
    for nagle, environment in environments.items():
        command = ["/usr/bin/dcmqrscp", "--config", configuration, str(ports[nagle])]
        room.enter(Receiver(ports[nagle], command, environment))
    if name == LOOPBACK:
        for nagle, title in RECEIVERS.items():
            room.enter(start_storescp(destinations[title], environments[nagle]))

    def enter(_: Factors) -> Entry:
        contestants, declined = {}, {}
        for nagle, who in CLIENTS[name]:
            if who == GDCM and not shutil.which("gdcmscu"):
                declined[f"{nagle}, {who}"] = "not installed: gdcmscu (libgdcm-tools)"
                continue
            sources = [Source(title, ports[nagle], study, some) for title, some in areas.items()]
            destination = destinations[RECEIVERS[nagle] if who == OTHER else MOVER]
            client = ask_gdcmscu if who == GDCM else ask_movescu
            ask = partial(client, path, destination, environments[nagle])
            few, every = sources  # a trial, which warms up, too, and all images if it is fast
            is_fast = compute_pace(ask(few)) * len(images) <= arguments.transfer_seconds
            contestants[f"{nagle}, {who}"] = partial(ask, every if is_fast else few)
        return Entry(contestants, declined)

    return enter


def store_in_orthanc(
    server: OrthancServer, images: list[Image], environment: dict[str, str]
) -> Figures:
    server.delete_all()
    command = [STORESCU, "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)]
    seconds, _ = run_clients([[*command, *(image.path for image in images)]], environment)
    check_images(server, images)
    return describe(images, seconds)


def fill(server: OrthancServer, images: list[Image]) -> Source:
    server.delete_all()
    use_http(server, images, 1)()
    (study,) = server.get_json("/studies")
    uid = server.get_json(f"/studies/{study}")["MainDicomTags"]["StudyInstanceUID"]
    return Source("ORTHANC", server.dicom_port, uid, images)


def open_servers(arguments: Namespace, buffer: str, images: list[Image], room: Room) -> Bench:
    usual = make_environment(buffer)
    environments = {SHIPPED: usual, TUNED: usual, NO_DELAY: make_environment(buffer, "1")}
    path = Route(room, LOOPBACK)
    destinations = open_folders(room, [MOVER, RECEIVER])
    room.enter(start_storescp(destinations[RECEIVER], usual))
    modalities = {
        title.lower(): describe_modality(destination.port, title)
        for title, destination in destinations.items()
    }
    servers = {
        name: room.enter(
            OrthancServer(
                room.folder / str(number),
                plugins=[arguments.plugin] if name == TUNED else [],
                options={"DicomModalities": modalities},
                environment=environment,
            )
        )
        for number, (name, environment) in enumerate(environments.items())
    }

    def enter_stores() -> Entry:
        return Entry(
            {name: partial(store_in_orthanc, servers[name], images, usual) for name in SERVERS}
        )

    def enter_moves() -> Entry:
        contestants = {}
        for name, server in servers.items():
            source = fill(server, images)
            for title, who in ((MOVER, ITSELF), (RECEIVER, OTHER)):
                if (name, who) == (NO_DELAY, OTHER):
                    continue  # that storescp has Nagle's algorithm
                destination = destinations[title]
                contestants[f"{name}, {who}"] = partial(
                    ask_movescu, path, destination, environments[name], source
                )
        return Entry(contestants)

    return lambda it: enter_stores() if it["Transfer"] == TO_ORTHANC else enter_moves()
