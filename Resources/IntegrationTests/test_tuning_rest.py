# SPDX-License-Identifier: GPL-3.0-or-later
"""/perf/tuning: read, merged, kept over a restart, and returned to the configuration."""

import json
import sqlite3
from contextlib import closing

import pytest
import requests

from conftest import StartOrthanc
from harness.orthanc import Json, OrthancServer

TUNING = "/perf/tuning"


def put(server: OrthancServer, body: Json) -> requests.Response:
    return server.request("PUT", TUNING, data=body if isinstance(body, str) else json.dumps(body))


def test_get_answers_with_the_whole_document(orthanc: OrthancServer) -> None:
    tuning = orthanc.get_json(TUNING)
    assert set(tuning) == {"DicomSockets", "IngestTranscoding", "Memory", "Answers"}
    assert tuning["DicomSockets"]["TcpNoDelay"] is True
    assert tuning["DicomSockets"]["ReceiveBuffer"] == "auto"
    assert tuning["IngestTranscoding"]["LossyQuality"] == 90


def test_put_merges_and_answers_with_the_result(orthanc: OrthancServer) -> None:
    before = orthanc.get_json(TUNING)
    answer = put(orthanc, {"DicomSockets": {"TcpQuickAck": False}})
    assert answer.status_code == 200
    after = orthanc.get_json(TUNING)
    assert answer.json() == after
    assert after["DicomSockets"]["TcpQuickAck"] is False
    assert after["DicomSockets"]["TcpNoDelay"] is True
    assert after["IngestTranscoding"] == before["IngestTranscoding"]


def test_what_get_answers_can_be_put(orthanc: OrthancServer) -> None:
    tuning = orthanc.get_json(TUNING)
    assert put(orthanc, tuning).json() == tuning


def test_presets_switch_all_of_the_sockets(orthanc: OrthancServer) -> None:
    tuned = orthanc.get_json(TUNING)["DicomSockets"]
    stock = put(orthanc, {"DicomSockets": {"Preset": "stock"}}).json()["DicomSockets"]
    assert stock["TcpNoDelay"] is False
    assert stock["TcpQuickAck"] is False
    assert put(orthanc, {"DicomSockets": {"Preset": "tuned"}}).json()["DicomSockets"] == tuned


def test_a_change_outlives_a_restart_and_ends_with_delete(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"Tuning": {"DicomSockets": {"KeepAliveSeconds": 30}}})
    configured = orthanc.get_json(TUNING)
    assert configured["DicomSockets"]["KeepAliveSeconds"] == 30

    changed = put(orthanc, {"DicomSockets": {"KeepAliveSeconds": 90}}).json()
    orthanc.restart()
    assert orthanc.get_json(TUNING) == changed

    answer = orthanc.request("DELETE", TUNING)
    assert answer.status_code == 200
    assert orthanc.get_json(TUNING) == configured
    orthanc.restart()
    assert orthanc.get_json(TUNING) == configured


def test_a_saved_value_that_is_not_known_is_left_out_alone(start_orthanc: StartOrthanc) -> None:
    """As after a downgrade."""
    orthanc = start_orthanc()
    budget = {"Memory": {"IngestBudget": "25%"}}
    put(orthanc, {**budget, "DicomSockets": {"KeepAliveSeconds": 90}})
    orthanc.stop()
    change_saved_tuning(orthanc, '"KeepAliveSeconds":90', '"KeepAliveSeconds":"adaptive"')
    orthanc.start()
    assert orthanc.get_json(TUNING)["Memory"]["IngestBudget"] == "25%"
    (warning,) = orthanc.get_json("/perf/status")["Warnings"]
    assert "SavedTuning.DicomSockets.KeepAliveSeconds" in warning
    put(orthanc, {"DicomSockets": {"TcpNoDelay": False}})
    orthanc.restart()
    assert orthanc.get_json(TUNING)["Memory"]["IngestBudget"] == "25%"


def change_saved_tuning(server: OrthancServer, old: str, new: str) -> None:
    """In SQLite's index, of an Orthanc that has stopped."""
    with closing(sqlite3.connect(server.storage / "index")) as index, index:
        (saved,) = index.execute("SELECT value FROM GlobalProperties WHERE property = 27042")
        assert old in saved[0], saved[0]
        index.execute(
            "UPDATE GlobalProperties SET value = ? WHERE property = 27042",
            [saved[0].replace(old, new)],
        )


