# SPDX-License-Identifier: GPL-3.0-or-later
"""perf-fleet asks and tunes several Orthancs, and says what each of them did instead."""

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import advice
from harness.certificates import Certificate
from harness.fleet import PERF_FLEET, make_command, run_perf_fleet, write_fleet
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer, find_free_port, read_access
from harness.process import WITH_LIMITED_FILES, limit_files

USERS = {"alice": "a secret", "viewer": "a view", "prometheus": "figures", "jürgen": "ß, €"}
PACKAGING = ROOT / "Resources" / "Packaging"
STOCK = '{"DicomSockets": {"Preset": "stock"}}'
TUNED = '{"DicomSockets": {"Preset": "tuned"}}'

Fleet = dict[str, OrthancServer]


@pytest.fixture(scope="module")
def fleet(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two servers with the plugin, the second with a finding, and one without the plugin."""
    users = {"AuthenticationEnabled": True, "RegisteredUsers": USERS}
    with ExitStack() as stack:

        def start(plugins: list[Path], **options: Any) -> OrthancServer:  # noqa: ANN401
            server = OrthancServer(
                tmp_path_factory.mktemp("fleet"),
                plugins=plugins,
                lua=[read_access()],
                options={**users, **options},
                credentials=("alice", USERS["alice"]),
            )
            return stack.enter_context(server)

        yield {
            "orthanc-a": start([plugin]),
            "orthanc-b": start([plugin], TcpNoDelay=False),
            "orthanc-plain": start([]),
        }


@pytest.fixture
def pair(fleet: Fleet, tmp_path: Path) -> Iterator[Path]:
    """The file with the two that have the plugin, whose tuning is that of their configuration."""
    both = [fleet["orthanc-a"], fleet["orthanc-b"]]
    urls = {name: fleet[name].url for name in ("orthanc-a", "orthanc-b")}
    yield write_fleet(tmp_path, urls, user="alice")
    for server in both:
        server.request("DELETE", "/perf/tuning").raise_for_status()


def run(fleet: Path, *words: str, **more: str) -> tuple[int, str, str]:
    finished = run_perf_fleet(fleet, *words, **{"password": USERS["alice"], **more})
    return finished.returncode, finished.stdout, finished.stderr


def run_json(fleet: Path, *words: str) -> tuple[int, Any]:
    code, output, _ = run(fleet, "--json", *words)
    return code, json.loads(output)


# ---- What they do


def test_the_table_is_of_all_servers_and_its_last_row_their_sum(
    fleet: Fleet, pair: Path, make_series: MakeSeries
) -> None:
    advice.find(fleet["orthanc-b"], "http-tcp-no-delay")
    images = make_series("fleet-tool", 5)
    for name, share in (("orthanc-a", images[:3]), ("orthanc-b", images[3:])):
        for image in share:
            fleet[name].request("POST", "/instances", data=image.read_bytes()).raise_for_status()
        scrape_when_counted(fleet[name], len(share))

    code, document = run_json(pair, "status")
    assert code == 0
    first, second = document["Servers"]
    assert (first["Name"], second["Name"]) == ("orthanc-a", "orthanc-b")
    assert first["InstancesPerSecond"] > 0 < second["InstancesPerSecond"]
    assert second["Findings"] >= 1
    assert second["Duration"] > 0
    for key, total in document["Total"].items():
        assert total == pytest.approx(first[key] + second[key])

    code, table, _ = run(pair, "status")
    assert code == 0
    for word in ("orthanc-a", "orthanc-b", "2 of 2", "instances/s"):
        assert word in table


@contextmanager
def serve_unhealthy(
    health: dict[str, Any], code: int, more: dict[str, Any] | None = None
) -> Iterator[str]:
    """A server that is at rest, and answers so when it is asked for its health; its status may have
    more."""
    status = STATUS | (more or {})
    status |= {
        "Windows": [{}, {"Receive": AT_REST}],
        "Ingest": {"InFlight": {}},
        "Warnings": [],
    }

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers: dict[str, object] = {"/perf/status": status, "/perf/advice": []}
            self.send_response(200 if self.path in answers else code)
            self.end_headers()
            self.wfile.write(json.dumps(answers.get(self.path, health)).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server, keep_serving(server) as url:
        yield url


def test_one_that_cannot_store_is_named(tmp_path: Path) -> None:
    """Nothing comes to it any more, so that nothing fails there."""
    problems = {"Healthy": False, "Problems": {"Storage": "No space left on device"}}
    said = "server: cannot store: Storage: No space left on device\n"
    with serve_unhealthy(problems, 503) as url:
        path = write_fleet(tmp_path, {"server": url})
        code, output, _ = run(path, "status")
        assert (code, said in output) == (2, True)
        assert run(path, "findings")[::2] == (2, said)
        for words in ("status", "findings"):
            code, document = run_json(path, words)
            (server,) = document["Servers"] if words == "status" else document
            assert (code, server["Problems"]) == (2, [said.strip().partition(" ")[2]])
    with serve_unhealthy({"Error": "Unknown resource"}, 404) as url:  # an older plugin
        assert run(write_fleet(tmp_path, {"server": url}), "status")[0] == 0
    with serve_unhealthy({"Error": "Out of order"}, 500) as url:
        code, output, _ = run(write_fleet(tmp_path, {"server": url}), "status")
        assert (code, "server: HTTP 500: Out of order" in output) == (2, True)


def test_stalls_that_no_server_looked_for_have_no_sum(tmp_path: Path) -> None:
    with serve_unhealthy({"Healthy": True, "Problems": {}}, 200) as url:
        code, document = run_json(write_fleet(tmp_path, {"server": url}), "status")
    assert code == 0
    assert document["Servers"][0]["Stalls"] is document["Total"]["Stalls"] is None
    assert document["Total"]["Failed"] == 0


def test_a_server_under_two_names_is_named_and_counted_once(
    fleet: Fleet, pair: Path, tmp_path: Path, make_series: MakeSeries
) -> None:
    """As with a load balancer's address among those of the servers behind it."""
    names = ("orthanc-a", "balancer", "orthanc-b")
    urls = {name: fleet.get(name, fleet["orthanc-a"]).url for name in names}
    urls["balancer"] = urls["balancer"].replace("127.0.0.1", "localhost")
    for image in make_series("fleet-tool-twice", 3):
        fleet["orthanc-a"].request("POST", "/instances", data=image.read_bytes()).raise_for_status()
    scrape_when_counted(fleet["orthanc-a"], 3)
    both = write_fleet(tmp_path, urls, user="alice")
    said = "perf-fleet: orthanc-a and balancer are the same server"

    code, output, errors = run(both, "--json", "status")
    document = json.loads(output)
    assert (code, errors.startswith(said), errors.count("\n")) == (0, True, 1)
    assert [server["SameAs"] for server in document["Servers"]] == [None, "orthanc-a", None]
    first, second, third = document["Servers"]
    assert first["StartedAt"] == second["StartedAt"] != third["StartedAt"]
    assert first["InstancesPerSecond"] > 0 < second["InstancesPerSecond"]
    for key, total in document["Total"].items():
        assert total == pytest.approx((first[key] or 0) + (third[key] or 0))

    code, table, errors = run(both, "status")
    assert (code, "3 of 3, 2 different" in table) == (0, True)
    assert errors.startswith(said)
    alone = ["--only", "orthanc-a", "--only", "orthanc-b"]
    code, table, errors = run(both, *alone, "status")
    assert (code, "different" in table, errors) == (0, False, "")


def test_a_server_under_two_names_is_named_once_however_often_it_is_looked_at(
    fleet: Fleet, tmp_path: Path
) -> None:
    urls = dict.fromkeys(["orthanc-a", "balancer"], fleet["orthanc-a"].url)
    command = make_command(write_fleet(tmp_path, urls, user="alice"), "status", "--watch", "0.2")
    environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"], "COLUMNS": "180"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdout is not None and process.stderr is not None
        read_until(process.stdout.fileno(), rb"1 different.*1 different")
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().count(b"are the same server") == 1
    assert process.returncode == 0

    # Below each table where they overwrite one another
    terminal, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=pipe, env=environment
    ) as process:
        os.close(theirs)
        read_until(terminal, rb"are the same server.*are the same server")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(terminal)


