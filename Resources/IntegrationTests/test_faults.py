# SPDX-License-Identifier: GPL-3.0-or-later
"""Full, read-only, gone: what breaks under Orthanc, and comes back while it runs.

One server meets the same fault again and again. Each time images are sent before, during and after
it, and afterwards the same is asked: is all that was acknowledged there, is /perf right, and is
nothing left behind?
"""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import AddRow, MakeSeries
from harness.advice import find, list_kinds
from harness.faults import (
    Fault,
    FullDisk,
    HangingFolder,
    LostDatabase,
    NoDescriptor,
    ReadOnlyDisk,
)
from harness.images import Image
from harness.ledger import C_STORE, STOW, TITLE, UPLOAD, Answer, Ledger
from harness.metrics import IN_FLIGHT, INSTANCES, PEER_INSTANCES, PREFIX, scrape, wait_until
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer
from harness.process import count_descriptors, get_resident_bytes
from harness.transcoding import JPEG_LOSSLESS_SV1, list_engines, tune

OPEN = PREFIX + "associations_open"
TRANSCODED = PREFIX + "transcode_total"

# "run-tests.sh --long" tries each so often
TRIES = int(os.environ.get("PERF_FAULTS", "0"))

BEFORE, DURING = 2, 6
WAYS = [STOW, C_STORE, UPLOAD]  # by turns
EACH = DURING // len(WAYS)

PATIENCE = 120.0  # of a client, seconds

# /perf needs neither storage nor database. On a busy machine it takes its time, but less than who
# asks a PostgreSQL that is gone: its plugin tries ten times, five seconds apart (its options
# MaximumConnectionRetries and ConnectionRetryInterval)
ANSWER_SECONDS = 30

GIVEN_UP_SECONDS = 65

# Seconds for which senders wait in vain once /perf has all images; their last bytes, too, come then
UNANSWERED = 10.0

# What no fault here is to be taken for: senders are on this machine, and few, and nothing is sent
# to anybody. Not in it is what may be true of a busy machine: waits and pauses of any length, and
# whatever then is open or at work at once.
UNTRUE = {
    "database-latency",
    "delayed-ack",
    "engine-switched-off",
    "receiver-bottleneck",
    "window",
    "window-sending",
}

TOLERATED_DESCRIPTORS = 4

# Orthanc's cache of files has 128 MB, and its threads' heaps keep what images once took
TOLERATED_BYTES = 384 << 20


