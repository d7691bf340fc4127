# SPDX-License-Identifier: GPL-3.0-or-later
"""Full, slow, read-only, gone: what breaks under Orthanc, with the plugin and without it.

One server meets the same fault again and again. Each time images are sent before, during and after
it, and afterwards the same is asked: is all that was acknowledged there, is /perf right, and is
nothing left behind?
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from conftest import AddRow, MakeSeries
from harness.faults import (
    BadNetwork,
    ClockSetBack,
    Fault,
    FullDisk,
    HangingFolder,
    LostDatabase,
    LostFolder,
    NoAddressSpace,
    NoDescriptor,
    NoMemory,
    NoProcess,
    ReadOnlyDisk,
    SilentPeers,
    SlowPeers,
)
from harness.images import Image
from harness.ledger import Answer, Ledger
from harness.metrics import IN_FLIGHT, INSTANCES, PREFIX, scrape, wait_until
from harness.orthanc import OrthancServer
from harness.process import count_descriptors, get_resident_bytes
from harness.reliability import Row
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    list_engines,
    list_transcodings,
    read,
    tune,
    write,
)

OPEN = PREFIX + "associations_open"

# "run-tests.sh --long" tries each so often, by turns with an Orthanc without the plugin
TRIES = int(os.environ.get("PERF_FAULTS", "0"))

BEFORE, DURING = 2, 6

PATIENCE = 120.0  # of a client, seconds

# As test_robustness.py, for the same reasons
TOLERATED_DESCRIPTORS = 4

# Orthanc's cache of files has 128 MB, and its threads' heaps keep what images once took
TOLERATED_BYTES = 384 << 20


@dataclass(frozen=True)
class Seen:
    """What clients saw during a fault, and whether the process outlived it."""

    answers: Counter[Answer]
    survived: bool


class Patient:
    """A server that meets a fault, and what is known of it from before."""

    def __init__(self, server: OrthancServer, fault: Fault, has_plugin: bool) -> None:
        self.server = server
        self.has_plugin = has_plugin
        self.fault = fault

    def undergo(self, images: list[Image], patience: float, look: "Look") -> Seen:
        ledger = Ledger()
        before = ledger.send(self.server, images[:BEFORE], PATIENCE)
        assert before == {Answer.ACKNOWLEDGED: BEFORE}, self.server.log
        self._remember()

        with self.fault.strike(self.server):
            answers = ledger.send(self.server, images[BEFORE:], patience, self.fault.place)
            if self.has_plugin:
                look(self, answers)
        if self.fault.may_end:
            wait_until(lambda: not self.server.is_running(), 2)
        survived = self.server.is_running()
        if not survived:
            self.server.start()

        assert wait_until(lambda: not ledger.find_lost(self.server)), (
            f"acknowledged, and lost: {ledger.find_lost(self.server)}\n{self.server.log}"
        )
        self._check_recovered(ledger, images)
        if survived:
            self._check_nothing_left()
        self.server.delete_all()
        return Seen(answers, survived)

    def count(self, outcome: str) -> float:
        """Instances with this outcome since the fault began."""
        return scrape(self.server).sum(INSTANCES, outcome=outcome) - self._counted[outcome]

    def list_reasons(self) -> set[str]:
        instances = self.server.get_json("/perf/instances", params={"limit": DURING})
        return {instance["Reason"] for instance in instances if "Reason" in instance}

    def _remember(self) -> None:
        self._descriptors = count_descriptors(self.server.pid)
        self._memory = get_resident_bytes(self.server.pid)
        if self.has_plugin:
            metrics = scrape(self.server)
            self._counted = {
                outcome: metrics.sum(INSTANCES, outcome=outcome)
                for outcome in ("stored", "failed", "discarded")
            }

    def _check_recovered(self, ledger: Ledger, images: list[Image]) -> None:
        """All images can be stored now, each once."""

        def send_again() -> bool:
            return ledger.send(self.server, images, PATIENCE)[Answer.ACKNOWLEDGED] == len(images)

        assert wait_until(send_again), self.server.log
        assert not ledger.find_lost(self.server)
        assert self.server.get_json("/statistics")["CountInstances"] == len(images)

    def _check_nothing_left(self) -> None:
        pid, most = self.server.pid, self._descriptors + TOLERATED_DESCRIPTORS
        assert wait_until(lambda: count_descriptors(pid) <= most), (
            f"{count_descriptors(pid)} descriptors, {self._descriptors} before"
        )
        grown = get_resident_bytes(pid) - self._memory
        assert grown < TOLERATED_BYTES, f"{grown / 1e6:.0f} MB more"
        if self.has_plugin:
            assert wait_until(lambda: scrape(self.server).sum(OPEN) == 0)
            assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
            status = self.server.get_json("/perf/status")
            assert not status["CallbackFailures"]
            assert status["Probe"]["DroppedEvents"] == 0


Look = Callable[[Patient, Counter[Answer]], None]


# ---- What /perf says during a fault --------------------------------------------------------------


def look_at_nothing(patient: Patient, answers: Counter[Answer]) -> None:
    """Whether /perf can be asked is chance."""


def look_for_failures(patient: Patient, answers: Counter[Answer]) -> None:
    """None is acknowledged, and /perf says why of each."""
    assert not answers[Answer.ACKNOWLEDGED]
    assert wait_until(lambda: patient.count("failed") == DURING), patient.count("failed")
    assert patient.list_reasons() == {"storage full, or storage or database failed"}


def look_for_stored(patient: Patient, answers: Counter[Answer]) -> None:
    assert answers == {Answer.ACKNOWLEDGED: DURING}
    assert wait_until(lambda: patient.count("stored") == DURING), patient.count("stored")


def look_for_waiting(patient: Patient, answers: Counter[Answer]) -> None:
    """Nothing is acknowledged, and /perf answers, and shows what waits."""
    assert answers == {Answer.NONE: DURING}
    assert scrape(patient.server).sum(IN_FLIGHT) > 0


def look_for_nobody(patient: Patient, answers: Counter[Answer]) -> None:
    assert not answers[Answer.ACKNOWLEDGED]


def look_for_untranscoded(patient: Patient, answers: Counter[Answer]) -> None:
    """Stored as received, and /perf says why."""
    look_for_stored(patient, answers)
    transcodings = list_transcodings(patient.server, DURING)
    assert all(transcoding["Outcome"] == "Failed" for transcoding in transcodings), transcodings


def look_at_silence(patient: Patient, answers: Counter[Answer]) -> None:
    """All are served once Orthanc has given the silent ones up."""
    look_for_stored(patient, answers)
    assert wait_until(lambda: scrape(patient.server).sum(OPEN, peer="SILENT") == 0)


def look_at_clock(patient: Patient, answers: Counter[Answer]) -> None:
    look_for_stored(patient, answers)
    instances = patient.server.get_json("/perf/instances")
    assert all(0 < instance["Duration"] < PATIENCE for instance in instances), instances

    def is_in_history() -> bool:
        history = patient.server.get_json("/perf/history")
        return sum(history["Receive"]["Instances"]) == DURING

    assert wait_until(is_in_history), patient.server.get("/perf/history").text


# ---- The faults ----------------------------------------------------------------------------------

FAILED = "No image is acknowledged; /perf has each as failed, and why. Afterwards as before"
STORED = "All images are acknowledged, and /perf has them. Afterwards as before"
UNSEEN = "No image is acknowledged. Afterwards as before"


@dataclass(frozen=True)
class Case:
    """`is_chance`: what clients see differs from one time to the next, also without the plugin."""

    breaks: str
    make: Callable[[], Fault]
    seen: str
    look: Look = look_at_nothing
    engine: str = ""
    patience: float = PATIENCE
    is_large: bool = False
    is_chance: bool = False
    is_short: bool = False


CASES = [
    Case("disk of the images full", FullDisk, FAILED, look_for_failures, is_short=True),
    Case(
        "disk of the images full, while an engine transcodes",
        FullDisk,
        FAILED,
        look_for_failures,
        engine="dcmtk",
    ),
    Case(
        "disk of the images and the database full",
        lambda: FullDisk(index=True),
        FAILED,
        look_for_failures,
    ),
    Case("disk of the images read-only", ReadOnlyDisk, FAILED, look_for_failures),
    Case(
        "disk of the images hangs, and goes on (FUSE)",
        HangingFolder,
        "No image is acknowledged meanwhile; /perf answers, and has them in flight. Afterwards as "
        "before",
        look_for_waiting,
        patience=4,
        is_short=True,
    ),
    Case(
        "disk of the images gone, and mounted again (FUSE)", LostFolder, FAILED, look_for_failures
    ),
    Case(
        "database gone, and started again (PostgreSQL)",
        LostDatabase,
        UNSEEN,
        look_for_nobody,
        patience=15,
    ),
    Case(
        "no more file descriptors (RLIMIT_NOFILE)",
        NoDescriptor,
        UNSEEN,
        look_for_nobody,
        patience=2,
        is_short=True,
    ),
    Case(
        "no more address space (RLIMIT_AS), for images of 52 MB among others",
        NoAddressSpace,
        "What is acknowledged is there. Afterwards as before",
        is_large=True,
        is_chance=True,
    ),
    Case(
        "no more memory (control group), for images of 52 MB among others",
        NoMemory,
        "What is acknowledged is there, also where the kernel has ended Orthanc. Afterwards as "
        "before",
        is_large=True,
        is_chance=True,
    ),
    Case(
        "no more processes and threads (RLIMIT_NPROC), while an engine transcodes",
        NoProcess,
        "All images are stored as received, and /perf says why. Afterwards as before",
        look_for_untranscoded,
        engine="dcmtk",
    ),
    Case(
        "clock set back by an hour",
        ClockSetBack,
        "All images are acknowledged; /perf has their true durations, and a history that begins "
        "anew. Afterwards as before",
        look_at_clock,
    ),
    Case(
        "peers that open an association and never speak, one for each thread",
        SilentPeers,
        STORED,
        look_at_silence,
    ),
    Case(
        "500 peers that send one byte a second, half of them over HTTP",
        lambda: SlowPeers(500),
        "What is acknowledged is there. Afterwards as before",
        patience=5,
        is_chance=True,
    ),
    Case(
        "network that loses and doubles 3 % of all frames, and reorders them",
        BadNetwork,
        STORED,
        look_for_stored,
    ),
]


def count_seen(row: Row, seen: Seen, suffix: str) -> None:
    for answer, number in seen.answers.items():
        row.count(f"{answer.value}{suffix}", number)
    if not seen.survived:
        row.count(f"times Orthanc was ended{suffix}", 1)


def make_large(image: Image, folder: Path) -> Image:
    """The same instance with a hundred frames."""
    content = read(image.path)
    content.NumberOfFrames = 100
    content.PixelData *= 100
    path = folder / image.path.name
    path.write_bytes(write(content))
    return Image(path, image.sop_instance_uid)


@contextmanager
def start(case: Case, plugin: Path | None) -> Iterator[Patient]:
    """In a folder that other users may enter, too."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="orthanc-perf-fault-"))
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        fault = case.make()
        stack.enter_context(fault.prepare(folder))
        server = OrthancServer(
            folder,
            plugins=[plugin] * (plugin is not None) + fault.plugins,
            options=fault.options,
            environment=fault.environment,
            launcher=fault.launcher,
        )
        stack.enter_context(server)
        if plugin and case.engine:
            list_engines(server)
            tune(server, Engine=case.engine, TransferSyntax=JPEG_LOSSLESS_SV1)
        yield Patient(server, fault, plugin is not None)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.breaks) for case in CASES])
