# SPDX-License-Identifier: GPL-3.0-or-later
"""Each value of the tuning in force says where it comes from, and each change who asked for it."""

import json
from typing import Any

import pytest

from conftest import StartOrthanc
from harness import clients
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.proxy import serve_below

TUNING = "/perf/tuning"
SOURCES = f"{TUNING}?sources"

SCRIPT = """
function OnStoredInstance(instanceId, tags, metadata)
  RestApiPut('/perf/tuning', '{"DicomSockets": {"KeepAliveSeconds": 77}}', false)
  print('the script is over')
end
"""


def change(server: OrthancServer, **sockets: Any) -> None:  # noqa: ANN401
    server.request("PUT", TUNING, data=json.dumps({"DicomSockets": sockets})).raise_for_status()


def list_changes(server: OrthancServer) -> list[dict[str, Any]]:
    return server.get_json("/perf/history?since=0")["TuningChanges"]


def find_lines(server: OrthancServer, text: str) -> list[str]:
    return [line for line in server.log.splitlines() if text in line]


# ---- Where it comes from


def test_saved_tuning_is_named_at_the_start_and_by_its_source(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"Tuning": {"DicomSockets": {"Preset": "tuned"}}})
    assert find_lines(orthanc, "instead of the configuration") == []
    change(orthanc, Preset="stock")
    change(orthanc, Preset="tuned", TcpNoDelay=False)
    orthanc.restart()

    (line,) = find_lines(orthanc, "instead of the configuration")
    assert "DicomSockets.TcpNoDelay is false (configured: true)" in line
    assert "DELETE /perf/tuning" in line
    assert "TcpQuickAck" not in line
    sockets = orthanc.get_json(SOURCES)["DicomSockets"]
    assert sockets["TcpNoDelay"] == {"Value": False, "Source": "REST", "Configured": True}

    orthanc.request("DELETE", TUNING).raise_for_status()
    sockets = orthanc.get_json(SOURCES)["DicomSockets"]
    assert sockets["TcpNoDelay"] == {"Value": True, "Source": "Configuration"}
    orthanc.restart()
    assert find_lines(orthanc, "instead of the configuration") == []


def test_sources_have_every_value_and_leave_the_plain_answer_alone(orthanc: OrthancServer) -> None:
    change(orthanc, KeepAliveSeconds=90)
    plain = orthanc.get_json(TUNING)
    sources = orthanc.get_json(SOURCES)
    del plain["DicomSockets"]["Preset"]
    values = {
        section: {key: entry["Value"] for key, entry in entries.items()}
        for section, entries in sources.items()
    }
    assert values == plain
    assert sources["DicomSockets"]["TcpNoDelay"] == {"Value": True, "Source": "Default"}
    assert orthanc.get_json(f"{TUNING}?sources=false") == orthanc.get_json(TUNING)
    assert orthanc.get(f"{TUNING}?sources=maybe").status_code == 400


# ---- Who asked for it


def test_saved_tuning_is_no_change_of_the_history(orthanc: OrthancServer) -> None:
    change(orthanc, KeepAliveSeconds=90)
    assert len(list_changes(orthanc)) == 1
    orthanc.restart()
    assert list_changes(orthanc) == []
    change(orthanc, KeepAliveSeconds=30)
    (made,) = list_changes(orthanc)
    assert made["Undo"] == {"DicomSockets": {"KeepAliveSeconds": 90}}


def test_a_change_names_the_user_and_the_address_and_never_the_password(
    start_orthanc: StartOrthanc,
) -> None:
    options = {"AuthenticationEnabled": True, "RegisteredUsers": {"al ice": "gEheim:7"}}
    orthanc = start_orthanc(options=options, credentials=("al ice", "gEheim:7"))
    change(orthanc, KeepAliveSeconds=90)
    orthanc.request("DELETE", TUNING).raise_for_status()

    by = {"Origin": "RestApi", "User": "al ice", "Address": "127.0.0.1"}
    assert [made["By"] for made in list_changes(orthanc)] == [by, by]
    lines = find_lines(orthanc, "the tuning was changed")
    assert len(lines) == 2
    assert 'by the user "al ice" from 127.0.0.1' in lines[0]
    assert '"KeepAliveSeconds":90' in lines[0]
    assert "gEheim" not in orthanc.log


@pytest.mark.parametrize("header", ["Authorization", "X-Forwarded-For", "X-Forwarded-User"])
def test_nobody_is_named_on_hearsay(orthanc: OrthancServer, header: str) -> None:
    # Without authentication, Orthanc looks at no password
    body = '{"DicomSockets": {"KeepAliveSeconds": 90}}'
    headers = {header: "Basic YWxpY2U6c2VjcmV0"}
    orthanc.request("PUT", TUNING, data=body, headers=headers).raise_for_status()
    (made,) = list_changes(orthanc)
    assert made["By"] == {"Origin": "RestApi", "Address": "127.0.0.1"}


