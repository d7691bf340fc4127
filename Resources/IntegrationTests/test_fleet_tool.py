# SPDX-License-Identifier: GPL-3.0-or-later
"""perf-fleet asks and tunes several Orthancs, and says what each of them did instead."""

import json
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice, process
from harness.certificates import Certificate
from harness.fleet import FLEET
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer, find_free_port, read_access
from harness.process import WITH_LIMITED_FILES, limit_files
from harness.receivers import Receiver

USERS = {"alice": "a secret", "viewer": "a view", "prometheus": "figures", "jürgen": "ß, €"}
STOCK = '{"DicomSockets": {"Preset": "stock"}}'
BY_NAME = '{"IngestTranscoding": {"TransferSyntax": "JPEGProcess14SV1"}}'

Fleet = dict[str, OrthancServer]


@pytest.fixture(scope="module")
def fleet(plugin: Path, start_for_module: StartOrthanc) -> Fleet:
    """Two servers with the plugin, the second with a finding, and one without the plugin."""

    def start(plugins: list[Path], **options: Any) -> OrthancServer:  # noqa: ANN401
        options |= {"AuthenticationEnabled": True, "RegisteredUsers": USERS}
        alice = ("alice", USERS["alice"])
        return start_for_module(
            plugins=plugins, lua=[read_access()], options=options, credentials=alice
        )

    return {
        "orthanc-a": start([plugin]),
        "orthanc-b": start([plugin], PostgreSQL={"EnableStorage": True}),
        "orthanc-plain": start([]),
    }


@pytest.fixture
def pair(fleet: Fleet, tmp_path: Path) -> Iterator[Path]:
    """The file with the two that have the plugin, whose tuning is that of their configuration."""
    urls = {name: fleet[name].url for name in ("orthanc-a", "orthanc-b")}
    yield write_fleet(tmp_path, urls, user="alice")
    for name in urls:
        fleet[name].request("DELETE", "/perf/tuning").raise_for_status()


def write_fleet(folder: Path, servers: Mapping[str, str], user: str | None = None) -> Path:
    lines = [f"user = {json.dumps(user)}"] if user else []
    lines.append("[servers]")
    lines += [f"{json.dumps(name)} = {json.dumps(servers[name])}" for name in servers]
    path = folder / "fleet.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def run(
    fleet: Path, *words: str, password: str | None = USERS["alice"], content: str = ""
) -> tuple[int, str, str]:
    """Exit code, output and errors. A busy machine may take longer to answer than a hospital's."""
    environment = {name: os.environ[name] for name in os.environ if name != "PERF_FLEET_PASSWORD"}
    if password is not None:
        environment["PERF_FLEET_PASSWORD"] = password
    command = [sys.executable, FLEET / "perf-fleet", "--fleet", fleet, "--timeout", "60", *words]
    finished = process.run(command, env=environment, input=content)
    assert "Traceback" not in finished.stderr
    return finished.returncode, finished.stdout, finished.stderr


def run_json(fleet: Path, *words: str) -> tuple[int, Any]:
    code, output, _ = run(fleet, "--json", *words)
    return code, json.loads(output)


