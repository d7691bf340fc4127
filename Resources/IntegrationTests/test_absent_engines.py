# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine that does not start, and a target that an engine does not write: what is said of it."""

import shutil
from pathlib import Path

from conftest import MakeSeries, StartOrthanc
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer
from harness.transcoding import JPEG_LOSSLESS_SV1, RLE, list_engines, list_transcodings, tune

PROGRAM = "OrthancPerfDcmtk"
OTHER_PROGRAM = "OrthancPerfGdcm"
TARGET = "IngestTranscoding.TransferSyntax"
TRANSCODED = "orthanc_perf_transcode_total"


def get_transcoding(server: OrthancServer) -> Json:
    list_engines(server)  # waits for the self-test
    return server.get_json("/perf/status")["Transcoding"]


def test_a_program_that_is_missing_is_named_and_the_other_one_serves(
    start_orthanc: StartOrthanc, plugin: Path, tmp_path: Path, make_series: MakeSeries
) -> None:
    for name in (plugin.name, OTHER_PROGRAM):
        shutil.copy(plugin.parent / name, tmp_path)
    configured = {"TransferSyntax": JPEG_LOSSLESS_SV1, "Engine": "dcmtk"}
    perf = {"Tuning": {"IngestTranscoding": configured}}
    orthanc = start_orthanc(plugins=[tmp_path / plugin.name], perf=perf)
    assert set(list_engines(orthanc)) == {"native", "gdcm"}
    engines = get_transcoding(orthanc)["Engines"]
    (reason,) = [engine["Reason"] for engine in engines if not engine["Available"]]
    assert reason.startswith(f"the program {PROGRAM} ")
    assert wait_until(lambda: f'the engine "dcmtk" is not available: {reason}' in orthanc.log)
    assert wait_until(lambda: "instances are stored as received: " in orthanc.log)

    content = make_series("store", 1)[0].read_bytes()
    assert orthanc.get_file(orthanc.upload(content)) == content
    assert list_transcodings(orthanc)[0]["Outcome"] == "Declined"
    wish = {"IngestTranscoding": {"Engine": "dcmtk", "TransferSyntax": RLE}}
    answer = orthanc.request("PUT", "/perf/tuning", json=wish)
    assert (answer.status_code, answer.json()["Key"]) == (400, "IngestTranscoding.Engine")
    assert '"native"' in answer.json()["Allowed"]

    orthanc.delete_all()
    tune(orthanc, Engine="native")
    assert get_transcoding(orthanc)["InEffect"] is True
    assert orthanc.get_file(orthanc.upload(content)) != content


def test_a_target_that_the_engine_does_not_write_is_not_in_effect(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    configured = {"TransferSyntax": RLE, "Engine": "native"}
    orthanc = start_orthanc(perf={"Tuning": {"IngestTranscoding": configured}})
    transcoding = get_transcoding(orthanc)
    assert transcoding["InEffect"] is False
    assert 'the engine "native" writes' in transcoding["Reason"]
    assert orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == [TARGET]
    for image in make_series("store", 2):
        orthanc.upload(image.read_bytes())
    declined = list_transcodings(orthanc)
    (failure,) = get_transcoding(orthanc)["Failures"]
    assert (failure["Count"], failure["Engine"]) == (2, "native")
    assert [one["Outcome"] for one in declined] == ["Declined"] * 2
    assert {one["Reason"] for one in declined} == {failure["Reason"]}
    assert orthanc.log.count(failure["Reason"] + "; further failures of this kind") == 1
    metrics = scrape(orthanc)
    assert metrics.sum(TRANSCODED, outcome="declined", engine="native") == 2
    assert metrics.sum(TRANSCODED) == 2

    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    transcoding = get_transcoding(orthanc)
    assert transcoding["InEffect"] is True
    assert "Reason" not in transcoding
    assert orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == []
