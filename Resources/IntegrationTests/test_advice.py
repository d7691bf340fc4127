# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about peers and the network: each cause made for real, found, and remedied."""

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydicom import dcmread

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store, upload
from harness.images import Image
from harness.metrics import scrape
from harness.orthanc import OrthancServer, find_free_port, read_moment
from harness.receivers import SlowReceiver, StoreScp, describe_modality, send, upload_to_send
from harness.senders import associate, store_timed
from harness.tuning import tune_sockets

COUNT = 60

# Linux delays an acknowledgement for 40 ms; a busy machine wakes up later
LINUX_STALL = (0.036, 0.090)

HEALTHY_SECONDS = 20

SLOW_SYNC = 0.008

# From here on, the machine is not the server's own: a share of its processors
BUSY_WITH_OTHERS = 0.5

pytestmark = pytest.mark.pair


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("advice", COUNT)


def time_sync(path: Path, content: bytes) -> float:
    """Seconds for what Orthanc does with an image, whoever else uses the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        begin = time.monotonic()
        os.fsync(file.fileno())
        return time.monotonic() - begin


def measure_others() -> float:
    """The share of the processors that others use, while the test itself rests (proc(5), stat)."""

    def read() -> tuple[int, int]:
        user, nice, system, idle, waiting, *rest = map(
            int, Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:]
        )
        return user + nice + system + sum(rest[:3]), idle + waiting

    busy, idle = read()
    time.sleep(3)
    busy_after, idle_after = read()
    busy, idle = busy_after - busy, idle_after - idle
    return busy / max(busy + idle, 1)


def list_advice_under_load(
    orthanc: OrthancServer, images: list[Image], receiver: str, disk: Path
) -> set[str]:
    """All findings that there are at any time under mixed load.

    In and out: C-STORE by two toolkits, HTTP, and what Orthanc sends. Where others keep the disk so
    busy that the test, too, waits for it, or take the processors, those findings are right; and
    without a processor, the senders do pause.
    """
    right = set()
    if measure_others() > BUSY_WITH_OTHERS:
        right = {"processor", "sender-bottleneck"}
    contents = advice.read_all(images)
    identifiers = upload_to_send(orthanc, images)
    end = time.monotonic() + HEALTHY_SECONDS
    seen: set[str] = set()
    syncs: list[float] = []

    def watch() -> None:
        seen.update(advice.list_kinds(orthanc))
        syncs.append(time_sync(disk / "synced", contents[0]))
        time.sleep(0.5)

    tasks = [
        watch,
        lambda: store(orthanc, images, "STORESCU"),
        lambda: store_timed(orthanc, images, "PYNETDICOM"),
        lambda: upload(orthanc, contents, 2),
        lambda: send(orthanc, receiver, identifiers),
    ]

    def repeat(task: Callable[[], object]) -> None:
        while time.monotonic() < end:
            task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        list(pool.map(repeat, tasks))
    if statistics.mean(syncs) > SLOW_SYNC:
        right.add("fsync")
    return seen - right


@pytest.mark.alone
def test_a_healthy_tuned_server_gets_no_advice(
    start_orthanc: StartOrthanc, images: list[Image], tmp_path: Path
) -> None:
    port = find_free_port()
    orthanc = start_orthanc(options={"DicomModalities": {"receiver": describe_modality(port)}})
    with StoreScp(port):
        assert list_advice_under_load(orthanc, images, "receiver", tmp_path) == set()


def test_stalls_of_stock_sockets_are_found_and_applying_the_remedy_ends_them(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    tune_sockets(orthanc, Preset="stock")
    before = time.time() - 1  # to whole seconds
    begin = time.perf_counter()
    store(orthanc, images, "CT_ROOM_1")
    stock_seconds = time.perf_counter() - begin

    finding = advice.find(orthanc, "delayed-ack", "CT_ROOM_1")
    assert LINUX_STALL[0] <= finding["Evidence"]["MeanStall"] < LINUX_STALL[1]
    assert finding["Evidence"]["StallsPerInstance"] >= 0.8
    assert finding["Cost"]["ShareOfIngestTime"] > 0.5
    assert before <= read_moment(finding["Since"]) <= time.time()
    assert scrape(orthanc).sum("orthanc_perf_findings", id="delayed-ack") == 1

    advice.apply(orthanc, finding)
    assert ("delayed-ack", "CT_ROOM_1") not in advice.list_findings(orthanc)
    begin = time.perf_counter()
    store(orthanc, images, "CT_ROOM_1")
    advice.check_gain(finding, stock_seconds, time.perf_counter() - begin)
    time.sleep(1)
    assert ("delayed-ack", "CT_ROOM_1") not in advice.list_findings(orthanc)
    assert scrape(orthanc).sum("orthanc_perf_findings", id="delayed-ack") == 0

    # What came before the change is no part of the whole, as it is none of the peer
    tune_sockets(orthanc, Preset="stock")
    store(orthanc, images, "CT_ROOM_1")
    again = advice.find(orthanc, "delayed-ack", "CT_ROOM_1")
    share = again["Cost"]["ShareOfIngestTime"]
    assert share == pytest.approx(again["Evidence"]["StallShare"], rel=0.05)


def test_a_sender_that_pauses_is_named_until_it_no_longer_does(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    pause = 0.1
    contents = [dcmread(image.path) for image in images[:40]]
    association = associate(orthanc, "SLOW_CT")
    assert association.is_established
    begin = time.perf_counter()
    for content in contents:
        time.sleep(pause)
        assert association.send_c_store(content).Status == 0
    elapsed = (time.perf_counter() - begin) / len(contents)
    association.release()
    finding = advice.find(orthanc, "sender-bottleneck", "SLOW_CT")
    assert finding["Cost"]["EstimatedGain"] is None
    # pynetdicom takes some time to encode an image, which is part of its pause
    assert pause * 0.95 <= finding["Evidence"]["MeanPause"] <= elapsed
    assert finding["Remedy"]["Kind"] == "Peer"

    for _ in range(20):
        store(orthanc, images, "SLOW_CT")
        if advice.goes_away(orthanc, "sender-bottleneck", 1):
            return
    pytest.fail("the sender no longer pauses, and is still named")


def test_a_receiver_that_takes_its_time_is_named_until_it_hurries(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    port = find_free_port()
    modality = describe_modality(port, "SLOW")
    orthanc = start_orthanc(options={"DicomModalities": {"slow": modality}})
    identifiers = upload_to_send(orthanc, images[:30])
    with SlowReceiver(port, image_seconds=0.1) as receiver:
        begin = time.perf_counter()
        send(orthanc, "slow", identifiers)
        elapsed = (time.perf_counter() - begin) / len(identifiers)
        finding = advice.find(orthanc, "receiver-bottleneck", "SLOW")
        assert finding["Cost"]["EstimatedGain"] is None  # what it would be is the receiver's
        assert 0.095 <= finding["Evidence"]["MeanWait"] <= elapsed
        receiver.hurry()
        for _ in range(10):
            send(orthanc, "slow", identifiers * 2)
            if advice.goes_away(orthanc, "receiver-bottleneck", 1):
                return
    pytest.fail("the receiver hurries, and is still named")


def test_associations_that_wait_for_a_thread_are_found_and_the_remedy_ends_it(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    senders = 4
    orthanc = start_orthanc(options={"DicomThreadsCount": 1})

    def load() -> None:
        with ThreadPoolExecutor(senders) as pool:
            transfers = [
                pool.submit(store, orthanc, images * 4, f"SENDER{i}") for i in range(senders)
            ]
            for transfer in transfers:
                transfer.result()

    finding = advice.find_under_load(orthanc, "dicom-threads", load)
    assert finding["Evidence"]["DicomThreadsCount"] == 1
    assert finding["Evidence"]["OpenAssociations"] == pytest.approx(senders, abs=1)
    assert 0.5 <= finding["Evidence"]["WaitingAssociations"] <= senders - 1
    assert ("sender-bottleneck", "SENDER0") not in advice.list_findings(orthanc)

    advice.configure(orthanc, finding)
    load()
    assert advice.goes_away(orthanc, "dicom-threads", 0)
