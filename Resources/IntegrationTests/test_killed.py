# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed at any moment: what was acknowledged is in the store, and nothing half-written is served.

Each kill is SIGKILL, which no process can prepare for, at a random moment of a load by C-STORE,
HTTP and STOW-RS. PERF_KILLS says how often: "run-tests.sh --long" does 50. PERF_SEED repeats
the moments of a run, as far as the machine lets it.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import product
from pathlib import Path

import pytest
import requests

from conftest import AddRow, StartOrthanc
from harness.acknowledged import AcknowledgedLoad, StoreCheck
from harness.haproxy import HaProxyServer
from harness.load import meanwhile
from harness.metrics import IN_FLIGHT, INSTANCES, PREFIX, scrape, wait_until
from harness.numbered import NumberedImages
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.process import count_descriptors, is_running, list_children
from harness.transcoding import TARGETS, get_syntax, list_engines, read_stored, transcode

KILLS = int(os.environ.get("PERF_KILLS", "1"))
IS_LONG = KILLS > 1
LONG = pytest.mark.skipif(not IS_LONG, reason="takes longer than it tells: run-tests.sh --long")

# Seconds: after the first instances are acknowledged, and between two engine programs' ends
LATEST_KILL = 0.7
LONGEST_PAUSE = 0.1

# A connection that died with its peer is found out about at once, but not an association that waits
DICOM_OPTIONS = {"DicomScpTimeout": 5}

ENGINES = [*TARGETS, ""]  # "": nothing is transcoded

# Orthanc's own: of each engine's program it has a socket and the memory that both share besides
TOLERATED_DESCRIPTORS = 4
DESCRIPTORS_OF_PROGRAM = 2
SHARED_MEMORY = "/memfd:orthanc-perf"

KEPT = "all that was acknowledged is stored with its pixels, all that is served is whole"


def name_row(*parts: str, engine: str) -> str:
    transcoding = [f"transcoding by {engine}"] if engine else []
    return ", ".join([*parts, *transcoding])


def count_programs(server: OrthancServer) -> int:
    return sum(map(is_running, list_children(server.pid)))


def count_own_descriptors(server: OrthancServer) -> int:
    return count_descriptors(server.pid) - DESCRIPTORS_OF_PROGRAM * count_programs(server)