@contextmanager
def serve(answers: dict[str, Any], health: int = 200) -> Iterator[str]:
    """A server with these answers; that of /perf/health has this status."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(health if self.path == "/perf/health" else 200)
            self.end_headers()
            answer = answers.get(self.path, {})
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        do_PUT = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


AT_REST = {"InstancesPerSecond": 0, "BytesPerSecond": 0, "Outcomes": {"Failed": 0}}
STATUS = {
    "Versions": {"Orthanc": "1.10.1", "Plugin": "0.2.0"},
    "Windows": [{}, {"Receive": AT_REST}],
    "Ingest": {"InFlight": {}},
    "Tuning": {},
}


def test_the_table_is_of_all_servers_and_its_last_row_their_sum(
    fleet: Fleet, pair: Path, make_series: MakeSeries
) -> None:
    advice.find(fleet["orthanc-b"], "postgresql-storage")
    images = make_series("fleet-tool", 5)
    for name, share in (("orthanc-a", images[:3]), ("orthanc-b", images[3:])):
        for image in share:
            fleet[name].upload(image.read_bytes())
        scrape_when_counted(fleet[name], len(share))

    code, document = run_json(pair, "status")
    assert code == 0
    first, second = document["Servers"]
    assert (first["Name"], second["Name"]) == ("orthanc-a", "orthanc-b")
    assert first["BytesPerSecond"] > 0 < second["BytesPerSecond"]
    assert second["Findings"] >= 1
    for key, total in document["Total"].items():
        assert total == pytest.approx(first[key] + second[key])
    code, table, _ = run(pair, "status")
    assert code == 0
    for word in ("orthanc-a", "orthanc-b", "2 of 2", "InstancesPerSecond"):
        assert word in table


def test_one_that_cannot_store_is_named(tmp_path: Path) -> None:
    """Nothing comes to it any more, so that nothing fails there."""
    health = {"Problems": {"Storage": "No space left on device"}}
    with serve({"/perf/status": STATUS, "/perf/advice": [], "/perf/health": health}, 503) as url:
        path = write_fleet(tmp_path, {"server": url})
        for words in ("status", "findings"):
            said = "server: cannot store: Storage: No space left on device\n"
            assert run(path, words)[::2] == (2, said)


def test_findings_are_those_of_all_servers(fleet: Fleet, pair: Path) -> None:
    advice.find(fleet["orthanc-b"], "postgresql-storage")
    code, document = run_json(pair, "findings")
    assert code == 1
    found = [[f["ID"] for f in server["Findings"]] for server in document["Servers"]]
    assert "postgresql-storage" not in found[0] and "postgresql-storage" in found[1]
    assert re.search(r"(?m)^orthanc-b +postgresql-storage", run(pair, "findings")[1])


def test_all_are_tuned_and_each_answers(fleet: Fleet, pair: Path) -> None:
    code, document = run_json(pair, "tuning", "set", STOCK)
    assert code == 0
    for server in document["Servers"]:
        assert server["Changed"]["DicomSockets.TcpNoDelay"] == "false"
        tuning = fleet[server["Name"]].get_json("/perf/tuning")
        assert tuning["DicomSockets"]["Preset"] == "stock"
    code, table, _ = run(pair, "tuning", "set", "-", content=STOCK)
    assert (code, table.count("nothing: it was so")) == (0, 2)
    code, table, _ = run(pair, "tuning", "get")
    assert (code, table.split("DicomSockets.Preset")[1].split()[:2]) == (0, ['"stock"'] * 2)


def test_what_differs_is_found_and_named(fleet: Fleet, pair: Path) -> None:
    assert run(pair, "tuning", "diff") == (0, "", "")
    fleet["orthanc-b"].request("PUT", "/perf/tuning", json={"DicomSockets": {"TcpQuickAck": False}})
    code, document = run_json(pair, "tuning", "diff")
    differ = ["DicomSockets.Preset", "DicomSockets.TcpQuickAck"]
    assert (code, document["Different"]) == (1, differ)
    code, table, _ = run(pair, "tuning", "diff")
    assert code == 1 and "DicomSockets.TcpQuickAck" in table and "TcpNoDelay" not in table

    # Or from what is wanted, which one of them has
    assert run(pair, "tuning", "diff", '{"DicomSockets": {"TcpNoDelay": true}}')[0] == 0
    assert run(pair, "tuning", "diff", '{"DicomSockets": {"TcpNoDelay": 1}}')[0] == 1
    assert run(pair, "tuning", "diff", "{}")[0] == 0
    assert run(pair, "tuning", "diff", BY_NAME)[0] == 1
    assert run(pair, "tuning", "set", BY_NAME)[0] == 0
    assert run(pair, "tuning", "diff", BY_NAME)[0] == 0  # servers answer with the UID
    wanted = '{"DicomSockets": {"TcpQuickAck": false}}'
    assert run_json(pair, "tuning", "diff", wanted)[1]["Different"] == differ[1:]
    assert run(pair, "--only", "orthanc-b", "tuning", "diff", wanted)[0] == 0


def test_what_one_refuses_or_does_not_answer_is_changed_nowhere(
    fleet: Fleet, pair: Path, tmp_path: Path
) -> None:
    before = [fleet[name].get_json("/perf/tuning") for name in ("orthanc-a", "orthanc-b")]
    code, _, errors = run(pair, "tuning", "set", '{"DicomSockets": {"Presett": "stock"}}')
    assert code == 2
    assert "orthanc-a: HTTP 400: " in errors and "Presett" in errors
    assert "orthanc-b: not asked" in errors
    gone = f"http://127.0.0.1:{find_free_port()}"
    path = write_fleet(tmp_path, {"orthanc-a": fleet["orthanc-a"].url, "gone": gone}, user="alice")
    code, _, errors = run(path, "tuning", "set", STOCK)
    assert code == 2 and "Connection refused" in errors and "orthanc-a: not asked" in errors
    assert before == [fleet[name].get_json("/perf/tuning") for name in ("orthanc-a", "orthanc-b")]


def test_a_change_that_the_next_start_will_undo_is_an_error(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    server = start_orthanc(launcher=WITH_LIMITED_FILES)
    path = write_fleet(tmp_path, {"server": server.url})
    assert run(path, "tuning", "set", STOCK)[0] == 0
    with limit_files(server.pid, 0):
        code, table, errors = run(path, "tuning", "set", '{"DicomSockets": {"Preset": "tuned"}}')
    assert code == 2 and '"tuned"' in table and "not saved" in errors


@pytest.mark.usefixtures("pair")
def test_a_change_is_told_though_the_status_after_it_fails(fleet: Fleet, tmp_path: Path) -> None:
    with serve({"/perf/tuning": {"DicomSockets": {"Preset": "stock"}}}) as url:
        servers = {"server": url, "orthanc-a": fleet["orthanc-a"].url}
        code, table, errors = run(
            write_fleet(tmp_path, servers, user="alice"), "tuning", "set", STOCK
        )
    assert (code, errors.count("\n")) == (2, 1)
    assert "server: in force; whether it is saved" in errors
    # The next server is not left out
    assert re.search(r"(?m)^server +nothing: it was so$", table)
    assert re.search(r"(?m)^orthanc-a +.*DicomSockets.TcpNoDelay = false", table)


def complain_about(folder: Path, url: str, *words: str, user: str | None = "alice") -> str:
    path = write_fleet(folder, {"server": url}, user=user)
    code, _, errors = run(path, *words, "status", password=USERS.get(user or "", "wrong"))
    assert code == 2 and errors.startswith("server: ") and "\x1b" not in errors
    return errors


def test_a_server_that_is_gone_or_silent_is_named(tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{find_free_port()}"
    assert "Connection refused" in complain_about(tmp_path, gone)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "timed out" in complain_about(tmp_path, url, "--timeout", "1")


def test_who_asks_without_the_right_is_told_so(fleet: Fleet, tmp_path: Path) -> None:
    url = fleet["orthanc-a"].url
    for user, status in ((None, 401), ("nobody", 401), ("prometheus", 403)):
        assert f"HTTP {status}" in complain_about(tmp_path, url, user=user)
    path = write_fleet(tmp_path, {"server": url}, user="viewer")
    code, _, errors = run(path, "tuning", "set", STOCK, password=USERS["viewer"])
    assert code == 2 and "HTTP 403" in errors
    said = complain_about(tmp_path, fleet["orthanc-plain"].url)
    assert "HTTP 404" in said and "plugin is not loaded" in said
    path = write_fleet(tmp_path, {"server": url}, user="jürgen")
    assert run(path, "status", password=USERS["jürgen"])[0] == 0


@pytest.mark.parametrize(
    "answer",
    [b"<html>\x1b[31m</html>", b"[" * 100_000, {}, [], STATUS | {"Windows": [{}, {}]}],
    ids=["HTML", "nested", "empty", "list", "others"],
)
def test_one_that_answers_strangely_is_named_and_the_others_are_shown(
    answer: Any,  # noqa: ANN401
    fleet: Fleet,
    tmp_path: Path,
) -> None:
    paths = ("/perf/status", "/perf/advice", "/perf/health", "/perf/tuning")
    with serve(dict.fromkeys(paths, answer)) as url:
        path = write_fleet(tmp_path, {"strange": url, "orthanc-a": fleet["orthanc-a"].url}, "alice")
        for words in (["status"], ["findings"]):
            code, output, errors = run(path, *words)
            assert code == 2 and errors.startswith("strange: the answer is not this plugin's")
            assert (errors.count("\n") == 1 and "orthanc-a" in output) or words == ["findings"]


def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, certificate: Certificate
) -> None:
    port = find_free_port()
    server = ["openssl", "s_server", "-quiet", "-www", "-accept", str(port)]
    keys = ["-cert", str(certificate.certificate), "-key", str(certificate.key)]
    with Receiver(port, [*server, *keys]):
        url = f"https://127.0.0.1:{port}"
        assert "certificate verify failed" in complain_about(tmp_path, url)
        path = write_fleet(tmp_path, {"server": url}, user="alice")
        path.write_text(f'certificates = "{certificate.certificate}"\n' + path.read_text())
        assert "not this plugin's" in run(path, "findings")[2]  # so it was asked


def test_a_password_comes_from_a_file_that_nobody_else_can_read(
    fleet: Fleet, tmp_path: Path
) -> None:
    path = write_fleet(tmp_path, {"orthanc-a": fleet["orthanc-a"].url}, user="alice")
    path.write_text('password_file = "password"\n' + path.read_text())
    (tmp_path / "password").write_text(USERS["alice"] + "\n", "utf-8")
    (tmp_path / "password").chmod(0o644)
    code, _, errors = run(path, "status", password=None)
    assert code == 3 and "chmod 600" in errors
    (tmp_path / "password").chmod(0o600)
    assert run(path, "status", password=None)[0] == 0
    assert run(path, "status", password="another")[0] == 2  # it comes first


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no such server"),
        ("[servers", "fleet.toml: "),
        ('[servers]\na = "10.0.0.1:8042"', "no http:// or https:// address"),
        ('[servers]\na = "http://alice:secret@10.0.0.1:8042"', "has a user in it"),
        ('password = "secret"\n[servers]\na = "http://10.0.0.1:8042"', "none of user, password_f"),
        ('user = "alice"\n[servers]\na = "http://10.0.0.1:8042"', "no password for alice"),
        ('certificates = 5\n[servers]\na = "http://10.0.0.1:8042"', "fleet.toml: "),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_anything_is_asked(
    text: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / "fleet.toml").write_text(text)
    code, _, errors = run(tmp_path / "fleet.toml", "status", password=None)
    assert code == 3 and error in errors and "secret" not in errors


@pytest.mark.parametrize(
    "words",
    [
        ["tuning"],
        ["tuning", "set", "stock"],
        ["tuning", "set", ""],
        ["tuning", "diff", ""],
        ["tuning", "diff", "@"],
        ["tuning", "diff", "[]"],
        ["--only", "x", "status"],
    ],
)
def test_a_command_that_is_wrong_is_told_apart_from_a_server_that_is(
    words: list[str], pair: Path
) -> None:
    code, output, errors = run(pair, *words)
    assert (code, output) == (3, "") and errors.startswith("perf-fleet: ")
