# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP requests that read: what the metrics say of a viewer's, against what their client saw."""

import time

import pytest
from pydicom import dcmread

from conftest import MakeSeries
from harness.clients import upload
from harness.metrics import wait_until
from harness.orthanc import OrthancServer

COUNT = 20
READS = 'orthanc_perf_reads_total{{class="{0}",status="2xx"}}'


def read_metrics(server: OrthancServer) -> dict[str, float]:
    lines = server.get("/perf/metrics").text.splitlines()
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    }


def test_a_viewers_requests_are_explained(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("reads", COUNT)
    upload(orthanc, [image.read_bytes() for image in images])
    orthanc.session.close()  # the time until now is none of the first request's
    first = dcmread(images[0].path, stop_before_pixels=True)
    series = f"/dicom-web/studies/{first.StudyInstanceUID}/series/{first.SeriesInstanceUID}"
    begin = time.perf_counter()
    assert orthanc.get(f"{series}/metadata").status_code == 200
    for image in images:
        frame = f"{series}/instances/{image.sop_instance_uid}/frames/1"
        assert orthanc.get(frame).status_code == 200
    seconds = time.perf_counter() - begin
    orthanc.session.close()

    counted: dict[str, float] = {}

    def are_counted() -> bool:
        counted.update(read_metrics(orthanc))
        return counted.get(READS.format("wado-frames"), 0) == COUNT

    assert wait_until(are_counted, 10), {
        name: value for name, value in counted.items() if "read" in name
    }
    assert counted[READS.format("wado-metadata")] == 1
    assert counted['orthanc_perf_read_bytes_total{class="wado-frames"}'] > COUNT * 512 * 512 * 2
    phases = {
        (name, phase): counted.get(
            f'orthanc_perf_read_phase_seconds_sum{{class="{name}",phase="{phase}"}}', 0
        )
        for name in ("wado-metadata", "wado-frames")
        for phase in ("idle", "receive", "work", "send")
    }
    print(f"{seconds:.3f} s, explained {sum(phases.values()):.3f} s: {phases}")
    assert sum(phases.values()) == pytest.approx(seconds, rel=0.2)
    assert not any(first.StudyInstanceUID in name for name in counted)
