# SPDX-License-Identifier: GPL-3.0-or-later
"""A real MariaDB server with a database for Orthanc's MySQL plugin of Debian (orthanc-mysql)."""

import signal
import subprocess
from typing import Any

from harness.orthanc import DEBIAN_PLUGINS
from harness.postgresql import DatabaseServer
from harness.process import run

MYSQL_PLUGIN = DEBIAN_PLUGINS / "libOrthancMySQLIndex.so"

# That of Debian's package
USER = "mysql"
NAME = "orthanc"  # of the database, its user and the password

STOP_SECONDS = 30


class MariaDbServer(DatabaseServer):
    def __init__(self) -> None:
        super().__init__("mariadb", USER)
        self._socket = self.folder / "socket"

    def start(self) -> None:
        command = ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder / 'data'}"]
        command += [f"--socket={self._socket}", "--bind-address=127.0.0.1"]
        command += [f"--port={self.port}", "--innodb-buffer-pool-size=32M"]
        self._start(command, self._socket.exists)
        self.query(
            f"CREATE DATABASE {NAME}; "
            f"CREATE USER '{NAME}'@'127.0.0.1' IDENTIFIED BY '{NAME}'; "
            f"GRANT ALL ON {NAME}.* TO '{NAME}'@'127.0.0.1'"
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(STOP_SECONDS)
            self._process = None

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
        self._run(
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={self.folder / 'data'}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return run(command, check=True, **self._identity)
