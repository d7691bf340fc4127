# SPDX-License-Identifier: GPL-3.0-or-later
"""A network with latency on one machine: a namespace at the far end of a slow path.

Where the kernel has netem, a pair of veth devices with that. Else two switches of Debian's vde2,
one with a tap device here and one with a tap device in a network namespace of its own, and
wirefilter between them, which delays every frame. Needs root.
"""

import ctypes
import functools
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from harness.clients import get_output
from harness.metrics import wait_until

START_SECONDS = 10

CLONE_NEWNET = 0x40000000  # sched.h

# Below this, a pair of devices is near enough to a path without any delay of its own
SHORTEST_DELAY = 0.0005

VDE_MTU = 1500  # vde2's frames have no room for more

FRAMES = 4096  # in a queue of vde2's; the kernel's own limit may be 10

# What may wait where a path has a rate, in seconds of it: a router's queue
QUEUE = 0.1

# No short names: ip(8) would take "a" for "address"
TRIAL_DEVICE = "ip link add name veth0 type veth peer name veth1"

libc = ctypes.CDLL(None, use_errno=True)

# RFC 2544 reserves 198.18.0.0/15 for tests of networks; each process takes four addresses of it
_FIRST = ip_address("198.18.0.0") + 4 * (os.getpid() % 2**15)
NEAR = str(_FIRST + 1)
FAR = str(_FIRST + 2)


def find_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "a network namespace needs root"
    if shutil.which("ip") is None:
        return "not installed: ip (iproute2)"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        return "network namespaces are not allowed here"
    return None if has_netem() else _find_vde_obstacle()


def _find_vde_obstacle() -> str | None:
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    missing = [name for name in ("vde_switch", "wirefilter") if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)} (vde2)" if missing else None


@functools.cache
def has_netem() -> bool:
    """Whether the kernel can delay and lose packets by itself (tc-netem(8))."""
    script = f"{TRIAL_DEVICE} && tc qdisc add dev veth0 root netem delay 1ms"
    command = ["unshare", "--net", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def find_path_obstacle(round_trip: float, loss: float = 0, mtu: int = VDE_MTU) -> str | None:
    if mtu > VDE_MTU and needs_vde(round_trip, loss):
        return f"an MTU of {mtu} with delay or loss needs netem, which this kernel lacks"
    return None


def needs_vde(round_trip: float, loss: float) -> bool:
    return (round_trip / 2 >= SHORTEST_DELAY or loss > 0) and not has_netem()


def run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60, capture_output=True)