@pytest.mark.parametrize("trusted", [["127.0.0.1"], ["10.0.0.1"], []], ids=str)
def test_a_proxy_is_believed_on_its_client_if_it_is_trusted(
    start_orthanc: StartOrthanc, trusted: list[str]
) -> None:
    orthanc = start_orthanc(perf={"TrustedProxies": trusted})
    with serve_below(orthanc, "/pacs/orthanc", orthanc.folder / "proxy") as url:
        command = ["curl", "--silent", "--fail", "--noproxy", "*", "--interface", "127.0.0.2"]
        command += ["--header", "X-Forwarded-For: 10.9.8.7", "--request", "PUT", url + TUNING]
        body = '{"DicomSockets": {"KeepAliveSeconds": 90}}'
        clients.get_output([*command, "--data", body])

    by = {"Origin": "RestApi", "Address": "127.0.0.1"}
    if trusted == ["127.0.0.1"]:
        by = {"Origin": "RestApi", "Address": "127.0.0.2", "Proxy": "127.0.0.1"}
    (made,) = list_changes(orthanc)
    assert made["By"] == by
    (line,) = find_lines(orthanc, "the tuning was changed")
    who = "by 127.0.0.2 through the proxy 127.0.0.1" if "Proxy" in by else "by 127.0.0.1"
    assert f"{who}: " in line
    assert "10.9.8.7" not in orthanc.log


# ---- Who may


def test_only_those_whom_the_list_names_may_tune(start_orthanc: StartOrthanc) -> None:
    users = {"alice": "a", "bob": "b"}
    options = {"AuthenticationEnabled": True, "RegisteredUsers": users}
    orthanc = start_orthanc(
        perf={"AllowTuning": ["alice", "carol"]}, options=options, credentials=("bob", "b")
    )
    before = orthanc.get_json(TUNING)
    body = '{"DicomSockets": {"KeepAliveSeconds": 90}}'

    for answer in (
        orthanc.request("PUT", TUNING, data=body),
        orthanc.request("DELETE", TUNING),
        orthanc.request("PUT", TUNING, data=body, headers={"X-Forwarded-User": "alice"}),
    ):
        assert answer.status_code == 403
        assert '"AllowTuning"' in answer.json()["Error"]
    assert orthanc.get_json(TUNING) == before

    orthanc.session.auth = ("alice", "a")
    change(orthanc, KeepAliveSeconds=90)
    (made,) = list_changes(orthanc)
    assert made["By"]["User"] == "alice"
    (warning,) = find_lines(orthanc, '"AllowTuning" names')
    assert '"carol"' in warning and "RegisteredUsers" in warning


def test_a_list_keeps_out_everybody_where_orthanc_asks_for_no_password(
    start_orthanc: StartOrthanc,
) -> None:
    options = {"RegisteredUsers": {"alice": "a"}}
    orthanc = start_orthanc(perf={"AllowTuning": ["alice"]}, options=options)
    orthanc.session.auth = ("alice", "a")
    assert orthanc.request("PUT", TUNING, data="{}").status_code == 403
    (warning,) = find_lines(orthanc, '"AllowTuning" names')
    assert "AuthenticationEnabled" in warning


def test_a_list_keeps_out_scripts(
    start_orthanc: StartOrthanc,
    make_series: Any,  # noqa: ANN401
) -> None:
    options = {"AuthenticationEnabled": True, "RegisteredUsers": {"alice": "a"}}
    orthanc = start_orthanc(
        perf={"AllowTuning": ["alice"]}, options=options, lua=[SCRIPT], credentials=("alice", "a")
    )
    (image,) = make_series("store", 1)
    orthanc.request("POST", "/instances", data=image.read_bytes()).raise_for_status()
    assert wait_until(lambda: find_lines(orthanc, "the script is over") != [])
    change(orthanc, KeepAliveSeconds=30)
    assert [made["By"].get("User") for made in list_changes(orthanc)] == ["alice"]


def test_a_change_from_inside_orthanc_is_named_as_such(
    start_orthanc: StartOrthanc,
    make_series: Any,  # noqa: ANN401
) -> None:
    orthanc = start_orthanc(lua=[SCRIPT])
    (image,) = make_series("store", 1)
    orthanc.request("POST", "/instances", data=image.read_bytes()).raise_for_status()
    wait_until(lambda: list_changes(orthanc) != [])  # Orthanc runs scripts on a thread of their own
    (made,) = list_changes(orthanc)
    assert made["By"] == {"Origin": "Internal"}
    (line,) = find_lines(orthanc, "the tuning was changed")
    assert "from inside Orthanc" in line
    change(orthanc, KeepAliveSeconds=30)
    assert list_changes(orthanc)[1]["By"] == {"Origin": "RestApi", "Address": "127.0.0.1"}
