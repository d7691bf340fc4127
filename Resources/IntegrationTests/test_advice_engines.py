# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about transcoding, each cause made for real: engines that are slow, or that don't work."""

import shutil
import time
from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store
from harness.images import Image
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer
from harness.transcoding import JPEG_LOSSLESS_SV1, JPEG_LS, list_engines, tune

COUNT = 40

PROGRAMS = ("OrthancPerfDcmtk", "OrthancPerfGdcm")


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("advice", 60)[:COUNT]


def send(server: OrthancServer, images: list[Image]) -> float:
    server.delete_all()
    begin = time.perf_counter()
    store(server, images)
    return time.perf_counter() - begin


def count_transcoded(server: OrthancServer, engine: str) -> float:
    return scrape(server).sum("orthanc_perf_transcode_total", engine=engine, outcome="transcoded")


def check_figures(server: OrthancServer, finding: Json, engine: str, images: list[Image]) -> None:
    """Against the metrics of the same instances, which are all that the engine has done."""
    evidence = finding["Evidence"]
    assert evidence["Engine"] == engine
    assert 0.3 < evidence["TranscodeShare"] < 1
    seconds = scrape(server).sum("orthanc_perf_transcode_seconds_sum", engine=engine)
    assert evidence["MeanTranscode"] == pytest.approx(seconds / len(images), rel=0.15)
    assert evidence["FasterEngine"] == "native"
    assert evidence["FasterRate"] > evidence["Rate"] > 0  # in the self-test
    assert 0.1 < finding["Cost"]["ShareOfIngestTime"] < 1


@pytest.mark.pair
@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"])
def test_a_slow_engine_is_found_and_auto_ends_it(
    orthanc: OrthancServer, images: list[Image], engine: str
) -> None:
    """By the speeds of the self-test: nobody has tried another engine."""
    assert {"native", engine} <= set(list_engines(orthanc))
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, Engine=engine)
    seconds = send(orthanc, images)
    finding = advice.find(orthanc, "transcoding")
    check_figures(orthanc, finding, engine, images)
    assert finding["Remedy"]["Tuning"] == {"IngestTranscoding": {"Engine": "auto"}}

    advice.apply(orthanc, finding)
    assert advice.goes_away(orthanc, "transcoding", 0)
    before = count_transcoded(orthanc, engine)
    advice.check_gain(finding, seconds, send(orthanc, images))
    assert wait_until(lambda: count_transcoded(orthanc, "native") > COUNT / 2)
    assert advice.goes_away(orthanc, "transcoding", 0)

    assert count_transcoded(orthanc, engine) == before


def install(plugin: Path, folder: Path) -> Path:
    folder.mkdir()
    for name in (plugin.name, *PROGRAMS):
        shutil.copy(plugin.parent / name, folder)
    return folder / plugin.name


def test_an_engine_whose_program_does_not_run_is_found_until_it_does(
    start_orthanc: StartOrthanc, plugin: Path, tmp_path: Path
) -> None:
    """Another program in its place, which ends by a signal."""
    name = "OrthancPerfGdcm"
    installed = install(plugin, tmp_path / "plugin")
    program = installed.parent / name
    program.write_text("#!/bin/sh\nkill -SEGV $$\n", "ascii")
    engine = name.removeprefix("OrthancPerf").lower()

    orthanc = start_orthanc(plugins=[installed])
    assert engine not in list_engines(orthanc)
    assert "engine-switched-off" not in advice.list_kinds(orthanc)  # nobody transcodes

    tune(orthanc, TransferSyntax=JPEG_LS)
    finding = advice.find(orthanc, "engine-switched-off")
    assert engine in finding["Title"]
    assert "does not start" in finding["Evidence"][engine]
    assert finding["Remedy"]["Kind"] == "System"

    shutil.copy(plugin.parent / name, program)
    orthanc.begin_anew()
    assert engine in list_engines(orthanc)
    assert orthanc.get_json("/perf/tuning")["IngestTranscoding"]["TransferSyntax"]
    assert advice.goes_away(orthanc, "engine-switched-off", 0)
