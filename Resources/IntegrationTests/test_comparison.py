# SPDX-License-Identifier: GPL-3.0-or-later
"""POST /perf/transcoding/compare: the engines on stored images, as a job of Orthanc's."""

import io
import json

import requests
import schemathesis

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer
from harness.sources import KINDS, make_image
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


def store(server: OrthancServer, *contents: bytes) -> str:
    """The series of the images."""
    answers = [json.loads(body) for _, body in clients.upload(server, contents)]
    return answers[0]["ParentSeries"]


def store_series(server: OrthancServer, make_series: MakeSeries, count: int) -> str:
    return store(server, *(image.read_bytes() for image in make_series("comparison", count)))


def make_colour() -> bytes:
    buffer = io.BytesIO()
    kind = next(kind for kind in KINDS if kind.samples == 3)
    make_image(kind).save_as(buffer, enforce_file_format=True)
    return buffer.getvalue()


def find(content: Json, engine: str, target: str) -> Json:
    return next(
        result
        for result in content["Results"]
        if result["Engine"] == engine and result["TransferSyntax"] == target
    )


def test_each_engine_is_measured_on_a_series(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    series = store_series(server, make_series, 4)
    content = compare(server, Resource=series, Targets=["JPEGProcess14SV1", "RLELossless"])
    assert content["Instances"] == content["FinishedInstances"] == 4
    assert len({(one["Engine"], one["TransferSyntax"]) for one in content["Results"]}) == 6
    assert len(content["Results"]) == 6
    for engine, written in list_engines(server).items():
        result = find(content, engine, JPEG_LOSSLESS_SV1)
        if JPEG_LOSSLESS_SV1 not in written:
            assert result["Declined"] == 4
            continue
        assert result["Transcoded"] == 4
        assert result["Lossless"] is True
        assert result["MaximumError"] == 0
        assert 2 < result["Ratio"] < 3
        assert result["EncodeBytesPerSecond"] > 1e6
        assert result["DecodeBytesPerSecond"] > 1e6


def test_nothing_is_stored_and_no_ingest_figure_moves(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    series = store_series(orthanc, make_series, 2)
    before = orthanc.get_json("/statistics")["TotalDiskSize"]
    compare(orthanc, Resource=series, Targets=["RLELossless"])
    assert orthanc.get_json("/statistics")["TotalDiskSize"] == before
    assert scrape(orthanc).sum("orthanc_perf_transcode_total") == 0
    assert scrape(orthanc).sum("orthanc_perf_ingest_instances_total") == 2


def test_progress_rises_and_results_grow(server: OrthancServer, make_series: MakeSeries) -> None:
    series = store_series(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)
    seen: list[tuple[int, int]] = []
    while not seen or seen[-1][0] < 100:
        job = server.get_json(path)
        seen.append((job["Progress"], job["Content"]["FinishedInstances"]))
        assert job["State"] in ("Pending", "Running", "Success")
    assert seen == sorted(seen)
    assert len({progress for progress, _ in seen}) > 3
    assert len({finished for _, finished in seen}) > 3


def test_a_comparison_is_paused_resumed_and_canceled(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    series = store_series(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)

    server.request("POST", f"{path}/pause", data="{}").raise_for_status()
    assert wait_until(lambda: server.get_json(path)["State"] == "Paused")
    progress = server.get_json(path)["Progress"]
    assert progress < 100

    assert post(server, Resource=series).status_code == 409

    server.request("POST", f"{path}/resume", data="{}").raise_for_status()
    assert wait_until(lambda: server.get_json(path)["Progress"] > progress)
    server.request("POST", f"{path}/cancel", data="{}").raise_for_status()
    job = finish(server, path)
    assert job["State"] == "Failure"
    assert job["ErrorDescription"] == "This job was canceled"

    server.request("POST", f"{path}/resubmit", data="{}").raise_for_status()
    assert finish(server, path)["Content"]["FinishedInstances"] == 20


def test_one_comparison_at_a_time(server: OrthancServer, make_series: MakeSeries) -> None:
    series = store_series(server, make_series, 20)
    path = start(server, Resource=series)
    refused = post(server, Resource=series)
    assert refused.status_code == 409
    assert refused.json()["Path"] == path
    description = schemathesis.openapi.from_path(DESCRIPTION)
    description[ROUTE]["POST"].validate_response(refused)
    server.request("POST", f"{path}/cancel", data="{}").raise_for_status()
    finish(server, path)
    compare(server, Resource=series, Targets=["RLELossless"])


def test_what_is_deleted_meanwhile_is_declined(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    series = store_series(server, make_series, 20)
    path = start(server, Resource=series, Targets=FAST)
    server.delete_all()
    job = finish(server, path)
    assert job["State"] == "Success"
    for result in job["Content"]["Results"]:
        assert result["Declined"] > 0
        assert result["Reason"]
    assert find(job["Content"], "dcmtk", RLE)["Reason"] == "not in the store any more"


def test_orthanc_stops_during_a_comparison(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    series = store_series(orthanc, make_series, 20)
    start(orthanc, Resource=series)
    assert orthanc.stop() == 0
    orthanc.start()
    assert orthanc.get_json("/jobs") == []


def test_an_unknown_resource_is_404(server: OrthancServer, make_series: MakeSeries) -> None:
    store_series(server, make_series, 1)
    for resource in [NO_RESOURCE, server.get_json("/studies")[0]]:
        answer = post(server, Resource=resource)
        assert answer.status_code == 404
        assert resource in answer.json()["Message"]


def test_forbidden_tuning_does_not_forbid_it(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(perf={"AllowTuning": False})
    series = store_series(orthanc, make_series, 1)
    assert compare(orthanc, Resource=series)["FinishedInstances"] == 1
