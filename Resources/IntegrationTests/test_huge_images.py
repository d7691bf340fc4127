# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten senders of 500 MB at once, into a control group in which Orthanc without a budget is killed.

With Memory.IngestBudget all is stored.
"""

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from conftest import AddRow, MakeSeries
from harness import clients, memory_group
from harness.images import SIZE, Image, write_multi_frame
from harness.large import Sender, check_all_over, get_memory
from harness.ledger import Answer
from harness.load import meanwhile
from harness.orthanc import OrthancServer

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


@contextmanager
def store_beside(server: OrthancServer, small: Sequence[Image]) -> Iterator[Counter[str]]:
    """Stores small images once a second, and counts those stored and refused."""
    counts: Counter[str] = Counter()

    def store_on(is_over: threading.Event) -> None:
        while not is_over.wait(1):
            try:
                clients.store(server, small)
                counts["stored"] += len(small)
            except subprocess.CalledProcessError:
                counts["refused"] += len(small)

    with meanwhile(store_on):
        yield counts


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
def start_in_group(folder: Path, plugin: Path) -> Iterator[OrthancServer]:
    perf = {"Tuning": {"Memory": {"IngestBudget": SHARE}}}
    with memory_group.limit_memory(GROUP_BYTES) as launcher:
        server = OrthancServer(
            folder, plugins=[plugin], perf=perf, options=THREADS, launcher=launcher
        )
        with server:
            assert get_memory(server)["Limit"] == GROUP_BYTES
            assert get_memory(server)["IngestBudget"] == pytest.approx(GROUP_BYTES / 4, abs=100)
            yield server


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
        with start_in_group(tmp_path / "budget", plugin) as server:
            with store_beside(server, small) as counts:
                answers = send_all(server, images, way)
            assert answers == [Answer.ACKNOWLEDGED] * SENDERS
            assert check_all_over(server)["Waits"] == SENDERS - 1
            assert counts["stored"] > counts["refused"] == 0
            for image in images:
                check_stored(server, image)
        row.count("instances acknowledged", SENDERS + counts["stored"])
