# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documents show is what a server answers: each of their commands is run, key by key."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import advice, clients
from harness.documents import (
    Command,
    find_differences,
    find_missing_series,
    read_commands,
    read_shown,
)
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from harness.transcoding import list_engines, tune
from harness.tuning import tune_sockets

# It waits for a finding about stalls, which a busy processor's takes the place of
pytestmark = pytest.mark.pair

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "Resources" / "Documentation").glob("*.md"))]
WITH_COMMANDS = [path for path in DOCUMENTS if any(read_commands(path))]

USER = ("alice", "secret")
IDENTIFIER = r"[0-9a-f]{8}(?:-[0-9a-f]{8}){4}"
JOB = r"/jobs/[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}"
SECONDS = 60


def make_traffic(server: OrthancServer, make_series: MakeSeries) -> None:
    """What documents speak of: images by HTTP and C-STORE, transcoded, failed, stalled, read."""
    images = make_series("upload", 20)
    list_engines(server)  # once they are tested

    for target in ("JPEGProcess14SV1", ""):
        tune(server, TransferSyntax=target)
        server.delete_all()
        for image in images:
            server.upload(image.read_bytes())
    assert server.request("POST", "/instances", data=b"This is not DICOM.").status_code == 400

    tune_sockets(server, TcpNoDelay=False)
    tune_sockets(server, TcpQuickAck=False)
    clients.store(server, make_series("store", 40), title="CT_ROOM_1")
    advice.find(server, "delayed-ack", "CT_ROOM_1")

    for instance in server.get_json("/instances")[:5]:
        path = f"/instances/{instance}/file"
        server.request("GET", path, headers={"User-Agent": "curl/7.88.1"}).raise_for_status()
    assert wait_until(lambda: server.get_json("/perf/requests?class=file")["Latest"])


class Reader:
    """Someone who types the commands of a document, one after the other."""

    def __init__(self, server: OrthancServer) -> None:
        self._server = server
        self._job = ""
        (self._series,) = server.get_json("/series")[:1]

    def run(self, command: Command) -> str:
        text = re.sub(r"^curl", f"curl --silent --user {':'.join(USER)}", command.text)
        text = text.replace("localhost:8042", f"127.0.0.1:{self._server.http_port}")
        text = re.sub(rf'"Resource": "(?:{IDENTIFIER}|…)"', f'"Resource": "{self._series}"', text)
        if re.search(JOB, text):
            text = re.sub(JOB, self._job, text)
            assert wait_until(self._is_job_done, SECONDS)
        finished = subprocess.run(
            ["bash", "-c", text], capture_output=True, text=True, timeout=120, check=True
        )
        if "transcoding/compare" in text:
            self._job = json.loads(finished.stdout)["Path"]
        if text.endswith("/perf/advice"):  # what comes next in the documents is after the remedy
            advice.apply(self._server, advice.find(self._server, "delayed-ack", "CT_ROOM_1"))
            assert advice.goes_away(self._server, "delayed-ack")
        return finished.stdout

    def _is_job_done(self) -> bool:
        return self._server.get_json(self._job)["State"] in ("Success", "Failure")


@pytest.fixture
def reader(start_orthanc: StartOrthanc, make_series: MakeSeries) -> Reader:
    options = {"AuthenticationEnabled": True, "RegisteredUsers": dict([USER])}
    server = start_orthanc(options=options, credentials=USER)
    make_traffic(server, make_series)
    return Reader(server)


def judge(command: Command, answer: str) -> list[str]:
    if not command.shown:
        return []
    if command.shown.lstrip("…\n")[:1] not in "[{":
        return find_missing_series(command.shown, answer)
    return find_differences(read_shown(command.shown), json.loads(answer))


@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda path: path.name)
def test_the_commands_of_a_document_give_the_answers_that_it_shows(
    document: Path, reader: Reader
) -> None:
    wrong = [
        f"{document.name}:{command.line}: {difference}"
        for command in read_commands(document)
        for difference in judge(command, reader.run(command))
    ]
    assert wrong == []


def test_documents_show_answers() -> None:
    shown = [command for path in DOCUMENTS for command in read_commands(path) if command.shown]
    assert len(shown) > 15


@pytest.mark.parametrize(
    ("shown", "real", "differences"),
    [
        ('{"A": 1, "B": "x"}', {"A": 2.5, "B": "x"}, 0),
        ('{"A": 1}', {"A": 1, "B": 2}, 1),
        ('{"A": 1, …}', {"A": 1, "B": 2}, 0),
        ('{"A": 1', {"A": 1, "B": 2}, 0),
        ('{"A": 1, "C": 1, …}', {"A": 1, "B": 2}, 1),
        ('{"A": 1}', {"A": True}, 1),
        ('{"A": null}', {"A": "x"}, 1),
        ('{"A": "44.4 ms, and …"}', {"A": "39 ms, and so on"}, 0),
        ('{"A": "40 ms"}', {"A": "40 s"}, 1),
        ('[{"A": "x"}, …]', [{"A": "y"}, {"A": "x"}], 0),
        ('[{"A": "x"}]', [], 1),
        ("[]", [1], 1),
    ],
)
def test_differences_are_found(shown: str, real: Any, differences: int) -> None:  # noqa: ANN401
    assert len(find_differences(read_shown(shown), real)) == differences
