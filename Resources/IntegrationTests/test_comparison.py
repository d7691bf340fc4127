# SPDX-License-Identifier: GPL-3.0-or-later
"""POST /perf/transcoding/compare: the engines on stored images, as a job of Orthanc's."""

import json

import requests
import schemathesis

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer
from harness.transcoding import JPEG_LOSSLESS_SV1, RLE, list_engines

ROUTE = "/perf/transcoding/compare"
DESCRIPTION = ROOT / "Resources" / "Documentation" / "openapi.yaml"
NO_RESOURCE = "00000000-00000000-00000000-00000000-00000000"
JOB_SECONDS = 120

FAST = ["JPEGProcess14SV1", "RLELossless"]


def post(server: OrthancServer, **body: Json) -> requests.Response:
    return server.request("POST", ROUTE, data=json.dumps(body))


def start(server: OrthancServer, **body: Json) -> str:
    answer = post(server, **body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["Path"] == f"/jobs/{answer.json()['ID']}"
    return answer.json()["Path"]


def finish(server: OrthancServer, path: str) -> Json:
    over = ("Success", "Failure")
    assert wait_until(lambda: server.get_json(path)["State"] in over, JOB_SECONDS)
    return server.get_json(path)


def compare(server: OrthancServer, **body: Json) -> Json:
    job = finish(server, start(server, **body))
    assert job["State"] == "Success"
    assert job["Progress"] == 100
    return job["Content"]


def store(server: OrthancServer, make_series: MakeSeries, count: int) -> str:
    """The series of the images."""
    images = make_series("comparison", count)
    answers = clients.upload(server, [image.read_bytes() for image in images])
    return json.loads(answers[0][1])["ParentSeries"]


def find(content: Json, engine: str, target: str) -> Json:
    return next(
        result
        for result in content["Results"]
        if result["Engine"] == engine and result["TransferSyntax"] == target
    )


def test_each_engine_is_measured_and_no_ingest_figure_moves(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    series = store(orthanc, make_series, 4)
    size = orthanc.get_json("/statistics")["TotalDiskSize"]
    content = compare(orthanc, Resource=series, Targets=FAST)
    assert content["Instances"] == content["FinishedInstances"] == 4
    assert len({(one["Engine"], one["TransferSyntax"]) for one in content["Results"]}) == 6
    assert len(content["Results"]) == 6
    for engine in list_engines(orthanc):
        result = find(content, engine, JPEG_LOSSLESS_SV1)
        assert result["Transcoded"] == 4
        assert result["Lossless"] is True
        assert result["MaximumError"] == 0
        assert 2 < result["Ratio"] < 3
        assert result["EncodeBytesPerSecond"] > 1e6
        assert result["DecodeBytesPerSecond"] > 1e6
    assert find(content, "native", RLE)["Declined"] == 4
    assert orthanc.get_json("/statistics")["TotalDiskSize"] == size
    assert scrape(orthanc).sum("orthanc_perf_transcode_total") == 0
    assert scrape(orthanc).sum("orthanc_perf_ingest_instances_total") == 4


def test_progress_rises_and_results_grow(server: OrthancServer, make_series: MakeSeries) -> None:
    series = store(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)
    seen: list[tuple[int, int]] = []
    while not seen or seen[-1][0] < 100:
        job = server.get_json(path)
        seen.append((job["Progress"], job["Content"]["FinishedInstances"]))
        assert job["State"] in ("Pending", "Running", "Success")
    assert seen == sorted(seen)
    assert len({progress for progress, _ in seen}) > 3
    assert len({finished for _, finished in seen}) > 3


def pause(server: OrthancServer, path: str) -> None:
    server.request("POST", f"{path}/pause", data="{}").raise_for_status()
    assert wait_until(lambda: server.get_json(path)["State"] == "Paused")


def test_a_comparison_is_the_only_one_and_paused_resumed_and_canceled(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    series = store(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)
    pause(server, path)
    progress = server.get_json(path)["Progress"]
    assert progress < 100

    refused = post(server, Resource=series)
    assert (refused.status_code, refused.json()["Path"]) == (409, path)
    description = schemathesis.openapi.from_path(DESCRIPTION)
    description[ROUTE]["POST"].validate_response(refused)

    server.request("POST", f"{path}/resume", data="{}").raise_for_status()
    assert wait_until(lambda: server.get_json(path)["Progress"] > progress)
    server.request("POST", f"{path}/cancel", data="{}").raise_for_status()
    job = finish(server, path)
    assert job["State"] == "Failure"
    assert job["ErrorDescription"] == "This job was canceled"

    server.request("POST", f"{path}/resubmit", data="{}").raise_for_status()
    assert finish(server, path)["Content"]["FinishedInstances"] == 20


def test_what_is_deleted_meanwhile_is_declined(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    series = store(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)
    pause(server, path)
    server.delete_all()
    server.request("POST", f"{path}/resume", data="{}").raise_for_status()
    job = finish(server, path)
    assert job["State"] == "Success"
    for result in job["Content"]["Results"]:
        assert result["Declined"] > 0
        assert result["Reason"]
    assert find(job["Content"], "dcmtk", RLE)["Reason"] == "not in the store any more"


def test_orthanc_stops_during_a_comparison(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    series = store(orthanc, make_series, 20)
    start(orthanc, Resource=series)
    assert orthanc.stop() == 0
    orthanc.start()
    assert orthanc.get_json("/jobs") == []


def test_an_unknown_resource_is_404(server: OrthancServer, make_series: MakeSeries) -> None:
    store(server, make_series, 1)
    for resource in [NO_RESOURCE, server.get_json("/studies")[0]]:
        answer = post(server, Resource=resource)
        assert answer.status_code == 404
        assert resource in answer.json()["Message"]


def test_forbidden_tuning_does_not_forbid_it(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(perf={"AllowTuning": False})
    series = store(orthanc, make_series, 1)
    assert compare(orthanc, Resource=series)["FinishedInstances"] == 1