def test_a_change_need_not_be_kept(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"PersistTuning": False})
    configured = orthanc.get_json(TUNING)
    assert put(orthanc, {"DicomSockets": {"TcpNoDelay": False}}).json() != configured
    orthanc.restart()
    assert orthanc.get_json(TUNING) == configured


def test_changes_can_be_forbidden(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"AllowTuning": False})
    before = orthanc.get_json(TUNING)
    for answer in (
        put(orthanc, {"DicomSockets": {"TcpNoDelay": False}}),
        orthanc.request("DELETE", TUNING),
    ):
        assert answer.status_code == 403
        assert answer.json()["Message"]
    assert orthanc.get_json(TUNING) == before


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"DicomSockets": {"TcpNoDelay": "yes"}}, "DicomSockets.TcpNoDelay"),
        ({"DicomSockets": {"ReceiveBuffer": -1}}, "DicomSockets.ReceiveBuffer"),
        ({"DicomSockets": {"Preset": "fast"}}, "DicomSockets.Preset"),
        ({"DicomSockets": {"TcpNoDelays": True}}, "DicomSockets.TcpNoDelays"),
        ({"DicomSockets": 1}, "DicomSockets"),
        ({"IngestTranscoding": {"Engine": "magic"}}, "IngestTranscoding.Engine"),
        ({"IngestTranscoding": {"TransferSyntax": "1.2.3"}}, "IngestTranscoding.TransferSyntax"),
        ({"IngestTranscoding": {"LossyQuality": 101}}, "IngestTranscoding.LossyQuality"),
        ({"Sockets": {}}, "Sockets"),
        ("[]", ""),
        ("", ""),
        ("{", ""),
    ],
)
def test_a_bad_document_changes_nothing_and_is_told_why(
    orthanc: OrthancServer,
    body: Json,
    key: str,
) -> None:
    before = orthanc.get_json(TUNING)
    answer = put(orthanc, body)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("application/json")
    error = answer.json()
    assert error["Key"] == key
    assert error["Message"] and error["Allowed"]
    assert orthanc.get_json(TUNING) == before


def test_every_key_has_its_effect(orthanc: OrthancServer) -> None:
    assert orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == []


def test_a_congestion_control_that_the_kernel_refuses_has_no_effect_yet(
    orthanc: OrthancServer,
) -> None:
    put(orthanc, {"DicomSockets": {"CongestionControl": "no_such_thing"}})
    status = orthanc.get_json("/perf/status")
    assert status["Tuning"]["NotYetInEffect"] == ["DicomSockets.CongestionControl"]
    (problem,) = status["DicomSockets"]["Problems"]
    assert "reno" in problem

    put(orthanc, {"DicomSockets": {"CongestionControl": ""}})
    assert orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == []


def test_keys_without_effect_are_named(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"SocketProbe": False})
    not_in_effect = orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"]
    assert not_in_effect == ["DicomSockets.TcpQuickAck"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/perf/nothing", 404),
        ("GET", "/perf/tuning/nothing", 404),
        ("GET", "/perf/instances?limit=many", 400),
        ("GET", "/perf/instances?origin=Mars", 400),
        ("GET", "/perf/instances?direction=Up", 400),
    ],
)
def test_errors_are_json(orthanc: OrthancServer, method: str, path: str, status: int) -> None:
    answer = orthanc.request(method, path)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["Message"]


def test_unknown_arguments_are_ignored(orthanc: OrthancServer) -> None:
    arguments = "limit=1&_=1795275657&token=a&limt=2"
    assert orthanc.get(f"/perf/instances?{arguments}").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/perf/tuning", {"GET", "PUT", "DELETE"}),
        ("DELETE", "/perf/status", {"GET"}),
        ("PUT", "/perf/metrics", {"GET"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    orthanc: OrthancServer, method: str, path: str, allowed: set[str]
) -> None:
    answer = orthanc.request(method, path, data="{}")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(",")) == allowed
