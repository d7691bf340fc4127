# SPDX-License-Identifier: GPL-3.0-or-later
"""A real MariaDB server with a database for Orthanc's MySQL plugin of Debian (orthanc-mysql)."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from harness.orthanc import DEBIAN_PLUGINS, find_free_port
from harness.process import run

MYSQL_PLUGIN = DEBIAN_PLUGINS / "libOrthancMySQLIndex.so"

# That of Debian's package; the server refuses to be root
USER = "mysql"
NAME = "orthanc"  # of the database, its user and the password

START_SECONDS = 60
STOP_SECONDS = 30


class MariaDbServer:
    """MariaDB on `port` of 127.0.0.1; its data is removed at the end, what it says is in `log`."""

    def __init__(self) -> None:
        self.port = find_free_port()
        # Not below pytest's folder, which is closed to the server's user
        self.folder = Path(tempfile.mkdtemp(prefix="orthanc-perf-mariadb-"))
        self._socket = self.folder / "socket"
        self._log_path = self.folder / "mariadb.log"
        self._user = USER if os.geteuid() == 0 else None
        self._identity: dict[str, Any] = {"cwd": self.folder}
        if self._user:
            self._identity |= {"user": USER, "group": USER, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._initialize()
            self._start()
            self.query(
                f"CREATE DATABASE {NAME}; "
                f"CREATE USER '{NAME}'@'127.0.0.1' IDENTIFIED BY '{NAME}'; "
                f"GRANT ALL ON {NAME}.* TO '{NAME}'@'127.0.0.1'"
            )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._process is not None:
                self._process.send_signal(signal.SIGTERM)
                self._process.wait(STOP_SECONDS)
        finally:
            shutil.rmtree(self.folder)

    @property
    def log(self) -> str:
        return self._log_path.read_text("utf-8", "replace")

    def query(self, statement: str) -> list[list[str]]:
        """The rows that the statement answers with, as text."""
        answer = self._run(
            "mariadb", f"--socket={self._socket}", "--user=root", "--batch", "--skip-column-names",
            f"--execute={statement}",
        )  # fmt: skip
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def get_options(self, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """Orthanc's configuration of the plugin, which keeps the index there, and files on disk.

        `options`: anything else of the section "MySQL".
        """
        return {
            "MySQL": {
                "EnableIndex": True,
                "EnableStorage": False,
                "Host": "127.0.0.1",
                "Port": self.port,
                "UnixSocket": "",
                "Database": NAME,
                "Username": NAME,
                "Password": NAME,
                "IndexConnectionsCount": 1,
                "Lock": False,
                **options,
            }
        }

    def _initialize(self) -> None:
        self.folder.chmod(0o755)
        if self._user:
            shutil.chown(self.folder, self._user)
        self._run(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={self.folder / 'data'}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )

    def _start(self) -> None:
        with self._log_path.open("ab") as log:
            command = ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder / 'data'}"]
            command += [f"--socket={self._socket}", "--bind-address=127.0.0.1"]
            command += [f"--port={self.port}", "--innodb-buffer-pool-size=32M"]
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, **self._identity
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._socket.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"MariaDB did not start:\n{self.log}")
            time.sleep(0.02)

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return run(command, check=True, **self._identity)
