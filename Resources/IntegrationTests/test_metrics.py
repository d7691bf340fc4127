# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics, as the tools of Prometheus' world see them."""

import re

from conftest import MakeSeries
from harness import clients
from harness.metrics import INSTANCES, PREFIX, scrape_when_counted
from harness.orthanc import OrthancServer


def test_the_page_is_correct_and_orthancs_own_metrics_have_the_main_scalars(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    """After some traffic, with a peer whose name needs escaping."""
    images = make_series("store", 5)
    clients.store(orthanc, images[:2], title='A\\B "C"')
    clients.upload(orthanc, [image.read_bytes() for image in images[2:]] + [b"not DICOM"])
    metrics = scrape_when_counted(orthanc, 6)
    assert clients.get_output(["promtool", "check", "metrics"], metrics.text) == ""
    kind = orthanc.get("/perf/metrics").headers["Content-Type"]
    assert kind.startswith("text/plain; version=0.0.4")

    text = orthanc.get("/tools/metrics-prometheus").text
    own = dict(re.findall(rf"^{PREFIX}(\w+) (\S+)", text, re.MULTILINE))
    for outcome in ("stored", "failed", "discarded"):
        assert float(own[f"{outcome}_instances"]) == metrics.sum(INSTANCES, outcome=outcome)
    assert float(own["received_bytes"]) == metrics.sum(PREFIX + "ingest_bytes_total")
    assert float(own["instances_in_flight"]) == 0
    assert float(own["received_instances_per_second"]) > 0
    assert float(own["received_bytes_per_second"]) > 0
    assert float(own["stall_seconds_per_second"]) >= 0
