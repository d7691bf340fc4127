# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that do not start, targets that nobody writes, images that no engine covers, uploads
that Orthanc refuses: what the plugin says of them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pydicom.data import get_testdata_file

from conftest import MakeSeries, StartOrthanc
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    RLE,
    change,
    list_engines,
    list_transcodings,
    renew,
    tune,
)

PROGRAM = "OrthancPerfDcmtk"
OTHER_PROGRAM = "OrthancPerfGdcm"
TARGET = "IngestTranscoding.TransferSyntax"
TRANSCODED = "orthanc_perf_transcode_total"


def get_transcoding(server: OrthancServer) -> Json:
    list_engines(server)  # waits for the self-test
    return server.get_json("/perf/status")["Transcoding"]


SPOILS: list[Callable[[Path], object]] = [
    Path.unlink,
    lambda path: path.write_text("#!/bin/sh\nexit 3\n", "ascii"),
    lambda path: path.write_bytes(b"\x7fELF and no more"),
    lambda path: path.chmod(0o644),
]


@pytest.mark.parametrize("spoil", SPOILS, ids=["missing", "ends at once", "nonsense", "forbidden"])
def test_a_program_that_does_not_start_is_named_and_the_other_one_serves(
    start_orthanc: StartOrthanc,
    plugin: Path,
    tmp_path: Path,
    make_series: MakeSeries,
    spoil: Callable[[Path], object],
) -> None:
    for name in (plugin.name, PROGRAM, OTHER_PROGRAM):
        shutil.copy(plugin.parent / name, tmp_path)
    spoil(tmp_path / PROGRAM)
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


def test_without_any_program_native_serves_uncompressed_images(
    start_orthanc: StartOrthanc, plugin: Path, tmp_path: Path, make_series: MakeSeries
) -> None:
    shutil.copy(plugin, tmp_path)
    orthanc = start_orthanc(
        plugins=[tmp_path / plugin.name],
        perf={"Tuning": {"IngestTranscoding": {"TransferSyntax": JPEG_LOSSLESS_SV1}}},
    )
    transcoding = get_transcoding(orthanc)
    assert transcoding["InEffect"] is True
    reasons = {engine["Name"]: engine.get("Reason") for engine in transcoding["Engines"]}
    assert reasons["native"] is None
    assert PROGRAM in reasons["dcmtk"]
    assert OTHER_PROGRAM in reasons["gdcm"]
    content = make_series("store", 1)[0].read_bytes()
    assert orthanc.get_file(orthanc.upload(content)) != content
    (done,) = list_transcodings(orthanc)
    assert (done["Engine"], done["Outcome"]) == ("native", "Transcoded")


def check_declined(server: OrthancServer, count: int, engine: str | None) -> None:
    """All instances so far, for one reason: it is in status, metrics, and once in the log."""
    transcodings = list_transcodings(server)
    assert [transcoding["Outcome"] for transcoding in transcodings] == ["Declined"] * count
    (failure,) = get_transcoding(server)["Failures"]
    assert failure["Count"] == count
    assert failure["Engine"] == engine
    assert {transcoding["Reason"] for transcoding in transcodings} == {failure["Reason"]}
    assert server.log.count(failure["Reason"] + "; further failures of this kind") == 1
    metrics = scrape(server)
    assert metrics.sum(TRANSCODED, outcome="declined", engine=engine or "none") == count
    assert metrics.sum(TRANSCODED) == count


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
    check_declined(orthanc, 2, engine="native")

    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    transcoding = get_transcoding(orthanc)
    assert transcoding["InEffect"] is True
    assert "Reason" not in transcoding
    assert orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == []


def test_images_that_no_engine_covers_are_counted_and_named(orthanc: OrthancServer) -> None:
    """32 bits: JPEG Lossless does not hold them, and no engine is asked."""
    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    source = Path(get_testdata_file("rtdose_1frame.dcm"))
    for _ in range(3):
        content = change(source, renew)
        assert orthanc.get_file(orthanc.upload(content)) == content
    check_declined(orthanc, 3, engine=None)


def test_what_orthanc_refuses_is_no_transcoding(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    path = make_series("store", 1)[0].path
    whole = path.read_bytes()
    uploads = [
        b"not DICOM at all",
        whole[: len(whole) // 2],
        change(path, lambda image: image.pop("StudyInstanceUID")),
        change(path, lambda image: image.pop("SeriesInstanceUID")),
    ]
    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    for content in uploads:
        assert orthanc.request("POST", "/instances", data=content).status_code in (400, 404)
    assert wait_until(lambda: len(orthanc.get_json("/perf/instances")) == len(uploads))
    assert list_transcodings(orthanc) == [None] * len(uploads)
    assert get_transcoding(orthanc)["Failures"] == []
    assert scrape(orthanc).sum(TRANSCODED) == 0
