# SPDX-License-Identifier: GPL-3.0-or-later
"""The traffic of a soak: everything at once, in rounds that end with a look at what is left.

In a round all senders and disturbers are at work. Then all is quiet, what the plugin has counted is
held against the store and against what the clients know, and the store is emptied: no round finds
more in it than the one before.
"""

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product

import requests
from pydicom import dcmread
from pydicom.uid import UID

from harness import abuse
from harness.acknowledged import DICOM_SECONDS, IMAGES_PER_REQUEST, AcknowledgedLoad
from harness.clients import Uploader
from harness.images import Image
from harness.load import meanwhile
from harness.metrics import (
    ASSOCIATIONS,
    BYTES,
    IN_FLIGHT,
    INSTANCES,
    PEER_INSTANCES,
    PREFIX,
    scrape,
    wait_until,
)
from harness.numbered import NumberedImages, identify_numbered, make_pixels
from harness.orthanc import OrthancServer
from harness.process import count_descriptors, get_resident_bytes, list_children
from harness.transcoding import LOSSLESS, decode, list_engines, read_stored

OPEN = PREFIX + "associations_open"
TRANSCODED = PREFIX + "transcode_total"

# The titles of clients whose associations are counted, one of which is a destination, too
SENDER, MOVER = "ACKNOWLEDGED", "MOVER"

# The ways in, and the origins under which the plugin counts what comes by them
ORIGINS = {"store": "DicomProtocol", "upload": "RestApi", "store_over_web": "Plugins"}
OUTCOMES = ("stored", "failed", "discarded")

NO_DICOM = b"This is not DICOM."

MOVE_PAUSE, TUNING_PAUSE, ABUSE_PAUSE = 0.5, 0.5, 0.05

CHECK_PAUSE = 2.0

# Read and decoded in each round, of its hundreds; that all are there, and as what, is looked at
DECODED = 20

STRANGERS = [
    abuse.speak_garbage,
    abuse.speak_garbage_when_associated,
    abuse.ask_garbage,
    abuse.break_off_request,
    abuse.reset_in_mid_message,
    abuse.call_itself_nonsense,
]


@dataclass(frozen=True)
class Sample:
    """What Orthanc and its engines' programs hold at a time, in seconds since the begin."""

    time: float
    is_quiet: bool
    resident: int
    programs: list[int]  # resident bytes of each
    descriptors: int


@dataclass
class Sums:
    """What the clients know, from the begin on."""

    instances: Counter[tuple[str, str]] = field(default_factory=Counter)  # by origin and outcome
    bytes: Counter[str] = field(default_factory=Counter)  # by origin
    transcoded: int = 0
    moves: int = 0
    resets: int = 0
    strangers: int = 0
    switches: int = 0

    def note(self, origin: str, outcome: str, count: int, size: int) -> None:
        self.instances[origin, outcome] += count
        self.bytes[origin] += count * size


def expect(least: int, room: int = 0) -> range:
    return range(least, least + room + 1)


