# SPDX-License-Identifier: GPL-3.0-or-later
"""DICOM transfers with stock and with tuned sockets: presets switched in one running server."""

import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from harness.certificates import make_certificate
from harness.clients import upload
from harness.images import Image, make_ct_series
from harness.metrics import scrape
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import StoreScp, describe_modality
from lab.kinds import describe_kind
from lab.processes import ClientError
from lab.ratios import Comparison, alternate
from lab.report import Report
from lab.senders import (
    Send,
    Target,
    use_dicom_rs,
    use_orthanc,
    use_pynetdicom,
    use_storescu,
)
from lab.side_by_side import count_instances

STALLS = "orthanc_perf_stalls_total"
STALL_SECONDS = "orthanc_perf_stall_seconds_total"


@dataclass(frozen=True)
class Settings:
    """What to run, and how often."""

    scenarios: list[str]
    images: int
    senders: list[int]
    pairs: int
    seconds: float
    tls: bool
    dicom_rs: Path
    orthancs: list[Path]


@dataclass(frozen=True)
class Scenario:
    """One way of sending; `prepare` is called before each run, unmeasured, `check` after it."""

    name: str
    send: Send
    prepare: Callable[[], None]
    check: Callable[[], None]
    senders: int = 1


@dataclass(frozen=True)
class Run:
    """One series sent, and what the plugin saw of it."""

    images: int
    seconds: float
    stalls: float
    stall_seconds: float

    def get_throughput(self) -> float:
        return self.images / self.seconds


class Site:
    """The servers: the tested one, with the plugin, and an Orthanc as it comes that sends to it."""

    def __init__(
        self, settings: Settings, program: Path, plugin: Path, images: list[Image], folder: Path
    ) -> None:
        self.settings = settings
        self.program = program
        self.images = images
        folder.mkdir()
        self.certificate = make_certificate(folder) if settings.tls else None
        with ExitStack() as stack:
            arguments = self.certificate.get_dcmtk_arguments() if self.certificate else []
            receiver = stack.enter_context(StoreScp(find_free_port(), *arguments))
            self.tested = stack.enter_context(
                self._make_server(folder / "tested", [plugin], "storescp", receiver.port)
            )
            self.plain = stack.enter_context(
                self._make_server(folder / "plain", [], "tested", self.tested.dicom_port)
            )
            self.kind = describe_kind(self.plain)
            self._stack = stack.pop_all()

    def close(self) -> None:
        self._stack.close()

    def make_scenarios(self, name: str) -> list[Scenario]:
        target = Target(self.tested.dicom_port, self.images, self.certificate)
        match name:
            case "storescu":
                return [self._receive_from_storescu(target, n) for n in self.settings.senders]
            case "pynetdicom":
                return [self._receive("pynetdicom → Orthanc", use_pynetdicom(target))]
            case "dicom-rs":
                send = use_dicom_rs(self.settings.dicom_rs, target)
                return [self._receive("dicom-rs → Orthanc", send)]
            case "orthanc":
                return [self._receive_from_orthanc()]
            case "storescp":
                return [self._send_to_storescp()]
        raise ValueError(name)

    def find_obstacle(self, scenario: str) -> str | None:
        """Why this scenario cannot be run here."""
        if scenario != "dicom-rs":
            return None
        if self.settings.tls:
            return "dicom-storescu is installed without TLS"
        if not self.settings.dicom_rs.exists():
            return "there is no dicom-storescu: Resources/Benchmarks/install-dicom-rs.sh builds it"
        return None

    def _make_server(
        self, folder: Path, plugins: list[Path], modality: str, port: int
    ) -> OrthancServer:
        certificate = self.certificate
        options = certificate.get_dicom_options() if certificate is not None else {}
        # pynetdicom's sender shows no certificate
        options["DicomTlsRemoteCertificateRequired"] = False
        remote = describe_modality(port, modality.upper(), certificate is not None)
        options["DicomModalities"] = {modality: remote}
        return OrthancServer(folder, plugins=plugins, options=options, program=self.program)

    def _receive(self, name: str, send: Send, senders: int = 1) -> Scenario:
        return Scenario(name, send, self.tested.delete_all, self._check_received, senders)

    def _receive_from_storescu(self, target: Target, senders: int) -> Scenario:
        name = f"{senders} storescu → Orthanc"
        return self._receive(name, use_storescu(target, senders), senders)

    def _receive_from_orthanc(self) -> Scenario:
        self._fill(self.plain)
        return self._receive(
            "Orthanc as it comes → Orthanc", use_orthanc(self.plain, "tested", len(self.images))
        )

    def _send_to_storescp(self) -> Scenario:
        return Scenario(
            "Orthanc → storescp as it comes",
            use_orthanc(self.tested, "storescp", len(self.images)),
            partial(self._fill, self.tested),
            self._check_received,
        )

    def _fill(self, server: OrthancServer) -> None:
        if count_instances(server) != len(self.images):
            server.delete_all()
            upload(server, (image.read_bytes() for image in self.images))

    def _check_received(self) -> None:
        stored = count_instances(self.tested)
        if stored != len(self.images):
            raise ClientError(f"{stored} of {len(self.images)} images are stored")


