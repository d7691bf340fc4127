# SPDX-License-Identifier: GPL-3.0-or-later
"""/perf/tuning: read, merged, kept, returned to the configuration; and who did so."""

from typing import Any

from conftest import MakeSeries, StartOrthanc
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.tuning import tune_sockets

TUNING = "/perf/tuning"
SOURCES = f"{TUNING}?sources"
BY_REST = {"Origin": "RestApi", "Address": "127.0.0.1"}

SCRIPT = """
function OnStoredInstance(instanceId, tags, metadata)
  RestApiPut('/perf/tuning', '{"DicomSockets": {"KeepAliveSeconds": 77}}', false)
  print('the script is over')
end
"""


def list_changes(server: OrthancServer) -> list[dict[str, Any]]:
    return server.get_json("/perf/history")["TuningChanges"]


def find_lines(server: OrthancServer, text: str) -> list[str]:
    return [line for line in server.log.splitlines() if text in line]


def list_without_effect(server: OrthancServer) -> set[str]:
    return set(server.get_json("/perf/status")["Tuning"]["NotYetInEffect"])


def test_put_merges_and_sources_have_every_value(server: OrthancServer) -> None:
    before = server.get_json(TUNING)
    after = server.tune(DicomSockets={"TcpQuickAck": False})
    assert server.get_json(TUNING) == server.get_json(f"{TUNING}?sources=false") == after
    assert after["DicomSockets"]["TcpQuickAck"] is False
    assert after["DicomSockets"]["TcpNoDelay"] is True
    assert after["IngestTranscoding"] == before["IngestTranscoding"]
    assert list_without_effect(server) == set()

    sources = server.get_json(SOURCES)
    del after["DicomSockets"]["Preset"]
    values = {
        section: {key: entry["Value"] for key, entry in entries.items()}
        for section, entries in sources.items()
    }
    assert values == after
    assert sources["DicomSockets"]["TcpNoDelay"] == {"Value": True, "Source": "Default"}


def test_a_change_outlives_a_restart_is_named_and_ends_with_delete(
    start_orthanc: StartOrthanc,
) -> None:
    orthanc = start_orthanc(perf={"Tuning": {"DicomSockets": {"KeepAliveSeconds": 30}}})
    configured = orthanc.get_json(TUNING)
    assert configured["DicomSockets"]["KeepAliveSeconds"] == 30
    assert find_lines(orthanc, "override the configuration") == []
    tune_sockets(orthanc, Preset="stock")
    tune_sockets(orthanc, Preset="tuned")
    changed = orthanc.tune(DicomSockets={"KeepAliveSeconds": 90})
    assert len(list_changes(orthanc)) == 3
    orthanc.restart()

    assert orthanc.get_json(TUNING) == changed
    (line,) = find_lines(orthanc, "override the configuration")
    assert '"KeepAliveSeconds":90' in line
    assert "DELETE /perf/tuning" in line
    assert "TcpQuickAck" not in line
    expected = {"Value": 90, "Source": "REST", "Configured": 30}
    assert orthanc.get_json(SOURCES)["DicomSockets"]["KeepAliveSeconds"] == expected
    assert list_changes(orthanc) == []
    tune_sockets(orthanc, KeepAliveSeconds=45)
    (made,) = list_changes(orthanc)
    assert made["Undo"] == {"DicomSockets": {"KeepAliveSeconds": 90}}

    orthanc.request("DELETE", TUNING).raise_for_status()
    orthanc.restart()
    assert orthanc.get_json(TUNING) == configured
    expected = {"Value": 30, "Source": "Configuration"}
    assert orthanc.get_json(SOURCES)["DicomSockets"]["KeepAliveSeconds"] == expected
    assert find_lines(orthanc, "override the configuration") == []


def test_a_change_need_not_be_kept_and_keys_without_effect_are_named(
    start_orthanc: StartOrthanc,
) -> None:
    """Those that need the probe."""
    orthanc = start_orthanc(perf={"PersistTuning": False, "SocketProbe": False})
    configured = orthanc.get_json(TUNING)
    assert list_without_effect(orthanc) == {"DicomSockets.TcpQuickAck"}
    levels = {"ArchiveLevel": 0, "HttpLevel": 0, "PreviewLevel": 0}
    wish = {"Storage": {"WriteAtOnce": True}, "Memory": {"IngestBudget": "25%"}, "Answers": levels}
    assert orthanc.tune(**wish) != configured
    keys = {f"{section}.{key}" for section, keys in wish.items() for key in keys}
    assert list_without_effect(orthanc) == {"DicomSockets.TcpQuickAck", *keys}
    orthanc.restart()
    assert orthanc.get_json(TUNING) == configured


def test_a_change_names_the_user_and_the_address_and_never_the_password(
    start_orthanc: StartOrthanc,
) -> None:
    options = {"AuthenticationEnabled": True, "RegisteredUsers": {"al ice": "gEheim:7"}}
    orthanc = start_orthanc(options=options, credentials=("al ice", "gEheim:7"))
    tune_sockets(orthanc, KeepAliveSeconds=90)
    orthanc.request("DELETE", TUNING).raise_for_status()

    by = BY_REST | {"User": "al ice"}
    assert [made["By"] for made in list_changes(orthanc)] == [by, by]
    lines = find_lines(orthanc, "the tuning was changed")
    assert len(lines) == 2
    assert 'by the user "al ice" from 127.0.0.1' in lines[0]
    assert '"KeepAliveSeconds":90' in lines[0]
    assert "gEheim" not in orthanc.log


def test_nobody_is_named_by_what_a_proxy_says_and_orthancs_own_changes_are_named_as_such(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(lua=[SCRIPT])
    (image,) = make_series("store", 1)
    orthanc.upload(image.read_bytes())
    # Orthanc runs scripts on a thread of their own
    assert wait_until(lambda: list_changes(orthanc) != [])
    (line,) = find_lines(orthanc, "the tuning was changed")
    assert "from inside Orthanc" in line
    body = '{"DicomSockets": {"KeepAliveSeconds": 90}}'
    headers = dict.fromkeys(("X-Forwarded-For", "X-Forwarded-User"), "10.9.8.7")
    orthanc.request("PUT", TUNING, data=body, headers=headers).raise_for_status()
    assert [made["By"] for made in list_changes(orthanc)] == [{"Origin": "Internal"}, BY_REST]
    assert "10.9.8.7" not in orthanc.log
