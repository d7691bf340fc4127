# SPDX-License-Identifier: GPL-3.0-or-later
"""A real PostgreSQL server with databases for Orthanc's plugin of Debian (orthanc-postgresql)."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from harness.certificates import Certificate
from harness.metrics import wait_until
from harness.orthanc import DEBIAN_PLUGINS, find_free_port
from harness.process import is_running, keep_children_still, list_children, run

POSTGRESQL_PLUGIN = DEBIAN_PLUGINS / "libOrthancPostgreSQLIndex.so"

PROGRAMS = Path("/usr/lib/postgresql")

# That of Debian's package; the server refuses to be root
USER = "postgres"

START_SECONDS = 120  # of a machine that is busy with much else
STOP_SECONDS = 30


def _find_programs() -> Path:
    """The folder of initdb and postgres: of the newest release that is installed."""
    return max(PROGRAMS.glob("*/bin"), key=lambda folder: float(folder.parent.name))


class DatabaseServer:
    """A server as a context manager: started on entry, stopped on exit, its data removed.

    It listens on `port` of 127.0.0.1, and what it says is in `log`. It refuses to be root: whoever
    is root has it run as `user`. `parent`: a folder that this user may enter, for its own.
    """

    def __init__(self, name: str, user: str, parent: Path | None = None) -> None:
        self.port = find_free_port()
        # Not below pytest's folder, which is closed to the server's user
        self.folder = Path(tempfile.mkdtemp(prefix=f"orthanc-perf-{name}-", dir=parent))
        self._log_path = self.folder / f"{name}.log"
        self._user = user if os.geteuid() == 0 else None
        self._identity: dict[str, Any] = {"cwd": self.folder}
        if self._user:
            group = pwd.getpwnam(user).pw_gid
            self._identity |= {"user": user, "group": group, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.folder.chmod(0o755)  # whoever runs Orthanc connects to the socket in it
            if self._user:
                shutil.chown(self.folder, self._user)
            self._initialize()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder)

    @property
    def log(self) -> str:
        return self._log_path.read_text("utf-8", "replace")

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def _initialize(self) -> None:
        raise NotImplementedError

    def _start(self, command: Sequence[str | Path], is_ready: Callable[[], bool]) -> None:
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, **self._identity
            )
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{command[0]} did not start:\n{self.log}")
            time.sleep(0.02)


class PostgreSqlServer(DatabaseServer):
    """It listens on a Unix socket in `folder`, too; everybody there may do anything.

    With a certificate it offers TLS. Between stop() and start() it keeps its data: on `disk`, where
    they are synced from their beginning, or in `folder`.
    """

    def __init__(
        self,
        certificate: Certificate | None = None,
        parent: Path | None = None,
        disk: Path | None = None,
    ) -> None:
        super().__init__("postgresql", USER, parent)
        self._data = (disk or self.folder) / "data"
        self._disk = disk
        self._certificate = certificate
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "32MB",
            # It would sync each file that it finds. The disk, mounted anew, has none that is not
            **({"recovery_init_sync_method": "syncfs"} if disk else {}),
        }

    def start(self) -> None:
        arguments = [f"-c{name}={value}" for name, value in self._settings.items()]
        self._start(
            [_find_programs() / "postgres", f"-D{self._data}", *arguments],
            lambda: self._run("pg_isready", check=False).returncode == 0,
        )

    def stop(self) -> None:
        """Ends the server with all its connections, as "pg_ctl stop --mode=fast" does."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                # Not SIGKILL, which would leave its processes and its memory behind
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(STOP_SECONDS)
            self._process = None

    def kill(self) -> None:
        """Ends all its processes at once, as the kernel does where memory is short."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # so that it starts no other meanwhile
        processes = list_children(self._process.pid)
        self._process.kill()
        self._process.wait()
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # A new server refuses to start as long as one of them has the shared memory
        wait_until(lambda: not any(is_running(pid) for pid in processes), STOP_SECONDS)
        self._process = None

    @contextlib.contextmanager
    def hang(self) -> Iterator[None]:
        """It takes connections and questions, and answers none while the body runs."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            with keep_children_still(self.pid):
                yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def create_database(self, name: str) -> None:
        self._run("createdb", name)

    def query(self, statement: str, database: str = USER) -> list[list[str]]:
        """The rows that the statement answers with, as text."""
        answer = self._run(
            "psql", "--no-psqlrc", "--csv", "--tuples-only", f"--command={statement}", database
        )
        return [line.split(",") for line in answer.stdout.splitlines()]

    def get_options(
        self,
        database: str = USER,
        connections: int = 1,
        host: str = "127.0.0.1",
        port: int | None = None,
        **options: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """Orthanc's configuration of the plugin, which keeps the index there, and files on disk.

        `database` is one that exists ("postgres" does), `host` another way there, or `folder` for
        the Unix socket, `options` anything else of the section "PostgreSQL". The server has a name
        there that stays: Orthanc makes one of the network cards, and other tests make some.
        """
        return {
            "DatabaseServerIdentifier": database,
            "PostgreSQL": {
                "EnableIndex": True,
                "EnableStorage": False,
                "Host": host,
                "Port": port or self.port,
                "Database": database,
                "Username": USER,
                "Password": "",
                "IndexConnectionsCount": connections,
                # Or else Orthanc stops at the second server of a fleet, or after a crash
                "Lock": False,
                **options,
            },
        }

    def _initialize(self) -> None:
        self._data.mkdir()
        if self._user:
            shutil.chown(self._data, self._user)
        # Small segments: that disk may copy as much each time
        how = "--wal-segsize=1" if self._disk else "--no-sync"
        command = [_find_programs() / "initdb", f"--pgdata={self._data}", f"--username={USER}", how]
        command += ["--auth=trust", "--encoding=UTF8", "--locale=C"]
        run(command, check=True, **self._identity)
        if certificate := self._certificate:
            self._settings["ssl"] = "on"
            for name, source in (("cert", certificate.certificate), ("key", certificate.key)):
                path = self.folder / f"{name}.pem"
                shutil.copy(source, path)
                path.chmod(0o600)
                if self._user:
                    shutil.chown(path, self._user)
                self._settings[f"ssl_{name}_file"] = str(path)

    def _run(
        self, program: str, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        command = [_find_programs() / program, f"--host={self.folder}", f"--port={self.port}"]
        return run([*command, f"--username={USER}", *arguments], check=check)
