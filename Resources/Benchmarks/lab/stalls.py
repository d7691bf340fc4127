# SPDX-License-Identifier: GPL-3.0-or-later
"""DICOM transfers with stock and with tuned sockets: presets switched in one running server."""

import socket
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.certificates import Certificate, make_certificate
from harness.images import Image
from harness.metrics import STALLS, scrape
from harness.orthanc import ORTHANC, OrthancServer, find_free_port
from harness.receivers import StoreScp, describe_modality
from harness.sockets import read_options, show
from harness.tuning import tune_sockets
from lab import senders
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.options import Option, make_plan, make_series
from lab.processes import check_images, count_instances
from lab.senders import Send, Target, use_http, use_orthanc, use_storescu

STALL_SECONDS = "orthanc_perf_stall_seconds_total"

ACCEPT_SECONDS = 1  # until DCMTK has accepted a connection, and set its options

STOCK, TUNED = "preset stock", "preset tuned"
PRESETS = {STOCK: "stock", TUNED: "tuned"}

SCENARIOS = {
    "pynetdicom": "pynetdicom → Orthanc",
    "dicom-rs": "dicom-rs → Orthanc",
    "orthanc": "Orthanc as it comes → Orthanc",
    "storescp": "Orthanc → storescp as it comes",
}


@dataclass(frozen=True)
class Scenario:
    """One way of sending; `prepare` is called before each run, unmeasured."""

    send: Send
    prepare: Callable[[], None]


def name_storescu(senders: int) -> str:
    return f"{senders} storescu → Orthanc"


@dataclass
class Site:
    """The tested server, with the plugin, and an Orthanc as it comes that sends to it."""

    arguments: Namespace
    program: Path
    images: list[Image]
    room: Room

    def __post_init__(self) -> None:
        has_tls = self.arguments.tls
        self._certificate = make_certificate(self.room.folder) if has_tls else None
        tls = self._certificate.get_dcmtk_arguments() if self._certificate else []
        receiver = self.room.enter(StoreScp(find_free_port(), *tls))
        plugins = [self.arguments.plugin]
        self.tested = self._start("tested", plugins, "storescp", receiver.port)
        self.plain = self._start("plain", [], "tested", self.tested.dicom_port)

    def enter(self, factors: Factors) -> Entry:
        name = factors["Scenario"]
        if name == SCENARIOS["dicom-rs"] and (obstacle := self._find_obstacle()):
            return Entry({}, {"dicom-rs": obstacle})
        scenario = self._make_scenarios()[name]()
        measure(self, scenario, PRESETS[TUNED])  # to warm up: the faster one
        return Entry({who: partial(measure, self, scenario, PRESETS[who]) for who in PRESETS})

    def _make_scenarios(self) -> dict[str, Callable[[], Scenario]]:
        target = Target(self.tested.dicom_port, self.images, self._certificate)
        count = len(self.images)
        receive = partial(Scenario, prepare=self.tested.delete_all)
        ways = {
            name_storescu(number): lambda number=number: receive(use_storescu(target, number))
            for number in self.arguments.senders
        }
        return {
            **ways,
            SCENARIOS["pynetdicom"]: lambda: receive(senders.use_pynetdicom(target)),
            SCENARIOS["dicom-rs"]: lambda: receive(senders.use_dicom_rs(target)),
            SCENARIOS["orthanc"]: lambda: receive(
                use_orthanc(self._fill(self.plain), "tested", count)
            ),
            SCENARIOS["storescp"]: lambda: Scenario(
                use_orthanc(self.tested, "storescp", count), partial(self._fill, self.tested)
            ),
        }

    def _find_obstacle(self) -> str | None:
        if self._certificate is not None:
            return "dicom-storescu is installed without TLS"
        return senders.find_dicom_rs_obstacle()

    def _start(self, name: str, plugins: list[Path], modality: str, port: int) -> OrthancServer:
        certificate: Certificate | None = self._certificate
        options = certificate.get_dicom_options() if certificate is not None else {}
        # pynetdicom's sender shows no certificate
        options["DicomTlsRemoteCertificateRequired"] = False
        remote = describe_modality(port, modality.upper(), certificate is not None)
        options["DicomModalities"] = {modality: remote}
        folder, program = self.room.folder / name, self.program
        server = OrthancServer(folder, plugins=plugins, options=options, program=program)
        return self.room.enter(server)

    def _fill(self, server: OrthancServer) -> OrthancServer:
        if count_instances(server) != len(self.images):
            server.delete_all()
            use_http(server, self.images, 1)()
        return server