@pytest.mark.parametrize("started", [{}, {"StartedAt": None}])
def test_servers_that_do_not_say_when_they_started_are_all_counted(
    started: dict[str, Any], tmp_path: Path
) -> None:
    """Of an older plugin, which may be anything."""
    with serve_unhealthy({"Healthy": True, "Problems": {}}, 200, started) as url:
        path = write_fleet(tmp_path, {"one": url, "two": url})
        code, output, errors = run(path, "--json", "status")
    assert (code, errors) == (0, "")
    assert [server["SameAs"] for server in json.loads(output)["Servers"]] == [None, None]


def read_until(terminal: int, pattern: bytes, seconds: float = 60) -> bytes:
    """What a program has written to its terminal once the pattern is in it."""
    text = b""
    deadline = time.monotonic() + seconds
    while not re.search(pattern, text, re.DOTALL):
        assert time.monotonic() < deadline, text
        if select.select([terminal], [], [], 0.5)[0]:
            text += os.read(terminal, 65536)
    return text


def test_the_table_is_live_until_ctrl_c(pair: Path) -> None:
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        make_command(pair, "status", "--watch", "0.2"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"], "COLUMNS": "180"},
        start_new_session=True,
    )
    os.close(theirs)
    read_until(terminal, rb"2 of 2.*2 of 2")
    process.send_signal(signal.SIGINT)
    with suppress(OSError):  # EIO once nobody has the other side
        while os.read(terminal, 65536):
            pass
    assert process.wait(60) == 0
    os.close(terminal)


def test_a_script_gets_a_line_of_json_each_time(pair: Path) -> None:
    command = make_command(pair, "--json", "status", "--watch", "0.2")
    environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert len(json.loads(process.stdout.readline())["Servers"]) == 2
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0


def test_who_reads_along_gets_a_table_each_time(pair: Path) -> None:
    """In a pipe or a file, which is no terminal, each of them at once."""
    command = make_command(pair, "status", "--watch", "0.2")
    environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            seen = read_until(process.stdout.fileno(), rb"2 of 2.*2 of 2")
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert b"\x1b" not in seen


def test_all_are_tuned_and_each_answers(fleet: Fleet, pair: Path) -> None:
    code, answers = run_json(pair, "tuning", "set", STOCK)
    assert code == 0
    for answer in answers:
        assert answer["Tuning"] == fleet[answer["Name"]].get_json("/perf/tuning")
        assert answer["Tuning"]["DicomSockets"]["Preset"] == "stock"
        assert answer["Changed"]["DicomSockets.TcpNoDelay"] is False

    code, table, _ = run(pair, "tuning", "set", "-", content=STOCK)
    assert (code, table.count("nothing: it was so")) == (0, 2)

    code, answers = run_json(pair, "tuning", "reset")
    assert code == 0
    assert [a["Changed"]["DicomSockets.Preset"] for a in answers] == ["tuned", "tuned"]


