# SPDX-License-Identifier: GPL-3.0-or-later
"""A series into Orthanc, by each sender and with each setting that a published report tells of.

Around a base (4 storescu; Orthanc with SQLite, 4 DICOM threads, no transcoding), one or two things
are other at a time. Each cell is measured with stock and with tuned sockets, and beside its speed
stands where the plugin saw the time of an instance go. Report 002's senders and settings get all
numbers in parallel that it has, others fewer.
"""

import math
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.images import Image
from harness.metrics import INSTANCES, STALLS, Metrics, scrape, scrape_when_counted
from harness.orthanc import OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PROGRAMS, PostgreSqlServer
from harness.receivers import describe_modality
from harness.slow_disk import find_throttle_obstacle, throttle_writes
from harness.tuning import tune_sockets
from lab import phases, senders, tables
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage, Turn
from lab.charts import Charts
from lab.machine import describe_packages, describe_storage, is_in_memory
from lab.options import Option, make_plan, make_series
from lab.phases import PHASES, share_phases
from lab.processes import ClientError, check_images, check_stored, check_syntax, watch_processor
from lab.results import Cell, Results
from lab.senders import Send, Target, use_http, use_storescu
from lab.stalls import PRESETS, STOCK, TUNED

STORESCU, HTTP, MOVE = "storescu", "HTTP client", "C-MOVE from Orthanc"
HTTP_GZIP = "HTTP client that accepts gzip"
NO_NAGLE, MOVE_NO_NAGLE = f"{STORESCU} with TCP_NODELAY=1", f"{MOVE} with TCP_NODELAY=1"
BASE, DISK = "base", "disk"
NODELAY = "Orthanc with TCP_NODELAY=1"
DCMTK, GDCM, NATIVE = (
    f"to JPEG Lossless by {engine}" for engine in ("DCMTK", "GDCM", "the native engine")
)
SLOW, SLOW_ONE = "slow disk", "slow disk, DicomThreadsCount 1"


def name_threads(threads: int, source: int) -> str:
    return f"DICOM threads {threads} / {source} (destination / source)"


# Report 002, by sender and server: seconds until each of so many in parallel has sent all images
PUBLISHED_IMAGES = 373
PUBLISHED = {
    (STORESCU, "DicomThreadsCount 1"): {1: 27.7, 2: 24.5, 4: 26.8, 8: 30.5, 16: 60.4},
    (STORESCU, BASE): {1: 25.9, 2: 25.1, 4: 25.1, 8: 25.6, 16: 37.5},
    (STORESCU, DCMTK): {1: 28.3, 2: 27.3, 8: 27.3, 16: 41.3},
    (STORESCU, GDCM): {1: 28.8, 2: 27.4, 8: 27.1, 16: 41.6},
    (HTTP, BASE): {1: 6.8, 2: 7.1, 4: 8.8, 8: 18.0, 16: 38.4},
    (HTTP, DCMTK): {1: 9.6, 2: 9.6, 4: 12.0, 8: 18.7, 16: 40.7},
    (HTTP, GDCM): {1: 9.9, 2: 9.9, 4: 11.7, 8: 19.9, 16: 39.2},
    (MOVE, name_threads(1, 4)): {1: 4.1, 2: 7.6, 4: 15.0, 8: 30.4},
    (MOVE, BASE): {1: 4.3, 2: 4.8, 4: 7.3, 8: 14.5},
    (MOVE, name_threads(16, 1)): {1: 3.8, 2: 7.6, 4: 15.2, 8: 32.2},
    (MOVE, name_threads(16, 16)): {1: 4.1, 2: 3.9, 4: 6.8, 8: 13.8, 16: 27.3},
    (STORESCU, SLOW_ONE): {1: 89.5, 2: 168.8},
    (STORESCU, SLOW): {1: 91.5, 2: 128.8, 4: 261.7},
}

PHASE_SECONDS = "orthanc_perf_ingest_phase_seconds_sum"
JPEG_LOSSLESS = "1.2.840.10008.1.2.4.70"
SEVERAL = 4  # senders of the base
SLOW_SHARE = 1 / 4  # of the series, for a disk that takes few writes
WARM_UP = 2  # images
TESTED, MOVER = "TESTED", "MOVER"

# A cell in which tuned was below stock in the first turns gets all, which the sign test can judge
FIRST_TURNS, MOST_TURNS = 3, 9

