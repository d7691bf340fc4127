# SPDX-License-Identifier: GPL-3.0-or-later
"""The server keeps to its description, Resources/Documentation/openapi.yaml."""

import sys
from pathlib import Path

import pytest
import schemathesis
from schemathesis.schemas import BaseSchema

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import advice, clients
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer

DESCRIPTION = ROOT / "Resources" / "Documentation" / "openapi.yaml"
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")

METHODS = {"GET", "POST", "PUT", "DELETE"}


@pytest.fixture(scope="module")
def description() -> BaseSchema:
    return schemathesis.openapi.from_path(DESCRIPTION)


@pytest.fixture(scope="module")
def busy_orthanc(start_for_module: StartOrthanc, make_series: MakeSeries) -> OrthancServer:
    """Orthanc that has something to answer: instances stored and refused, from two peers."""
    images = make_series("store", 6)
    server = start_for_module()
    clients.upload(server, [image.read_bytes() for image in images[:3]])
    clients.upload(server, [b"This is not DICOM."])
    clients.store(server, images[3:], title="CT ROOM")
    return server


def test_the_server_keeps_to_its_description_whatever_it_is_asked(
    busy_orthanc: OrthancServer, tmp_path: Path
) -> None:
    # Run in the test's folder: schemathesis keeps its own files where it runs
    command = ["env", "-C", tmp_path, SCHEMATHESIS, "--no-color", "--config-file", CONFIGURATION]
    clients.get_output([*command, "run", DESCRIPTION, "--url", busy_orthanc.url], seconds=900)
    assert busy_orthanc.get("/system").status_code == 200


def test_every_route_of_the_server_is_described_and_no_other(
    busy_orthanc: OrthancServer, description: BaseSchema
) -> None:
    described = {
        path: {method.upper() for method in item}
        for path, item in description.raw_schema["paths"].items()
    }
    served = busy_orthanc.get_json("/perf")
    assert {path: set(methods) for path, methods in served.items()} == described
    for path, methods in described.items():
        for method in METHODS - methods:
            response = busy_orthanc.request(method, path)
            assert response.status_code == 405, (method, path)
            assert set(response.headers["Allow"].split(",")) == methods


@pytest.mark.parametrize(
    "path",
    ["/perf", "/perf/status", "/perf/instances", "/perf/requests", "/perf/peers", "/perf/history"],
)
def test_answers_that_are_not_empty_are_as_described(
    busy_orthanc: OrthancServer, description: BaseSchema, path: str
) -> None:
    response = busy_orthanc.get(path, headers={"Accept": "application/json"})
    assert response.headers["Content-Type"] == "application/json"
    assert response.json()
    description[path]["GET"].validate_response(response)


@pytest.mark.pair  # a busy processor takes the place of the finding about stalls
def test_what_is_seldom_in_an_answer_is_as_described(
    postgresql: PostgreSqlServer,
    start_orthanc: StartOrthanc,
    plugin: Path,
    other_plugin: Path,
    make_series: MakeSeries,
    description: BaseSchema,
) -> None:
    """Waits for a database, findings, a missing hook, a tuning that is not allowed."""
    orthanc = start_orthanc(
        plugins=[plugin, POSTGRESQL_PLUGIN],
        perf={"AllowTuning": False, "Tuning": {"DicomSockets": {"Preset": "stock"}}},
        options=postgresql.get_options() | {"MaximumStorageCacheSize": 1_000_000},
    )
    clients.store(orthanc, make_series("store", 40))
    advice.find(orthanc, "delayed-ack", "STORESCU")
    advice.find(orthanc, "memory-limit")
    assert wait_until(lambda: "RoundTrips" in orthanc.get("/perf/history").text)
    for path in ("/perf/status", "/perf/instances", "/perf/peers", "/perf/history"):
        response = orthanc.get(path)
        assert "RoundTrips" in response.text
        description[path]["GET"].validate_response(response)

    response = orthanc.get("/perf/advice")
    assert {finding["Remedy"]["Kind"] for finding in response.json()} >= {"Tuning", "Configuration"}
    description["/perf/advice"]["GET"].validate_response(response)

    before = orthanc.get_json("/perf/tuning")
    for method in ("PUT", "DELETE"):
        body = '{"DicomSockets": {"TcpNoDelay": true}}'
        response = orthanc.request(method, "/perf/tuning", data=body)
        assert response.status_code == 403
        description["/perf/tuning"][method].validate_response(response)
    assert orthanc.get_json("/perf/tuning") == before

    options = {"OtherPlugin": {"HoldReceived": True}}
    orthanc = start_orthanc(below="held", plugins=[plugin, other_plugin], options=options)
    response = orthanc.get("/perf/status")
    assert response.json()["Hooks"]["ReceivedInstance"]["Installed"] is False
    description["/perf/status"]["GET"].validate_response(response)
