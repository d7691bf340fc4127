# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugin does in one Orthanc, whichever it is: the columns of install.md."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urljoin

from harness import clients
from harness.certificates import Certificate, mend_https
from harness.images import Image
from harness.metrics import scrape
from harness.orthanc import OrthancServer, find_free_port
from harness.process import list_children
from harness.receivers import StoreScp, describe_modality, send, upload_to_send
from harness.transcoding import TARGETS, decode, get_syntax, list_engines, read, read_stored, tune
from harness.tuning import tune_sockets

LONGEST_FAILURE = 200

# What Chromium asks with, and the types by which it runs a module and takes a style
BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
    "image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    "Accept-Encoding": "gzip, deflate, br",
}
TYPES = {".js": "text/javascript", ".css": "text/css"}

# Phases that tell whether the probe sees what Orthanc does
SEEN = {"Receive", "Storage", "Index", "Respond"}


@dataclass(frozen=True)
class Trial:
    """An Orthanc, and what it is tried with.

    `launcher` executes it, if it is not this machine's; the folder, where it sees it as well, has
    the library in it.
    """

    launcher: list[str] | None
    program: Path
    library: Path
    folder: Path
    images: Sequence[Image]
    certificate: Certificate

    def start(
        self,
        options: dict[str, Any] | None = None,
        has_plugin: bool = True,
        environment: dict[str, str] | None = None,
    ) -> OrthancServer:
        return OrthancServer(
            self.folder,
            plugins=[self.library] if has_plugin else [],
            options={"OverwriteInstances": True, **(options or {})},
            environment=environment,
            launcher=self.launcher,
            program=self.program,
        )


@dataclass
class Result:
    """What was seen in one Orthanc; of each column None, or why it failed."""

    version: str = "?"
    plugin: str = "?"  # its version
    columns: dict[str, str | None] = field(default_factory=dict)
    fails_without: list[str] = field(default_factory=list)  # columns: without the plugin, too
    mended: list[str] = field(default_factory=list)  # of these, what works once Orthanc's is mended

    def list_failures(self) -> dict[str, str]:
        """The reasons of what the plugin is answerable for."""
        return {
            column: reason
            for column, reason in self.columns.items()
            if reason is not None and column not in self.fails_without
        }


def check_load(trial: Trial, server: OrthancServer) -> None:
    assert server.get_json("/plugins/perf")["Version"]
    assert str(trial.library) in Path(f"/proc/{server.pid}/maps").read_text("utf-8")
    assert scrape(server)


def check_store(trial: Trial, server: OrthancServer) -> None:
    clients.store(server, trial.images)
    check_phases(server, "DicomProtocol", len(trial.images))


def check_upload(trial: Trial, server: OrthancServer) -> None:
    post(trial, server)
    check_phases(server, "RestApi", len(trial.images))


def check_send(trial: Trial, server: OrthancServer) -> None:
    """To an untouched storescp, which would stall."""
    port = find_free_port()
    modality = describe_modality(port)
    server.request("PUT", "/modalities/receiver", json=modality).raise_for_status()
    identifiers = upload_to_send(server, trial.images)
    with StoreScp(port):
        send(server, "receiver", identifiers)
    sent = server.get_json("/perf/instances?direction=Send")
    assert len(sent) == len(trial.images)
    assert sum(instance["Stalls"] for instance in sent) <= 1


def check_tuning(trial: Trial, server: OrthancServer) -> None:
    for preset in ("stock", "tuned"):
        assert tune_sockets(server, Preset=preset)["Preset"] == preset
        clients.store(server, trial.images)


def make_engine_check(engine: str) -> "Check":
    def check(trial: Trial, server: OrthancServer) -> None:
        assert TARGETS[engine] in list_engines(server).get(engine, set()), "it is not available"
        check_engine(server, engine, trial.images)
        assert engine == "native" or list_children(server.pid), "no engine program is running"

    return check


