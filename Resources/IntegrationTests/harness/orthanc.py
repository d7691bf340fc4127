# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Orthanc on free loopback ports, with a store of its own, for as long as a test lasts."""

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import requests

# Another one than Debian's: build-static-orthanc.sh makes one like the official builds
ORTHANC = Path(os.environ.get("PERF_ORTHANC", "/usr/sbin/Orthanc")).resolve()

# A root file system of make-debian-root.sh: Orthanc and its plugins are those of its /usr then. All
# else stays this machine's, so that a test finds every file, mount and group where it has put them.
# Mounts that a test makes later have to arrive there, too, as they do where / is shared.
ORTHANC_ROOT = os.environ.get("PERF_ORTHANC_ROOT", "")
BORROW = 'mount --bind "$1/etc" /etc; mount --bind "$1/usr" /usr; shift; exec "$@"'
BORROW_LAUNCHER = (
    ["unshare", "--mount", "--propagation=slave", "sh", "-ec", BORROW, "sh", ORTHANC_ROOT]
    if ORTHANC_ROOT
    else []
)

# Debian's plugins as setup.sh unpacks them, or else as installed, as they are in ORTHANC_ROOT
SYSTEM_PLUGINS = Path("/usr/share/orthanc/plugins")
UNPACKED_PACKAGES = Path(__file__).parents[3] / "build" / "orthanc-plugins"
_UNPACKED = UNPACKED_PACKAGES / SYSTEM_PLUGINS.relative_to("/")
DEBIAN_PLUGINS = _UNPACKED if _UNPACKED.exists() and not ORTHANC_ROOT else SYSTEM_PLUGINS
DICOMWEB_PLUGIN = DEBIAN_PLUGINS / "libOrthancDicomWeb.so"

MOMENT = "%Y%m%dT%H%M%S.%f"  # of all answers, in UTC

# Orthanc closes an HTTP connection that rests for a second, and whatever is about to be sent on it
# is lost
LONGEST_REST = 0.5

START_SECONDS = 120  # of a machine that is busy with much else
STOP_SECONDS = 90  # Orthanc waits for associations whose peer is gone without a word

# No log may have it: a report of a sanitizer, or a callback of the plugin that failed
FAULT = re.compile(r"Sanitizer:|runtime error:|terminate called|Perf: the callback .* failed")

Json = Any


def read_moment(text: str) -> float:
    """Seconds since 1970 of a time in an answer."""
    return datetime.strptime(text, MOMENT).replace(tzinfo=UTC).timestamp()


def write_moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(MOMENT)


class OrthancDidNotStartError(RuntimeError):
    """Orthanc ended before it was ready; the message is its log."""


