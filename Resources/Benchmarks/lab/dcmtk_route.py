# SPDX-License-Identifier: GPL-3.0-or-later
"""What the transfers of "dcmtk-sockets" have in common: the way, and DCMTK's own switches."""

from collections.abc import Collection
from contextlib import ExitStack, nullcontext
from pathlib import Path

from harness.distance import FAR, NEAR, Distance, find_obstacle, private_network
from harness.images import Image
from lab.cells import Figures
from lab.processes import run_clients

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

    def __init__(self, stack: ExitStack, name: str) -> None:
        self.address = self.far = "127.0.0.1"
        self._distance: Distance | None = None
        if name in ROUND_TRIPS:
            stack.enter_context(private_network())
            self._distance = stack.enter_context(Distance(ROUND_TRIPS[name]))
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
