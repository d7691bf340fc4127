# SPDX-License-Identifier: GPL-3.0-or-later
"""The section "Perf" of Orthanc's configuration: what is wrong stops the start, in one line."""

import json
import subprocess
from pathlib import Path

import pytest
import requests

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import wait_until
from harness.orthanc import ORTHANC, Json, OrthancDidNotStartError, find_free_port
from harness.process import run


def make(
    plugin: Path, folder: Path, configured: Json, http_port: int
) -> "subprocess.CompletedProcess[str]":
    """Has run-orthanc.sh's configuration written to made.json, with this one of the user's."""
    path = folder / "configured.json"
    path.write_text(json.dumps(configured), "utf-8")
    script = ROOT / "Resources" / "Configuration" / "make-configuration.py"
    options = {
        "--plugin": plugin,
        "--output": folder / "made.json",
        "--storage": folder / "storage",
        "--config": path,
        "--http-port": str(http_port),
        "--dicom-port": str(find_free_port()),
    }
    return run([script, *(word for option in options.items() for word in option)])


def test_a_wrong_value_stops_the_start_with_one_clear_line(start_orthanc: StartOrthanc) -> None:
    perf = {"Tuning": {"IngestTranscoding": {"Engine": "magic"}}}
    with pytest.raises(OrthancDidNotStartError) as stopped:
        start_orthanc(perf=perf)
    lines = [line for line in str(stopped.value).splitlines() if "allowed" in line]
    assert len(lines) == 1, str(stopped.value)
    assert "Perf.Tuning.IngestTranscoding.Engine" in lines[0] and '"native"' in lines[0]


def test_disabled_it_leaves_no_route_and_no_hook(
    start_orthanc: StartOrthanc, other_plugin: Path, plugin: Path, make_series: MakeSeries
) -> None:
    # The other plugin, loaded later, gets the one received-instance callback that Orthanc has
    orthanc = start_orthanc(
        plugins=[plugin, other_plugin],
        perf={"Enable": False},
        options={"OtherPlugin": {"HoldReceived": True}},
    )
    for path in ("/perf", "/perf/status", "/perf/metrics", "/perf/tuning"):
        assert orthanc.get(path).status_code == 404
    clients.upload(orthanc, [image.read_bytes() for image in make_series("store", 2)])
    assert orthanc.get_json("/statistics")["CountInstances"] == 2
    assert "orthanc_perf_" not in orthanc.get("/tools/metrics-prometheus").text


@pytest.mark.parametrize("in_database", [False, True])
def test_a_modality_that_is_added_over_rest_has_its_place(
    start_orthanc: StartOrthanc, make_series: MakeSeries, in_database: bool
) -> None:
    options = {"DicomModalitiesInDatabase": in_database}
    orthanc = start_orthanc(perf={"MaximumPeers": 2}, options=options)
    images = make_series("store", 4)
    for name, image in zip(["STRANGER1", "STRANGER2", "LATE"], images, strict=False):
        clients.store(orthanc, [image], title=name)

    def get_names() -> list[str]:
        return [peer["Name"] for peer in orthanc.get_json("/perf/peers")]

    assert "LATE" not in get_names()
    modality = {"AET": "LATE", "Host": "192.0.2.1", "Port": 104}
    assert orthanc.request("PUT", "/modalities/late", json=modality).status_code == 200

    def has_place() -> bool:  # the plugin reads the modalities every 5 s
        clients.store(orthanc, images[3:], title="LATE")
        return "LATE" in get_names()

    assert wait_until(has_place, 20)
    assert len(get_names()) == 3


@pytest.mark.parametrize(
    ("configured", "status"),
    [({}, 200), ({"RemoteAccessAllowed": True, "RegisteredUsers": {"al ice": "gEheim:7"}}, 401)],
)
def test_run_orthanc_asks_for_a_password_where_others_are_let_in(
    plugin: Path, tmp_path: Path, configured: Json, status: int
) -> None:
    port = find_free_port()
    made = make(plugin, tmp_path, configured, port)
    assert made.returncode == 0, made.stderr
    statuses = []

    def answers() -> bool:
        try:
            statuses.append(requests.get(f"http://127.0.0.1:{port}/system", timeout=5).status_code)
        except requests.ConnectionError:
            return False
        return True

    with (tmp_path / "log").open("wb") as log:
        orthanc = subprocess.Popen([ORTHANC, tmp_path / "made.json"], stdout=log, stderr=log)
    try:
        wait_until(answers, 60)
    finally:
        orthanc.kill()
        orthanc.wait()
    assert statuses == [status], (tmp_path / "log").read_text("utf-8")


@pytest.mark.parametrize(
    ("more", "is_refused"),
    [
        ({}, True),
        ({"AuthenticationEnabled": True}, True),
        ({"AuthenticationEnabled": False}, False),
        ({"RegisteredUsers": {}}, False),
    ],
)
def test_run_orthanc_does_not_let_others_in_by_a_password_that_all_know(
    plugin: Path, tmp_path: Path, more: Json, is_refused: bool
) -> None:
    """Without "RegisteredUsers", Orthanc before 1.13.0 has a user "orthanc" with that password."""
    configured = {"RemoteAccessAllowed": True, **more}
    made = make(plugin, tmp_path, configured, find_free_port())
    assert (made.returncode == 1) == is_refused, made
    assert ("RegisteredUsers" in made.stderr) == is_refused
    assert (tmp_path / "made.json").exists() != is_refused
