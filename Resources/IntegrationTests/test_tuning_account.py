# SPDX-License-Identifier: GPL-3.0-or-later
"""Each value of the tuning in force says where it comes from, and each change who asked for it."""

from typing import Any

from conftest import StartOrthanc
from harness.metrics import wait_until
from harness.orthanc import OrthancServer

TUNING = "/perf/tuning"
SOURCES = f"{TUNING}?sources"

SCRIPT = """
function OnStoredInstance(instanceId, tags, metadata)
  RestApiPut('/perf/tuning', '{"DicomSockets": {"KeepAliveSeconds": 77}}', false)
  print('the script is over')
end
"""


def change(server: OrthancServer, **sockets: Any) -> None:  # noqa: ANN401
    server.tune(DicomSockets=sockets)


def list_changes(server: OrthancServer) -> list[dict[str, Any]]:
    return server.get_json("/perf/history")["TuningChanges"]


def find_lines(server: OrthancServer, text: str) -> list[str]:
    return [line for line in server.log.splitlines() if text in line]


def test_saved_tuning_is_named_at_the_start_and_by_its_source(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"Tuning": {"DicomSockets": {"Preset": "tuned"}}})
    assert find_lines(orthanc, "override the configuration") == []
    change(orthanc, Preset="stock")
    change(orthanc, Preset="tuned", TcpNoDelay=False)
    orthanc.restart()

    (line,) = find_lines(orthanc, "override the configuration")
    assert '"TcpNoDelay":false' in line
    assert "DELETE /perf/tuning" in line
    assert "TcpQuickAck" not in line
    sockets = orthanc.get_json(SOURCES)["DicomSockets"]
    assert sockets["TcpNoDelay"] == {"Value": False, "Source": "REST", "Configured": True}

    orthanc.request("DELETE", TUNING).raise_for_status()
    sockets = orthanc.get_json(SOURCES)["DicomSockets"]
    assert sockets["TcpNoDelay"] == {"Value": True, "Source": "Configuration"}
    orthanc.restart()
    assert find_lines(orthanc, "override the configuration") == []


def test_sources_have_every_value_and_leave_the_plain_answer_alone(server: OrthancServer) -> None:
    change(server, KeepAliveSeconds=90)
    plain = server.get_json(TUNING)
    sources = server.get_json(SOURCES)
    del plain["DicomSockets"]["Preset"]
    values = {
        section: {key: entry["Value"] for key, entry in entries.items()}
        for section, entries in sources.items()
    }
    assert values == plain
    assert sources["DicomSockets"]["TcpNoDelay"] == {"Value": True, "Source": "Default"}
    assert server.get_json(f"{TUNING}?sources=false") == server.get_json(TUNING)
    assert server.get(f"{TUNING}?sources=maybe").status_code == 400


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


def test_nobody_is_named_by_what_a_proxy_says(orthanc: OrthancServer) -> None:
    body = '{"DicomSockets": {"KeepAliveSeconds": 90}}'
    headers = dict.fromkeys(("X-Forwarded-For", "X-Forwarded-User"), "10.9.8.7")
    orthanc.request("PUT", TUNING, data=body, headers=headers).raise_for_status()
    (made,) = list_changes(orthanc)
    assert made["By"] == {"Origin": "RestApi", "Address": "127.0.0.1"}
    assert "10.9.8.7" not in orthanc.log


def test_a_change_from_inside_orthanc_is_named_as_such(
    start_orthanc: StartOrthanc,
    make_series: Any,  # noqa: ANN401
) -> None:
    orthanc = start_orthanc(lua=[SCRIPT])
    (image,) = make_series("store", 1)
    orthanc.upload(image.read_bytes())
    wait_until(lambda: list_changes(orthanc) != [])  # Orthanc runs scripts on a thread of their own
    (made,) = list_changes(orthanc)
    assert made["By"] == {"Origin": "Internal"}
    (line,) = find_lines(orthanc, "the tuning was changed")
    assert "from inside Orthanc" in line
    change(orthanc, KeepAliveSeconds=30)
    assert list_changes(orthanc)[1]["By"] == {"Origin": "RestApi", "Address": "127.0.0.1"}
