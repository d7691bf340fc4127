# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about peers and the network: each cause made for real, found, and remedied."""

import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydicom import dcmread

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store, upload
from harness.images import Image
from harness.metrics import scrape, wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import SlowReceiver, StoreScp, describe_modality, send, upload_to_send
from harness.senders import associate, store_timed
from harness.tuning import tune_sockets

COUNT = 60
LINUX_STALL = 0.040

# What a healthy server must bear without a word
HEALTHY_SECONDS = 15


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("advice", COUNT)


def test_a_healthy_tuned_server_gets_no_advice(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    """Mixed load in and out: C-STORE by two toolkits, HTTP, and what Orthanc sends."""
    port = find_free_port()
    orthanc = start_orthanc(options={"DicomModalities": {"receiver": describe_modality(port)}})
    contents = advice.read_all(images)
    identifiers = upload_to_send(orthanc, images)
    end = time.monotonic() + HEALTHY_SECONDS
    seen: set[tuple[str, str | None]] = set()

    def watch() -> None:
        while time.monotonic() < end:
            seen.update(advice.list_findings(orthanc))
            time.sleep(0.5)

    def go_on(work: object) -> None:
        while time.monotonic() < end:
            work()  # type: ignore[operator]

    work = [
        lambda: store(orthanc, images, "STORESCU"),
        lambda: store_timed(orthanc, images, "PYNETDICOM"),
        lambda: upload(orthanc, contents, 2),
        lambda: send(orthanc, "receiver", identifiers),
    ]
    with StoreScp(port), ThreadPoolExecutor(len(work) + 1) as pool:
        list(pool.map(lambda task: task(), [watch, *[lambda w=w: go_on(w) for w in work]]))
    assert seen == set(), orthanc.get("/perf/advice").text


def test_stalls_of_stock_sockets_are_found_and_applying_the_remedy_ends_them(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    tune_sockets(orthanc, Preset="stock")
    before = int(time.time())
    begin = time.perf_counter()
    store(orthanc, images, "CT_ROOM_1")
    stock_seconds = time.perf_counter() - begin

    finding = advice.find(orthanc, "delayed-ack", "CT_ROOM_1")
    assert finding["Evidence"]["MeanStall"] == pytest.approx(LINUX_STALL, rel=0.3)
    assert finding["Evidence"]["StallsPerInstance"] >= 0.8
    assert finding["Cost"]["ShareOfIngestTime"] > 0.5
    assert before <= finding["Since"] <= time.time()
    assert scrape(orthanc).sum("orthanc_perf_findings", id="delayed-ack") == 1

    advice.apply(orthanc, finding)
    assert ("delayed-ack", "CT_ROOM_1") not in advice.list_findings(orthanc)
    begin = time.perf_counter()
    store(orthanc, images, "CT_ROOM_1")
    gain = stock_seconds / (time.perf_counter() - begin)
    print(f"estimated gain {finding['Cost']['EstimatedGain']:.2f}, measured {gain:.2f}")
    assert gain > 2
    time.sleep(1)
    assert ("delayed-ack", "CT_ROOM_1") not in advice.list_findings(orthanc)
    assert scrape(orthanc).sum("orthanc_perf_findings", id="delayed-ack") == 0


def test_stalls_of_what_orthanc_sends_are_found_too(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    port = find_free_port()
    orthanc = start_orthanc(options={"DicomModalities": {"receiver": describe_modality(port)}})
    identifiers = upload_to_send(orthanc, images)
    tune_sockets(orthanc, Preset="stock")
    with StoreScp(port):
        send(orthanc, "receiver", identifiers)
        finding = advice.find(orthanc, "delayed-ack-sending", "STORESCP")
        assert finding["Evidence"]["MeanStall"] == pytest.approx(LINUX_STALL, rel=0.3)
        advice.apply(orthanc, finding)
        send(orthanc, "receiver", identifiers)
    time.sleep(1)
    assert advice.goes_away(orthanc, "delayed-ack-sending", 0)


def send_with_pauses(server: OrthancServer, images: list[Image], title: str, pause: float) -> float:
    """All images over one association; the mean time between a response and the next request."""
    contents = [dcmread(image.path) for image in images]
    association = associate(server, title)
    assert association.is_established
    paused = 0.0
    for content in contents:
        begin = time.perf_counter()
        time.sleep(pause)
        paused += time.perf_counter() - begin
        assert association.send_c_store(content).Status == 0
    association.release()
    return paused / len(contents)


def test_a_sender_that_pauses_is_named_until_it_no_longer_does(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    pause = send_with_pauses(orthanc, images[:40], "SLOW_CT", 0.05)
    finding = advice.find(orthanc, "sender-bottleneck", "SLOW_CT")
    # pynetdicom itself takes some milliseconds to encode an image
    assert pause * 0.95 <= finding["Evidence"]["MeanPause"] <= pause + 0.025
    assert finding["Remedy"]["Kind"] == "Peer"

    for _ in range(10):
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
        send(orthanc, "slow", identifiers)
        finding = advice.find(orthanc, "receiver-bottleneck", "SLOW")
        assert 0.095 <= finding["Evidence"]["MeanWait"] <= 0.130
        receiver.hurry()
        for _ in range(10):
            send(orthanc, "slow", identifiers * 2)
            if advice.goes_away(orthanc, "receiver-bottleneck", 1):
                return
    pytest.fail("the receiver hurries, and is still named")


def test_the_second_of_a_movescu_that_receives_its_own_images_is_found(
    start_orthanc: StartOrthanc, images: list[Image], tmp_path: Path
) -> None:
    port = find_free_port()
    modality = describe_modality(port, "MOVESCU")
    orthanc = start_orthanc(options={"DicomModalities": {"movescu": modality}})
    upload(orthanc, advice.read_all(images[:2]))
    study = dcmread(images[0].path).StudyInstanceUID
    command = ["movescu", "-S", "-aet", "MOVESCU", "-aec", "ORTHANC", "-aem", "MOVESCU"]
    command += ["--port", str(port), "-od", str(tmp_path)]
    command += ["-k", "QueryRetrieveLevel=STUDY", "-k", f"StudyInstanceUID={study}"]
    command += ["127.0.0.1", str(orthanc.dicom_port)]
    for _ in range(3):
        subprocess.run(command, check=True, timeout=60)

    finding = advice.find(orthanc, "slow-association-sending", "MOVESCU")
    assert finding["Evidence"]["MedianSetupTime"] == pytest.approx(1, abs=0.2)
    assert "movescu" in finding["Explanation"]
    assert finding["Remedy"]["Kind"] == "Peer"

    # The remedy: a receiver of its own, here storescp
    with StoreScp(port):
        for _ in range(5):
            send(orthanc, "movescu", upload_to_send(orthanc, images[:2]))
    assert advice.goes_away(orthanc, "slow-association-sending")


def test_who_connects_and_stays_silent_holds_up_associations_behind_it(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    for _ in range(3):
        silent = socket.create_connection(("127.0.0.1", orthanc.dicom_port))
        timer = threading.Timer(0.7, silent.close)
        timer.start()
        store(orthanc, images[:2], "WAITING")
        timer.join()
    finding = advice.find(orthanc, "slow-association", "WAITING")
    assert finding["Evidence"]["MedianSetupTime"] == pytest.approx(0.7, abs=0.3)

    for _ in range(5):
        store(orthanc, images[:2], "WAITING")
    assert advice.goes_away(orthanc, "slow-association")


def test_associations_that_wait_for_a_thread_are_found_and_the_remedy_ends_it(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    options = {"DicomThreadsCount": 1}
    senders = 4

    def load(server: OrthancServer) -> None:
        with ThreadPoolExecutor(senders) as pool:
            transfers = [
                pool.submit(store, server, images * 4, f"SENDER{i}") for i in range(senders)
            ]
            for transfer in transfers:
                transfer.result()

    orthanc = start_orthanc(options=options)
    load(orthanc)
    finding = advice.find(orthanc, "dicom-threads")
    assert finding["Evidence"]["DicomThreadsCount"] == 1
    assert finding["Evidence"]["OpenAssociations"] == pytest.approx(senders, abs=1)
    assert 0.5 <= finding["Evidence"]["WaitingAssociations"] <= senders - 1
    assert ("sender-bottleneck", "SENDER0") not in advice.list_findings(orthanc)
    orthanc.stop()

    remedied = start_orthanc(options=advice.configure(options, finding))
    load(remedied)
    assert advice.goes_away(remedied, "dicom-threads", 0)


def test_more_uploads_at_once_than_the_cores_can_serve_are_found(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    clients = 40
    upload(orthanc, advice.read_all(images) * 15, clients)
    finding = advice.find(orthanc, "parallel-ingest")
    assert 12 <= finding["Evidence"]["InstancesAtOnce"] <= clients


def test_small_pdus_are_found(start_orthanc: StartOrthanc, images: list[Image]) -> None:
    options = {"MaximumPduLength": 4096}
    orthanc = start_orthanc(options=options)
    store(orthanc, images)
    finding = advice.find(orthanc, "small-pdus", "STORESCU")
    assert finding["Evidence"]["PdusPerInstance"] == pytest.approx(525_000 / 4096, rel=0.01)
    orthanc.stop()

    remedied = start_orthanc(options=advice.configure(options, finding))
    store(remedied, images)
    assert wait_until(lambda: remedied.get_json("/perf/peers")[0]["Receive"]["Instances"] == COUNT)
    assert advice.goes_away(remedied, "small-pdus", 0)
