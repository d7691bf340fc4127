# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Orthanc servers side by side, which differ in one thing, loaded in turn.

Small blocks of uploads, each into an empty store: what else the machine does hits both
alike. Beside the throughput, the processor time that Orthanc spends on an instance: it is far
more stable than the clock on the wall where others share the machine.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.clients import upload
from harness.images import Image
from harness.orthanc import OrthancServer
from lab.processes import ClientError, ProcessorClock, run_clients
from lab.ratios import Comparison, alternate
from lab.report import Report
from lab.senders import STORESCU


@dataclass(frozen=True)
class Contestant:
    """How one of the two servers is set up."""

    name: str
    plugins: list[Path] = field(default_factory=list)
    perf: dict[str, Any] | None = None
    environment: dict[str, str] = field(default_factory=dict)


Contestants = tuple[Contestant, Contestant]


@dataclass(frozen=True)
class Plan:
    """How much is measured: rounds of pairs of blocks of images, for so many seconds at most."""

    images: int
    pairs: int
    rounds: int
    seconds: float


@dataclass(frozen=True)
class Block:
    """One block of uploads to one server."""

    instances: int
    seconds: float
    processor_seconds: float

    def get_throughput(self) -> float:
        return self.instances / self.seconds

    def get_processor_time(self) -> float:
        """Milliseconds an instance."""
        return self.processor_seconds / self.instances * 1000


@dataclass(frozen=True)
class Load:
    """A way of sending all images of a block to a server; it returns the seconds that it took."""

    name: str
    send: Callable[[OrthancServer], float]


def make_http_load(contents: list[bytes], clients: int) -> Load:
    def send(server: OrthancServer) -> float:
        begin = time.monotonic()
        answers = upload(server, contents, clients)
        duration = time.monotonic() - begin
        if any(status != 200 for status, _ in answers):
            raise ClientError(f"Orthanc answered {answers[0]}")
        return duration

    return Load(f"POST /instances, {clients} client{'s' if clients > 1 else ''}", send)


def make_storescu_load(name: str, images: list[Image], environment: dict[str, str]) -> Load:
    def send(server: OrthancServer) -> float:
        command = [STORESCU, "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)]
        command += [str(image.path) for image in images]
        return run_clients([command], environment)[0]

    return Load(name, send)


def count_instances(server: OrthancServer) -> int:
    return server.get_json("/statistics")["CountInstances"]


def measure(server: OrthancServer, load: Load, instances: int) -> Block:
    server.delete_all()
    clock = ProcessorClock(server.pid)
    before = clock.read()
    seconds = load.send(server)
    processor_seconds = clock.read() - before

    stored = count_instances(server)
    if stored != instances:
        raise ClientError(f"{load.name}: {stored} of {instances} instances were stored")
    return Block(instances, seconds, processor_seconds)


class Round:
    """Both servers, started anew; who is started first changes from round to round."""

    def __init__(self, folder: Path, contestants: Contestants, number: int) -> None:
        with ExitStack() as stack:
            place = Path(stack.enter_context(TemporaryDirectory(dir=folder)))
            servers = [
                OrthancServer(
                    place / name,
                    plugins=contestant.plugins,
                    perf=contestant.perf,
                    environment=contestant.environment,
                )
                for name, contestant in zip("ab", contestants, strict=True)
            ]
            for server in servers if number % 2 == 0 else reversed(servers):
                stack.enter_context(server)
            self.a, self.b = servers
            self._stack = stack.pop_all()

    def close(self) -> None:
        self._stack.close()

    def run(self, load: Load, plan: Plan, seconds: float) -> list[tuple[Block, Block]]:
        return alternate(
            lambda: measure(self.a, load, plan.images),
            lambda: measure(self.b, load, plan.images),
            plan.pairs,
            seconds,
        )


def compare(
    contestants: Contestants, load: Load, rounds: list[list[tuple[Block, Block]]]
) -> list[Comparison]:
    """The throughput and the processor time of both, under this load."""
    a, b = (contestant.name for contestant in contestants)
    throughput = [
        [(x.get_throughput(), y.get_throughput()) for x, y in blocks] for blocks in rounds
    ]
    processor = [
        [(x.get_processor_time(), y.get_processor_time()) for x, y in blocks] for blocks in rounds
    ]
    return [
        Comparison(load.name, "throughput", "instances/s", a, b, throughput),
        Comparison(load.name, "processor time of Orthanc", "ms/instance", a, b, processor),
    ]


def run(
    report: Report, contestants: Contestants, loads: list[Load], folder: Path, plan: Plan
) -> None:
    deadline = time.monotonic() + plan.seconds
    rounds: dict[str, list[list[tuple[Block, Block]]]] = {load.name: [] for load in loads}

    for number in range(plan.rounds):
        if number > 0 and time.monotonic() > deadline:
            break
        with closing(Round(folder, contestants, number)) as current:
            for load in loads:
                remaining = deadline - time.monotonic()
                rounds[load.name].append(current.run(load, plan, remaining))

    for load in loads:
        report.add(compare(contestants, load, rounds[load.name]))