# Into the base, and into others
OF_BASE = [STORESCU, NO_NAGLE, "dcmsend", "pynetdicom", "gdcmscu", "dicom-rs", HTTP, "curl", MOVE]
SENDERS = [*OF_BASE, HTTP_GZIP, MOVE_NO_NAGLE]
NAGLE_OFF = {"TCP_NODELAY": "1"}  # DCMTK's own switch
DICOM_THREADS = "DicomThreadsCount"


@dataclass(frozen=True)
class Setup:
    """What an Orthanc has other than the base, and by whom it is measured.

    `options` are Orthanc's, `source_threads` those of the Orthanc that sends. `resends`: the images
    are there already. `place`, of its files: "base", where the others are, "disk", or "slow", a
    disk that takes few writes. `share`: of the series, as much as is sent. `turns`, `patience`:
    times the turns, and the seconds, that other cells get.
    """

    name: str
    cells: list[tuple[str, int]]
    options: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    source_threads: int = SEVERAL
    engine: str = ""
    has_postgresql: bool = False
    resends: bool = False
    log_level: str = "default"
    place: str = "base"
    share: float = 1
    turns: int = 1
    patience: float = 1


@dataclass
class Site:
    arguments: Namespace
    setup: Setup
    room: Room

    def __post_init__(self) -> None:
        most = max(count for _, count in self.setup.cells)
        count = max(WARM_UP * most, round(self.setup.share * len(self.arguments.series)))
        self._images: list[Image] = self.arguments.series[:count]
        self._tested = self._start_tested()
        self._source = None
        if any(sender in (MOVE, MOVE_NO_NAGLE) for sender, _ in self.setup.cells):
            self._source = self._start_source()
        use_http(self._tested, self._images, 2)()  # to warm up; and for those that send again
        scrape_when_counted(self._tested, len(self._images))
        self._warm = {HTTP}

    def enter(self, factors: Factors) -> Entry:
        count, sender = split_senders(factors)
        if sender == "dicom-rs" and (obstacle := senders.find_dicom_rs_obstacle()):
            return Entry({}, {sender: obstacle})
        if sender == HTTP_GZIP:  # which Orthanc does with small answers before 1.12.2
            answer = self._tested.get("/system", headers=senders.GZIP)
            if answer.headers.get("Content-Encoding") != "gzip":
                return Entry({}, {sender: "this Orthanc compresses no such answer"})
        if engine := self.setup.engine:
            tuning = {"IngestTranscoding": {"TransferSyntax": JPEG_LOSSLESS, "Engine": engine}}
            if not self._tested.request("PUT", "/perf/tuning", json=tuning).ok:
                return Entry({}, {engine: "the engine is not there"})
        self._warm_up(sender)
        send = self._make_ways(count, self._images)[sender]()
        return Entry(
            {name: partial(self._measure, send, count, preset) for name, preset in PRESETS.items()}
        )

    def _warm_up(self, sender: str) -> None:
        """So that the first turn does not read the sender's program from the disk."""
        if sender in self._warm:
            return
        self._clear()
        before = int(scrape(self._tested).sum(INSTANCES))
        self._make_ways(1, self._images[:WARM_UP])[sender]()()
        scrape_when_counted(self._tested, before + WARM_UP)
        self._warm.add(sender)

    def _clear(self) -> None:
        if not self.setup.resends:
            self._tested.delete_all()

    def _measure(self, send: Send, parallel: int, preset: str) -> Figures:
        server, count = self._tested, len(self._images)
        tune_sockets(server, Preset=preset)
        self._clear()
        before, processor = scrape(server), watch_processor(server.pid)
        seconds = send()
        used = processor()
        after = scrape_when_counted(server, int(before.sum(INSTANCES)) + count)
        counted = after.sum(INSTANCES) - before.sum(INSTANCES)
        if counted != count:
            raise ClientError(f"the plugin has counted {counted:.0f} of {count} images")
        if self.setup.engine:
            check_stored(server, len(self._images))
            check_syntax(server, JPEG_LOSSLESS)
        else:
            check_images(server, self._images)
        return {
            "throughput": count / seconds,
            "an instance": parallel * seconds / count * 1000,
            "stalls": (after.sum(STALLS) - before.sum(STALLS)) / count,
            "processor time": used / count * 1000,
            **share_phases(sum_phases(before, after), count),
        }

    def _make_ways(self, count: int, images: list[Image]) -> dict[str, Callable[[], Send]]:
        source, tested = self._source, self._tested
        target = Target(tested.dicom_port, images)
        return {
            STORESCU: lambda: use_storescu(target, count),
            NO_NAGLE: lambda: use_storescu(target, count, NAGLE_OFF),
            "dcmsend": lambda: senders.use_dcmsend(target, count),
            "pynetdicom": lambda: senders.use_pynetdicom(target, count),
            "gdcmscu": lambda: senders.use_gdcmscu(target, count),
            "dicom-rs": lambda: senders.use_dicom_rs(target, count),
            HTTP: lambda: use_http(tested, images, count),
            HTTP_GZIP: lambda: use_http(tested, images, count, accepts_gzip=True),
            "curl": lambda: senders.use_curl(tested, images, count, self.room.folder),
            MOVE: lambda: senders.use_movescu(source, MOVER, TESTED, images, count),
            MOVE_NO_NAGLE: lambda: senders.use_movescu(source, MOVER, TESTED, images, count),
        }

    def _start_tested(self) -> OrthancServer:
        setup, folder, throttle = self.setup, self.room.folder / "tested", None
        if setup.place != "base":
            other = TemporaryDirectory(prefix="lab-", dir=self.arguments.disk)
            folder = Path(self.room.enter(other))
        if setup.place == "slow":
            throttle = self.room.enter(throttle_writes(folder, self.arguments.writes))
        plugins = [self.arguments.plugin]
        options = {DICOM_THREADS: SEVERAL, **setup.options}
        if setup.has_postgresql:
            # Its data is where the others have theirs
            database = self.room.enter(PostgreSqlServer(parent=self.room.folder.parent))
            plugins.append(POSTGRESQL_PLUGIN)
            options |= database.get_options()
        server = self.room.enter(
            OrthancServer(folder, plugins=plugins, options=options, environment=setup.environment)
        )
        if throttle is not None:
            throttle.write_text(str(server.pid), "ascii")
        server.request("PUT", "/tools/log-level", data=setup.log_level).raise_for_status()
        return server

    def _start_source(self) -> OrthancServer:
        remotes = {
            "tested": describe_modality(self._tested.dicom_port, TESTED),
            "mover": describe_modality(1, MOVER),
        }
        options = {"DicomModalities": remotes, DICOM_THREADS: self.setup.source_threads}
        has_nagle = all(sender != MOVE_NO_NAGLE for sender, _ in self.setup.cells)
        environment = {} if has_nagle else NAGLE_OFF
        source = OrthancServer(
            self.room.folder / "source", options=options, environment=environment
        )
        self.room.enter(source)
        use_http(source, self._images, 2)()
        check_images(source, self._images)
        return source


