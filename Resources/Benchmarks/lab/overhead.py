# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugin costs: Orthanc servers side by side, which differ in one thing.

Small blocks of uploads, each into an empty store: what else the machine does hits all
alike. Beside the throughput, the processor time that Orthanc spends on an instance: it is far
more stable than the clock on the wall where others share the machine. With PostgreSQL, all have a
database of the same server, which is none of Orthanc's processes.
"""

from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from harness.images import Image
from harness.large import SMALLEST_BUDGET
from harness.orthanc import OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PROGRAMS, PostgreSqlServer
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.large import THREADS, make_large, rest, wait_beside
from lab.machine import describe_plugin
from lab.options import Option, make_plan, make_series
from lab.processes import ClientError, check_images, watch_processor
from lab.senders import Send, Target, use_http, use_storescu

# DCMTK's own switch: 1 turns Nagle's algorithm off, so that no stall covers up what is measured
NO_DELAY = {"TCP_NODELAY": "1"}

# The same options as that environment sets, and no others
SAME_SOCKETS = {
    "Tuning": {
        "DicomSockets": {
            "TcpNoDelay": True,
            "TcpQuickAck": False,
            "KeepAliveSeconds": 0,
            "UserTimeoutSeconds": 0,
        }
    }
}

LOADS: dict[str, tuple[str, Callable[[OrthancServer, list[Image]], Send]]] = {
    "http-1": ("POST /instances, 1 client", lambda server, images: use_http(server, images, 1)),
    "http-4": ("POST /instances, 4 clients", lambda server, images: use_http(server, images, 4)),
    "storescu": (
        "storescu with TCP_NODELAY=1",
        lambda server, images: use_storescu(Target(server.dicom_port, images), 1, NO_DELAY),
    ),
}

SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
DATABASES = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
CONNECTIONS = 4  # to PostgreSQL: as many as clients

FIGURES = {"throughput": Figure("instances/s"), "processor time of Orthanc": Figure("ms/instance")}


Beside = Callable[[OrthancServer], AbstractContextManager[object]]


@dataclass(frozen=True)
class Setup:
    """How one of the servers is set up; `beside`: what goes on there while it is measured."""

    name: str
    plugins: list[Path] = field(default_factory=list)
    perf: dict[str, Any] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    beside: Beside = nullcontext


Setups = tuple[Setup, ...]


def compare(arguments: Namespace) -> Setups:
    """What differs between the servers; otherwise the plugin has nothing to win."""
    asked, experiment = vars(arguments), arguments.command
    if sum(bool(asked.get(name)) for name in ("budget", "at_once", "earlier")) > 1:
        raise ClientError("only one of --budget, --at-once and --earlier can be measured")
    none = Setup("without the plugin", environment=NO_DELAY)
    plugin = Setup("the plugin", [arguments.plugin], SAME_SOCKETS, NO_DELAY)

    def tune(name: str, **sections: Any) -> Setup:  # noqa: ANN401
        return replace(plugin, name=name, perf={"Tuning": {**SAME_SOCKETS["Tuning"], **sections}})

    if experiment == "noise":  # how far from 1 the noise alone takes the ratio
        return (none, replace(none, name="without the plugin, again"))
    if asked.get("probe_only"):
        without = {**SAME_SOCKETS, "SocketProbe": False}
        return (
            replace(plugin, name="the plugin without its probe", perf=without),
            replace(plugin, name="the plugin with its probe"),
        )
    if experiment == "cost-of-probe":
        name = "no-delay set by the plugin, quick ACK off"
        return (
            replace(none, name="TCP_NODELAY=1 in the environment, no plugin"),
            replace(plugin, name=name, environment={}),
        )
    if earlier := asked.get("earlier"):
        other = [earlier.resolve(strict=True)]
        return (replace(plugin, name="the earlier plugin", plugins=other), plugin)
    if asked.get("at_once"):
        at_once = tune("files at once", Storage={"WriteAtOnce": True})
        return (replace(plugin, name="files in pieces of 4 KiB"), at_once)
    if asked.get("budget"):
        all_large = "a budget, large ones wait"
        beside = dict.fromkeys(("no budget", "a budget, nothing large"), rest)
        beside[all_large] = partial(wait_beside, images=make_large())
        budgets = (0, "25%", SMALLEST_BUDGET)
        return tuple(
            replace(
                tune(name, Memory={"IngestBudget": budget}), options=THREADS, beside=beside[name]
            )
            for name, budget in zip(beside, budgets, strict=True)
        )
    return (none, replace(plugin, name="with the plugin"))


def measure(server: OrthancServer, send: Send, images: list[Image], beside: Beside) -> Figures:
    """One block of uploads into an empty store; the plugin's own processes are counted, too."""
    server.delete_all()
    with beside(server):
        processor = watch_processor(server.pid)
        seconds = send()
        processor_seconds = processor()
    check_images(server, images)
    return {
        "throughput": len(images) / seconds,
        "processor time of Orthanc": processor_seconds / len(images) * 1000,
    }


