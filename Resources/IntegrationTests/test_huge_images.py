# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten senders of 500 MB at once, into a control group in which Orthanc without a budget is killed.

With Memory.IngestBudget all is stored: with time enough for each message, and with what is waited
by default, in which most of them are overdue and get on without room.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from conftest import AddRow, MakeSeries
from harness import clients, memory_group
from harness.images import SIZE, Image, write_multi_frame
from harness.large import MEBIBYTE, Sender, get_memory
from harness.ledger import Answer
from harness.load import meanwhile
from harness.memory_group import MemoryGroup
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.process import get_peak_bytes
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    decode,
    get_syntax,
    list_engines,
    read,
    read_stored,
    tune,
)

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        not os.environ.get("PERF_LONG"), reason="run-tests.sh --long does it, in 10 GB of disk"
    ),
]

GROUP_BYTES = 3 << 30
FRAMES = 954  # 500 MB
SENDERS = 10
PATIENCE = 3600.0
LOOK_SECONDS = 0.1

# Each association takes one of these threads, also while it waits
THREADS = {"DicomThreadsCount": 16}
SHARE = "25%"

# What configuration.md says of the longest wait, with what it says is the default
DEFAULT_WAIT = 30
PIECES_WITHOUT_ROOM = 4 * MEBIBYTE
UPLOADS_WITHOUT_ROOM = 64 * MEBIBYTE
LONGEST_GAP = 30
HARD_END = 3


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


def limit(**memory: Json) -> dict[str, Any]:
    return {"Tuning": {"Memory": {"IngestBudget": SHARE, **memory}}}


def find_longest_wait(way: str, images: Sequence[Image]) -> float:
    """By the formulas of configuration.md: one goes on, all others are overdue at once."""
    *others, _ = [image.get_size() for image in images]
    if way == "C-STORE":
        return DEFAULT_WAIT + sum(others) / PIECES_WITHOUT_ROOM
    *before, _ = others
    gaps = [min(LONGEST_GAP, size / UPLOADS_WITHOUT_ROOM) for size in before]
    return HARD_END * DEFAULT_WAIT + sum(gaps)


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
    """Looks on within this, and stores small images once a second. As all begin at once, who waits
    last has waited no longer than anybody did."""
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


def check_killed_without_the_plugin(
    folder: Path, images: Sequence[Image], way: str, size: int = GROUP_BYTES, **options: Json
) -> None:
    folder.mkdir()
    with memory_group.limit_memory(size) as launcher:
        server = OrthancServer(folder, options={**THREADS, **options}, launcher=launcher)
        with pytest.raises(RuntimeError, match="ended with -9"), server:
            answers = send_all(server, images, way)
            assert answers.count(Answer.ACKNOWLEDGED) < SENDERS


@contextmanager
def start_in_group(
    folder: Path, plugin: Path, perf: dict[str, Any], size: int = GROUP_BYTES
) -> Iterator[tuple[OrthancServer, MemoryGroup]]:
    folder.mkdir()
    with memory_group.make_group() as group:
        group.limit(size)
        server = OrthancServer(
            folder, plugins=[plugin], perf=perf, options=THREADS, launcher=group.launcher
        )
        with server:
            assert get_memory(server)["Limit"] == size
            assert get_memory(server)["IngestBudget"] == pytest.approx(size / 4, abs=100)
            yield server, group


def check_all_over(server: OrthancServer) -> Json:
    """Nothing counts or waits any more; what there has been."""
    assert wait_until(lambda: get_memory(server)["InFlight"] == 0), get_memory(server)
    memory = get_memory(server)
    assert memory["Held"] == memory["Waiting"] == 0
    assert memory["BrokenOff"] == memory["PassedFullLine"] == 0
    return memory


def find_pixels(content: bytes) -> bytes:
    """What follows the head, which Orthanc writes anew where it comes by C-STORE."""
    return content[-FRAMES * SIZE * SIZE * 2 :]


def check_stored(server: OrthancServer, image: Image) -> None:
    stored = server.get_file(server.find_instance(image.sop_instance_uid))
    assert find_pixels(stored) == find_pixels(image.read_bytes())