def switch(server: OrthancServer, preset: str) -> None:
    tuning = json.dumps({"DicomSockets": {"Preset": preset}})
    server.request("PUT", "/perf/tuning", data=tuning).raise_for_status()


def measure(site: Site, scenario: Scenario, preset: str) -> Run:
    switch(site.tested, preset)
    scenario.prepare()
    before = scrape(site.tested)
    seconds = scenario.send()
    after = scrape(site.tested)
    scenario.check()
    return Run(
        len(site.images),
        seconds,
        after.sum(STALLS) - before.sum(STALLS),
        after.sum(STALL_SECONDS) - before.sum(STALL_SECONDS),
    )


def describe_stalls(runs: list[tuple[Run, Run]], senders: int) -> str:
    """How often there were stalls, and how much of the time between A and B they explain.

    The latter for one sender only: those of several overlap.
    """
    stock = median(a.stalls / a.images for a, _ in runs)
    tuned = median(b.stalls / b.images for _, b in runs)
    if stock == tuned == 0:
        return "no stalls were seen"
    note = f"stalls an image {stock:.2f} and {tuned:.3f}"
    if senders > 1:
        return note
    share = median((a.stall_seconds - b.stall_seconds) / (a.seconds - b.seconds) for a, b in runs)
    return f"{note}, which make {share:.0%} of the time between A and B"


def compare(site: Site, scenario: Scenario) -> Comparison:
    runs = alternate(
        partial(measure, site, scenario, "stock"),
        partial(measure, site, scenario, "tuned"),
        site.settings.pairs,
        site.settings.seconds,
        warm_up=False,
    )
    throughputs = [(a.get_throughput(), b.get_throughput()) for a, b in runs]
    return Comparison(
        scenario.name,
        "throughput",
        "images/s",
        f"{site.kind}, preset stock",
        "preset tuned",
        [throughputs],
        describe_stalls(runs, scenario.senders),
    )


def run(report: Report, settings: Settings, plugin: Path, images: Path, folder: Path) -> None:
    series = make_ct_series(images, "stalls", settings.images)
    kinds: list[str] = []
    for number, program in enumerate(settings.orthancs):
        with closing(Site(settings, program, plugin, series, folder / str(number))) as site:
            print(f"{site.kind}:", flush=True)
            kinds.append(site.kind)
            run_scenarios(report, site)
    report.machine["Orthanc"] = "; ".join(kinds)


def run_scenarios(report: Report, site: Site) -> None:
    for name in site.settings.scenarios:
        obstacle = site.find_obstacle(name)
        if obstacle is not None:
            report.skip(name, obstacle)
            continue
        for scenario in site.make_scenarios(name):
            report.add([compare(site, scenario)])