def sum_phases(before: Metrics, after: Metrics) -> dict[str, float]:
    sums = {}
    for phase in PHASES:
        until, now = (one.sum(PHASE_SECONDS, phase=phase.lower()) for one in (before, after))
        if now > until:
            sums[phase] = now - until
    return sums


def find_obstacle(arguments: Namespace, setup: Setup) -> str | None:
    if setup.has_postgresql and not (POSTGRESQL_PLUGIN.exists() and PROGRAMS.exists()):
        return "not installed: postgresql, orthanc-postgresql"
    if setup.place == "base":
        return None
    if is_in_memory(arguments.disk):
        return "its folder is in memory; --disk names one on a disk"
    if setup.place != "slow":
        return None
    if obstacle := find_throttle_obstacle():
        return obstacle
    try:
        with throttle_writes(arguments.disk, arguments.writes):
            return None
    except OSError as error:
        return f"the kernel cannot throttle the disk: {error.strerror}"


def open_site(arguments: Namespace, setup: Setup, room: Room) -> Bench:
    if obstacle := find_obstacle(arguments, setup):
        return lambda _: Entry({}, {setup.name: obstacle})
    return Site(arguments, setup, room).enter


def list_setups(arguments: Namespace) -> Iterator[Setup]:
    """Along the axes that were asked for; what two of them have is measured once."""
    parallel: list[int] = arguments.parallel

    def few(*counts: int) -> list[int]:
        return [count for count in parallel if count in counts] or parallel

    def published(sender: str, server: str, *more: int) -> list[tuple[str, int]]:
        """As many in parallel as report 002 has."""
        return cross(few(*PUBLISHED[sender, server], *more), sender)

    def up_to(most: int) -> list[int]:
        return [count for count in parallel if count <= most]

    def cross(counts: list[int], *senders: str) -> list[tuple[str, int]]:
        chosen = [sender for sender in senders if sender in arguments.senders]
        return [(sender, count) for sender in chosen for count in counts]

    of_base = {
        **dict.fromkeys((STORESCU, HTTP, MOVE), parallel),
        NO_NAGLE: few(1),
        "pynetdicom": few(1, 4, 16),
    }
    of_senders = [cell for name in OF_BASE for cell in cross(of_base.get(name, few(4)), name)]
    single = [cell for cell in of_senders if cell[1] == 1]
    base = cross(up_to(SEVERAL), STORESCU)[-1:]
    axes: dict[str, list[Setup]] = {
        # A single sender takes longest, and is what the page begins with: six turns, an interval
        "senders": [
            Setup(BASE, single, turns=2, patience=7),
            Setup(BASE, [cell for cell in of_senders if cell not in single]),
        ],
        "threads": [
            Setup(f"{DICOM_THREADS} {threads}", cells, {DICOM_THREADS: threads})
            for threads, cells in (
                (1, published(STORESCU, f"{DICOM_THREADS} 1")),
                (16, cross(few(4, 16), STORESCU)),
            )
        ],
        # With Nagle's algorithm off at both ends, there is little between tuned and stock
        "nagle": [
            Setup(NODELAY, cross(few(1), STORESCU), environment=NAGLE_OFF, turns=3, patience=4),
            Setup(
                NODELAY,
                [*cross(few(1, 4), NO_NAGLE, MOVE_NO_NAGLE), *cross(few(1), HTTP)],
                environment=NAGLE_OFF,
                turns=5,
                patience=5,
            ),
        ],
        "moves": [
            Setup(name, published(MOVE, name), {DICOM_THREADS: threads}, source_threads=source)
            for threads, source in ((1, 4), (16, 1), (16, 16))
            if (name := name_threads(threads, source))
        ],
        "transcoding": [
            *(
                Setup(name, [*published(STORESCU, name, 4), *published(HTTP, name)], engine=engine)
                for name, engine in ((DCMTK, "dcmtk"), (GDCM, "gdcm"))
            ),
            Setup(
                NATIVE, [*cross(few(1, 4), STORESCU, HTTP), *cross(few(4), MOVE)], engine="native"
            ),
        ],
        "gzip": [Setup(GDCM, cross(few(1), HTTP, HTTP_GZIP), engine="gdcm", patience=2)],
        "database": [
            Setup(
                "PostgreSQL",
                [*cross(few(1, 4, 16), STORESCU), *cross(few(1, 4), HTTP)],
                has_postgresql=True,
            )
        ],
        "overwriting": [
            Setup(
                f"sent again, OverwriteInstances {str(overwrites).lower()}",
                base,
                {"OverwriteInstances": overwrites},
                resends=True,
            )
            for overwrites in (False, True)
        ],
        "log": [Setup("log level trace", base, log_level="trace")],
        "storage": [
            Setup(DISK, cross(few(1), STORESCU, HTTP), place="disk", turns=2, patience=7),
            Setup(DISK, cross(few(4), STORESCU, HTTP), place="disk", patience=2),
            Setup(SLOW, cross(up_to(SEVERAL), STORESCU), place="slow", share=SLOW_SHARE),
            Setup(
                SLOW_ONE,
                cross(up_to(2), STORESCU),
                {DICOM_THREADS: 1},
                place="slow",
                share=SLOW_SHARE,
            ),
        ],
    }
    seen: set[tuple[str, str, int]] = set()
    for setup in (setup for axis in arguments.axes for setup in axes[axis]):
        cells = [cell for cell in setup.cells if (setup.name, *cell) not in seen]
        seen.update((setup.name, *cell) for cell in cells)
        if cells:
            yield replace(setup, cells=cells)