def read_cell(table: str, column: int) -> str:
    """Of a table with one row, however many lines that takes; without spaces."""
    lines = [line.split("│")[column + 1] for line in table.splitlines() if line.startswith("│")]
    return "".join("".join(lines).split())


def test_each_key_that_is_changed_is_in_the_table(pair: Path) -> None:
    document = {
        "DicomSockets": {"Preset": "stock"},
        "IngestTranscoding": {"TransferSyntax": "JPEGLSLossless", "Verify": True},
        "Memory": {"IngestBudget": "25%", "IngestWaitSeconds": 60},
    }
    change = ["--only", "orthanc-a", "tuning", "set", json.dumps(document)]
    _, table, _ = run(pair, *change)
    run(pair, "tuning", "reset")
    _, (answer,) = run_json(pair, *change)
    changed = [f"{key}={json.dumps(value)}" for key, value in answer["Changed"].items()]
    assert len(", ".join(changed)) > 300
    assert read_cell(table, 2) == ",".join(changed)


@pytest.mark.parametrize("length", [500, 100_000])
def test_a_remedy_is_whole_unless_it_would_fill_the_terminal(length: int, tmp_path: Path) -> None:
    text = "".join(f"{number:05}" for number in range(length // 5))
    remedy = {"Kind": "System", "Text": text}
    with serve(json.dumps([FINDING | {"Remedy": remedy}]).encode()) as url:
        code, table, _ = run(write_fleet(tmp_path, {"server": url}), "findings")
    shown = read_cell(table, 5)
    assert code == 1
    if length == 500:
        assert shown == "System:" + text
    else:
        assert shown.endswith("…") and ("System:" + text).startswith(shown[:-1])
        assert 2000 < len(shown) < 5000


def test_what_differs_is_found_and_named(fleet: Fleet, pair: Path) -> None:
    assert run(pair, "tuning", "diff") == (0, "", "")
    fleet["orthanc-b"].request("PUT", "/perf/tuning", json={"DicomSockets": {"TcpQuickAck": False}})

    code, document = run_json(pair, "tuning", "diff")
    assert code == 1
    quick = {"orthanc-a": True, "orthanc-b": False}
    preset = {"orthanc-a": "tuned", "orthanc-b": "custom"}
    assert document["Different"] == {
        "DicomSockets.Preset": preset,
        "DicomSockets.TcpQuickAck": quick,
    }
    code, table, _ = run(pair, "tuning", "diff")
    assert code == 1
    assert "DicomSockets.TcpQuickAck" in table
    assert "TcpNoDelay" not in table

    # Or from what is wanted, which one of them has
    assert run(pair, "tuning", "diff", '{"DicomSockets": {"TcpNoDelay": true}}')[0] == 0
    wanted = '{"DicomSockets": {"TcpQuickAck": false}}'
    assert run_json(pair, "tuning", "diff", wanted)[1]["Different"] == {
        "DicomSockets.TcpQuickAck": quick
    }
    assert run(pair, "--only", "orthanc-b", "tuning", "diff", wanted)[0] == 0


BUDGET = '{"Memory": {"IngestBudget": …}}'
NO_DELAY = '{"DicomSockets": {"TcpNoDelay": …}}'


@pytest.mark.parametrize(
    ("document", "key", "meant"),
    [
        ({"Memory": {"IngestBudgett": 1}}, "Memory.IngestBudgett", BUDGET),
        ({"Memory": {"ingestbudget": 1}}, "Memory.ingestbudget", BUDGET),
        ({"Memory": {"Xyz": None}}, "Memory.Xyz", None),
        ({"Memry": {}}, "Memry", '{"Memory": …}'),
        ({"TcpNoDelay": True}, "TcpNoDelay", NO_DELAY),
        ({"DicomSockets.TcpNoDelay": True}, "DicomSockets.TcpNoDelay", NO_DELAY),
        ({"DicomSockets": {"Preset": {"x": 1}}}, "DicomSockets.Preset.x", None),
    ],
)
def test_a_key_that_no_server_knows_is_an_error_of_the_document(
    document: dict[str, Any], key: str, meant: str | None, pair: Path
) -> None:
    """Which "set" would be refused by each of them."""
    assert run(pair, "tuning", "set", json.dumps(document))[0] == 2
    document = {"DicomSockets": {"TcpQuickAck": False}, **document}  # what differs is not all
    for words in (["tuning"], ["--json", "tuning"]):
        code, output, errors = run(pair, *words, "diff", json.dumps(document))
        assert (code, output) == (3, "")
        assert errors.startswith(f'perf-fleet: no server that answers knows "{key}"')
        assert errors.count("did you mean") == (meant is not None)
        assert meant is None or f"did you mean {meant}?" in errors


def test_every_key_that_is_shown_may_be_wanted(fleet: Fleet, pair: Path) -> None:
    alone = ["--only", "orthanc-b", "tuning", "diff"]
    shown = fleet["orthanc-b"].get_json("/perf/tuning")
    assert run(pair, *alone, json.dumps(shown)) == (0, "", "")
    for document in ({}, {"Memory": {}}):
        assert run(pair, *alone, json.dumps(document)) == (0, "", "")
    for document in ({"Memory": None}, {"Memory": {"IngestBudget": None}}):  # which "set" takes
        assert run(pair, *alone, json.dumps(document))[0] == 1
    code, output, errors = run(pair, *alone, '{"Memory": 1, "IngestTranscoding": []}')
    assert (code, output) == (3, "")
    for section in ("Memory", "IngestTranscoding"):
        assert f'"{section}" has keys' in errors


def test_a_key_that_one_server_knows_is_no_error(fleet: Fleet, tmp_path: Path) -> None:
    """Another one's plugin may be older; of one that does not answer, nobody knows."""
    wanted = json.dumps({"Memory": {"IngestBudget": 0}})
    old = {"DicomSockets": {"Preset": "tuned"}, "IngestTranscoding": {}}
    with serve(json.dumps(old).encode()) as url:
        both = {"old": url, "orthanc-a": fleet["orthanc-a"].url}
        path = write_fleet(tmp_path, both, user="alice")
        code, document = run_json(path, "tuning", "diff", wanted)
        assert (code, list(document["Different"])) == (1, ["Memory.IngestBudget"])
        assert run(path, "--only", "orthanc-a", "tuning", "diff", wanted) == (0, "", "")
        code, output, errors = run(path, "--only", "old", "tuning", "diff", wanted)
        assert (code, output) == (3, "")
        assert 'knows "Memory"' in errors

        urls = {"old": url, "gone": f"http://127.0.0.1:{find_free_port()}"}
        path = write_fleet(tmp_path, urls, user="alice")
        code, _, errors = run(path, "tuning", "diff", wanted)
        assert code == 2
        assert 'no server that answers knows "Memory"' in errors
        assert "gone: no connection" in errors


@pytest.mark.parametrize("wanted", ["1", "1.0", "null", "[true]", '"true"'])
def test_what_is_like_true_is_not_true(wanted: str, tmp_path: Path) -> None:
    """As for JSON, and for the plugin, which takes no number for a switch."""
    tuning = {"DicomSockets": {"TcpNoDelay": True, "KeepAliveSeconds": 60}, "IngestTranscoding": {}}
    with serve(json.dumps(tuning).encode()) as url:
        path = write_fleet(tmp_path, {"server": url})

        def compare(key: str, value: str) -> int:
            return run(path, "tuning", "diff", f'{{"DicomSockets": {{"{key}": {value}}}}}')[0]

        assert compare("TcpNoDelay", wanted) == 1
        assert compare("TcpNoDelay", "true") == 0
        for same in ("60", "60.0"):
            assert compare("KeepAliveSeconds", same) == 0


def test_a_transfer_syntax_is_the_same_by_its_name_and_its_uid(fleet: Fleet, pair: Path) -> None:
    server = fleet["orthanc-a"]
    refusal = server.request("PUT", "/perf/tuning", json=make_target("no such"))
    known = re.findall(r"([\d.]+) \((\w+)\)", refusal.json()["Allowed"])
    assert len(known) == 12, refusal.text
    alone = ["--only", "orthanc-a", "tuning"]
    for uid, name in known:
        assert run(pair, *alone, "set", json.dumps(make_target(name)))[0] == 0
        assert server.get_json("/perf/tuning")["IngestTranscoding"]["TransferSyntax"] == uid
        for wanted in (name, uid):
            assert run(pair, *alone, "diff", json.dumps(make_target(wanted))) == (0, "", "")
    other = json.dumps(make_target(known[0][1]))  # the last one is in force
    code, document = run_json(pair, "tuning", "diff", other)
    assert (code, list(document["Different"])) == (1, ["IngestTranscoding.TransferSyntax"])


def test_a_server_is_called_as_its_file_says(fleet: Fleet, tmp_path: Path) -> None:
    names = ["orthanc [ward]", "orthanc [/ward]", ">orthanc", "[red]a"]
    urls = dict.fromkeys(names, fleet["orthanc-a"].url)
    code, table, errors = run(write_fleet(tmp_path, urls, user="alice"), "tuning", "get")
    assert (code, errors) == (0, "")
    headings = [heading.strip() for heading in table.splitlines()[1].split("┃")[2:-1]]
    assert headings == names


def make_target(syntax: str) -> dict[str, Any]:
    return {"IngestTranscoding": {"TransferSyntax": syntax}}


def see(fleet: Path, *words: str) -> tuple[int, str]:
    """The exit code, and what somebody at a terminal sees."""
    terminal, theirs = pty.openpty()
    environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"], "COLUMNS": "180"}
    with subprocess.Popen(
        make_command(fleet, *words), stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # EIO once nobody has the other side
            while piece := os.read(terminal, 65536):
                seen += piece
    os.close(terminal)
    return process.returncode, seen.decode().replace("\r\n", "\n")


def test_who_looks_is_told_that_there_is_nothing_to_see(fleet: Fleet, pair: Path) -> None:
    def has_none() -> bool:
        return fleet["orthanc-a"].get_json("/perf/advice") == []

    alone = ["--only", "orthanc-a"]
    assert see(pair, "tuning", "diff") == (0, "the same everywhere\n")
    assert see(pair, "tuning", "diff", TUNED) == (0, "as wanted everywhere\n")
    assert has_none()
    assert see(pair, *alone, "findings") == (0, "no findings\n")
    # What scripts read is what it was
    assert run(pair, "tuning", "diff") == (0, "", "")
    code, table, _ = run(pair, *alone, "findings")
    assert (code, "remedy" in table) == (0, True)


def test_where_nobody_answers_there_is_no_empty_table(fleet: Fleet, tmp_path: Path) -> None:
    gone = {"gone": f"http://127.0.0.1:{find_free_port()}"}
    path = write_fleet(tmp_path, gone, user="alice")
    complaint = "gone: no connection: Connection refused\n"
    for words in (["findings"], ["tuning", "get"], ["tuning", "diff"]):
        assert see(path, *words) == (2, complaint)
    path = write_fleet(tmp_path, {**gone, "orthanc-a": fleet["orthanc-a"].url}, user="alice")
    code, seen = see(path, "tuning", "diff")
    assert (code, seen) == (2, f"the same everywhere (1 answered)\n{complaint}")


def test_what_one_refuses_is_changed_nowhere(fleet: Fleet, pair: Path) -> None:
    before = [fleet[name].get_json("/perf/tuning") for name in ("orthanc-a", "orthanc-b")]
    code, answers = run_json(pair, "tuning", "set", '{"DicomSockets": {"Presett": "stock"}}')
    assert code == 2
    assert 'did you mean "DicomSockets.Preset"' in answers[0]["Error"]
    assert answers[1]["Error"].startswith("not asked")
    assert before == [fleet[name].get_json("/perf/tuning") for name in ("orthanc-a", "orthanc-b")]


def test_without_one_of_them_none_is_tuned_unless_that_is_asked_for(
    fleet: Fleet, tmp_path: Path, pair: Path
) -> None:
    gone = f"http://127.0.0.1:{find_free_port()}"
    path = write_fleet(tmp_path, {"gone": gone, "orthanc-a": fleet["orthanc-a"].url}, user="alice")
    code, answers = run_json(path, "tuning", "set", STOCK)
    assert code == 2
    assert "Connection refused" in answers[0]["Error"]
    assert answers[1]["Error"].startswith("not asked")
    assert fleet["orthanc-a"].get_json("/perf/tuning")["DicomSockets"]["Preset"] == "tuned"

    code, answers = run_json(path, "tuning", "set", STOCK, "--anyway")
    assert code == 2
    assert answers[1]["Changed"]["DicomSockets.Preset"] == "stock"
    assert fleet["orthanc-a"].get_json("/perf/tuning")["DicomSockets"]["Preset"] == "stock"


def test_findings_are_those_of_all_servers(fleet: Fleet, pair: Path) -> None:
    advice.find(fleet["orthanc-b"], "http-tcp-no-delay")
    code, answers = run_json(pair, "findings")
    assert code == 1
    assert "http-tcp-no-delay" in [finding["ID"] for finding in answers[1]["Findings"]]
    assert "http-tcp-no-delay" not in [finding["ID"] for finding in answers[0]["Findings"]]
    _, table, _ = run(pair, "findings")
    assert re.search(r"orthanc-b +. http-tcp-no-delay", table)


# ---- What servers do instead


@contextmanager
def keep_serving(server: HTTPServer) -> Iterator[str]:
    """Its address; it ends with the body, also where that fails."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def serve(body: bytes, kind: str | None = None, findings: bytes | None = None) -> Iterator[str]:
    """An HTTP server whose answer is always the same, but for findings, if there are any."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            if kind is not None:
                self.send_header("Content-Type", kind)
            self.end_headers()
            is_other = findings is not None and self.path == "/perf/advice"
            self.wfile.write(findings if is_other else body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server, keep_serving(server) as url:
        yield url


@pytest.fixture
def strange_page() -> Iterator[str]:
    """An HTTP server that is no Orthanc, and would like to write to a terminal."""
    with serve(b"<html></html>", "text/html\x1b[31m") as url:
        yield url


@pytest.fixture
def strange_json() -> Iterator[str]:
    with serve(b'{"Windows": []}') as url:
        yield url


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def drip(begin: bytes, piece: bytes, pause: float) -> Iterator[str]:
    """A server whose answers never end."""
    is_over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(begin)
            while not is_over.wait(pause):
                connection.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while not is_over.is_set():
                connection, _ = server.accept()
                threading.Thread(target=answer, args=[connection]).start()

        thread = threading.Thread(target=accept)
        thread.start()
        port = server.getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            is_over.set()
            socket.create_connection(("127.0.0.1", port)).close()
            thread.join()


@contextmanager
def serve_tuning(
    state: dict[str, Any] | None = None, answers: bool = True, changes: bool = True
) -> Iterator[tuple[str, threading.Event]]:
    """A server that has a tuning, and this "Tuning" of its status; the event is that it is asked to
    change it."""
    tuning = {"DicomSockets": {"Preset": "tuned"}, "IngestTranscoding": {}}
    status = {"Warnings": ["A change could not be saved, once"], "Tuning": state or {}}
    asked, is_over = threading.Event(), threading.Event()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = tuning if self.path == "/perf/tuning" else status
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if changes:
                tuning["DicomSockets"]["Preset"] = "stock"
            asked.set()
            if answers or is_over.wait(60):
                self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server, keep_serving(server) as url:
        try:
            yield url, asked
        finally:
            is_over.set()


def complain_about(
    folder: Path, url: str, user: str | None = "alice", password: str = "", seconds: int = 60
) -> str:
    """What is said of this server, which has to be the same in both forms."""
    path = write_fleet(folder, {"server": url}, user=user)
    password = password or USERS["alice"]
    finished = run_perf_fleet(
        path, "--timeout", str(seconds), "--json", "status", password=password
    )
    assert finished.returncode == 2, finished
    (answer,) = json.loads(finished.stdout)["Servers"]
    error = answer["Error"]
    _, output, errors = run(path, "--timeout", str(seconds), "findings", password=password)
    assert f"server: {error}\n".replace("/perf/status", "/perf/advice") in errors
    assert "Traceback" not in output + errors
    assert "\x1b" not in error
    return error


def test_a_server_that_is_gone_is_said_to_be(tmp_path: Path, silent: str) -> None:
    gone = f"http://127.0.0.1:{find_free_port()}"
    assert complain_about(tmp_path, gone) == "no connection: Connection refused"
    assert complain_about(tmp_path, silent, seconds=1) == "no answer within 1 s"


def test_who_asks_without_the_right_is_told_which(fleet: Fleet, tmp_path: Path) -> None:
    url = fleet["orthanc-a"].url
    assert "asks for a user and a password" in complain_about(tmp_path, url, user=None)
    assert 'refuses the user "alice"' in complain_about(tmp_path, url, password="wrong")
    error = complain_about(tmp_path, url, "prometheus", USERS["prometheus"])
    assert error.startswith("does not allow that (403)")

    path = write_fleet(tmp_path, {"server": url}, user="viewer")
    code, output, _ = run(path, "--json", "tuning", "set", STOCK, password=USERS["viewer"])
    assert code == 2
    assert json.loads(output)[0]["Error"].startswith("does not allow that (403)")


def test_the_table_tells_who_refuses_from_who_does_not_answer(fleet: Fleet, tmp_path: Path) -> None:
    urls = {"known": fleet["orthanc-a"].url, "plain": fleet["orthanc-plain"].url}
    urls["gone"] = f"http://127.0.0.1:{find_free_port()}"
    wrong = run(write_fleet(tmp_path, urls, user="alice"), "status", password="wrong")
    assert wrong[0] == 2
    assert re.search(r"known +. refused", wrong[1])
    assert re.search(r"gone +. no answer", wrong[1])
    allowed = write_fleet(tmp_path, urls, user="prometheus")
    _, table, _ = run(allowed, "status", password=USERS["prometheus"])
    assert re.search(r"known +. refused", table)  # 403
    _, table, _ = run(write_fleet(tmp_path, urls, user="alice"), "status")
    assert re.search(r"plain +. wrong answer", table)  # 404


def test_an_orthanc_without_the_plugin_is_said_to_be_one(fleet: Fleet, tmp_path: Path) -> None:
    error = complain_about(tmp_path, fleet["orthanc-plain"].url)
    assert "(404): the plugin is not loaded, not enabled" in error


def test_what_is_no_orthanc_is_said_to_be_none(
    tmp_path: Path, strange_page: str, strange_json: str
) -> None:
    assert "no JSON" in complain_about(tmp_path, strange_page)
    assert "not this plugin's" in complain_about(tmp_path, strange_json)


STATUS = {
    "Versions": {"Orthanc": "1.10.1", "Plugin": "0.2.0"},
    "Windows": [{}, {"Receive": {"InstancesPerSecond": "many"}}],
}
AT_REST = {"InstancesPerSecond": 0, "BytesPerSecond": 0, "Outcomes": {"Failed": 0}}
FINDING = {"ID": "md5", "Title": "slow", "Cost": {"EstimatedGain": 2}, "Remedy": {"Kind": "System"}}


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("status", STATUS),
        ("findings", [FINDING | {"Cost": [1]}]),
        ("findings", [FINDING | {"Cost": {"EstimatedGain": "much"}}]),
        ("findings", [FINDING | {"Cost": {"EstimatedGain": 10**400}}]),
        ("findings", [FINDING | {"Title": None}]),
        ("findings", {"Findings": []}),
        ("tuning get", ["DicomSockets", "IngestTranscoding"]),
        ("tuning diff", "DicomSockets, IngestTranscoding"),
    ],
)
def test_one_that_answers_strangely_is_named_and_the_others_are_shown(
    words: str, answer: object, fleet: Fleet, tmp_path: Path
) -> None:
    findings = b"[]" if words == "status" else None
    with serve(json.dumps(answer).encode(), findings=findings) as url:
        path = write_fleet(tmp_path, {"strange": url, "orthanc-a": fleet["orthanc-a"].url}, "alice")
        code, output, errors = run(path, *words.split())
        assert code == 2
        assert "strange: answers with JSON that is not this plugin's" in output + errors
        assert "orthanc-a:" not in output + errors


def test_what_is_nested_without_end_is_no_answer(tmp_path: Path) -> None:
    for content in (b"[" * 100_000, b"[" * 200 + b"]" * 200):
        with serve(content) as url:
            assert "no JSON" in complain_about(tmp_path, url)


def test_a_finding_without_a_cost_is_shown(tmp_path: Path) -> None:
    findings = [FINDING, FINDING | {"Cost": None, "Remedy": None}]
    with serve(json.dumps(findings).encode()) as url:
        code, output, _ = run(write_fleet(tmp_path, {"server": url}), "findings")
    assert (code, output.count("md5")) == (1, 2)


@pytest.mark.parametrize("begin", ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n"])
def test_an_answer_that_never_ends_is_none(begin: str, tmp_path: Path) -> None:
    with drip(begin.encode(), b"x", 0.1) as url:
        assert complain_about(tmp_path, url, seconds=1) == "no answer within 1 s"


def test_an_answer_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    with drip(b"HTTP/1.1 200 OK\r\n\r\n", bytes(1 << 20), 0) as url:
        assert "too large" in complain_about(tmp_path, url)


def test_a_password_is_what_it_is_in_orthancs_configuration(fleet: Fleet, tmp_path: Path) -> None:
    path = write_fleet(tmp_path, {"orthanc-a": fleet["orthanc-a"].url}, user="jürgen")
    assert run(path, "status", password=USERS["jürgen"])[0] == 0


# ---- Changes of which some are made


def test_who_stops_it_is_told_what_is_changed(fleet: Fleet, tmp_path: Path, pair: Path) -> None:
    with serve_tuning(answers=False) as (url, asked):
        urls = {"orthanc-a": fleet["orthanc-a"].url, "slow": url, "orthanc-b": url}
        command = make_command(write_fleet(tmp_path, urls, user="alice"), "tuning", "set", STOCK)
        environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"]}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment, text=True
        ) as process:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert re.search(r"orthanc-a +. done .*stock", output)
    assert re.search(r"slow +. not known: may be changed", output)
    assert re.search(r"orthanc-b +. not asked", output)


def test_where_nobody_reads_what_is_changed_it_is_an_error(pair: Path) -> None:
    environment = {**os.environ, "PERF_FLEET_PASSWORD": USERS["alice"]}
    read, write = os.pipe()
    os.close(read)
    finished = subprocess.run(
        make_command(pair, "tuning", "set", STOCK),
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        check=False,
    )
    os.close(write)
    assert finished.returncode == 2
    assert finished.stderr.count("done") == 2
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(("changes", "said"), [(True, "it is changed"), (False, "nothing is")])
def test_a_change_without_an_answer_is_looked_for(changes: bool, said: str, tmp_path: Path) -> None:
    with serve_tuning(answers=False, changes=changes) as (url, _):
        path = write_fleet(tmp_path, {"slow": url})
        code, output, _ = run(path, "--timeout", "1", "--json", "tuning", "set", STOCK)
    assert code == 2
    assert json.loads(output)[0]["Error"].startswith(f"no answer within 1 s; {said}")


@pytest.mark.parametrize(
    ("state", "is_unsaved"),
    [
        ({"Unsaved": True}, True),
        ({"Unsaved": False}, False),
        pytest.param({}, False, id="of an older plugin"),
        ({"Unsaved": "false"}, False),
    ],
)
def test_a_change_that_the_next_start_will_undo_is_an_error(
    state: dict[str, Any], is_unsaved: bool, tmp_path: Path
) -> None:
    with serve_tuning(state) as (url, _):
        path = write_fleet(tmp_path, {"server": url})
        code, (answer,) = run_json(path, "tuning", "set", STOCK)
        assert code == (2 if is_unsaved else 0)
        assert len(answer["Warnings"]) == is_unsaved
        assert ("could not be saved" in run(path, "tuning", "set", STOCK)[1]) == is_unsaved


def test_what_could_not_be_saved_once_is_no_error_of_later_changes(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    server = start_orthanc(launcher=WITH_LIMITED_FILES)
    path = write_fleet(tmp_path, {"server": server.url})

    def set_seconds(seconds: int) -> tuple[int, list[str]]:
        document = {"DicomSockets": {"KeepAliveSeconds": seconds}}
        code, (answer,) = run_json(path, "tuning", "set", json.dumps(document))
        assert answer["Tuning"]["DicomSockets"]["KeepAliveSeconds"] == seconds
        return code, answer["Warnings"]

    assert set_seconds(70) == (0, [])
    with limit_files(server.pid, 0):
        code, (warning,) = set_seconds(71)
        assert code == 2
        assert "could not be saved" in warning
        assert server.get_json("/perf/status")["Tuning"]["Unsaved"] is True
    assert set_seconds(71) == (0, [])  # which is what to do about it
    assert server.get_json("/perf/status")["Tuning"]["Unsaved"] is False
    assert set_seconds(72) == (0, [])
    server.restart()
    assert server.get_json("/perf/tuning")["DicomSockets"]["KeepAliveSeconds"] == 72


def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, certificate: Certificate
) -> None:
    port = find_free_port()
    server = ["openssl", "s_server", "-quiet", "-www", "-accept", str(port)]
    keys = ["-cert", str(certificate.certificate), "-key", str(certificate.key)]
    process = subprocess.Popen([*server, *keys], stderr=subprocess.DEVNULL)
    try:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                break
            time.sleep(0.02)
        url = f"https://127.0.0.1:{port}"
        assert "HTTPS fails: self-signed certificate" in complain_about(tmp_path, url)
        path = write_fleet(tmp_path, {"server": url}, user="alice")
        path.write_text(f'certificates = "{certificate.certificate}"\n' + path.read_text())
        _, _, errors = run(path, "findings")
        assert "no JSON" in errors  # so it was asked
    finally:
        process.terminate()
        process.wait(30)


# ---- Passwords, and files that are wrong


def test_a_password_comes_from_a_file_that_nobody_else_can_read(
    fleet: Fleet, tmp_path: Path
) -> None:
    path = write_fleet(tmp_path, {"orthanc-a": fleet["orthanc-a"].url}, user="alice")
    path.write_text('password_file = "password"\n' + path.read_text())
    (tmp_path / "password").write_text(USERS["alice"] + "\n")
    (tmp_path / "password").chmod(0o644)
    finished = run_perf_fleet(path, "status")
    assert (finished.returncode, finished.stdout) == (3, "")
    assert "chmod 600" in finished.stderr
    (tmp_path / "password").chmod(0o600)
    assert run_perf_fleet(path, "status").returncode == 0
    (tmp_path / "password").write_bytes("grün".encode("latin-1"))
    finished = run_perf_fleet(path, "status")
    assert (finished.returncode, finished.stdout) == (3, "")
    assert "is no UTF-8" in finished.stderr


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "has no servers"),
        ("[servers", "is no TOML"),
        ('[servers]\na = "10.0.0.1:8042"', "no http:// or https:// address"),
        ('[servers]\na = "http://alice:secret@10.0.0.1:8042"', "a password in its address"),
        ('[servers]\na = "alice:secret@10.0.0.1:8042"', "no http:// or https:// address"),
        ('[servers]\na = "http://alice:sec/ret@10.0.0.1"', "no http:// or https:// address"),
        ('[servers]\na = "http://[10.0.0.1"', "no http:// or https:// address"),
        ('[servers]\na = "http://orthanc..hospital:8042"', "no http:// or https:// address"),
        (f'[servers]\na = "http://{"x" * 64}.hospital"', "no http:// or https:// address"),
        ('password = "secret"\n[servers]\na = "http://10.0.0.1:8042"', "password_file"),
        ('[servers]\npassword = "secret"', "no http:// or https:// address"),
        ('pasword_file = "x"\n[servers]\na = "http://10.0.0.1:8042"', "known: user, password_file"),
        ('user = "alice"\n[servers]\na = "http://10.0.0.1:8042"', "no password for alice"),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_anything_is_asked(
    text: str, error: str, tmp_path: Path
) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(text)
    finished = run_perf_fleet(path, "status")
    assert finished.returncode == 3
    assert error in finished.stderr
    assert "secret" not in finished.stderr


def test_the_file_is_the_first_of_its_places(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    alone = tmp_path / "perf-fleet"  # as in /usr/bin, without its sample
    alone.write_bytes(PERF_FLEET.read_bytes())
    for name in ("PERF_FLEET", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PERF_FLEET_PASSWORD", USERS["alice"])

    def list_names() -> list[str] | str:
        command = [sys.executable, str(alone), "--json", "--timeout", "60", "status"]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode == 3:
            return finished.stderr
        return [server["Name"] for server in json.loads(finished.stdout)["Servers"]]

    if not Path("/etc/perf-fleet.toml").exists():  # the last place, which a machine may have
        assert str(home / ".config" / "perf-fleet.toml") in list_names()  # which is not there
    url = fleet["orthanc-a"].url
    own = write_fleet(home, {"own": url}, user="alice")
    own.rename(home / ".config" / "perf-fleet.toml")
    assert list_names() == ["own"]
    write_fleet(tmp_path, {"beside": url}, user="alice")
    assert list_names() == ["beside"]
    (tmp_path / "named").mkdir()
    monkeypatch.setenv(
        "PERF_FLEET", str(write_fleet(tmp_path / "named", {"named": url}, user="alice"))
    )
    assert list_names() == ["named"]


def test_a_home_that_cannot_be_looked_into_has_no_file(tmp_path: Path) -> None:
    alone = tmp_path / "perf-fleet"
    alone.write_bytes(PERF_FLEET.read_bytes())
    home = tmp_path / ("x" * 300)  # longer than a name may be (NAME_MAX): root, too, gets an error
    environment = {
        name: os.environ[name] for name in os.environ.keys() - {"PERF_FLEET", "XDG_CONFIG_HOME"}
    }
    finished = subprocess.run(
        [sys.executable, alone, "--help"],
        env={**environment, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("usage: perf-fleet")


def test_without_its_modules_it_says_which_and_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("")  # no package: it has no rich.console

    def start(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, PERF_FLEET, *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    finished = start("status")
    assert finished.returncode == 3
    assert "needs Python's module rich" in finished.stderr
    assert "python3-rich" in finished.stderr
    assert "Traceback" not in finished.stderr
    for words in (["--help"], ["tuning", "set", "--help"]):
        finished = start(*words)
        assert (finished.returncode, finished.stderr) == (0, "")
        assert finished.stdout.startswith("usage: perf-fleet")


def test_the_manual_has_every_command_and_option(tmp_path: Path) -> None:
    page = PACKAGING / "debian" / "perf-fleet.1"
    manual = page.read_text("utf-8").replace(r"\-", "-")  # groff_man(7)
    commands = [["status"], ["findings"], *(["tuning", w] for w in ("get", "diff", "set", "reset"))]
    for words in commands:
        assert " ".join(words) in manual
        helped = run_perf_fleet(tmp_path, *words, "--help").stdout
        for option in re.findall(r"--[a-z]+", helped + run_perf_fleet(tmp_path, "--help").stdout):
            assert option in manual
    for word in ("PERF_FLEET", "PERF_FLEET_PASSWORD", "/etc/perf-fleet.toml"):
        assert word in manual


@pytest.mark.parametrize(
    "words",
    [
        ["status", "--watch", "soon"],
        ["tuning"],
        ["tuning", "set", "stock"],
        ["tuning", "set", ""],
        ["tuning", "diff", ""],
        ["tuning", "diff", "@"],
        ["tuning", "set", '{"Memory": {"IngestWaitSeconds": NaN}}'],
        ["tuning", "diff", '{"Memory": {"IngestWaitSeconds": 1e400}}'],
        ["--only", "x"],
    ],
)
def test_a_command_that_is_wrong_is_told_apart_from_a_server_that_is(
    words: list[str], pair: Path
) -> None:
    code, output, errors = run(pair, *words)
    assert (code, output) == (3, "")
    assert errors.startswith("perf-fleet: ")
