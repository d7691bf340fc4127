# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard in Chromium: each test brings about what WebApp/tests/browser/ looks at."""

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients, wire
from harness.images import Image
from harness.load import meanwhile
from harness.orthanc import OrthancServer, find_free_port, read_access
from harness.process import WITH_LIMITED_FILES, limit_files
from harness.proxy import serve_below
from harness.tuning import tune_sockets

WEB_APP = ROOT / "WebApp"
VITEST = WEB_APP / "node_modules" / ".bin" / "vitest"

# What AE titles of 16 characters can do, if anyone takes them for HTML, JavaScript or JSON
HOSTILE_TITLES = [
    "<img src=x>",
    "<b class=evil>",
    "'\"><script>",
    "{{1+1}}${1}",
    '",null]}',
    "%00&lt;",
]

MANY_PEERS = 200

# One file of tests in the browser takes 10 to 40 s on a quiet machine
LOOK_SECONDS = 900


def look(url: str, test: str, **environment: str) -> None:
    """Runs one file of tests in the browser; what it says comes with a failure, also with that to
    end in time. What it says goes to a file: of a pipe, a browser that stays could keep the end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [VITEST, "run", f"tests/browser/{test}.test.ts"],
            cwd=WEB_APP,
            env={**os.environ, "PERF_URL": url, "NO_COLOR": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            end = f"ended with {process.wait(LOOK_SECONDS)}"
        except subprocess.TimeoutExpired:
            end = f"did not end within {LOOK_SECONDS} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        assert end == "ended with 0", f"{end}:\n{said.read()}"


def keep_storing(
    server: OrthancServer, images: Sequence[Image], title: str
) -> AbstractContextManager[None]:
    def store(is_over: threading.Event) -> None:
        while not is_over.is_set():
            clients.store(server, images, title=title)

    return meanwhile(store)


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("store", 20)


def test_the_page_during_a_transfer(orthanc: OrthancServer, images: list[Image]) -> None:
    with keep_storing(orthanc, images, "CT_ROOM_1"):
        look(orthanc.url, "transfer")


def test_every_control_of_the_tuning(orthanc: OrthancServer, images: list[Image]) -> None:
    with keep_storing(orthanc, images, "CT_ROOM_1"):
        look(orthanc.url, "tuning")


def test_tuning_that_is_forbidden(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(perf={"AllowTuning": False})
    look(orthanc.url, "forbidden", PERF_REASON="AllowTuning")


def test_tuning_that_a_filter_refuses_to_a_user(start_orthanc: StartOrthanc) -> None:
    users = {"alice": "a secret", "viewer": "v"}
    options = {"AuthenticationEnabled": True, "RegisteredUsers": users}
    alice = ("alice", users["alice"])
    orthanc = start_orthanc(lua=[read_access()], options=options, credentials=alice)
    user = {"PERF_USER": "viewer", "PERF_PASSWORD": users["viewer"]}
    look(orthanc.url, "forbidden", PERF_REASON="HTTP 403", **user)
    assert orthanc.get_json("/perf/history")["TuningChanges"] == []


def test_a_change_that_could_not_be_saved(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(launcher=WITH_LIMITED_FILES)
    with limit_files(orthanc.pid, 0):
        tune_sockets(orthanc, KeepAliveSeconds=71)
    look(orthanc.url, "unsaved")


def test_names_that_are_html_or_nonsense(orthanc: OrthancServer, images: list[Image]) -> None:
    for title in HOSTILE_TITLES:
        clients.store(orthanc, images[:2], title=title)
    send_nonsense(orthanc)
    look(orthanc.url, "hostile", PERF_TITLES=json.dumps(HOSTILE_TITLES))


def test_what_is_read_and_what_cannot_be_sent(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    nobody = {"AET": "NOBODY", "Host": "127.0.0.1", "Port": find_free_port()}
    orthanc = start_orthanc(options={"DicomModalities": {"nobody": nobody}})
    clients.upload(orthanc, [image.read_bytes() for image in images[:3]])
    for product, path in [("viewer", "frames/0/raw"), ("backup", "file")]:
        for instance in orthanc.get_json("/instances"):
            agent = {"User-Agent": product, "Connection": "close"}  # or the last would not be told
            assert orthanc.get(f"/instances/{instance}/{path}", headers=agent).ok
    assert not orthanc.request("POST", "/modalities/nobody/echo", json={}).ok
    look(orthanc.url, "served")


def test_many_peers(orthanc: OrthancServer) -> None:
    content = wire.make_small_data_set("1.2.3.4.5")
    for number in range(MANY_PEERS):
        title = f"MODALITY_{number:03}".encode()
        association = wire.associate(orthanc, title, wire.CT_IMAGE_STORAGE)
        assert wire.store(association, "1.2.3.4.5", content) == 0
        wire.release(association)
    look(orthanc.url, "many", PERF_PEERS=str(MANY_PEERS))


def test_a_server_that_does_not_answer(orthanc: OrthancServer) -> None:
    look(orthanc.url, "silent", PERF_PID=str(orthanc.pid))


def test_a_clock_that_is_set_back(orthanc: OrthancServer) -> None:
    look(orthanc.url, "clock")


def send_nonsense(server: OrthancServer) -> None:
    html = b"<script>alert(1)</script>" * 2600
    request = wire.make_associate_request(b"<i>NONSENSE</i>", implementation=html[:65000])
    for content in [html, bytes(range(256)) * 256, request]:
        # Orthanc may well hang up before it has all
        with suppress(OSError), wire.connect(server.dicom_port) as connection:
            connection.sendall(content)
            connection.recv(1)


def test_behind_a_proxy_with_a_prefix_and_a_password(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    orthanc = start_orthanc(
        options={"AuthenticationEnabled": True, "RegisteredUsers": {"viewer": "a secret"}},
        credentials=("viewer", "a secret"),
    )
    clients.store(orthanc, images, title="CT_ROOM_1")
    with serve_below(orthanc, "/pacs/orthanc", orthanc.folder / "proxy") as url:
        look(url, "proxy", PERF_USER="viewer", PERF_PASSWORD="a secret")


def test_a_comparison_of_engines(orthanc: OrthancServer, images: list[Image]) -> None:
    clients.store(orthanc, images[:5])
    look(orthanc.url, "comparison")


@pytest.mark.pair
def test_a_finding_is_applied(orthanc: OrthancServer, images: list[Image]) -> None:
    tune_sockets(orthanc, Preset="stock")
    with keep_storing(orthanc, images, "CT_ROOM_1"):
        look(orthanc.url, "findings")
