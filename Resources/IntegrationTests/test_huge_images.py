# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten senders of 500 MB at once, into a control group in which Orthanc without a budget is killed.

With Memory.IngestBudget all is stored.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from conftest import AddRow, MakeSeries
from harness import clients, memory_group
from harness.images import SIZE, Image, write_multi_frame
from harness.large import Sender, check_all_over, get_memory
from harness.ledger import Answer
from harness.load import meanwhile
from harness.memory_group import MemoryGroup
from harness.orthanc import OrthancServer
from harness.process import get_peak_bytes

pytestmark = [
    pytest.mark.alone,
    pytest.mark.flaky(reruns=0),
    pytest.mark.skipif(
        not os.environ.get("PERF_LONG"), reason="run-tests.sh --long does it, in 10 GB of disk"
    ),
]

GROUP_BYTES = 3 << 30
FRAMES = 954  # 500 MB
SENDERS = 10
PATIENCE = 3600.0
LOOK_SECONDS = 0.1

THREADS = {"DicomThreadsCount": 16}
SHARE = "25%"


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Image]:
    obstacle = memory_group.find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    folder = tmp_path_factory.mktemp("huge")
    names = [f"huge-{number}" for number in range(SENDERS)]
    return [write_multi_frame(folder / f"{name}.dcm", name, FRAMES) for name in names]


@pytest.fixture
def small(make_series: MakeSeries) -> list[Image]:
    return make_series("store", 20)


@dataclass
class Seen:
    """Of a server while the images came: what it took, and for how long any of them waited."""

    waiting_seconds: float = 0
    most_of_group: int = 0  # bytes that the kernel cannot drop
    most_of_orthanc: int = 0
    small_stored: int = 0
    small_refused: int = 0

    def describe(self) -> str:
        return (
            f"the last one waited no longer than {self.waiting_seconds:.0f} s, the process had"
            f" {self.most_of_orthanc / 1e6:.0f} MB, its group {self.most_of_group / 1e6:.0f} MB,"
            f" {self.small_stored} small images beside them"
        )


@contextmanager
def watch(server: OrthancServer, group: MemoryGroup, small: Sequence[Image]) -> Iterator[Seen]:
    """Looks on within this, and stores small images once a second."""
    seen = Seen()

    def look(is_over: threading.Event) -> None:
        begun = None
        with requests.Session() as session:
            session.trust_env = False
            while not is_over.wait(LOOK_SECONDS):
                seen.most_of_group = max(seen.most_of_group, group.count_needed_bytes())
                status = session.get(f"{server.url}/perf/status", timeout=60).json()
                if status["Memory"]["Waiting"]:
                    begun = begun or time.monotonic()
                    seen.waiting_seconds = time.monotonic() - begun

    def store_on(is_over: threading.Event) -> None:
        while not is_over.wait(1):
            try:
                clients.store(server, small)
                seen.small_stored += len(small)
            except subprocess.CalledProcessError:
                seen.small_refused += len(small)

    with meanwhile(look), meanwhile(store_on):
        yield seen
    seen.most_of_orthanc = get_peak_bytes(server.pid)


def send_all(server: OrthancServer, images: Sequence[Image], way: str) -> list[Answer]:
    with ExitStack() as stack:
        senders = [stack.enter_context(Sender(server, way, image)) for image in images]
        return [sender.wait(PATIENCE) for sender in senders]


def check_killed_without_the_plugin(folder: Path, images: Sequence[Image], way: str) -> None:
    with memory_group.limit_memory(GROUP_BYTES) as launcher:
        server = OrthancServer(folder, options=THREADS, launcher=launcher)
        with pytest.raises(RuntimeError, match="ended with -9"), server:
            answers = send_all(server, images, way)
            assert answers.count(Answer.ACKNOWLEDGED) < SENDERS


@contextmanager
def start_in_group(folder: Path, plugin: Path) -> Iterator[tuple[OrthancServer, MemoryGroup]]:
    perf = {"Tuning": {"Memory": {"IngestBudget": SHARE}}}
    with memory_group.make_group() as group:
        group.limit(GROUP_BYTES)
        server = OrthancServer(
            folder, plugins=[plugin], perf=perf, options=THREADS, launcher=group.launcher
        )
        with server:
            assert get_memory(server)["Limit"] == GROUP_BYTES
            assert get_memory(server)["IngestBudget"] == pytest.approx(GROUP_BYTES / 4, abs=100)
            yield server, group


def find_pixels(content: bytes) -> bytes:
    """What follows the head, which Orthanc writes anew where it comes by C-STORE."""
    return content[-FRAMES * SIZE * SIZE * 2 :]


def check_stored(server: OrthancServer, image: Image) -> None:
    stored = server.get_file(server.find_instance(image.sop_instance_uid))
    assert find_pixels(stored) == find_pixels(image.read_bytes())


@pytest.mark.parametrize("way", ["C-STORE", "upload"])
def test_a_memory_in_which_orthanc_is_killed_is_enough_with_the_budget(
    plugin: Path,
    images: list[Image],
    small: list[Image],
    tmp_path: Path,
    reliability: AddRow,
    way: str,
) -> None:
    """Ordinary traffic goes on beside them; senders have the timeouts that they come with."""
    row = reliability(
        f"ten senders of 500 MB at once ({way}), control group of 3 GiB, IngestBudget 25 %",
        "all are stored, as they were sent, and what others send meanwhile. Without the plugin, the"
        " kernel ends Orthanc",
    )
    with row.attempt():
        check_killed_without_the_plugin(tmp_path / "plain", images, way)
        with start_in_group(tmp_path / "budget", plugin) as (server, group):
            with watch(server, group, small) as seen:
                answers = send_all(server, images, way)
            memory = check_all_over(server)
            print(f"{memory}; {seen.describe()}")
            assert answers == [Answer.ACKNOWLEDGED] * SENDERS
            assert memory["Waits"] == SENDERS - 1
            assert seen.small_stored > seen.small_refused == 0
            for image in images:
                check_stored(server, image)
        row.count("instances acknowledged", SENDERS + seen.small_stored)