def count_shared_memories(server: OrthancServer) -> int:
    count = 0
    for path in Path(f"/proc/{server.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            count += str(path.readlink()).startswith(SHARED_MEMORY)
    return count


def kill_a_child(pid: int, moments: random.Random) -> bool:
    """Whether there was one; it may end by itself meanwhile."""
    children = list_children(pid)
    if children:
        with suppress(ProcessLookupError):
            os.kill(moments.choice(children), signal.SIGKILL)
    return bool(children)


def check_nothing_left(server: OrthancServer, descriptors: int) -> None:
    """Of what was killed beside Orthanc, nothing is left in it; it had so many descriptors."""
    assert wait_until(lambda: scrape(server).sum(IN_FLIGHT) == 0)
    most = descriptors + TOLERATED_DESCRIPTORS
    assert wait_until(lambda: count_own_descriptors(server) <= most), (
        f"{count_own_descriptors(server)} descriptors, {descriptors} before"
    )
    assert wait_until(lambda: count_shared_memories(server) <= count_programs(server))
    assert wait_until(lambda: all(map(is_running, list_children(server.pid))))  # no zombies
    status = server.get_json("/perf/status")
    assert not status["CallbackFailures"]


class TuningLoad:
    """Someone who changes two keys of the tuning again and again, both by one number."""

    def __init__(self, server: OrthancServer) -> None:
        self._number = self._acknowledged = 1
        self._put(server, 1)

    def go_on(self, server: OrthancServer) -> AbstractContextManager[None]:
        """Until a change is not answered, or refused."""

        def put(is_over: threading.Event) -> None:
            with suppress(requests.RequestException):
                while not is_over.is_set():
                    self._number += 1
                    self._put(server, self._number)
                    self._acknowledged = self._number

        return meanwhile(put)

    def wait_for(self, count: int) -> None:
        count += self._acknowledged
        assert wait_until(lambda: self._acknowledged >= count, 120), "no change is answered"

    def check(self, server: OrthancServer) -> None:
        """The latest that was answered is in force, or the one that was on its way."""
        self._acknowledged = self.look(server)

    def look(self, server: OrthancServer) -> int:
        """As check(), while changes may go on; the number of the one in force."""
        least = self._acknowledged
        tuning = server.get_json("/perf/tuning")
        number = tuning["DicomSockets"]["UserTimeoutSeconds"] - 1000
        for section, keys in self._make(number).items():
            assert tuning[section].items() >= keys.items(), f"half of change {number}: {tuning}"
        assert least <= number <= self._number, (least, number, self._number)
        return number

    def _put(self, server: OrthancServer, number: int) -> None:
        with requests.Session() as session:  # the server's belongs to another thread
            session.trust_env = False
            url = f"{server.url}/perf/tuning"
            session.put(url, json=self._make(number), timeout=60).raise_for_status()

    @staticmethod
    def _make(number: int) -> dict[str, dict[str, int]]:
        return {
            "DicomSockets": {"UserTimeoutSeconds": 1000 + number},
            "IngestTranscoding": {"LossyQuality": 1 + number % 100},
        }


@pytest.fixture
def index(request: pytest.FixtureRequest) -> Iterator[PostgreSqlServer | None]:
    """What has Orthanc's index; None: its own SQLite."""
    with PostgreSqlServer() if request.param == "PostgreSQL" else nullcontext() as server:
        yield server


@pytest.fixture
def server(
    index: PostgreSqlServer | None,  # which ends after Orthanc
    start_orthanc: StartOrthanc,
    plugin: Path,
) -> OrthancServer:
    return start_orthanc(
        plugins=[plugin, *[POSTGRESQL_PLUGIN] * bool(index), DICOMWEB_PLUGIN],
        options=DICOM_OPTIONS | (index.get_options() if index else {}),
    )


@pytest.mark.parametrize(
    ("index", "engine"),
    list(product(["SQLite", "PostgreSQL"], ENGINES)) if IS_LONG else [("SQLite", "dcmtk")],
    indirect=["index"],
)
def test_orthanc_killed(
    index: PostgreSqlServer | None,
    server: OrthancServer,
    moments: random.Random,
    reliability: AddRow,
    engine: str,
) -> None:
    row = reliability(
        name_row("Orthanc killed", *["index in PostgreSQL"] * bool(index), engine=engine),
        f"{KEPT}; the tuning changed last is in force, as a whole; counters begin at zero, and say "
        "so; no engine's program stays",
    )
    transcode(server, engine)
    images, store, tuning = NumberedImages(), StoreCheck(), TuningLoad(server)
    for _ in range(KILLS):
        with row.attempt():
            with AcknowledgedLoad(server, images) as load, tuning.go_on(server):
                load.wait_for(3)
                time.sleep(moments.uniform(0, LATEST_KILL))
                programs = list_children(server.pid)
                killed_at = time.time()
                server.kill()
            assert wait_until(lambda: not any(map(is_running, programs)), 20)  # noqa: B023
            server.start()
            assert scrape(server).sum(INSTANCES) == 0
            assert scrape(server).sum(PREFIX + "start_time_seconds") > killed_at
            tuning.check(server)
            store.check(server, load.acknowledged)
            row.count("instances acknowledged", len(load.acknowledged))
    assert bool(store.compressed) == bool(engine)


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"] if IS_LONG else ["gdcm"])
def test_an_engine_program_killed(
    start_orthanc: StartOrthanc, moments: random.Random, reliability: AddRow, engine: str
) -> None:
    row = reliability(
        f"an engine's program killed: {engine}",
        f"{KEPT}; Orthanc goes on, and so does transcoding, by another program; no descriptor, no "
        "shared memory and no instance in flight is left of those killed",
    )
    server = start_orthanc()
    transcode(server, engine)
    store, descriptors = StoreCheck(), count_own_descriptors(server)
    with AcknowledgedLoad(server, NumberedImages()) as load:
        for _ in range(KILLS * 5):
            with row.attempt():
                load.wait_for(1)
                time.sleep(moments.uniform(0, LONGEST_PAUSE))
                assert wait_until(lambda: kill_a_child(server.pid, moments), 20)
        load.wait_for(10)
    store.check(server, load.acknowledged)
    row.count("instances acknowledged", len(load.acknowledged))
    row.count("of them transcoded", store.compressed)
    assert get_syntax(read_stored(server, store.find(load.acknowledged[-1]))).is_compressed
    check_nothing_left(server, descriptors)


@pytest.mark.parametrize(
    ("index", "victim"),
    [
        ("PostgreSQL", "PostgreSQL"),
        pytest.param("PostgreSQL", "a process of PostgreSQL's", marks=LONG),
        pytest.param("SQLite", "HAProxy", marks=LONG),
    ],
    indirect=["index"],
)
@pytest.mark.parametrize("engine", ENGINES if IS_LONG else ["native"])
def test_killed_beside_orthanc(
    index: PostgreSqlServer | None,
    server: OrthancServer,
    tmp_path: Path,
    moments: random.Random,
    reliability: AddRow,
    victim: str,
    engine: str,
) -> None:
    """What is between the senders and the store, or behind Orthanc, which stores on."""
    back = "; through a new HAProxy, Orthanc stores on"
    if index:
        back = ", once PostgreSQL is back; Orthanc, which was not started anew, stores on"
    row = reliability(
        name_row(f"{victim} killed", engine=engine),
        f"{KEPT}{back}; no descriptor and no instance in flight is left of the connections that "
        "broke",
    )
    transcode(server, engine)
    store = StoreCheck(loses_database=bool(index))
    images, descriptors = NumberedImages(), count_own_descriptors(server)
    haproxy = HaProxyServer(tmp_path, {"orthanc-a": server}, ("nobody", "asks"))
    with nullcontext(index) if index else haproxy as killed:
        for _ in range(KILLS):
            with row.attempt():
                with AcknowledgedLoad(server if index else haproxy, images) as load:
                    load.wait_for(3)
                    time.sleep(moments.uniform(0, LATEST_KILL))
                    if index and victim != "PostgreSQL":
                        assert kill_a_child(index.pid, moments)
                    else:
                        killed.kill()
                        killed.start()
                    load.wait_for(3)
                store.check(server, load.acknowledged)
                check_nothing_left(server, descriptors)
                row.count("instances acknowledged", len(load.acknowledged))
    if store.without_file:
        row.count("refused and listed, without their file", len(store.without_file))
    assert bool(store.compressed) == bool(engine)


@LONG
@pytest.mark.parametrize("index", ["PostgreSQL"], indirect=True)
def test_postgresql_killed_while_the_tuning_is_changed(
    index: PostgreSqlServer,
    server: OrthancServer,
    moments: random.Random,
    reliability: AddRow,
) -> None:
    """A change that finds no database is in force, and saved with the next one."""
    row = reliability(
        "PostgreSQL killed, while the tuning is changed and images are stored",
        f"{KEPT}; the tuning answers while PostgreSQL is gone; the one changed last is in force, "
        "as a whole, and once changes were answered after PostgreSQL was back, still is when "
        "Orthanc is killed, too",
    )
    list_engines(server)
    images, store = NumberedImages(), StoreCheck(loses_database=True)
    tuning = TuningLoad(server)
    for _ in range(KILLS):
        with row.attempt():
            with AcknowledgedLoad(server, images) as load, tuning.go_on(server):
                load.wait_for(3)
                time.sleep(moments.uniform(0, LATEST_KILL))
                index.kill()
                tuning.look(server)
                index.start()
                tuning.look(server)
                tuning.wait_for(2)  # the first may have met the end of its connection
            tuning.check(server)
            unsaved = server.log.count("could not be saved")
            server.kill()
            server.start()
            tuning.check(server)
            store.check(server, load.acknowledged)
            row.count("instances acknowledged", len(load.acknowledged))
            row.count("changes saved with the next one only", unsaved)
    if store.without_file:
        row.count("refused and listed, without their file", len(store.without_file))