class Patient:
    """A server that meets a fault, and what is known of it from before."""

    def __init__(self, server: OrthancServer, fault: Fault) -> None:
        self.server = server
        self.fault = fault
        self.waited = 0.0  # seconds that all images of the latest fault have at least waited
        self.began = 0.0  # the latest fault, by time.monotonic()
        self._before = scrape(server)  # the latest fault
        self._is_first = True

    def undergo(self, images: list[Image], case: "Case") -> Counter[Answer]:
        """What clients saw during the fault."""
        ledger = Ledger(WAYS)
        before = ledger.send(self.server, images[:BEFORE], PATIENCE)
        assert before == {Answer.ACKNOWLEDGED: BEFORE}, f"{before}\n{self.server.log}"
        assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
        self._before = scrape(self.server)
        if self._is_first:
            self._held = self._measure()

        self.began = time.monotonic()
        with self.fault.strike(self.server):
            answers = self._send(ledger, images[BEFORE:], case)
            case.look(self, answers)
        assert self.server.is_running(), self.server.log

        assert wait_until(lambda: not ledger.find_lost(self.server)), (
            f"acknowledged, and lost: {ledger.find_lost(self.server)}\n{self.server.log}"
        )
        self._check_settled(answers)
        if case.is_answered_late:
            look_at_what_waited(self)
        self._check_recovered(ledger, images)
        self._check_nothing_left()
        findings = list_kinds(self.server)
        assert not findings & (UNTRUE | {"stuck-instances"}), findings
        self.server.delete_all()
        return answers

    def count(self, outcome: str, **labels: str) -> int:
        """Instances with this outcome since the fault began."""
        return self.count_more(INSTANCES, outcome=outcome, **labels)

    def count_more(self, name: str, **labels: str) -> int:
        """What a counter has gained since the fault began."""
        return int(scrape(self.server).sum(name, **labels) - self._before.sum(name, **labels))

    def list_latest(self) -> list[Json]:
        return self.server.get_json("/perf/instances", params={"limit": DURING})

    def _send(self, ledger: Ledger, images: list[Image], case: "Case") -> Counter[Answer]:
        """Where senders wait in vain, they give up once /perf has shown for a while that all their
        images have arrived."""
        if not case.is_in_vain:
            return ledger.send(self.server, images, case.patience)
        arrived: list[float] = []

        def is_enough() -> bool:
            now = scrape(self.server)  # those in flight, or with an outcome
            count = now.sum(IN_FLIGHT) + now.sum(INSTANCES) - self._before.sum(INSTANCES)
            if not arrived and count == len(images):
                arrived.append(time.monotonic())
            return bool(arrived) and time.monotonic() > arrived[0] + UNANSWERED

        answers = ledger.send(self.server, images, PATIENCE, is_enough)
        self.waited = time.monotonic() - arrived[0] if arrived else 0
        return answers

    def _measure(self) -> tuple[int, int]:
        pid = self.server.pid
        return count_descriptors(pid), get_resident_bytes(pid)

    def _check_settled(self, answers: Counter[Answer]) -> None:
        """What /perf has counted is what clients were told. Of what they were not told anything,
        Orthanc may have received nothing, or all."""
        assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
        stored, failed = self.count("stored"), self.count("failed")
        acknowledged, unknown = answers[Answer.ACKNOWLEDGED], answers[Answer.NONE]
        assert acknowledged <= stored <= acknowledged + unknown, (stored, answers)
        assert failed <= answers[Answer.REFUSED] + unknown, (failed, answers)
        assert stored + failed <= DURING, (stored, failed)
        assert self.count("discarded") == 0
        received = scrape(self.server)
        assert received.sum(INSTANCES) == received.sum(PEER_INSTANCES, direction="receive")

    def _check_recovered(self, ledger: Ledger, images: list[Image]) -> None:
        """All images can be stored now, each once."""

        answers: Counter[Answer] = Counter()

        def send_again() -> bool:
            nonlocal answers
            answers = ledger.send(self.server, images, PATIENCE)
            return answers[Answer.ACKNOWLEDGED] == len(images)

        assert wait_until(send_again), f"again: {answers}\n{self.server.log}"
        assert not ledger.find_lost(self.server)
        assert self.server.get_json("/statistics")["CountInstances"] == len(images)

    def _check_nothing_left(self) -> None:
        """More than before the first fault; later: than after it. So what is tolerated is not
        tolerated anew each time."""
        descriptors, memory = self._held
        most = descriptors + TOLERATED_DESCRIPTORS
        assert wait_until(lambda: count_descriptors(self.server.pid) <= most), (
            f"{count_descriptors(self.server.pid)} descriptors, {descriptors} to begin with"
        )
        grown = get_resident_bytes(self.server.pid) - memory
        assert grown < TOLERATED_BYTES, f"{grown / 1e6:.0f} MB more"
        assert wait_until(lambda: scrape(self.server).sum(OPEN) == 0)
        assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
        status = self.server.get_json("/perf/status")
        assert not status["CallbackFailures"]
        assert status["Probe"]["DroppedEvents"] == 0
        if self._is_first:
            self._held = self._measure()
            self._is_first = False


# ---- What /perf says during a fault --------------------------------------------------------------


STORAGE_FAILED = "storage full, or storage or database failed"


def look_for_failures(patient: Patient, answers: Counter[Answer]) -> None:
    """None is acknowledged, and /perf says why of each, and whose they were."""
    assert not answers[Answer.ACKNOWLEDGED]
    assert wait_until(lambda: patient.count("failed") == DURING), patient.count("failed")
    for origin in ("DicomProtocol", "RestApi", "Plugins"):
        assert patient.count("failed", origin=origin) == EACH
    assert patient.count_more(PEER_INSTANCES, peer=TITLE) == EACH
    reasons = {found["Reason"] for found in patient.list_latest() if "Reason" in found}
    assert all(reason.endswith(STORAGE_FAILED) for reason in reasons), reasons
    minutes = patient.server.get_json("/perf/status")["Windows"][2]["Receive"]
    assert minutes["Outcomes"]["Failed"] >= DURING, minutes
    evidence = find(patient.server, "failed-instances")["Evidence"]
    assert evidence["Reason"].endswith(STORAGE_FAILED)
    assert evidence["Failed"] >= DURING - 1, evidence


def look_for_transcoded_failures(patient: Patient, answers: Counter[Answer]) -> None:
    """That they could not be stored is no engine's failure."""
    look_for_failures(patient, answers)
    assert patient.count_more(TRANSCODED, engine="dcmtk", outcome="transcoded") == DURING
    assert not patient.server.get_json("/perf/status")["Transcoding"]["Failures"]


def look_for_waiting(patient: Patient, answers: Counter[Answer]) -> None:
    """Nothing is acknowledged, and /perf answers, and shows all that waits."""
    assert answers == {Answer.NONE: DURING}
    metrics = scrape(patient.server)
    for origin in ("DicomProtocol", "RestApi", "Plugins"):
        assert metrics.sum(IN_FLIGHT, origin=origin) == EACH
    assert metrics.sum(OPEN, peer=TITLE) == EACH

    def find_stuck() -> Json:
        return find(patient.server, "stuck-instances")["Evidence"]

    assert wait_until(lambda: find_stuck()["Instances"] == DURING)
    assert find_stuck()["Phase"] == "storage"