def _enter_network(descriptor: int) -> None:
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def keep_network() -> Iterator[None]:
    """Whatever network namespace this thread enters in the body, it returns from it."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        yield
    finally:
        _enter_network(before)
        os.close(before)


@contextmanager
def private_network() -> Iterator[None]:
    """This thread, and all that it starts, have a network of their own, which begins empty.

    What listens there is reached from there only, and its sysctls are its own.
    """
    with keep_network():
        if libc.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        run("ip", "link", "set", "lo", "up")
        yield


@dataclass
class Distance:
    """Within this, the address FAR is at `round_trip` seconds from NEAR, which is here.

    `loss` is the share of packets that is lost in each direction, `rate` what the path carries in
    each, in bits a second; without one, it is as fast as the machine. `congestion` is the
    congestion control of all connections on it; without one, it is the machine's. `duplication` is
    the share of packets that come twice, `variation` how many seconds one may take more or less in
    each direction: they overtake each other then.
    """

    round_trip: float
    loss: float = 0
    mtu: int = VDE_MTU
    rate: float | None = None
    congestion: str | None = None
    duplication: float = 0
    variation: float = 0

    def __post_init__(self) -> None:
        self._delay = self.round_trip / 2
        self._needs_vde = needs_vde(self.round_trip, self.loss)
        self._has_netem = not self._needs_vde and (self._delay >= SHORTEST_DELAY or self.loss > 0)
        self._name = f"far{os.getpid()}"
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._delete_namespace)  # also one that was interrupted as it was made
            run("ip", "netns", "add", self._name)
            run(*self._far("ip", "link", "set", "lo", "up"))
            tap = f"near{os.getpid()}"
            if self._needs_vde:
                self._lay_wire(stack, tap)
            else:
                peer = ["peer", "name", "tap0", "netns", self._name]
                run("ip", "link", "add", tap, "type", "veth", *peer)
                stack.callback(run, "ip", "link", "delete", tap)
            self._configure(tap)
            assert wait_until(self._is_reachable, START_SECONDS), "the far end does not answer"
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        subprocess.run(
            self._far(*command), check=True, timeout=300, env={**os.environ, **(environment or {})}
        )

    def start(
        self, command: Sequence[str], environment: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Starts a program at the far end; the caller ends it."""
        return subprocess.Popen(
            self._far(*command),
            env={**os.environ, **(environment or {})},
            stderr=subprocess.DEVNULL,
        )

    @contextmanager
    def at_far_end(self) -> Iterator[None]:
        """In the body, this thread and what it starts are at the far end."""
        with keep_network():
            descriptor = os.open(f"/run/netns/{self._name}", os.O_RDONLY)
            try:
                _enter_network(descriptor)
            finally:
                os.close(descriptor)
            yield

    def listens(self, port: int) -> bool:
        return bool(get_output(self._far("ss", "-tlnH", f"sport = :{port}")).strip())

    def get_launcher(self) -> list[str]:
        return self._far()

    def _far(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self._name, *command]

    def _delete_namespace(self) -> None:
        if Path(f"/run/netns/{self._name}").exists():
            run("ip", "netns", "delete", self._name)

    def _lay_wire(self, stack: ExitStack, tap: str) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        near, far = folder / "near", folder / "far"
        # What does not fit into a queue between two of the three is lost
        run(*self._far("sysctl", "--write", f"net.unix.max_dgram_qlen={FRAMES}"))
        for name, device in ((near, tap), (far, "tap0")):
            self._start(stack, "vde_switch", "-s", str(name), "-tap", device)
            assert wait_until((name / "ctl").exists, START_SECONDS)
        run(*self._far("ip", "link", "set", tap, "netns", str(os.getpid())))
        wire = ["wirefilter", "-v", f"{near}:{far}"]
        delay = f"{self._delay * 1000:g}"
        wire += (
            ["-d", f"{delay}+{self.variation * 1000:g}", "-N"] if self.variation else ["-d", delay]
        )
        wire += ["-D", f"{self.duplication * 100:g}"] if self.duplication else []
        self._start(stack, *wire, *(["-l", f"{self.loss * 100:g}"] if self.loss else []))

    def _start(self, stack: ExitStack, *command: str) -> None:
        """Before all others: a wire that waits for a processor loses what comes meanwhile."""
        first = ["chrt", "--rr", "1"]
        allowed = subprocess.run([*first, "true"], capture_output=True, check=False)
        process = subprocess.Popen(
            self._far(*([] if allowed.returncode else first), *command),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(process.wait)
        stack.callback(process.kill)

    def _configure(self, tap: str) -> None:
        for device, address, place in ((tap, NEAR, []), ("tap0", FAR, self._far())):
            run(*place, "ip", "address", "add", f"{address}/30", "dev", device)
            run(*place, "ip", "link", "set", device, "mtu", str(self.mtu), "up")
            if self._has_netem and (self.loss or self.rate):
                # Or else what netem counts, and loses, are pieces of 64 KiB, not packets
                run(*place, "ip", "link", "set", device, "gso_max_segs", "1")
            if self.congestion:  # the sysctl may be set to some of those that there are, only
                network = f"{_FIRST}/30"
                control = ["congctl", self.congestion]
                run(*place, "ip", "route", "replace", network, "dev", device, *control)
            discipline = self._choose_discipline()
            if discipline:
                run(*place, "tc", "qdisc", "add", "dev", device, "root", *discipline)

    def _choose_discipline(self) -> list[str]:
        """How packets leave: later, and not all, by netem; at a rate by either."""
        if self._has_netem:
            # Packets: those on their way, and those that wait for it
            most = (self._delay + QUEUE) * (self.rate or 0) / 8 / self.mtu
            netem = ["netem", "limit", str(math.ceil(most) or 100_000), "delay"]
            netem += [f"{self._delay * 1e6:.0f}us"]
            netem += [f"{self.variation * 1e6:.0f}us"] if self.variation else []
            netem += ["duplicate", f"{self.duplication * 100:g}%"] if self.duplication else []
            netem += ["loss", f"{self.loss * 100:g}%"] if self.loss else []
            return [*netem, *(["rate", f"{self.rate:.0f}bit"] if self.rate else [])]
        if self.rate is None:
            return []
        bucket = ["burst", str(10 * self.mtu), "latency", f"{QUEUE}s"]
        return ["tbf", "rate", f"{self.rate:.0f}bit", *bucket]

    def _is_reachable(self) -> bool:
        probe = self._far(
            "python3", "-c", f"import socket; socket.create_connection(('{NEAR}', 9))"
        )
        result = subprocess.run(probe, capture_output=True, timeout=60)
        return b"refused" in result.stderr