def measure(site: Site, scenario: Scenario, preset: str) -> Figures:
    tune_sockets(site.tested, Preset=preset)
    scenario.prepare()
    count = len(site.images)
    before = scrape(site.tested)
    seconds = scenario.send()
    after = scrape(site.tested)
    check_images(site.tested, site.images)
    return {
        "throughput": count / seconds,
        "stalls": (after.sum(STALLS) - before.sum(STALLS)) / count,
        "time in stalls": (after.sum(STALL_SECONDS) - before.sum(STALL_SECONDS)) / count * 1000,
    }


def open_site(arguments: Namespace, program: Path, images: list[Image], room: Room) -> Bench:
    return Site(arguments, program, images, room).enter


def has_nagle(server: OrthancServer) -> bool:
    """Whether Nagle's algorithm is on for the DICOM connections of a server without the plugin."""
    with socket.create_connection(("127.0.0.1", server.dicom_port)):
        time.sleep(ACCEPT_SECONDS)
        shown = show(server, own_port=server.dicom_port)
        return not read_options(server, shown.fd).no_delay


def describe_kind(server: OrthancServer) -> str:
    """Where its DCMTK comes from, and what that does to sockets."""
    version = server.get_json("/system")["Version"]
    maps = Path(f"/proc/{server.pid}/maps").read_text("utf-8", "replace")
    dcmtk = "a shared library" if "/libdcmnet.so" in maps else "part of it"
    nagle = "on" if has_nagle(server) else "off"
    return f"Orthanc {version} (DCMTK is {dcmtk}; Nagle's algorithm is {nagle} as it comes)"


def name_kinds(programs: list[Path]) -> list[str]:
    """Which kind each Orthanc is, with a number where there are several of one."""
    kinds = {}
    for program in dict.fromkeys(programs):
        with TemporaryDirectory() as folder, OrthancServer(Path(folder), program=program) as server:
            kinds[program] = describe_kind(server)
    names: list[str] = []
    for program in programs:
        kind = kinds[program]
        names.append(f"{kind}, number {len(names) + 1}" if kind in names else kind)
    return names


def make_stages(arguments: Namespace) -> list[Stage]:
    images = make_series("stalls", arguments.images)
    programs = [program.resolve(strict=True) for program in arguments.orthanc or [ORTHANC]]
    storescu = [*map(name_storescu, arguments.senders)]
    scenarios = [
        name
        for chosen in arguments.scenarios
        for name in (storescu if chosen == "storescu" else [SCENARIOS[chosen]])
    ]
    stages = []
    for kind, program in zip(name_kinds(programs), programs, strict=True):
        cells = [{"Orthanc": kind, "Scenario": name} for name in scenarios]
        bench = partial(open_site, arguments, program, images)
        stages.append(Stage(cells, bench, arguments.turns, arguments.seconds))
    return stages


CHOICES = ["storescu", *SCENARIOS]
EXPERIMENT = Experiment(
    "transfers with stock and with tuned sockets",
    [
        Option("--scenarios", CHOICES, choices=CHOICES),
        Option("--images", 200, "in each run", 20),
        Option("--senders", [1, 2, 4, 8, 16], "parallel storescu", [1, 4]),
        Option("--tls", False, "DICOM over TLS"),
        Option("--orthanc", None, "a program; several in turn", kind=Path, action="append"),
        *make_plan(6, 120, (3, 15)),
    ],
    make_stages,
    {
        "throughput": Figure("images/s"),
        "stalls": Figure("an image", is_compared=False),
        "time in stalls": Figure("ms an image", is_compared=False),
    },
)