def look_at_what_waited(patient: Patient) -> None:
    """Orthanc has stored all, though the senders did not wait; /perf knows how long it took."""
    assert patient.count("stored") == DURING
    durations = [instance["Duration"] for instance in patient.list_latest()]
    assert len(durations) == DURING
    assert min(durations) >= patient.waited > 0, (durations, patient.waited)


def look_past_giving_up(patient: Patient, answers: Counter[Answer]) -> None:
    """None is acknowledged, and nobody tries any more to reach the database for what was sent; all
    of /perf answers, and promptly."""
    time.sleep(max(patient.began + GIVEN_UP_SECONDS - time.monotonic(), 0))
    assert not answers[Answer.ACKNOWLEDGED]
    assert patient.count("stored") == 0
    for path in ("advice", "history", "instances", "metrics", "peers", "status", "tuning"):
        response = patient.server.get(f"/perf/{path}")
        assert response.ok, response.text
        assert response.elapsed.total_seconds() < ANSWER_SECONDS, path
    named = {"failed-instances", "stuck-instances"}
    assert wait_until(lambda: bool(named & list_kinds(patient.server)))


def look_for_nobody(_: Patient, answers: Counter[Answer]) -> None:
    """Whether /perf can be asked is chance."""
    assert not answers[Answer.ACKNOWLEDGED]


# ---- The faults ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    breaks: str
    make: Callable[[], Fault]
    seen: str
    look: Callable[[Patient, Counter[Answer]], None]
    engine: str = ""
    patience: float = PATIENCE
    is_in_vain: bool = False  # senders wait for UNANSWERED seconds when all images have arrived
    is_answered_late: bool = False
    is_short: bool = False


CASES = [
    Case(
        "disk of the images full, while an engine transcodes",
        FullDisk,
        "No image is acknowledged; /perf has each as failed, and why, and no failure of the "
        "engine. Afterwards as before",
        look_for_transcoded_failures,
        engine="dcmtk",
        is_short=True,
    ),
    Case(
        "disk of the images read-only",
        ReadOnlyDisk,
        "No image is acknowledged; /perf has each as failed, and why. Afterwards as before",
        look_for_failures,
        is_in_vain=True,
    ),
    Case(
        "disk of the images hangs, and goes on (FUSE)",
        HangingFolder,
        "No image is acknowledged meanwhile; /perf answers, and has them in flight, then as "
        "stored, and how long that took. Afterwards as before",
        look_for_waiting,
        is_in_vain=True,
        is_answered_late=True,
        is_short=True,
    ),
    Case(
        f"database gone for {GIVEN_UP_SECONDS} s, and started again (PostgreSQL)",
        LostDatabase,
        "No image is acknowledged; all of /perf answers, also when Orthanc has given up. "
        "Afterwards as before",
        look_past_giving_up,
        patience=GIVEN_UP_SECONDS,
    ),
    Case(
        "no more file descriptors (RLIMIT_NOFILE)",
        NoDescriptor,
        "No image is acknowledged. Afterwards as before",
        look_for_nobody,
        patience=2,
        is_short=True,
    ),
]


@contextmanager
def start(fault: Fault, plugin: Path) -> Iterator[OrthancServer]:
    """In a folder that other users may enter, too."""
    folder = Path(tempfile.mkdtemp(prefix="orthanc-perf-fault-"))
    folder.chmod(0o755)
    try:
        with (
            fault.prepare(folder),
            OrthancServer(
                folder, plugins=[plugin, DICOMWEB_PLUGIN, *fault.plugins], options=fault.options
            ) as server,
        ):
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.breaks) for case in CASES])
def test_what_was_acknowledged_outlives(
    case: Case, plugin: Path, make_series: MakeSeries, reliability: AddRow
) -> None:
    if not TRIES and not case.is_short:
        pytest.skip("tried by run-tests.sh --long (PERF_FAULTS)")
    fault = case.make()
    if fault.obstacle:
        pytest.skip(fault.obstacle)
    images = make_series("faults", BEFORE + DURING)
    row = reliability(case.breaks, case.seen)
    with start(fault, plugin) as server:
        list_engines(server)  # a fault during their self-test switches them off
        if case.engine:
            tune(server, Engine=case.engine, TransferSyntax=JPEG_LOSSLESS_SV1)
        patient = Patient(server, fault)
        for _ in range(max(TRIES, 1)):
            with row.attempt():
                for answer, number in patient.undergo(images, case).items():
                    row.count(answer.value, number)