def test_a_memory_in_which_orthanc_is_killed_is_enough_with_the_budget(
    plugin: Path, images: list[Image], small: list[Image], tmp_path: Path, reliability: AddRow
) -> None:
    """With time enough, nobody gets on without room; and ordinary traffic goes on beside them."""
    row = reliability(
        "ten senders of 500 MB at once, control group of 3 GiB, IngestBudget 25 %",
        "all are stored, as they were sent, and what others send meanwhile; none is let on for"
        " having waited too long. Without the plugin, the kernel ends Orthanc",
    )
    with row.attempt():
        check_killed_without_the_plugin(tmp_path / "plain", images, "C-STORE")
        perf = limit(IngestWaitSeconds=600)
        with start_in_group(tmp_path / "budget", plugin, perf) as (server, group):
            with watch(server, group, small) as seen:
                assert send_all(server, images, "C-STORE") == [Answer.ACKNOWLEDGED] * SENDERS
            memory = check_all_over(server)
            print(f"{memory}; {seen.describe()}")
            assert memory["Waits"] == SENDERS - 1
            assert memory["GivenUp"] == 0
            assert seen.small_stored > seen.small_refused == 0
            for image in images:
                check_stored(server, image)
        row.count("instances acknowledged", SENDERS + seen.small_stored)


@pytest.mark.parametrize("way", ["C-STORE", "upload"])
def test_it_is_enough_with_the_time_that_is_waited_by_default(
    plugin: Path,
    images: list[Image],
    small: list[Image],
    tmp_path: Path,
    reliability: AddRow,
    way: str,
) -> None:
    """Most are overdue then; senders have the time-outs that they come with."""
    row = reliability(
        f"ten senders of 500 MB at once ({way}), control group of 3 GiB, IngestBudget 25 %,"
        f" IngestWaitSeconds as it comes ({DEFAULT_WAIT})",
        "all are stored, as they were sent, and what others send meanwhile; none waits longer than"
        " configuration.md says. Without the plugin, the kernel ends Orthanc",
    )
    with row.attempt():
        check_killed_without_the_plugin(tmp_path / "plain", images, way)
        with start_in_group(tmp_path / "budget", plugin, limit()) as (server, group):
            tuning = server.get_json("/perf/tuning")["Memory"]
            assert tuning["IngestWaitSeconds"] == DEFAULT_WAIT
            with watch(server, group, small) as seen:
                answers = send_all(server, images, way)
            memory = check_all_over(server)
            print(f"{memory}; {seen.describe()}")
            assert answers == [Answer.ACKNOWLEDGED] * SENDERS
            assert memory["Waits"] == SENDERS - 1
            assert seen.waiting_seconds < find_longest_wait(way, images)
            assert seen.small_stored > seen.small_refused == 0
            for image in images:
                check_stored(server, image)
        row.count("instances acknowledged", SENDERS + seen.small_stored)


def test_what_is_transcoded_is_stored_as_well(
    plugin: Path, images: list[Image], small: list[Image], tmp_path: Path, reliability: AddRow
) -> None:
    """It takes more than the three times that count, and so the group is larger."""
    row = reliability(
        "ten senders of 500 MB at once (C-STORE), transcoding by native, control group of 5 GiB,"
        f" IngestBudget 25 %, IngestWaitSeconds as it comes ({DEFAULT_WAIT})",
        "all are stored, transcoded, and what others send meanwhile; none waits longer than"
        " configuration.md says. Without the plugin, Orthanc transcodes, and the kernel ends it",
    )
    size = 5 << 30
    with row.attempt():
        check_killed_without_the_plugin(
            tmp_path / "plain", images, "C-STORE", size, IngestTranscoding=JPEG_LOSSLESS_SV1
        )
        with start_in_group(tmp_path / "budget", plugin, limit(), size) as (server, group):
            assert JPEG_LOSSLESS_SV1 in list_engines(server)["native"]
            tune(server, TransferSyntax=JPEG_LOSSLESS_SV1, Engine="native")
            with watch(server, group, small) as seen:
                answers = send_all(server, images, "C-STORE")
            memory = check_all_over(server)
            print(f"{memory}; {seen.describe()}")
            assert answers == [Answer.ACKNOWLEDGED] * SENDERS
            assert seen.waiting_seconds < find_longest_wait("C-STORE", images)
            assert seen.small_stored > seen.small_refused == 0
            for image in images:
                stored = read_stored(server, server.find_instance(image.sop_instance_uid))
                assert get_syntax(stored) == JPEG_LOSSLESS_SV1
            assert np.array_equal(decode(stored), decode(read(image.path)))  # the last one's
        row.count("instances acknowledged", SENDERS + seen.small_stored)