def test_what_was_acknowledged_outlives(
    case: Case, plugin: Path, make_series: MakeSeries, reliability: AddRow, tmp_path: Path
) -> None:
    if not TRIES and not case.is_short:
        pytest.skip("tried by run-tests.sh --long (PERF_FAULTS)")
    obstacle = case.make().obstacle
    if obstacle:
        pytest.skip(obstacle)
    images = make_series("faults", BEFORE + DURING)
    if case.is_large:
        images = [*images[:-2], *(make_large(image, tmp_path) for image in images[-2:])]
    row = reliability(case.breaks, case.seen)
    with ExitStack() as stack:
        patient = stack.enter_context(start(case, plugin))
        without = stack.enter_context(start(case, None)) if TRIES else None
        for _ in range(max(TRIES, 1)):
            with row.attempt():
                seen = patient.undergo(images, case.patience, case.look)
                count_seen(row, seen, "")
                if without is None:
                    continue
                plain = without.undergo(images, case.patience, case.look)
                count_seen(row, plain, " without the plugin")
                if not case.is_chance:
                    assert seen.survived >= plain.survived
                    acknowledged = Answer.ACKNOWLEDGED
                    assert seen.answers[acknowledged] >= plain.answers[acknowledged]


def test_a_tuning_that_cannot_be_saved_is_in_force_and_saved_whole_later(
    plugin: Path, reliability: AddRow
) -> None:
    case = Case("", lambda: FullDisk(index=True), "")
    if case.make().obstacle:
        pytest.skip(case.make().obstacle)
    row = reliability(
        "disk of the database full, while the tuning is saved",
        "What was asked for is in force, or refused and nothing has changed. After a restart the "
        "old tuning is there, or the new one, whole; and a new one can be saved",
    )
    with start(case, plugin) as patient:
        server = patient.server
        for number in range(max(TRIES, 1)):
            with row.attempt():
                before = put_tuning(server, 30 + number).json()
                with patient.fault.strike(server):
                    answer = put_tuning(server, 1000 + number)
                    now = server.get_json("/perf/tuning")
                    assert now == (answer.json() if answer.ok else before)
                    server.stop()  # it can't start on a full disk, with or without the plugin
                server.start()
                assert server.get_json("/perf/tuning") in (before, now)
                after = put_tuning(server, 2000 + number).json()
                server.restart()
                assert server.get_json("/perf/tuning") == after


def put_tuning(server: OrthancServer, number: int) -> requests.Response:
    """Two keys of which only both together are what was asked for."""
    keys = {"KeepAliveSeconds": number, "UserTimeoutSeconds": number}
    return server.request("PUT", "/perf/tuning", json={"DicomSockets": keys})
