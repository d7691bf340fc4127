# SPDX-License-Identifier: GPL-3.0-or-later
"""A network with latency on one machine: a namespace at the far end of a slow path.

Two switches of Debian's vde2, one with a tap device here and one with a tap device in a network
namespace of its own, and wirefilter between them, which delays every frame. Needs root.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.clients import get_output
from harness.metrics import wait_until

START_SECONDS = 10

# RFC 2544 reserves 198.18.0.0/15 for tests of networks; each process takes four addresses of it
_FIRST = ip_address("198.18.0.0") + 4 * (os.getpid() % 2**15)
NEAR = str(_FIRST + 1)
FAR = str(_FIRST + 2)


def find_obstacle() -> str | None:
    """Why there can be no distance on this machine; None if there can."""
    if os.geteuid() != 0:
        return "a network namespace needs root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    missing = [name for name in ("vde_switch", "wirefilter", "ip") if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)} (vde2, iproute2)" if missing else None


def run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60, capture_output=True)


class Distance:
    """Within this, the address FAR is at `round_trip` seconds from NEAR, which is here."""

    def __init__(self, round_trip: float) -> None:
        self._delay = round(round_trip * 1000 / 2)
        self._name = f"far{os.getpid()}"
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            run("ip", "netns", "add", self._name)
            stack.callback(run, "ip", "netns", "delete", self._name)
            near, far = folder / "near", folder / "far"
            tap = f"near{os.getpid()}"
            self._start(stack, "vde_switch", "-s", str(near), "-tap", tap)
            self._start(stack, *self._far("vde_switch", "-s", str(far), "-tap", "tap0"))
            assert wait_until(lambda: (near / "ctl").exists(), START_SECONDS)
            assert wait_until(lambda: (far / "ctl").exists(), START_SECONDS)
            self._start(stack, "wirefilter", "-v", f"{near}:{far}", "-d", str(self._delay), "-N")
            self._configure(tap)
            self._stack = stack.pop_all()
        assert wait_until(self._is_reachable, START_SECONDS), "the far end does not answer"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        """Runs a program at the far end until its own end."""
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

    def listens(self, port: int) -> bool:
        """Whether somebody at the far end listens to this port."""
        return bool(get_output(self._far("ss", "-tlnH", f"sport = :{port}")).strip())

    def _far(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self._name, *command]

    def _start(self, stack: ExitStack, *command: str) -> None:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        stack.callback(process.wait)
        stack.callback(process.kill)

    def _configure(self, tap: str) -> None:
        run("ip", "address", "add", f"{NEAR}/30", "dev", tap)
        run("ip", "link", "set", tap, "up")
        run(*self._far("ip", "address", "add", f"{FAR}/30", "dev", "tap0"))
        run(*self._far("ip", "link", "set", "tap0", "up"))

    def _is_reachable(self) -> bool:
        probe = self._far(
            "python3", "-c", f"import socket; socket.create_connection(('{NEAR}', 9))"
        )
        result = subprocess.run(probe, capture_output=True, timeout=60)
        return b"refused" in result.stderr
