# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP requests that read: what the plugin says of a viewer's, against what their client saw."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import requests
from pydicom import dcmread

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.clients import upload
from harness.distance import NEAR, Distance, find_obstacle
from harness.metrics import scrape, wait_until
from harness.orthanc import OrthancServer

COUNT = 200


def view(url: str, images: list[Any], product: str) -> float:
    """As OHIF opens a series: its metadata, then each frame. In seconds, from connect to close."""
    first = dcmread(images[0].path, stop_before_pixels=True)
    series = f"dicom-web/studies/{first.StudyInstanceUID}/series/{first.SeriesInstanceUID}"
    paths = [f"{series}/metadata"]
    paths += [f"{series}/instances/{image.sop_instance_uid}/frames/1" for image in images]
    begin = time.perf_counter()
    with requests.Session() as session:
        session.trust_env = False
        session.headers["User-Agent"] = f"{product}/1.0 (a test)"
        for path in paths:
            assert session.get(f"{url}/{path}").status_code == 200
        return time.perf_counter() - begin


def list_requests(server: OrthancServer, product: str, count: int) -> list[dict[str, Any]]:
    """The latest of this product, once that many have finished."""
    found: list[dict[str, Any]] = []

    def are_listed() -> bool:
        found[:] = server.get_json(f"/perf/requests?client={product}&limit=1000")["Latest"]
        return len(found) == count

    assert wait_until(are_listed, 20), len(found)
    return found


def sum_phases(listed: list[dict[str, Any]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for request in listed:
        for phase, seconds in request["Phases"].items():
            sums[phase] = sums.get(phase, 0) + seconds
    return sums


def check_explained(
    server: OrthancServer, images: list[Any], product: str, seconds: float
) -> list[dict[str, Any]]:
    """The requests of a session, whose phases are its client's time."""
    listed = list_requests(server, product, len(images) + 1)
    phases = sum_phases(listed)
    print(f"{seconds:.3f} s, explained {sum(phases.values()) / seconds:.3f}: {phases}")
    assert 0.95 * seconds <= sum(phases.values()) <= 1.01 * seconds
    return listed


def test_a_viewers_session_is_explained(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    # Without the cache, in which the files are that were just stored
    orthanc = start_orthanc(
        options={
            "MaximumStorageCacheSize": 0,
            "HttpCompressionEnabled": False,
            "RemoteAccessAllowed": True,
            "AuthenticationEnabled": False,
        }
    )
    images = make_series("reads", COUNT)
    upload(orthanc, advice.read_all(images))
    seconds = view(orthanc.url, images, "viewer")
    listed = check_explained(orthanc, images, "viewer", seconds)
    assert {"Idle", "Receive", "Storage", "Work", "Send"} <= set(sum_phases(listed))
    for request in listed:
        waited = request["Duration"] + request["Phases"].get("Idle", 0)
        assert sum(request["Phases"].values()) == pytest.approx(waited, abs=1e-6)

    frames = [request for request in listed if request["Class"] == "wado-frames"]
    assert len(frames) == COUNT
    assert all(request["Status"] == 200 for request in listed)
    assert {request["Address"] for request in listed} == {"127.0.0.1"}
    assert all(request["Size"] > 512 * 512 * 2 for request in frames)

    answer = orthanc.get_json("/perf/requests?class=wado-metadata")
    assert [request["Class"] for request in answer["Latest"]] == ["wado-metadata"]
    assert [request["Class"] for request in answer["Slowest"]] == ["wado-metadata"]
    assert answer["Classes"]["wado-frames"]["Requests"] == COUNT
    assert "Database" not in answer["Classes"]["wado-frames"]["PhaseTimes"]  # it is SQLite
    durations = [request["Duration"] for request in orthanc.get_json("/perf/requests")["Slowest"]]
    assert durations == sorted(durations, reverse=True)

    served = orthanc.get_json("/perf/status")["Windows"][-1]["Serve"]
    assert served["Instances"] > COUNT
    assert served["Outcomes"]["Failed"] == 0
    assert {"Receive", "Storage", "Work", "Send"} <= set(served["Phases"])
    # The point of this second is not over
    assert wait_until(lambda: sum(orthanc.get_json("/perf/history")["Serve"]["Instances"]) > COUNT)

    metrics = scrape(orthanc)
    counts = {("wado-frames", "2xx"): COUNT, ("wado-metadata", "2xx"): 1}
    assert metrics.group("orthanc_perf_reads_total", "class", "status").items() >= counts.items()
    size = sum(request["Size"] for request in frames)
    assert metrics.group("orthanc_perf_read_bytes_total", "class")[("wado-frames",)] == size
    first = dcmread(images[0].path, stop_before_pixels=True)
    for text in (orthanc.get("/perf/metrics").text, orthanc.get("/perf/requests").text):
        assert first.StudyInstanceUID not in text

    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    with Distance(0.020) as distance, distance.at_far_end():
        seconds = view(f"http://{NEAR}:{orthanc.http_port}", images, "distant")
    phases = sum_phases(check_explained(orthanc, images, "distant", seconds))
    # A round trip before each request but the first
    assert phases["Idle"] + phases["Send"] >= 0.020 * COUNT


def check_level(server: OrthancServer, identifier: str, read: Callable[[], object]) -> None:
    """The finding under this load; its remedy ends it, and gives what it promises."""

    def time_read() -> float:
        begin = time.perf_counter()
        read()
        return time.perf_counter() - begin

    before = [time_read()]
    finding = advice.find_under_load(server, identifier, lambda: before.append(time_read()))
    advice.apply(server, finding)
    assert advice.goes_away(server, identifier)
    advice.check_gain(finding, min(before), min(time_read() for _ in range(advice.ATTEMPTS)))


def test_archives_at_level_6_are_found_and_level_1_ends_it(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    upload(orthanc, advice.read_all(make_series("reads", 40)))
    (study,) = orthanc.get_json("/studies")
    check_level(orthanc, "answer-compression", lambda: orthanc.get(f"/studies/{study}/archive"))


def test_a_client_that_reads_slowly_is_waited_for(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("reads", 60)
    upload(orthanc, advice.read_all(images))
    orthanc.tune(Answers={"ArchiveLevel": 0})
    (study,) = orthanc.get_json("/studies")
    rest = 8.0
    with requests.Session() as session:
        session.headers["User-Agent"] = "slow"
        # More than the kernel takes for a client that reads nothing
        url = f"{orthanc.url}/studies/{study}/archive"
        with session.get(url, stream=True) as response:
            assert response.status_code == 200
            time.sleep(rest)
            assert len(response.raw.read()) > 0
    (request,) = list_requests(orthanc, "slow", 1)
    assert request["Class"] == "archive"
    assert request["ClientWait"] > rest / 4
    assert request["Phases"]["Send"] >= request["ClientWait"]
    finding = advice.find(orthanc, "slow-reads")
    evidence = finding["Evidence"]
    assert (evidence["Class"], evidence["WaitsFor"]) == ("archive", "Client")
    assert evidence["WaitTime"] == pytest.approx(request["ClientWait"])
    assert evidence["WaitShare"] == pytest.approx(request["ClientWait"] / request["Duration"])

    assert advice.ends(orthanc, "slow-reads", lambda: orthanc.get(f"/studies/{study}/archive"))
