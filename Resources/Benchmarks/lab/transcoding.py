# SPDX-License-Identifier: GPL-3.0-or-later
"""Ingest with transcoding, relative to ingest without: each engine in turn, switched over REST.

One server with the plugin and tuned sockets holds all contestants but one: Orthanc's own
IngestTranscoding can only be configured, so that it gets a server of its own for each target.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from harness.images import Image, make_ct_series
from harness.orthanc import OrthancServer
from lab.processes import ClientError, ProcessorClock
from lab.ratios import Comparison
from lab.report import Report
from lab.senders import Target, use_storescu
from lab.side_by_side import count_instances

# As Orthanc calls them
TARGETS = {
    "JPEGProcess14SV1": "1.2.840.10008.1.2.4.70",
    "JPEGLSLossless": "1.2.840.10008.1.2.4.80",
    "JPEG2000LosslessOnly": "1.2.840.10008.1.2.4.90",
    "RLELossless": "1.2.840.10008.1.2.5",
}
EXPLICIT = "1.2.840.10008.1.2.1"

# What Orthanc writes by itself (DcmtkTranscoder)
WRITTEN_BY_ORTHANC = ["JPEGProcess14SV1", "JPEGLSLossless"]

ENGINES = ["native", "dcmtk", "gdcm", "auto"]

NONE = "none"
OWN = "Orthanc's own"


@dataclass(frozen=True)
class Settings:
    """What to run, and how often."""

    targets: list[str]
    engines: list[str]
    images: int
    senders: list[int]
    rounds: int
    seconds: float


@dataclass(frozen=True)
class Contestant:
    """A server, and what it is told before each series."""

    name: str
    server: OrthancServer
    tuning: dict[str, Any] | None
    stored_as: str


@dataclass(frozen=True)
class Run:
    """One series stored."""

    images: int
    seconds: float
    processor_seconds: float  # of Orthanc and of the engines' processes
    transcode: float  # the phase's median, in seconds

    def get_throughput(self) -> float:
        return self.images / self.seconds

    def get_processor_time(self) -> float:
        """Milliseconds an image."""
        return self.processor_seconds / self.images * 1000


def switch(contestant: Contestant) -> str | None:
    """Why the server does not accept that."""
    if contestant.tuning is None:
        return None
    tuning = {"IngestTranscoding": contestant.tuning}
    answer = contestant.server.request("PUT", "/perf/tuning", json=tuning)
    return None if answer.ok else "the engine does not write it, or is not there"


def read_processor_times(server: OrthancServer) -> dict[int, float]:
    """The processor time so far of Orthanc and of each of its children, by their numbers."""
    times = {server.pid: ProcessorClock(server.pid).read()}
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            with suppress(OSError):  # it has ended meanwhile
                times[int(child)] = ProcessorClock(int(child)).read()
    return times


def find_transcode_time(server: OrthancServer, images: int) -> float:
    latest = server.get_json(f"/perf/instances?limit={images}")
    return median(instance["Phases"].get("Transcode", 0) for instance in latest)


def check(contestant: Contestant, images: int) -> None:
    """All are stored, and an instance is what it ought to be."""
    stored = count_instances(contestant.server)
    if stored != images:
        raise ClientError(f"{contestant.name}: {stored} of {images} images are stored")
    for instance in contestant.server.get_json("/instances")[::20]:
        found = contestant.server.get(f"/instances/{instance}/metadata/TransferSyntax").text
        if found != contestant.stored_as:
            raise ClientError(f"{contestant.name}: an image is stored as {found}")


def measure(contestant: Contestant, images: list[Image], senders: int) -> Run:
    server = contestant.server
    server.delete_all()
    problem = switch(contestant)
    if problem is not None:
        raise ClientError(problem)
    before = read_processor_times(server)
    seconds = use_storescu(Target(server.dicom_port, images, None), senders)()
    after = read_processor_times(server)
    check(contestant, len(images))
    processor = sum(time - before.get(process, 0) for process, time in after.items())
    return Run(len(images), seconds, processor, find_transcode_time(server, len(images)))


@contextmanager
def run_own(folder: Path, plugin: Path, target: str) -> Iterator[Contestant]:
    """Orthanc's own transcoding by its own DCMTK: of the plugin, only the tuned sockets serve."""
    options = {"IngestTranscoding": TARGETS[target], "BuiltinDecoderTranscoderOrder": "Before"}
    with OrthancServer(folder, plugins=[plugin], options=options) as server:
        yield Contestant(OWN, server, None, TARGETS[target])


def list_contestants(
    report: Report, server: OrthancServer, settings: Settings, target: str
) -> list[Contestant]:
    """Storing as received, and the engines that write this target."""
    contestants = [Contestant(NONE, server, {"TransferSyntax": ""}, EXPLICIT)]
    for engine in settings.engines:
        tuning = {"TransferSyntax": TARGETS[target], "Engine": engine}
        contestant = Contestant(engine, server, tuning, TARGETS[target])
        problem = switch(contestant)
        if problem is None:
            contestants.append(contestant)
        else:
            report.skip(f"{target}, {engine}", problem)
    return contestants


def interleave(
    contestants: list[Contestant], images: list[Image], senders: int, settings: Settings
) -> list[dict[str, Run]]:
    """A B C D, D C B A, …: what drifts, or depends on who comes first, cancels out."""
    for contestant in contestants:
        measure(contestant, images[: 4 * senders], senders)
    deadline = time.monotonic() + settings.seconds
    rounds: list[dict[str, Run]] = []
    while len(rounds) < settings.rounds and (not rounds or time.monotonic() < deadline):
        order = contestants if len(rounds) % 2 == 0 else contestants[::-1]
        rounds.append({who.name: measure(who, images, senders) for who in order})
    return rounds


def describe_phase(rounds: list[dict[str, Run]], name: str) -> str:
    """What the plugin saw of it; Orthanc's own transcoding is none of its phases."""
    transcode = median(runs[name].transcode for runs in rounds)
    return f'phase "transcode" {transcode * 1000:.2f} ms an image' if transcode else ""


def compare(
    contestants: list[Contestant], rounds: list[dict[str, Run]], target: str, senders: int
) -> list[Comparison]:
    def make(
        name: str, figure: str, unit: str, get: Callable[[Run], float], note: str = ""
    ) -> Comparison:
        return Comparison(
            f"{senders} storescu, {target}, {name}",
            figure,
            unit,
            "stored as received",
            "transcoded on ingest",
            [[(get(runs[NONE]), get(runs[name])) for runs in rounds]],
            note,
        )

    names = [contestant.name for contestant in contestants if contestant.name != NONE]
    throughput = [
        make(name, "throughput", "images/s", Run.get_throughput, describe_phase(rounds, name))
        for name in names
    ]
    processor = [make(name, "processor time", "ms/image", Run.get_processor_time) for name in names]
    return throughput + processor


def run(report: Report, settings: Settings, plugin: Path, images: Path, folder: Path) -> None:
    series = make_ct_series(images, "transcoding", settings.images)
    with OrthancServer(folder / "tested", plugins=[plugin]) as server:
        for target in settings.targets:
            contestants = list_contestants(report, server, settings, target)
            with ExitStack() as stack:
                if target in WRITTEN_BY_ORTHANC:
                    own = run_own(folder / target, plugin, target)
                    contestants.append(stack.enter_context(own))
                for senders in settings.senders:
                    rounds = interleave(contestants, series, senders, settings)
                    report.add(compare(contestants, rounds, target, senders))