def make_server(setup: Setup, folder: Path, database: PostgreSqlServer | None) -> OrthancServer:
    plugins, options = setup.plugins, setup.options
    if database is not None:
        database.create_database(folder.name)
        plugins = [*plugins, POSTGRESQL_PLUGIN]
        options = {**options, **database.get_options(folder.name, connections=CONNECTIONS)}
    return OrthancServer(
        folder, plugins=plugins, perf=setup.perf, environment=setup.environment, options=options
    )


def open_bench(
    setups: Setups, arguments: Namespace, images: list[Image], database: str, room: Room
) -> Bench:
    """All servers, started anew; who is started first changes from round to round."""
    if database == POSTGRESQL and not (POSTGRESQL_PLUGIN.exists() and PROGRAMS.exists()):
        return lambda _: Entry({}, {POSTGRESQL: "not installed: postgresql, orthanc-postgresql"})
    makers = dict(LOADS[load] for load in arguments.loads)
    common = None
    if database == POSTGRESQL:  # its data is where Orthanc has its own
        common = room.enter(PostgreSqlServer(parent=room.folder.parent))
    servers = [
        make_server(setup, room.folder / name, common)
        for name, setup in zip(ascii_lowercase, setups, strict=False)
    ]
    for server in servers if room.number % 2 == 0 else reversed(servers):
        room.enter(server)

    def make_contestants(factors: Factors) -> Entry:
        contestants = {}
        for setup, server in zip(setups, servers, strict=True):
            send = makers[factors["Load"]](server, images)
            contestants[setup.name] = partial(measure, server, send, images, setup.beside)
        for measure_once in contestants.values():
            measure_once()  # to warm up
        return Entry(contestants)

    return make_contestants


def make_stages(arguments: Namespace) -> list[Stage]:
    setups = compare(arguments)
    images = make_series("overhead", arguments.images)
    # A result of SQLite alone is one as before there was a choice
    is_varied = arguments.databases != ["sqlite"]
    return [
        Stage(
            [
                {"Load": LOADS[load][0], **({"Database": database} if is_varied else {})}
                for load in arguments.loads
            ],
            partial(open_bench, setups, arguments, images, database),
            arguments.turns,
            arguments.seconds,
            arguments.rounds,
        )
        for database in (DATABASES[name] for name in arguments.databases)
    ]


OPTIONS = [
    Option("--loads", list(LOADS), choices=LOADS),
    Option("--databases", ["sqlite"], "of the index", choices=DATABASES),
    Option("--images", 25, "in each block", 10),
    Option("--rounds", 16, "with servers started anew", 3),
    *make_plan(12, 240, (3, 30)),
]

OVERHEAD = Experiment(
    "ingest with the plugin and without it",
    [
        *OPTIONS,
        Option("--budget", False, "the plugin in all: with Memory.IngestBudget in some"),
        Option("--at-once", False, "the plugin in both: Storage.WriteAtOnce in one"),
        Option("--earlier", None, "another plugin, to compare with", kind=Path, metavar="PLUGIN"),
    ],
    make_stages,
    FIGURES,
    facts=lambda it: {"Earlier": describe_plugin(it.earlier)} if it.earlier else {},
)
NOISE = Experiment(
    "Orthanc against itself: what the lab cannot tell apart", OPTIONS, make_stages, FIGURES
)
PROBE_ONLY = Option("--probe-only", False, "the plugin in both, the probe in one")
COST_OF_PROBE = Experiment(
    "sockets tuned by the probe or by DCMTK", [*OPTIONS, PROBE_ONLY], make_stages, FIGURES
)
