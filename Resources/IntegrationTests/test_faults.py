# SPDX-License-Identifier: GPL-3.0-or-later
"""Full, slow, read-only, gone: what breaks under Orthanc, with the plugin and without it.

One server meets the same fault again and again. Each time images are sent before, during and after
it, and afterwards the same is asked: is all that was acknowledged there, is /perf right, and is
nothing left behind?
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from conftest import AddRow, MakeSeries
from harness.advice import find, list_kinds
from harness.faults import (
    SLOW_PEERS,
    TIMEOUTS,
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
from harness.ledger import C_STORE, STOW, TITLE, UPLOAD, Answer, Ledger
from harness.metrics import (
    ASSOCIATIONS,
    IN_FLIGHT,
    INSTANCES,
    PEER_INSTANCES,
    PREFIX,
    Metrics,
    scrape,
    wait_until,
)
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer
from harness.process import count_descriptors, get_resident_bytes
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    list_engines,
    list_transcodings,
    read,
    tune,
    write,
)
from harness.tuning import tune_sockets

ENDED = "times Orthanc was ended"
ACKNOWLEDGED = Answer.ACKNOWLEDGED.value

OPEN = PREFIX + "associations_open"
STARTED = PREFIX + "start_time_seconds"
TRANSCODED = PREFIX + "transcode_total"

# "run-tests.sh --long" tries each so often, by turns with an Orthanc without the plugin
TRIES = int(os.environ.get("PERF_FAULTS", "0"))

BEFORE, DURING = 2, 6
ORIGINS = ("DicomProtocol", "RestApi", "Plugins")
WAYS = [STOW, C_STORE, UPLOAD]  # by turns; the last two images are sent by the latter
EACH = DURING // len(WAYS)

PATIENCE = 120.0  # of a client, seconds

# /perf needs neither storage nor database. On a busy machine it takes its time, but less than who
# asks a PostgreSQL that is gone: its plugin tries ten times, five seconds apart (its options
# MaximumConnectionRetries and ConnectionRetryInterval)
ANSWER_SECONDS = 30

GIVEN_UP_SECONDS = 65

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

    def __init__(self, server: OrthancServer, fault: Fault, has_plugin: bool) -> None:
        self.server = server
        self.has_plugin = has_plugin
        self.fault = fault
        self.waited = 0.0  # seconds that all images of the latest fault have at least waited
        self.began = 0.0  # the latest fault, by time.monotonic()
        self._measured = 0  # the process that has met its first fault, and was measured after it
        self._before = Metrics("")  # the latest fault

    def undergo(self, images: list[Image], case: "Case") -> Counter[str]:
        """What clients saw during the fault, by numbers, and whether it has ended Orthanc."""
        ledger = Ledger(WAYS)
        before = ledger.send(self.server, images[:BEFORE], PATIENCE)
        assert before == {Answer.ACKNOWLEDGED: BEFORE}, f"{before}\n{self.server.log}"
        if self._measured != self.server.pid:
            self._held = self._measure()
        if self.has_plugin:
            assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
            self._before = scrape(self.server)

        self.began = time.monotonic()
        with self.fault.strike(self.server):
            answers = self._send(ledger, images[BEFORE:], case)
            if self.has_plugin:
                case.look(self, answers)
        if self.fault.may_end:
            wait_until(lambda: not self.server.is_running(), 2)
        survived = self.server.is_running()
        if not survived:
            self.server.start()

        assert wait_until(lambda: not ledger.find_lost(self.server)), (
            f"acknowledged, and lost: {ledger.find_lost(self.server)}\n{self.server.log}"
        )
        if self.has_plugin and survived:
            self._check_settled(answers)
            case.after(self, answers)
        elif self.has_plugin:
            assert scrape(self.server).sum(INSTANCES) == 0
            assert scrape(self.server).sum(STARTED) > self._before.sum(STARTED)
        self._check_recovered(ledger, images)
        if survived:
            self._check_nothing_left()
        if self.has_plugin:
            findings = list_kinds(self.server)
            assert not findings & (UNTRUE | {"stuck-instances"}), findings
        self.server.delete_all()
        seen = Counter({answer.value: number for answer, number in answers.items()})
        return seen if survived else seen + Counter([ENDED])

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
        images have arrived. Without the plugin nobody can say that, and nothing asks for it."""
        place = self.fault.place
        if not (case.is_in_vain and self.has_plugin):
            patience = UNANSWERED if case.is_in_vain else case.patience
            return ledger.send(self.server, images, patience, place)
        arrived: list[float] = []

        def is_enough() -> bool:
            now = scrape(self.server)  # those in flight, or with an outcome
            count = now.sum(IN_FLIGHT) + now.sum(INSTANCES) - self._before.sum(INSTANCES)
            if not arrived and count == len(images):
                arrived.append(time.monotonic())
            return bool(arrived) and time.monotonic() > arrived[0] + UNANSWERED

        answers = ledger.send(self.server, images, PATIENCE, place, is_enough)
        self.waited = time.monotonic() - arrived[0] if arrived else 0
        return answers

    def _measure(self) -> tuple[int, int]:
        return count_descriptors(self.server.pid), get_resident_bytes(self.server.pid)

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
        """More than before the first fault of this process; later: than after it. So what is
        tolerated is not tolerated anew each time."""
        pid, (descriptors, memory) = self.server.pid, self._held
        most = descriptors + TOLERATED_DESCRIPTORS
        assert wait_until(lambda: count_descriptors(pid) <= most), (
            f"{count_descriptors(pid)} descriptors, {descriptors} to begin with"
        )
        grown = get_resident_bytes(pid) - memory
        assert grown < TOLERATED_BYTES, f"{grown / 1e6:.0f} MB more"
        if self.has_plugin:
            assert wait_until(lambda: scrape(self.server).sum(OPEN) == 0)
            assert wait_until(lambda: scrape(self.server).sum(IN_FLIGHT) == 0)
            status = self.server.get_json("/perf/status")
            assert not status["CallbackFailures"]
            assert status["Probe"]["DroppedEvents"] == 0
        if self._measured != pid:
            self._held = self._measure()
            self._measured = pid