AXES = [
    *("senders", "threads", "nagle", "moves", "transcoding", "gzip", "database", "overwriting"),
    *("log", "storage"),
]


def is_below_at_first(turns: list[Turn]) -> bool:
    """Whether tuned was below stock in each of the first turns: by noise, one of eight is."""
    return len(turns) >= FIRST_TURNS and all(
        turn[TUNED]["throughput"] < turn[STOCK]["throughput"] for turn in turns[:FIRST_TURNS]
    )


def name_senders(count: int, sender: str) -> str:
    return f"{count} x {sender}"


def split_senders(factors: Factors) -> tuple[int, str]:
    count, sender = factors["Senders"].split(" x ")
    return int(count), sender


def place_senders(_: object, factors: Factors, name: str) -> tuple[str, str]:
    count, sender = split_senders(factors)
    return f"{sender}; {factors['Server']}, {name.removeprefix('preset ')}", f"{count} in parallel"


def get_throughput(figures: Figures) -> float:
    return figures["throughput"]


TABLES = [
    tables.Table(
        f"Seconds until each sender has sent {PUBLISHED_IMAGES} images",
        "sender; server, sockets",
        place_senders,
        get_throughput,
        # That these senders take if each sends as many images as the published ones
        lambda factors, found: split_senders(factors)[0] * PUBLISHED_IMAGES / found,
        published={
            f"{sender}; {server}": {f"{count} in parallel": it for count, it in row.items()}
            for (sender, server), row in PUBLISHED.items()
        },
        publisher="report 002",
    ),
    tables.Table(
        "Speed by senders in parallel",
        "images/s",
        lambda *it: place_senders(*it) if it[1]["Server"] == BASE else None,
        get_throughput,
        chart="senders in parallel",
    ),
]


