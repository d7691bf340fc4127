# SPDX-License-Identifier: GPL-3.0-or-later
"""No time of an ingest is left unexplained: phases add up, and agree with the client's clock."""

import time
from contextlib import closing
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.certificates import Certificate
from harness.metrics import scrape_when_counted, wait_until
from harness.orthanc import OrthancServer
from harness.senders import store_timed
from harness.tuning import tune_sockets

COUNT = 60

# The part of a series by which its phases may differ from the client's clock
UNSEEN = {"C-STORE": 0.03, "HTTP": 0.05}

# A machine that is busy with something else lets the client wait for its turn, which no server can
# see: the best of so many series counts
ATTEMPTS = 3

STORED = {"Receive", "Storage", "Sync", "Index", "Respond"}
STORED_BY_CSTORE = STORED | {"Parse", "Prepare", "Idle"}

# Not a share of the duration: the sender's own pause, and a part of "Storage"
APART = {"Idle", "Sync"}


def list_stored(server: OrthancServer, count: int, query: str) -> list[dict[str, Any]]:
    """As many instances that the query finds, each with all phases."""
    assert wait_until(lambda: len(server.get_json(f"/perf/instances?{query}")) == count)
    instances = server.get_json(f"/perf/instances?{query}")
    for instance in instances:
        phases = instance["Phases"]
        assert set(phases) >= STORED, instance
        assert all(seconds > 0 for seconds in phases.values()), instance
        assert phases["Sync"] <= phases["Storage"]
        parts = [seconds for phase, seconds in phases.items() if phase not in APART]
        assert sum(parts) == pytest.approx(instance["Duration"], abs=1e-6)
        assert instance["Stalls"] == 0 or instance["StallTime"] > 0
    return instances


def agree(shares: list[float], unseen: float) -> bool:
    """Whether the latest does, or there were enough: the best of them has to."""
    print("phases and pauses, in parts of the client's time:", shares)
    if abs(shares[-1] - 1) > unseen and len(shares) < ATTEMPTS:
        return False
    assert min(abs(share - 1) for share in shares) <= unseen, shares
    return True


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "tls"])
def test_each_way_in_has_all_phases(
    request: pytest.FixtureRequest,
    start_orthanc: StartOrthanc,
    certificate: Certificate,
    make_series: MakeSeries,
    is_encrypted: bool,
) -> None:
    options, arguments = {}, []
    if is_encrypted:
        options = request.getfixturevalue("https") | certificate.get_dicom_options()
        arguments = certificate.get_dcmtk_arguments()
    orthanc = start_orthanc(options=options)
    clients.store(orthanc, make_series("store", 10), "CT_ROOM_1", arguments)
    for instance in list_stored(orthanc, 10, "origin=DicomProtocol"):
        assert set(instance["Phases"]) == STORED_BY_CSTORE
        assert instance["Peer"] == "CT_ROOM_1"

    images = make_series("upload", 20)
    begin = time.perf_counter()
    for image in images[:10]:
        orthanc.upload(image.read_bytes())
    elapsed = time.perf_counter() - begin
    uploaded = list_stored(orthanc, 10, "origin=RestApi")
    assert sum(instance["Duration"] for instance in uploaded) < elapsed
    for image in images[10:]:  # one request each: of several in one, the last has the response
        clients.store_over_web(orthanc, [image])
    list_stored(orthanc, 10, "origin=Plugins")


@pytest.mark.alone
@pytest.mark.parametrize("preset", ["tuned", "stock"])
def test_phases_and_pauses_of_cstore_are_the_clients_time(
    orthanc: OrthancServer, make_series: MakeSeries, preset: str
) -> None:
    """From just before pynetdicom sends the first C-STORE-RQ until it has the last response.

    The pause before the first request belongs to the association, not to the transfer.
    """
    images = make_series("stalls", COUNT)
    tune_sockets(orthanc, Preset=preset)
    shares: list[float] = []
    while not shares or not agree(shares, UNSEEN["C-STORE"]):
        orthanc.delete_all()
        title = f"{preset}{len(shares)}"
        elapsed = store_timed(orthanc, images, title)
        instances = list_stored(orthanc, COUNT, f"limit={COUNT}&peer={title}")
        assert all(set(instance["Phases"]) == STORED_BY_CSTORE for instance in instances)
        pauses = sum(instance["Phases"]["Idle"] for instance in instances[:-1])
        shares.append((pauses + sum(one["Duration"] for one in instances)) / elapsed)


@pytest.mark.alone
def test_phases_and_pauses_of_uploads_are_the_clients_time(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    """The server may see more: the kernel hands over an answer before its sender goes on."""
    contents = [image.read_bytes() for image in make_series("upload")]
    shares: list[float] = []
    while not shares or not agree(shares, UNSEEN["HTTP"]):
        orthanc.delete_all()
        begin = time.perf_counter()
        with closing(clients.Uploader(orthanc)) as uploader:
            for content in contents:
                assert uploader.upload(content)[0] == 200
            elapsed = time.perf_counter() - begin
        scrape_when_counted(orthanc, (len(shares) + 1) * len(contents))
        instances = orthanc.get_json(f"/perf/instances?limit={len(contents)}&origin=RestApi")
        assert len(instances) == len(contents)
        pauses = sum(instance["Phases"].get("Idle", 0) for instance in instances)
        shares.append((pauses + sum(one["Duration"] for one in instances)) / elapsed)