def check_engine(server: OrthancServer, engine: str, images: Sequence[Image]) -> None:
    tune(server, Engine=engine, TransferSyntax=TARGETS[engine])
    server.delete_all()  # or else Orthanc refuses them, unless it is configured otherwise
    clients.store(server, images)
    for image in images:
        stored = read_stored(server, server.find_instance(image.sop_instance_uid))
        assert get_syntax(stored) == TARGETS[engine], f"{engine}: {server.log}"
        assert (decode(stored) == decode(read(image.path))).all()


def check_dashboard(_: Trial, server: OrthancServer) -> None:
    """A browser goes by the types, whatever the text looks like."""
    page = get_as_browser(server, "/perf", "text/html")
    assert page.lower().startswith("<!doctype html>")
    files = dict(re.findall(r'(?:src|href)="([^"]+(\.js|\.css)[^"]*)"', page))
    assert set(files.values()) == set(TYPES)
    for address, kind in files.items():
        assert get_as_browser(server, urljoin("/perf", address), TYPES[kind])


def get_as_browser(server: OrthancServer, path: str, expected: str) -> str:
    answer = server.get(path, headers=BROWSER)
    answer.raise_for_status()
    assert answer.headers["Content-Type"] == f"{expected}; charset=utf-8", path
    return answer.text


def check_stop(_: Trial, server: OrthancServer) -> None:
    assert server.stop() == 0


def post(trial: Trial, server: OrthancServer) -> None:
    for image in trial.images:
        server.upload(image.read_bytes())


def check_phases(server: OrthancServer, origin: str, count: int) -> None:
    instances = server.get_json(f"/perf/instances?origin={origin}")
    assert len(instances) >= count
    assert all(set(instance["Phases"]) >= SEEN for instance in instances)


Check: TypeAlias = Callable[[Trial, OrthancServer], None]

# In their order: the last one ends the server
CHECKS: dict[str, Check] = {
    "loads": check_load,
    "C-STORE": check_store,
    "upload": check_upload,
    "sending": check_send,
    "tuning": check_tuning,
    **{engine: make_engine_check(engine) for engine in TARGETS},
    "dashboard": check_dashboard,
    "stop": check_stop,
}


def try_dicom_tls(trial: Trial, has_plugin: bool) -> None:
    with trial.start(trial.certificate.get_dicom_options(), has_plugin) as server:
        arguments = trial.certificate.get_dcmtk_arguments()
        clients.store(server, trial.images, arguments=arguments)
        if has_plugin:
            check_phases(server, "DicomProtocol", len(trial.images))


def try_https(trial: Trial, has_plugin: bool, environment: dict[str, str] | None = None) -> None:
    options = trial.certificate.get_https_options()
    with trial.start(options, has_plugin, environment) as server:
        post(trial, server)
        if has_plugin:
            check_phases(server, "RestApi", len(trial.images))


APART: dict[str, Callable[[Trial, bool], None]] = {"DICOM TLS": try_dicom_tls, "HTTPS": try_https}

# What Orthanc's own can't do as it comes, and what it can with something added
MENDED: dict[str, Callable[[Trial], None]] = {
    "HTTPS": lambda trial: try_https(trial, True, mend_https(trial.folder / "openssl"))
}

COLUMNS = [*CHECKS, *APART]


def get_failure(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:  # whatever it is, the others are tried
        return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_FAILURE]
    return None


def try_all(trial: Trial) -> Result:
    result = Result()

    def try_checks() -> None:
        with trial.start() as server:
            result.version = server.get_json("/system")["Version"]
            result.plugin = server.get_json("/plugins/perf")["Version"]
            for column, check in CHECKS.items():
                result.columns[column] = get_failure(lambda check=check: check(trial, server))

    failure = get_failure(try_checks)
    for column in CHECKS:
        result.columns.setdefault(column, failure)
    for column, attempt in APART.items():
        result.columns[column] = get_failure(lambda attempt=attempt: attempt(trial, True))
        if result.columns[column] and get_failure(lambda attempt=attempt: attempt(trial, False)):
            result.fails_without.append(column)
            if column in MENDED and get_failure(lambda mend=MENDED[column]: mend(trial)) is None:
                result.mended.append(column)
    return result
