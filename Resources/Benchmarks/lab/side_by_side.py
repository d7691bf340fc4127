# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Orthanc servers side by side, which differ in one thing, loaded in turn.

Small blocks of uploads, with a clear store before each: what else the machine does hits both
alike. Beside the throughput, the processor time that Orthanc spends on an instance: it is far
more stable than the clock on the wall where others share the machine.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.clients import upload
from harness.images import Image
from harness.orthanc import OrthancServer
from lab.processes import ClientError, ProcessorClock, run_clients
from lab.ratios import Comparison, alternate
from lab.senders import STORESCU


@dataclass(frozen=True)
class Contestant:
    """How one of the two servers is set up."""

    name: str
    plugins: list[Path] = field(default_factory=list)
    perf: dict[str, Any] | None = None
    environment: dict[str, str] = field(default_factory=dict)


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


def clear(server: OrthancServer) -> None:
    for patient in server.get_json("/patients"):
        server.request("DELETE", f"/patients/{patient}").raise_for_status()


def count_instances(server: OrthancServer) -> int:
    return server.get_json("/statistics")["CountInstances"]


def measure(server: OrthancServer, load: Load, instances: int) -> Block:
    clear(server)
    clock = ProcessorClock(server.pid)
    before = clock.read()
    seconds = load.send(server)
    processor_seconds = clock.read() - before

    stored = count_instances(server)
    if stored != instances:
        raise ClientError(f"{load.name}: {stored} of {instances} instances were stored")
    return Block(instances, seconds, processor_seconds)


@contextlib.contextmanager
def run_server(folder: Path, contestant: Contestant) -> Iterator[OrthancServer]:
    server = OrthancServer(
        folder,
        plugins=contestant.plugins,
        perf=contestant.perf,
        environment=contestant.environment,
    )
    with server:
        yield server


def compare(
    servers: tuple[OrthancServer, OrthancServer],
    contestants: tuple[Contestant, Contestant],
    load: Load,
    instances: int,
    pairs: int,
    seconds: float,
) -> list[Comparison]:
    """The throughput and the processor time of both, under this load."""
    blocks = alternate(
        lambda: measure(servers[0], load, instances),
        lambda: measure(servers[1], load, instances),
        pairs,
        seconds,
    )
    names = [contestant.name for contestant in contestants]
    return [
        Comparison(
            load.name,
            "throughput",
            "instances/s",
            *names,
            [(a.get_throughput(), b.get_throughput()) for a, b in blocks],
        ),
        Comparison(
            load.name,
            "processor time of Orthanc",
            "ms/instance",
            *names,
            [(a.get_processor_time(), b.get_processor_time()) for a, b in blocks],
        ),
    ]