Look = Callable[[Patient, Counter[Answer]], None]


# ---- What /perf says during a fault --------------------------------------------------------------


def look_at_nothing(patient: Patient, answers: Counter[Answer]) -> None:
    """Whether /perf can be asked is chance."""


STORAGE_FAILED = "storage full, or storage or database failed"


def look_for_failures(patient: Patient, answers: Counter[Answer]) -> None:
    """None is acknowledged, and /perf says why of each, and whose they were."""
    assert not answers[Answer.ACKNOWLEDGED]
    assert wait_until(lambda: patient.count("failed") == DURING), patient.count("failed")
    for origin in ORIGINS:
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


def look_for_stored(patient: Patient, answers: Counter[Answer]) -> None:
    assert answers == {Answer.ACKNOWLEDGED: DURING}
    assert wait_until(lambda: patient.count("stored") == DURING), patient.count("stored")
    assert patient.count("failed") == 0


def look_for_waiting(patient: Patient, answers: Counter[Answer]) -> None:
    """Nothing is acknowledged, and /perf answers, and shows all that waits."""
    assert answers == {Answer.NONE: DURING}
    metrics = scrape(patient.server)
    for origin in ORIGINS:
        assert metrics.sum(IN_FLIGHT, origin=origin) == EACH
    assert metrics.sum(OPEN, peer=TITLE) == EACH

    def find_stuck() -> Json:
        return find(patient.server, "stuck-instances")["Evidence"]

    assert wait_until(lambda: find_stuck()["Instances"] == DURING)
    assert find_stuck()["Phase"] == "storage"


def look_at_what_waited(patient: Patient, answers: Counter[Answer]) -> None:
    """Orthanc has stored all, though the senders did not wait; /perf knows how long it took."""
    assert patient.count("stored") == DURING
    durations = [instance["Duration"] for instance in patient.list_latest()]
    assert len(durations) == DURING
    assert min(durations) >= patient.waited > 0, (durations, patient.waited)


def look_for_answers(patient: Patient, answers: Counter[Answer]) -> None:
    """None is acknowledged; all of /perf answers meanwhile, and promptly."""
    assert not answers[Answer.ACKNOWLEDGED]
    assert patient.count("stored") == 0
    for path in ("advice", "history", "instances", "metrics", "peers", "status", "tuning"):
        response = patient.server.get(f"/perf/{path}")
        assert response.ok, response.text
        assert response.elapsed.total_seconds() < ANSWER_SECONDS, path
    named = {"failed-instances", "stuck-instances"}
    assert wait_until(lambda: bool(named & list_kinds(patient.server)))


