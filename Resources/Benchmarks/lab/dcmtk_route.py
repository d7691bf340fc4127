# SPDX-License-Identifier: GPL-3.0-or-later
"""What the transfers of "dcmtk-sockets" have in common: the way, and DCMTK's own switches."""

from collections.abc import Collection
from contextlib import ExitStack, nullcontext
from pathlib import Path

from harness.distance import FAR, NEAR, Distance, find_obstacle, private_network
from harness.images import Image
from lab.cells import Figures
from lab.dcmtk_sockets_page import NAGLE_OFF, NAGLE_ON, NONE, ROUND_TRIPS
from lab.processes import run_clients

NAGLE = {NAGLE_ON: "0", NAGLE_OFF: "1"}  # as TCP_NODELAY


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
        """Seconds, and what it said."""
        with self._distance.at_far_end() if self._distance else nullcontext():
            seconds, (said,) = run_clients([command], environment, codes=codes)
        return seconds, said


def find_route_obstacle(name: str) -> str | None:
    """Why there can be no such way on this machine."""
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
