# SPDX-License-Identifier: GPL-3.0-or-later
"""/perf/tuning: read, merged, kept over a restart, and returned to the configuration."""

import json
import sqlite3
from contextlib import closing

import pytest

from conftest import StartOrthanc
from harness.orthanc import Json, OrthancServer

TUNING = "/perf/tuning"


def test_put_merges_and_answers_with_the_result(server: OrthancServer) -> None:
    before = server.get_json(TUNING)
    after = server.tune(DicomSockets={"TcpQuickAck": False})
    assert server.get_json(TUNING) == after
    assert after["DicomSockets"]["TcpQuickAck"] is False
    assert after["DicomSockets"]["TcpNoDelay"] is True
    assert after["IngestTranscoding"] == before["IngestTranscoding"]


def test_a_change_outlives_a_restart_and_ends_with_delete(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"Tuning": {"DicomSockets": {"KeepAliveSeconds": 30}}})
    configured = orthanc.get_json(TUNING)
    assert configured["DicomSockets"]["KeepAliveSeconds"] == 30

    changed = orthanc.tune(DicomSockets={"KeepAliveSeconds": 90})
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
    orthanc.tune(Memory={"IngestBudget": "25%"}, DicomSockets={"KeepAliveSeconds": 90})
    orthanc.stop()
    change_saved_tuning(orthanc, '"KeepAliveSeconds":90', '"KeepAliveSeconds":"adaptive"')
    orthanc.start()
    assert orthanc.get_json(TUNING)["Memory"]["IngestBudget"] == "25%"
    (warning,) = orthanc.get_json("/perf/status")["Warnings"]
    assert "SavedTuning.DicomSockets.KeepAliveSeconds" in warning
    orthanc.tune(DicomSockets={"TcpNoDelay": False})
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
    assert orthanc.tune(DicomSockets={"TcpNoDelay": False}) != configured
    orthanc.restart()
    assert orthanc.get_json(TUNING) == configured


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"DicomSockets": {"TcpNoDelay": "yes"}}, "DicomSockets.TcpNoDelay"),
        ({"Sockets": {}}, "Sockets"),
        ("", ""),
        ("{", ""),
    ],
)
def test_a_bad_document_changes_nothing_and_is_told_why(
    server: OrthancServer, body: Json, key: str
) -> None:
    before = server.get_json(TUNING)
    data = body if isinstance(body, str) else json.dumps(body)
    answer = server.request("PUT", TUNING, data=data)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("application/json")
    error = answer.json()
    assert error["Key"] == key
    assert error["Message"] and error["Allowed"]
    assert server.get_json(TUNING) == before


def test_every_key_has_its_effect(server: OrthancServer) -> None:
    assert server.get_json("/perf/status")["Tuning"]["NotYetInEffect"] == []


def test_keys_without_effect_are_named(start_orthanc: StartOrthanc) -> None:
    """Those that need the probe."""
    orthanc = start_orthanc(perf={"SocketProbe": False})

    def list_without_effect() -> set[str]:
        return set(orthanc.get_json("/perf/status")["Tuning"]["NotYetInEffect"])

    assert list_without_effect() == {"DicomSockets.TcpQuickAck"}
    levels = {"ArchiveLevel": 0, "HttpLevel": 0, "PreviewLevel": 0}
    wish = {"Storage": {"WriteAtOnce": True}, "Memory": {"IngestBudget": "25%"}, "Answers": levels}
    orthanc.tune(**wish)
    keys = {f"{section}.{key}" for section, keys in wish.items() for key in keys}
    assert list_without_effect() == {"DicomSockets.TcpQuickAck", *keys}


@pytest.mark.parametrize("argument", ["limit=many", "origin=Mars", "direction=Up"])
def test_errors_are_json(server: OrthancServer, argument: str) -> None:
    answer = server.get(f"/perf/instances?{argument}")
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["Message"]


def test_unknown_arguments_are_ignored(server: OrthancServer) -> None:
    arguments = "limit=1&_=1795275657&token=a&limt=2"
    assert server.get(f"/perf/instances?{arguments}").status_code == 200