class Soak:
    """One server, and all that is done to it; `kept` images stay, to be moved to MOVER."""

    def __init__(self, server: OrthancServer, kept: Sequence[Image], seed: int) -> None:
        self.sums = Sums()
        self.samples: list[Sample] = []
        self.rounds = 0
        self._ill = 0
        self._server = server
        self._dice = random.Random(seed)
        self._numbered = NumberedImages()
        self._size = len(self._numbered.take()[1])
        # Origins by numbers that were sent, but neither acknowledged nor found in the store: where
        # a machine is so busy that a client gives up, nobody but Orthanc knows what became of them
        self._unclear: dict[int, str] = {}
        self._kept_study = self._keep(kept)
        self._kept = len(kept)
        self._choices = self._list_choices()
        self._begin = time.monotonic()

    def go_on(self, seconds: float) -> None:
        """One round with traffic for so long. Raises where anything does not agree."""
        begin = time.monotonic()
        with ExitStack() as stack:
            loads = {
                way: stack.enter_context(AcknowledgedLoad(self._server, self._numbered, [way]))
                for way in ORIGINS
            }
            for work in (self._move, self._tune, self._check_health, self._abuse):
                stack.enter_context(self._repeat(work))
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                time.sleep(min(5.0, seconds / 2))
                self._sample(is_quiet=False)
            for load in loads.values():
                load.wait_for(1)
        self.rounds += 1
        # A client that gives up has waited for an answer until then
        most = IMAGES_PER_REQUEST * (1 + (time.monotonic() - begin) / DICOM_SECONDS)
        for way, origin in ORIGINS.items():
            load = loads[way]
            assert not load.refused, (
                f"refused by {way}: {load.refused}\n{self._server.log[-20000:]}"
            )
            unanswered = load.sent.difference(load.acknowledged)
            assert len(unanswered) <= most, f"{len(unanswered)} without an answer by {way}"
            self._unclear |= dict.fromkeys(load.sent, origin)
        assert wait_until(lambda: scrape(self._server).sum(IN_FLIGHT) == 0)
        self._check_store({number for load in loads.values() for number in load.acknowledged})
        self._check_counters()
        self._empty_store()
        self._give_back()
        self._sample(is_quiet=True)

    def end_programs(self) -> None:
        """Engines' programs that nobody needs now, and what Orthanc has of them."""
        for program in list_children(self._server.pid):
            with suppress(ProcessLookupError):
                os.kill(program, signal.SIGKILL)
        assert wait_until(lambda: not list_children(self._server.pid))

    @contextmanager
    def _repeat(self, work: Callable[[requests.Session, threading.Event], None]) -> Iterator[None]:
        """In a thread, with what it needs to ask Orthanc; what it raises is raised at the end."""
        failures = []

        def run(is_over: threading.Event) -> None:
            with requests.Session() as session:
                session.trust_env = False
                try:
                    while not is_over.is_set():
                        work(session, is_over)
                except Exception as failure:
                    failures.append(failure)

        with meanwhile(run):
            yield
        if failures:
            raise failures[0]

    def _move(self, _: requests.Session, is_over: threading.Event) -> None:
        command = ["movescu", "-aet", MOVER, "-aem", MOVER, "-aec", "ORTHANC", "-S"]
        command += ["-k", "QueryRetrieveLevel=STUDY", "-k", f"StudyInstanceUID={self._moved_uid}"]
        command += ["127.0.0.1", str(self._server.dicom_port)]
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        self.sums.moves += 1
        is_over.wait(MOVE_PAUSE)

    def _tune(self, session: requests.Session, is_over: threading.Event) -> None:
        """Another engine, target, preset, budget; now and then all as it was configured."""
        if self._dice.random() < 0.1:
            response = session.delete(f"{self._server.url}/perf/tuning", timeout=60)
        else:
            document = {
                "IngestTranscoding": self._dice.choice(self._choices)
                | {"Verify": self._dice.random() < 0.2},
                "DicomSockets": {"Preset": self._dice.choice(["tuned", "stock"])},
                "Memory": {"IngestBudget": self._dice.choice([0, "25%"])},
            }
            response = session.put(f"{self._server.url}/perf/tuning", json=document, timeout=60)
        response.raise_for_status()
        self.sums.switches += 1
        session.close()  # Orthanc does, after a second, and the pause may last longer
        is_over.wait(TUNING_PAUSE)

    def _check_health(self, session: requests.Session, is_over: threading.Event) -> None:
        """As a load balancer does, which would take the server out the third time."""
        response = session.get(f"{self._server.url}/perf/health", timeout=60)
        assert response.status_code in (200, 503)
        self._ill = 0 if response.status_code == 200 else self._ill + 1
        assert self._ill < 3, response.text
        session.close()
        is_over.wait(CHECK_PAUSE)

    def _abuse(self, _: requests.Session, is_over: threading.Event) -> None:
        number = self.sums.strangers
        self.sums.strangers += 1
        kind = number % (len(STRANGERS) + 1)
        if kind < len(STRANGERS):
            STRANGERS[kind](self._server, number)
            self.sums.resets += STRANGERS[kind] is abuse.reset_in_mid_message
        else:
            with closing(Uploader(self._server)) as uploader:
                status, _ = uploader.upload(NO_DICOM)
            assert status == 400
            self.sums.note("RestApi", "failed", 1, len(NO_DICOM))
        is_over.wait(ABUSE_PAUSE)

    def _check_store(self, acknowledged: set[int]) -> None:
        """All of this round that was acknowledged, and nothing else but what got no answer; each
        of them as it was sent, as far as some of them tell. Each answer is a short one: one with
        thousands of instances would take tens of megabytes, which the heap of that thread keeps.
        """
        sent = {identify_numbered(number): number for number in self._unclear}
        listed = set(self._server.get_json("/instances")) - self._kept_instances
        assert not listed - sent.keys(), "there is what was not sent, or was removed"
        stored = {identifier: sent[identifier] for identifier in listed}
        lost = acknowledged - set(stored.values())
        assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged instances are lost"
        for number in stored.values():
            self.sums.note(self._unclear.pop(number), "stored", 1, self._size)
        for identifier in stored:
            path = f"/instances/{identifier}/metadata/TransferSyntax"
            self.sums.transcoded += UID(self._server.get(path).text).is_compressed
        for identifier in self._dice.sample(sorted(stored), min(DECODED, len(stored))):
            pixels = decode(read_stored(self._server, identifier))
            number = stored[identifier]
            assert (pixels == make_pixels(number)).all(), f"{number} has other pixels"

    def _check_counters(self) -> None:
        """What was refused, and what was broken off, is counted some seconds later."""

        def find_wrong() -> dict[str, tuple[float, range]]:
            figures = self._list_figures()
            return {
                name: figure for name, figure in figures.items() if int(figure[0]) not in figure[1]
            }

        assert wait_until(lambda: not find_wrong()), f"counted, and expected: {find_wrong()}"
        status = self._server.get_json("/perf/status")
        assert not status["CallbackFailures"], status["CallbackFailures"]
        assert status["Probe"]["DroppedEvents"] == 0

    def _list_figures(self) -> dict[str, tuple[float, range]]:
        """What is counted, and expected: exact, but for what is unclear."""
        metrics, sums, unclear = scrape(self._server), self.sums, Counter(self._unclear.values())
        instances = metrics.group(INSTANCES, "origin", "outcome")
        figures: dict[str, tuple[float, range]] = {
            f"{origin} {outcome}": (
                instances.get((origin, outcome), 0),
                expect(sums.instances[origin, outcome], unclear[origin]),
            )
            for origin, outcome in {*instances, *product(ORIGINS.values(), OUTCOMES)}
        }
        # Of C-STORE, Orthanc writes the file meta information, and so decides on the size
        for origin in ("RestApi", "Plugins"):
            figures[f"{origin} bytes"] = (
                metrics.sum(BYTES, origin=origin),
                expect(sums.bytes[origin], unclear[origin] * self._size),
            )
        of_mover = {"peer": MOVER, "direction": "receive", "outcome": "released"}
        return figures | {
            "from the sender": (
                metrics.sum(PEER_INSTANCES, peer=SENDER, direction="receive"),
                expect(sums.instances["DicomProtocol", "stored"], unclear["DicomProtocol"]),
            ),
            "moved": (
                metrics.sum(PEER_INSTANCES, peer=MOVER, direction="send"),
                expect(sums.moves * self._kept),
            ),
            "associations of the mover": (
                metrics.sum(ASSOCIATIONS, **of_mover),
                expect(sums.moves),
            ),
            "associations that were reset": (
                metrics.sum(ASSOCIATIONS, peer="RESET", outcome="lost"),
                expect(sums.resets),
            ),
            "transcoded": (
                metrics.sum(TRANSCODED, outcome="transcoded"),
                expect(sums.transcoded, unclear.total()),
            ),
            "in flight": (metrics.sum(IN_FLIGHT), expect(0)),
            "associations open": (metrics.sum(OPEN), expect(0)),
        }

    def _empty_store(self) -> None:
        for study in self._server.get_json("/studies"):
            if study != self._kept_study:
                self._server.request("DELETE", f"/studies/{study}").raise_for_status()
        self._server.request("DELETE", "/changes").raise_for_status()

    def _give_back(self) -> None:
        """What is free: else the heap has the most that it ever held at once, which grows for
        hours as it is surpassed ever more seldom, and would hide a leak."""
        self._server.request("GET", "/other/trim").raise_for_status()

    def _sample(self, is_quiet: bool) -> None:
        pid = self._server.pid
        programs = []
        for program in list_children(pid):
            with suppress(FileNotFoundError, ProcessLookupError):
                programs.append(get_resident_bytes(program))
        self.samples.append(
            Sample(
                round(time.monotonic() - self._begin, 1),
                is_quiet,
                get_resident_bytes(pid),
                programs,
                count_descriptors(pid),
            )
        )

    def _keep(self, images: Sequence[Image]) -> str:
        with closing(Uploader(self._server)) as uploader:
            for image in images:
                content = image.read_bytes()
                status, _ = uploader.upload(content)
                assert status == 200
                self.sums.note("RestApi", "stored", 1, len(content))
        (study,) = self._server.get_json("/studies")
        self._kept_instances = set(self._server.get_json("/instances"))
        self._moved_uid = dcmread(images[0].path, stop_before_pixels=True).StudyInstanceUID
        return study

    def _list_choices(self) -> list[dict[str, str]]:
        """Each engine with each target that is compressed, and no transcoding."""
        engines = list_engines(self._server)
        engines["auto"] = set.union(*engines.values())
        compressed = {syntax for syntax in LOSSLESS if syntax.is_compressed}
        return [{"TransferSyntax": ""}] + [
            {"Engine": engine, "TransferSyntax": syntax}
            for engine, written in sorted(engines.items())
            for syntax in sorted(written & compressed)
        ]