def look_past_giving_up(patient: Patient, answers: Counter[Answer]) -> None:
    """Nobody tries any more to reach the database for what was sent."""
    time.sleep(max(patient.began + GIVEN_UP_SECONDS - time.monotonic(), 0))
    look_for_answers(patient, answers)


def look_for_nobody(patient: Patient, answers: Counter[Answer]) -> None:
    assert not answers[Answer.ACKNOWLEDGED]


def look_for_large_ones(patient: Patient, answers: Counter[Answer]) -> None:
    """The limit is felt by these two alone, if at all: earlier ones may have left room. Orthanc
    aborts the association of one; that it refuses the upload of the other, no plugin is told."""
    acknowledged = answers[Answer.ACKNOWLEDGED]
    assert acknowledged >= DURING - 2, answers
    assert wait_until(lambda: patient.count("stored") == acknowledged), patient.count("stored")

    def count_aborted() -> int:
        return patient.count_more(ASSOCIATIONS, peer=TITLE, outcome="aborted")

    assert wait_until(lambda: acknowledged + count_aborted() >= DURING - 1), answers
    aborted = count_aborted()
    assert aborted <= min(1, DURING - acknowledged), (aborted, answers)
    assert wait_until(lambda: patient.count("failed") == aborted), patient.count("failed")


def look_for_untranscoded(patient: Patient, answers: Counter[Answer]) -> None:
    """Stored as received, and /perf says why."""
    look_for_stored(patient, answers)
    transcodings = list_transcodings(patient.server, DURING)
    assert all(transcoding["Outcome"] == "Failed" for transcoding in transcodings), transcodings
    assert all(transcoding["Reason"] for transcoding in transcodings), transcodings
    assert patient.count_more(TRANSCODED, engine="dcmtk", outcome="failed") == DURING
    assert patient.count_more(TRANSCODED, outcome="transcoded") == 0
    failures = patient.server.get_json("/perf/status")["Transcoding"]["Failures"]
    assert {failure["Engine"] for failure in failures} == {"dcmtk"}, failures


def look_at_silence(patient: Patient, answers: Counter[Answer]) -> None:
    """All are served once Orthanc has given the silent ones up."""
    look_for_stored(patient, answers)
    assert wait_until(lambda: scrape(patient.server).sum(OPEN, peer="SILENT") == 0)


def look_at_bad_ends(name: str, count: int) -> Look:
    """/perf knows each of the peer's associations: Orthanc has aborted it, or the peer is gone."""

    def look(patient: Patient, answers: Counter[Answer]) -> None:
        def count_ended(outcome: str) -> int:
            return patient.count_more(ASSOCIATIONS, peer=name, outcome=outcome)

        assert wait_until(lambda: count_ended("aborted") + count_ended("lost") == count)
        assert patient.count_more(ASSOCIATIONS, peer=name) == count
        assert patient.count_more(PEER_INSTANCES, peer=name) == 0

    return look


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

# Seconds for which senders wait in vain once /perf has all images; their last bytes, too, come then
UNANSWERED = 10.0


@dataclass(frozen=True)
class Case:
    """`is_chance`: what clients see differs from one time to the next, also without the plugin;
    `is_felt`: of several times, at least one refuses something."""

    breaks: str
    make: Callable[[], Fault]
    seen: str
    look: Look = look_at_nothing
    after: Look = look_at_nothing
    engine: str = ""
    patience: float = PATIENCE
    is_in_vain: bool = False  # senders wait for UNANSWERED seconds when all images have arrived
    sockets: str = "tuned"  # the tuning's preset
    frames: int = 0  # of two of the images; 0: they are as all others
    is_chance: bool = False
    is_felt: bool = False
    is_short: bool = False
    most: int = 1000  # times


