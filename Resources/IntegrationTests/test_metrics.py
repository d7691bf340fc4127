# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics, as the tools of Prometheus' world see them."""

import re
from pathlib import Path

import pytest
from prometheus_client import Metric

from conftest import MakeSeries
from harness import clients
from harness.metrics import INSTANCES, PREFIX, scrape, scrape_when_counted, wait_until
from harness.orthanc import OrthancServer
from harness.prometheus import PrometheusServer, list_jobs

INGEST_FAMILIES = {
    "build_info",
    "start_time_seconds",
    "ingest_instances_total",
    "ingest_bytes_total",
    "ingest_phase_seconds",
    "ingest_in_flight",
    "peer_instances_total",
    "peer_bytes_total",
    "peer_phase_seconds_total",
    "tuning",
}


@pytest.fixture
def busy_orthanc(orthanc: OrthancServer, make_series: MakeSeries) -> OrthancServer:
    """Orthanc after some traffic, with a peer whose name needs escaping."""
    images = make_series("store", 5)
    clients.store(orthanc, images[:2], title='A\\B "C"')
    clients.upload(orthanc, [image.read_bytes() for image in images[2:]] + [b"not DICOM"])
    scrape_when_counted(orthanc, 6)
    return orthanc


def name_family(family: Metric) -> str:
    """The name as in the text format: Prometheus' client cuts the "_total" of a counter off."""
    return family.name + ("_total" if family.type == "counter" else "")


def test_all_families_are_there_in_the_text_format(busy_orthanc: OrthancServer) -> None:
    page = scrape(busy_orthanc)
    assert {PREFIX + name for name in INGEST_FAMILIES} <= {*map(name_family, page.families)}
    assert clients.get_output(["promtool", "check", "metrics"], page.text) == ""
    kind = busy_orthanc.get("/perf/metrics").headers["Content-Type"]
    assert kind.startswith("text/plain; version=0.0.4")


def test_orthancs_own_metrics_have_the_main_scalars(busy_orthanc: OrthancServer) -> None:
    text = busy_orthanc.get("/tools/metrics-prometheus").text
    own = dict(re.findall(rf"^{PREFIX}(\w+) (\S+)", text, re.MULTILINE))
    metrics = scrape(busy_orthanc)
    for outcome in ("stored", "failed", "discarded"):
        assert float(own[f"{outcome}_instances"]) == metrics.sum(INSTANCES, outcome=outcome)
    assert float(own["received_bytes"]) == metrics.sum(PREFIX + "ingest_bytes_total")
    assert float(own["instances_in_flight"]) == 0
    assert float(own["received_instances_per_second"]) > 0
    assert float(own["received_bytes_per_second"]) > 0
    assert float(own["stall_seconds_per_second"]) >= 0


def test_prometheus_scrapes_and_answers_a_query_of_each_family(
    busy_orthanc: OrthancServer, tmp_path: Path
) -> None:
    with PrometheusServer(tmp_path, list_jobs(busy_orthanc)) as prometheus:
        assert wait_until(lambda: bool(prometheus.query(INSTANCES))), prometheus.log.read_text()

        for family in scrape(busy_orthanc).families:
            suffix = "_bucket" if family.type == "histogram" else ""
            name = name_family(family) + suffix
            if family.samples:
                assert prometheus.query(name), f"Prometheus knows nothing of {name}"

        (total,) = prometheus.query(f"sum({INSTANCES})")
        assert float(total["value"][1]) == 6
