# SPDX-License-Identifier: GPL-3.0-or-later
"""A real HAProxy, with the configuration of Resources/Fleet."""

import base64
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import requests

from harness.fleet import FLEET
from harness.orthanc import OrthancServer, find_free_port
from harness.process import list_children

START_SECONDS = 120  # of a machine that is busy with much else


class HaProxyServer:
    """HAProxy as a context manager, in front of these Orthancs, each by its name in the file.

    `credentials` are those of its health checks. DICOM is at `dicom_port` of 127.0.0.1, HTTP at
    `url`. The configuration is the project's own but for addresses, and for servers that it has
    and that are not given.
    """

    def __init__(
        self, folder: Path, servers: Mapping[str, OrthancServer], credentials: tuple[str, str]
    ) -> None:
        self.dicom_port = find_free_port()
        self.http_port = find_free_port()
        self.metrics_port = find_free_port()
        self.url = f"http://127.0.0.1:{self.http_port}"
        self._names = list(servers)
        self._log_path = folder / "haproxy.log"
        self._socket_path = folder / "haproxy.sock"
        check = base64.b64encode(":".join(credentials).encode()).decode()
        self._environment = {**os.environ, "PERF_CHECK": check}
        path = folder / "haproxy.cfg"
        path.write_text(self._adapt((FLEET / "haproxy.cfg").read_text("utf-8"), servers), "utf-8")
        self._command = ["haproxy", "-W", "-db", "-f", str(path)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns once it has looked at all servers, and found them well."""
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment
            )
        try:
            deadline = time.monotonic() + START_SECONDS
            while (found := self._list("haproxy_server_check_status", "L7OK")) != self._names:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"HAProxy finds {found} well:\n{self.log}")
                time.sleep(0.1)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)

    def kill(self) -> None:
        """Ends both its processes at once; start() starts it anew."""
        assert self._process is not None
        workers = list_children(self._process.pid)
        self._process.kill()
        self._process.wait()
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def log(self) -> str:
        return self._log_path.read_text("utf-8", "replace")

    def order(self, command: str) -> str:
        """What it answers to a command for its administrator."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._socket_path))
            connection.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def list_up(self, backend: str = "dicom") -> list[str]:
        """The servers that it finds well: that can store, for DICOM."""
        return self._list("haproxy_server_status", "UP", backend)

    def count_connections(self, name: str, backend: str = "dicom") -> int:
        return self._read("haproxy_server_sessions_total", name, backend)

    def count_open(self, backend: str) -> int:
        """The connections that all servers of the backend have now."""
        names = self._names
        return sum(self._read("haproxy_server_current_sessions", name, backend) for name in names)

    def _list(self, metric: str, state: str, backend: str = "dicom") -> list[str]:
        return [name for name in self._names if self._read(metric, name, backend, state)]

    def _read(
        self, metric: str, name: str, backend: str = "dicom", state: str | None = None
    ) -> int:
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        try:
            text = requests.get(url, timeout=10).text
        except requests.ConnectionError:
            return 0
        labels = f'proxy="{backend}",server="{name}"'
        if state is not None:
            labels += f',state="{state}"'
        begin = f"{metric}{{{labels}}} "
        values = [line[len(begin) :] for line in text.splitlines() if line.startswith(begin)]
        return int(values[0]) if values else 0

    def _adapt(self, text: str, servers: Mapping[str, OrthancServer]) -> str:
        ports = {4242: self.dicom_port, 8042: self.http_port, 8405: self.metrics_port}
        lines = []
        for line in text.splitlines():
            match line.split():
                case ["bind", address]:
                    line = f"    bind 127.0.0.1:{ports[int(address.removeprefix(':'))]}"
                case ["stats", "socket", *_]:
                    line = f"    stats socket {self._socket_path} mode 660 level admin"
                case ["server", name, *_] if name not in servers:
                    continue
                case ["user" | "group" | "chroot", *_] if os.geteuid() != 0:
                    continue  # only root may
                case ["server", name, address, *_]:
                    server = servers[name]
                    own = {"4242": server.dicom_port, "8042": server.http_port}
                    line = line.replace(address.partition(":")[0], "127.0.0.1")
                    line = re.sub(r"\b(4242|8042)\b", lambda port, own=own: str(own[port[0]]), line)
            lines.append(line)
        return "\n".join(lines) + "\n"