def list_drawn(cells: list[Cell]) -> list[Cell]:
    """Single storescu, and one of each kind of sender and server: 4 in parallel, or the nearest."""
    chosen: dict[tuple[str, str], Cell] = {}
    for cell in sorted(cells, key=lambda cell: abs(math.log2(split_senders(cell.factors)[0] / 4))):
        chosen.setdefault((split_senders(cell.factors)[1], cell.factors["Server"]), cell)
    single = [{"Server": server, "Senders": name_senders(1, STORESCU)} for server in (DISK, BASE)]
    return [cell for cell in cells if cell in chosen.values() or cell.factors in single]


def answer(results: Results, charts: Charts) -> list[str]:
    drawn = phases.answer(results, charts, list_drawn)
    return [*tables.show(TABLES)(results, charts), *drawn]


def make_stages(arguments: Namespace) -> list[Stage]:
    arguments.disk.mkdir(parents=True, exist_ok=True)
    arguments = Namespace(**vars(arguments), series=make_series("ingest", arguments.images))
    return [
        Stage(
            [
                {"Server": setup.name, "Senders": name_senders(count, sender)}
                for sender, count in setup.cells
            ],
            partial(open_site, arguments, setup),
            setup.turns * arguments.turns,
            setup.patience * arguments.seconds,
            is_in_doubt=is_below_at_first,
            most_turns=MOST_TURNS,
        )
        for setup in list_setups(arguments)
    ]


def describe_here(arguments: Namespace) -> dict[str, str]:
    return {
        "Disk": describe_storage(arguments.disk),
        "pynetdicom": version("pynetdicom"),
        **describe_packages("libgdcm-tools", "curl", "postgresql", "orthanc-postgresql"),
    }


EXPERIMENT = Experiment(
    "a series into Orthanc by every sender and setting, and where the time of an instance goes",
    [
        Option("--axes", AXES, "what is varied", ["senders", "transcoding", "database"], AXES),
        Option("--senders", SENDERS, "", [STORESCU, HTTP, MOVE], SENDERS),
        Option("--images", 373, "of the series, 525 kB each", 12),
        Option("--parallel", [1, 2, 4, 8, 16], "senders at once", [1, 4]),
        Option("--disk", Path("/var/tmp"), "for the axis storage", kind=Path),
        Option("--writes", 100, "that the slow disk takes in a second"),
        *make_plan(3, 25, (1, 5)),
    ],
    make_stages,
    {
        "throughput": Figure("images/s"),
        "an instance": Figure("ms", is_compared=False),
        "stalls": Figure("an image", is_compared=False),
        "processor time": Figure("ms/image", is_compared=False),
    },
    answer=answer,
    facts=describe_here,
)
