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
    read,
    renew,
    tune,
    write,
)

PROGRAM = "OrthancPerfDcmtk"
OTHER_PROGRAM = "OrthancPerfGdcm"
TARGET = "IngestTranscoding.TransferSyntax"
TRANSCODED = "orthanc_perf_transcode_total"


def get_transcoding(server: OrthancServer) -> Json:
    list_engines(server)  # waits for the self-test
    return server.get_json("/perf/status")["Transcoding"]


def get_not_in_effect(server: OrthancServer) -> list[str]:
    return server.get_json("/perf/status")["Tuning"]["NotYetInEffect"]


# ---- Programs that do not start -----------------------------------------------------------------


def end_at_once(path: Path) -> None:
    path.write_text("#!/bin/sh\nexit 3\n", "ascii")


def forbid(path: Path) -> None:
    path.chmod(0o644)


def write_nonsense(path: Path) -> None:
    path.write_bytes(b"\x7fELF and no more")


@pytest.mark.parametrize("spoil", [end_at_once, write_nonsense, forbid])
def test_a_program_that_does_not_start_is_named_and_the_other_one_serves(
    start_orthanc: StartOrthanc, plugin: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    for name in (plugin.name, PROGRAM, OTHER_PROGRAM):
        shutil.copy(plugin.parent / name, tmp_path)
    spoil(tmp_path / PROGRAM)
    orthanc = start_orthanc(plugins=[tmp_path / plugin.name])
    assert set(list_engines(orthanc)) == {"native", "gdcm"}
    transcoding = get_transcoding(orthanc)
    (reason,) = [engine["Reason"] for engine in transcoding["Engines"] if not engine["Available"]]
    assert reason.startswith(f"the program {PROGRAM} ")
    assert wait_until(lambda: f'the engine "dcmtk" is not available: {reason}' in orthanc.log)
    assert transcoding["InEffect"] is True


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
    response = orthanc.request("POST", "/instances", data=content)
    assert orthanc.get_file(response.json()["ID"]) != content
    (done,) = list_transcodings(orthanc)
    assert (done["Engine"], done["Outcome"]) == ("native", "Transcoded")


# ---- Targets and images that no engine covers ---------------------------------------------------


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
    assert get_not_in_effect(orthanc) == [TARGET]
    for image in make_series("store", 2):
        orthanc.request("POST", "/instances", data=image.read_bytes()).raise_for_status()
    check_declined(orthanc, 2, engine="native")

    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    transcoding = get_transcoding(orthanc)
    assert transcoding["InEffect"] is True
    assert "Reason" not in transcoding
    assert get_not_in_effect(orthanc) == []


def test_images_that_no_engine_covers_are_counted_and_named(orthanc: OrthancServer) -> None:
    """32 bits: JPEG Lossless does not hold them, and no engine is asked."""
    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    source = Path(get_testdata_file("rtdose_1frame.dcm"))
    for _ in range(3):
        content = change(source, renew)
        response = orthanc.request("POST", "/instances", data=content)
        assert orthanc.get_file(response.json()["ID"]) == content
    check_declined(orthanc, 3, engine=None)


# ---- Uploads that Orthanc refuses ---------------------------------------------------------------


def make_without(keyword: str, content: Path) -> bytes:
    image = read(content)
    delattr(image, keyword)
    return write(image)


def test_what_orthanc_refuses_is_no_transcoding(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    path = make_series("store", 1)[0].path
    whole = path.read_bytes()
    uploads = [
        b"not DICOM at all",
        whole[: len(whole) // 2],
        make_without("StudyInstanceUID", path),
        make_without("SeriesInstanceUID", path),
    ]
    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    for content in uploads:
        assert orthanc.request("POST", "/instances", data=content).status_code in (400, 404)
    assert wait_until(lambda: len(orthanc.get_json("/perf/instances")) == len(uploads))
    assert list_transcodings(orthanc) == [None] * len(uploads)
    assert get_transcoding(orthanc)["Failures"] == []
    assert scrape(orthanc).sum(TRANSCODED) == 0
