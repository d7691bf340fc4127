# SPDX-License-Identifier: GPL-3.0-or-later
"""One path of a wide area network, and what is known of its speed before anything is sent."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.distance import VDE_MTU
from lab.cells import Factors

AUTO = "auto"

# Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance
# algorithm", 1997: for periodic loss, and each packet acknowledged
MATHIS = math.sqrt(3 / 2)

HEADERS = 52  # IPv4 and TCP with time stamps (RFC 791, 9293, 7323)

LAN = 0.001  # seconds: what is nearer is on the same local network

SETTINGS = Path("/proc/sys/net/ipv4")


def list_congestion_controls() -> list[str]:
    return (SETTINGS / "tcp_available_congestion_control").read_text("ascii").split()


@dataclass(frozen=True)
class Line:
    """Round trip in seconds, loss as a share of the packets; no buffer: the kernel sizes it.

    `rate` is what it carries in each direction, in bits a second.
    """

    round_trip: float
    loss: float
    mtu: int
    buffer: int | None
    congestion: str
    rate: float = math.inf

    def to_factors(self) -> Factors:
        return {
            "Round trip": f"{self.round_trip * 1000:g} ms",
            "Rate": f"{self.rate / 1e6:g} Mb/s",
            "Loss": f"{self.loss * 100:g} %",
            "MTU": str(self.mtu),
            "Buffers": f"{self.buffer // 1024} KiB" if self.buffer else AUTO,
            "Congestion control": self.congestion,
        }

    @classmethod
    def from_factors(cls, factors: Factors) -> Self:
        buffers = factors["Buffers"]
        return cls(
            float(factors["Round trip"].split()[0]) / 1000,
            float(factors["Loss"].split()[0]) / 100,
            int(factors["MTU"]),
            None if buffers == AUTO else int(buffers.split()[0]) * 1024,
            factors["Congestion control"],
            float(factors["Rate"].split()[0]) * 1e6,
        )

    def get_window(self) -> float:
        """The most that can be under way, in bytes: half of a receive buffer is for overhead.

        tcp(7), tcp_adv_win_scale; a size that is asked for is doubled for that (socket(7)).
        """
        if self.buffer:
            return self.buffer
        receive, send = (
            int((SETTINGS / name).read_text("ascii").split()[2])
            for name in ("tcp_rmem", "tcp_wmem")
        )
        return min(receive / 2, send)

    def get_window_limit(self) -> float:
        """Bits a second: one window in each round trip."""
        return self.get_window() * 8 / self.round_trip

    def get_mathis_limit(self) -> float | None:
        """Bits a second that loss leaves to congestion control of the old kind (Reno)."""
        if not self.loss:
            return None
        segment = (self.mtu - HEADERS) * 8
        return MATHIS * segment / (self.round_trip * math.sqrt(self.loss))

    def predict(self, size: float, round_trips: float, connections: int = 1) -> float:
        """Seconds for an image; connections share the rate, not the window and the losses."""
        limit = min(self.get_window_limit(), self.get_mathis_limit() or math.inf, self.rate)
        each = round_trips * self.round_trip + size * 8 / limit
        return max(each / connections, size * 8 / self.rate)

    def write_settings(self) -> None:
        """In this thread's network namespace, for what is started from now on.

        What the kernel remembers of a connection that has ended is no other one's (ip-sysctl):
        whoever comes second would begin with the slow start that the first one had found out.
        """
        (SETTINGS / "tcp_no_metrics_save").write_text("1", "ascii")
        if self.buffer:
            (SETTINGS / "tcp_rmem").write_text(f"4096 {2 * self.buffer} {2 * self.buffer}", "ascii")


def make_usual(options: Mapping[str, Any], round_trip: float) -> Line:
    """The line of this length that differs from the base line in nothing else."""
    rate = options["lan_rate"] if round_trip < LAN else options["rate"]
    return Line(round_trip, 0, VDE_MTU, None, options["congestion"][0], rate * 1e6)