CASES = [
    Case("disk of the images full", FullDisk, FAILED, look_for_failures),
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
        "disk of the images and the database full",
        lambda: FullDisk(index=True),
        FAILED,
        look_for_failures,
    ),
    Case("disk of the images read-only", ReadOnlyDisk, FAILED, look_for_failures, is_in_vain=True),
    Case(
        "disk of the images hangs, and goes on (FUSE)",
        HangingFolder,
        "No image is acknowledged meanwhile; /perf answers, and has them in flight, then as "
        "stored, and how long that took. Afterwards as before",
        look_for_waiting,
        after=look_at_what_waited,
        is_in_vain=True,
        is_short=True,
    ),
    Case(
        "disk of the images gone, and mounted again (FUSE)",
        LostFolder,
        FAILED,
        look_for_failures,
        is_in_vain=True,
    ),
    Case(
        "database gone, and started again (PostgreSQL)",
        LostDatabase,
        "No image is acknowledged; all of /perf answers meanwhile. Afterwards as before",
        look_for_answers,
        patience=12,
    ),
    Case(
        f"database gone for {GIVEN_UP_SECONDS} s, and started again (PostgreSQL)",
        LostDatabase,
        "No image is acknowledged; all of /perf answers, also when Orthanc has given up. "
        "Afterwards as before",
        look_past_giving_up,
        patience=GIVEN_UP_SECONDS,
        most=5,
    ),
    Case(
        "no more file descriptors (RLIMIT_NOFILE)",
        NoDescriptor,
        "No image is acknowledged. Afterwards as before",
        look_for_nobody,
        patience=2,
        is_short=True,
    ),
    Case(
        "no more address space (RLIMIT_AS), for images of 84 MB among others",
        NoAddressSpace,
        "All images but large ones are acknowledged; /perf has what is, and as failed the large "
        "one whose association Orthanc aborts, and nothing else. Afterwards as before",
        look_for_large_ones,
        frames=160,
        is_chance=True,
        is_felt=True,
    ),
    Case(
        "no more memory (control group), for images of 52 MB among others",
        NoMemory,
        "What is acknowledged is there, also where the kernel has ended Orthanc, and then /perf "
        "has begun at zero and says so. Afterwards as before",
        frames=100,
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
        "All images are acknowledged, and /perf has them, and each silent association as aborted "
        "or lost. Afterwards as before",
        look_at_silence,
        after=look_at_bad_ends("SILENT", TIMEOUTS["DicomThreadsCount"]),
    ),
    Case(
        f"{SLOW_PEERS} peers that send one byte a second, half of them over HTTP",
        SlowPeers,
        "What is acknowledged is there; /perf has each slow association as aborted or lost. "
        "Afterwards as before",
        after=look_at_bad_ends("SLOW", SLOW_PEERS // 2),
        patience=5,
        is_chance=True,
    ),
    *(
        Case(
            f"network that loses and doubles 3 % of all frames, and reorders them, preset {preset}",
            BadNetwork,
            "All images are acknowledged, and /perf has them. Afterwards as before",
            look_for_stored,
            sockets=preset,
        )
        for preset in ("stock", "tuned")
    ),
]


def make_large(image: Image, frames: int, folder: Path) -> Image:
    content = read(image.path)
    content.NumberOfFrames = frames
    content.PixelData *= frames
    path = folder / image.path.name
    path.write_bytes(write(content))
    return Image(path, image.sop_instance_uid)


@contextmanager
def start(case: Case, plugin: Path | None) -> Iterator[Patient]:
    """In a folder that other users may enter, too."""
    fault = case.make()
    with tempfile.TemporaryDirectory(prefix="orthanc-perf-fault-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with (
            fault.prepare(folder),
            OrthancServer(
                folder,
                plugins=[plugin] * (plugin is not None) + [DICOMWEB_PLUGIN, *fault.plugins],
                options=fault.options,
                environment=fault.environment,
                launcher=fault.launcher,
            ) as server,
        ):
            if plugin:
                list_engines(server)  # a fault during their self-test switches them off
                tune_sockets(server, Preset=case.sockets)
            if plugin and case.engine:
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
    if case.frames:
        large = [make_large(image, case.frames, tmp_path) for image in images[-2:]]
        images = [*images[:-2], *large]
    row = reliability(case.breaks, case.seen)
    is_felt = False
    with start(case, plugin) as patient, start(case, None) if TRIES else nullcontext() as without:
        for _ in range(min(max(TRIES, 1), case.most)):
            with row.attempt():
                seen = patient.undergo(images, case)
                plain = without.undergo(images, case) if without else Counter[str]()
                for what, number in seen.items():
                    row.count(what, number)
                for what, number in plain.items():
                    row.count(f"{what} without the plugin", number)
                assert patient.fault.may_end or seen[ENDED] <= plain[ENDED]
                assert case.is_chance or seen[ACKNOWLEDGED] >= plain[ACKNOWLEDGED]
                is_felt |= seen[ACKNOWLEDGED] < DURING
    assert is_felt or not case.is_felt


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
