# SPDX-License-Identifier: GPL-3.0-or-later
"""The Grafana dashboard and the Prometheus rules ask for what the plugin really exposes."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness.clients import get_output, make_store_command, store
from harness.faults import HangingFolder
from harness.metrics import PREFIX, scrape, wait_until
from harness.orthanc import find_free_port
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.prometheus import RULES, PrometheusServer, adapt_rules, list_jobs
from harness.proxy import serve_objects
from harness.receivers import StoreScp, describe_modality, send, upload_to_send
from harness.transcoding import JPEG_LOSSLESS_SV1, tune
from harness.tuning import tune_sockets

DASHBOARD = ROOT / "Resources" / "Grafana" / "orthanc-perf.json"
RULE_FILES = [RULES / "recording.yml", RULES / "alerting.yml"]

VARIABLES = {
    "$job": "orthanc",
    "$instance": ".*",
    "$peer": ".*",
    "$__rate_interval": "1m",
    "$__range": "5m",
}


def list_expressions() -> list[str]:
    """Every query of the dashboard, as Grafana sends it."""
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
    annotations = [entry for entry in dashboard["annotations"]["list"] if "expr" in entry]
    expressions = [entry["expr"] for entry in targets + annotations]
    assert len(expressions) > 20
    for name, value in VARIABLES.items():
        expressions = [expression.replace(name, value) for expression in expressions]
    return expressions


def list_variable_queries() -> list[str]:
    """The label_values(series, label) behind the dashboard's variables."""
    variables = json.loads(DASHBOARD.read_text("utf-8"))["templating"]["list"]
    return [entry["definition"] for entry in variables if entry["type"] == "query"]


def find_names(text: str) -> set[str]:
    """The metrics that a text names; what a rule records is not one of the plugin's."""
    return set(re.findall(rf"(?<!:)\b{PREFIX}\w+(?!\w*:)", re.sub(r"\w+:\w+:\w+", "", text)))


@pytest.fixture
def objects(tmp_path: Path) -> Iterator[str]:
    with serve_objects(tmp_path / "objects", tmp_path / "nginx") as url:
        yield url


@pytest.mark.pair
def test_a_prometheus_server_answers_every_query_of_the_dashboard(
    objects: str,  # first, so that it ends last
    postgresql: PostgreSqlServer,
    start_orthanc: StartOrthanc,
    plugin: Path,
    object_plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
) -> None:
    """Of an Orthanc that has seen all there is: servers, stalls, sending, transcoding."""
    port = find_free_port()
    postgresql.create_database(f"orthanc{port}")
    orthanc = start_orthanc(
        plugins=[plugin, POSTGRESQL_PLUGIN, object_plugin],
        options={
            "DicomModalities": {"receiver": describe_modality(port)},
            "ObjectStorage": {"Url": objects, "Keep": True},
            **postgresql.get_options(f"orthanc{port}"),
        },
    )
    images = make_series("advice", 60)
    tune_sockets(orthanc, Preset="stock")
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    store(orthanc, images)
    with StoreScp(port):
        send(orthanc, "receiver", upload_to_send(orthanc, images[:5]))
    assert wait_until(lambda: scrape(orthanc).sum("orthanc_perf_findings", id="delayed-ack") == 1)

    texts = [*list_expressions(), *list_variable_queries()]
    texts += [path.read_text("utf-8") for path in RULE_FILES]
    asked = set().union(*map(find_names, texts))
    exposed = scrape(orthanc).list_names()
    assert asked <= exposed, asked - exposed

    with PrometheusServer(tmp_path, list_jobs(orthanc), RULE_FILES) as prometheus:
        found = "orthanc_perf_findings > 0"
        assert wait_until(lambda: bool(prometheus.query(found))), prometheus.log.read_text()
        store(orthanc, images, "GRAFANA")  # so that rates have two points
        unanswered = set(list_expressions())

        def is_all_answered() -> bool:
            answered = {query for query in unanswered if prometheus.query(query)}
            unanswered.difference_update(answered)
            return not unanswered

        is_all_answered()  # of the findings, while there are any
        tune_sockets(orthanc, Preset="tuned")
        # Nothing was retransmitted on loopback, which is a series with the value 0 all the same
        assert wait_until(is_all_answered, 30), unanswered

        # Rules are evaluated at intervals of their own
        recorded = "instance:orthanc_perf_ingest_instances:rate1m > 0"
        assert wait_until(lambda: bool(prometheus.query(recorded)), 30), prometheus.query("up")


def test_the_rules_are_correct_and_do_what_their_tests_say() -> None:
    get_output(["promtool", "check", "rules", *RULE_FILES])
    assert "SUCCESS" in get_output(["promtool", "test", "rules", RULES / "tests.yml"])


def test_what_hangs_is_an_alert_while_it_does(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    fault = HangingFolder()
    if fault.obstacle:
        pytest.skip(fault.obstacle)
    (image,) = make_series("hang", 1)
    firing = 'ALERTS{alertname="OrthancInstancesHang", alertstate="firing"}'
    with ExitStack() as stack:
        stack.enter_context(fault.prepare(tmp_path))
        orthanc = start_orthanc(options=fault.options)
        jobs = list_jobs(orthanc)[:1]
        prometheus = stack.enter_context(PrometheusServer(tmp_path, jobs, adapt_rules(tmp_path)))
        assert wait_until(lambda: bool(prometheus.query("orthanc_perf_build_info")))
        command = make_store_command(orthanc.dicom_port, [image])
        with fault.strike(orthanc):
            sender = stack.enter_context(subprocess.Popen(command))
            assert wait_until(lambda: bool(prometheus.query(firing)), 120)
        assert sender.wait(120) == 0
        assert wait_until(lambda: not prometheus.query(firing), 120)