def _handles_sigterm(pid: int) -> bool:
    """Whether the process has a handler for SIGTERM (proc(5), SigCgt)."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


# Linux takes the port of an outgoing connection from 32768 on. What the system would pick there as
# free could be another test's connection by the time a server wants it.
_PORTS = range(10_000, 32_768)

# pytest-xdist: each worker has ports of its own, as nobody listens yet on what another was given
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS

_given_ports: set[int] = set()


def find_free_port() -> int:
    """A port that nobody listens on, that no connection is given, nor anybody again."""
    while True:
        port = random.choice(_PORTS[_WORKER::_WORKERS])
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            if port not in _given_ports:
                _given_ports.add(port)
                return port


def _make_storage(storage: Path) -> None:
    """A storage area in which no first folder is ever empty.

    Where an instance is sent again, Orthanc (1.10.1 to 1.13.0) removes the new file and the two
    folders above it if they are empty now: one of its other threads may be about to create a file
    there, which then fails, and the instance with it. The fuller the store, the rarer that is: a
    test that starts with an empty one and sends thousands of duplicates meets it.
    """
    for number in range(256):
        folder = storage / f"{number:02x}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "keep").touch()


def get_release() -> str:
    command = [*BORROW_LAUNCHER, ORTHANC, "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return said.stdout.split()[1]


def read_access() -> str:
    """The Lua filter that says who may do what below /perf."""
    return (Path(__file__).parents[2] / "Configuration" / "access.lua").read_text("utf-8")


class OrthancServer:
    """Orthanc as a context manager: started on entry, stopped on exit.

    `perf` is the section "Perf" (None: no such section), `options` anything else of Orthanc's
    configuration, `lua` the texts of Lua scripts, `environment` what its environment has more
    than this process's, `launcher` a command that executes Orthanc in its own place, such as
    env(1), `credentials` the user and the password to ask it with, `program` another Orthanc. The
    folder keeps configuration, log and store: a second server on the same folder finds the first
    one's images.
    """

    def __init__(
        self,
        folder: Path,
        plugins: list[Path] | None = None,
        perf: Json = None,
        options: dict[str, Any] | None = None,
        lua: list[str] | None = None,
        environment: dict[str, str] | None = None,
        launcher: list[str] | None = None,
        credentials: tuple[str, str] | None = None,
        program: Path = ORTHANC,
    ) -> None:
        self.folder = folder
        self.storage = folder / "storage"
        self.http_port = (options or {}).get("HttpPort") or find_free_port()
        self.dicom_port = find_free_port()
        self.url = f"http://127.0.0.1:{self.http_port}"
        self.session = requests.Session()
        self.session.trust_env = False  # proxies and certificates of the machine
        self.session.auth = credentials
        # Or else Orthanc compresses each image that it answers with
        self.session.headers["Accept-Encoding"] = "identity"
        self._command = [*BORROW_LAUNCHER, *(launcher or []), program]
        self._log_path = folder / "orthanc.log"
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked_to_stop = False
        self._used = time.monotonic()  # the session

        _make_storage(self.storage)
        self._configuration: dict[str, Any] = {
            "Name": "Test",
            "HttpPort": self.http_port,
            "DicomPort": self.dicom_port,
            "StorageDirectory": str(self.storage),
            "RemoteAccessAllowed": False,
            "AuthenticationEnabled": False,
            "Plugins": [str(plugin) for plugin in plugins or []],
            "LuaScripts": self._write_scripts(lua or []),
        }
        if perf is not None:
            self._configuration["Perf"] = perf
        self._configuration.update(options or {})

        if self._configuration.get("SslEnabled"):
            self.url = self.url.replace("http:", "https:")
            self.session.verify = self._configuration["SslCertificate"]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        self.stop()
        if error is None and (fault := self.find_fault()):
            raise RuntimeError(fault)

    def start(self) -> None:
        """Returns once Orthanc answers; raises OrthancDidNotStartError if it ends before."""
        path = self.folder / "orthanc.json"
        path.write_text(json.dumps(self._configuration, indent=2), "utf-8")
        self._is_asked_to_stop = False
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command, path],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self._environment,
            )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def ask_to_stop(self) -> None:
        """Asks once: a second SIGTERM would kill Orthanc, which no longer handles it by then."""
        assert self._process is not None
        if self._process.poll() is None and not self._is_asked_to_stop:
            self._process.terminate()
        self._is_asked_to_stop = True

    def stop(self) -> int:
        """Ends Orthanc as a service manager does, and returns its exit code."""
        assert self._process is not None
        self.session.close()
        self.ask_to_stop()
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def find_fault(self) -> str:
        """How Orthanc ended if it did not end well; ends it if it still runs."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            self.kill()
            return f"Orthanc has not stopped within {STOP_SECONDS} s:\n{self.log}"
        if code == 0 and not FAULT.search(self.log):
            return ""
        return f"Orthanc ended with {code}:\n{self.log}"

    def kill(self) -> None:
        """Ends it at once, as the kernel does where memory is short; start() starts it anew."""
        assert self._process is not None
        self.session.close()
        self._process.kill()
        self._process.wait()

    def begin_anew(self, **options: Any) -> None:  # noqa: ANN401
        """Kills and starts it, with these other options: the plugin has forgotten what it saw.

        stop() would take 3.5 s. A fault in the log so far is raised, as the log begins anew, too.
        """
        self.kill()
        if FAULT.search(self.log):
            raise RuntimeError(self.log)
        self.configure(**options)
        self.start()

    def configure(self, **options: Any) -> None:  # noqa: ANN401
        """Other options, from the next start on."""
        self._configuration.update(options)

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log_path.read_text("utf-8", "replace")

    def request(self, method: str, path: str, **arguments: Any) -> requests.Response:  # noqa: ANN401
        if time.monotonic() - self._used > LONGEST_REST:
            self.session.close()  # its connections; the next one is made by itself
        try:
            return self.session.request(method, self.url + path, timeout=120, **arguments)
        finally:
            self._used = time.monotonic()
            if "Connection" in arguments.get("headers", {}):
                self.session.close()  # Orthanc closes it as asked, but answers "keep-alive"

    def get(self, path: str, **arguments: Any) -> requests.Response:  # noqa: ANN401
        return self.request("GET", path, **arguments)

    def get_json(self, path: str, **arguments: Any) -> Json:  # noqa: ANN401
        response = self.get(path, **arguments)
        response.raise_for_status()
        return response.json()

    def is_older_than(self, *release: int) -> bool:
        """Whether this is an Orthanc before that release, as (1, 12, 2)."""
        version = self.get_json("/system")["Version"]
        return version != "mainline" and tuple(map(int, version.split("."))) < release

    def find_instance(self, sop_instance_uid: str) -> str:
        """Orthanc's identifier of the one stored instance with this UID."""
        found = self.request("POST", "/tools/lookup", data=sop_instance_uid).json()
        identifiers = [entry["ID"] for entry in found if entry["Type"] == "Instance"]
        assert len(identifiers) == 1, f"{sop_instance_uid} is stored {len(identifiers)} times"
        return identifiers[0]

    def get_file(self, instance_id: str) -> bytes:
        response = self.get(f"/instances/{instance_id}/file")
        response.raise_for_status()
        return response.content

    def upload(self, content: bytes) -> str:
        """POST /instances: the identifier of the stored instance."""
        response = self.request("POST", "/instances", data=content)
        response.raise_for_status()
        return response.json()["ID"]

    def tune(self, **sections: Json) -> Json:
        """Merges sections into the tuning, and returns what is in force then."""
        response = self.request("PUT", "/perf/tuning", json=sections)
        assert response.status_code == 200, response.text
        return response.json()

    def delete_all(self) -> None:
        for patient in self.get_json("/patients"):
            self.request("DELETE", f"/patients/{patient}").raise_for_status()

    def _write_scripts(self, scripts: list[str]) -> list[str]:
        paths = []
        for number, script in enumerate(scripts):
            path = self.folder / f"script-{number}.lua"
            path.write_text(script, "utf-8")
            paths.append(str(path))
        return paths

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise OrthancDidNotStartError(self.log)
            # The log has it last: both servers, DICOM's and HTTP's, are up by then. And Orthanc
            # waits for SIGTERM only when all plugins know that it has started.
            if "Orthanc has started" in self.log and _handles_sigterm(process.pid):
                with contextlib.suppress(requests.ConnectionError):
                    self.get_json("/system")
                    return
            time.sleep(0.02)
        raise TimeoutError(f"Orthanc was not ready after {START_SECONDS} s:\n{self.log}")
