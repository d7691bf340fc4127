# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of an instance goes: the phases add up, and agree with the client's clock."""

import time
from contextlib import closing
from typing import Any

import pytest
import requests

from conftest import MakeSeries
from harness import clients
from harness.orthanc import OrthancServer

# Not a share of the duration: the sender's own pause, and a part of "Storage"
APART = {"Idle", "Sync"}

# The part of a series of uploads by which its phases may differ from the client's clock
UNSEEN = 0.05

PAUSE = 0.3


def sum_phases(instance: dict[str, Any]) -> float:
    return sum(time for phase, time in instance["Phases"].items() if phase not in APART)


def test_phases_sum_to_the_duration(server: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("store", 10)
    clients.store(server, images[:5])
    clients.upload(server, [image.read_bytes() for image in images[5:]])
    instances = server.get_json("/perf/instances?limit=10")
    assert len(instances) == 10
    for instance in instances:
        assert instance["Phases"], instance
        assert sum_phases(instance) == pytest.approx(instance["Duration"], abs=1e-6)
        assert all(time > 0 for time in instance["Phases"].values()), instance


def test_instances_of_a_zip_share_its_time_without_overlap(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    begin = time.perf_counter()
    clients.upload_zip(server, make_series("zip", 20))
    elapsed = time.perf_counter() - begin
    instances = server.get_json("/perf/instances?limit=20")
    assert len(instances) == 20
    assert sum(instance["Duration"] for instance in instances) < elapsed


def measure_share_explained(server: OrthancServer, contents: list[bytes]) -> float:
    """Uploads one after the other; the part of the client's time that the phases explain, the
    pauses between the uploads as the server sees them included."""
    begin = time.perf_counter()
    with closing(clients.Uploader(server)) as uploader:
        for content in contents:
            status, _ = uploader.upload(content)
            assert status == 200
        elapsed = time.perf_counter() - begin

    instances = server.get_json(f"/perf/instances?limit={len(contents)}&origin=RestApi")
    assert len(instances) == len(contents)
    return sum(entry["Duration"] + entry["Phases"].get("Idle", 0) for entry in instances) / elapsed


@pytest.mark.alone
def test_http_uploads_agree_with_the_clients_clock(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    contents = [image.read_bytes() for image in make_series("upload")]
    # A machine that is busy with something else lets the client wait for its turn, which no
    # server can see: the best of three series counts. The server may see a little more than the
    # client: the kernel hands an answer over before it lets the sender of it go on.
    shares = []
    for _ in range(3):
        orthanc.delete_all()
        shares.append(measure_share_explained(orthanc, contents))
    assert min(abs(1 - share) for share in shares) <= UNSEEN, shares


def test_a_pause_after_the_small_answer_to_a_form_is_idle(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("form", 3)
    with requests.Session() as session:
        session.trust_env = False
        for image in images:
            parts = {"image": image.read_bytes()}
            response = session.post(f"{server.url}/instances", files=parts, timeout=60)
            assert response.status_code == 200
            time.sleep(PAUSE)
    instances = server.get_json(f"/perf/instances?limit={len(images)}")
    # The client may have the answer some time before Orthanc's send() returns, on a busy machine
    assert all(entry["Phases"]["Idle"] > PAUSE / 2 for entry in instances[:-1]), instances
    assert all(entry["Stalls"] == 0 for entry in instances), instances


def test_the_list_can_be_narrowed(server: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("store", 6)
    clients.store(server, images[:2], title="FIRST")
    clients.store(server, images[2:4], title="SECOND")
    clients.upload(server, [image.read_bytes() for image in images[4:]])

    latest = server.get_json("/perf/instances?limit=3")
    assert [entry["Origin"] for entry in latest] == ["RestApi", "RestApi", "DicomProtocol"]
    assert latest[0]["ID"] == server.find_instance(images[5].sop_instance_uid)
    assert {entry["Peer"] for entry in server.get_json("/perf/instances?peer=FIRST")} == {"FIRST"}
    sent = server.get_json("/perf/instances?origin=DicomProtocol&limit=4")
    assert {entry["Peer"] for entry in sent} == {"FIRST", "SECOND"}


def test_peers_are_told_apart(server: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("store", 6)
    clients.store(server, images[:2], title="ONE")
    clients.store(server, images[2:], title="ANOTHER")
    peers = {peer["Name"]: peer for peer in server.get_json("/perf/peers")}
    assert peers["ONE"]["Receive"]["Instances"] == 2
    assert peers["ANOTHER"]["Receive"]["Instances"] == 4
    assert sum(peers["ANOTHER"]["Receive"]["PhaseShares"].values()) == pytest.approx(1)
