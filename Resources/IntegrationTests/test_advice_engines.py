# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about transcoding: engines that are slow (SwitchedOffEngineRuleTest: others)."""

import time

import pytest

from conftest import MakeSeries
from harness import advice
from harness.clients import store
from harness.metrics import scrape, wait_until
from harness.orthanc import OrthancServer
from harness.transcoding import JPEG_LOSSLESS_SV1, list_engines, tune

COUNT = 40


@pytest.mark.pair
@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"])
def test_a_slow_engine_is_found_and_auto_ends_it(
    orthanc: OrthancServer, make_series: MakeSeries, engine: str
) -> None:
    """By the speeds of the self-test: nobody has tried another engine."""
    images = make_series("advice", 60)[:COUNT]

    def send() -> float:
        orthanc.delete_all()
        begin = time.perf_counter()
        store(orthanc, images)
        return time.perf_counter() - begin

    def count_transcoded(engine: str) -> float:
        labels = {"engine": engine, "outcome": "transcoded"}
        return scrape(orthanc).sum("orthanc_perf_transcode_total", **labels)

    assert {"native", engine} <= set(list_engines(orthanc))
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, Engine=engine)
    seconds = send()
    finding = advice.find(orthanc, "transcoding")
    evidence = finding["Evidence"]
    assert evidence["Engine"] == engine
    assert 0.3 < evidence["TranscodeShare"] < 1
    # The metrics of the same instances, which are all that the engine has done
    spent = scrape(orthanc).sum("orthanc_perf_transcode_seconds_sum", engine=engine)
    assert evidence["MeanTranscode"] == pytest.approx(spent / len(images), rel=0.15)
    assert evidence["FasterEngine"] == "native"
    assert evidence["FasterRate"] > evidence["Rate"] > 0  # in the self-test
    assert 0.1 < finding["Cost"]["ShareOfIngestTime"] < 1
    assert finding["Remedy"]["Tuning"] == {"IngestTranscoding": {"Engine": "auto"}}

    advice.apply(orthanc, finding)
    assert advice.goes_away(orthanc, "transcoding", 0)
    before = count_transcoded(engine)
    advice.check_gain(finding, seconds, send())
    assert wait_until(lambda: count_transcoded("native") > COUNT / 2)
    assert advice.goes_away(orthanc, "transcoding", 0)
    assert count_transcoded(engine) == before
