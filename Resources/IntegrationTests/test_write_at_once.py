# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage.WriteAtOnce: fewer writes, the same files, the same answers."""

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import AddRow, MakeSeries, StartOrthanc
from harness import strace
from harness.acknowledged import AcknowledgedLoad, StoreCheck
from harness.clients import make_multipart, store, store_over_web, upload
from harness.faults import FullDisk
from harness.images import Image, list_pydicom_files, write_multi_frame
from harness.numbered import NumberedImages
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer
from harness.strace import Trace
from harness.transcoding import change, renew

KILLS = int(os.environ.get("PERF_KILLS", "1"))
LATEST_KILL = 0.7  # seconds after the first instances are acknowledged

AT_ONCE = {"Tuning": {"Storage": {"WriteAtOnce": True}}}

PIECE = 4096  # of Orthanc's stream


def set_at_once(server: OrthancServer, value: Json) -> None:
    assert server.tune(Storage={"WriteAtOnce": value})["Storage"] == {"WriteAtOnce": value}


def list_files(server: OrthancServer) -> list[Path]:
    return list(server.storage.rglob("????????-????-????-????-????????????"))


def verify(server: OrthancServer, count: int) -> None:
    """Each file is what Orthanc was about to write, by the MD5 that it took in memory."""
    instances = server.get_json("/instances")
    assert len(instances) == count
    for instance in instances:
        for kind in server.get_json(f"/instances/{instance}/attachments"):
            url = f"/instances/{instance}/attachments/{kind}/verify-md5"
            assert server.request("POST", url).json() == {}, (instance, kind)


@pytest.fixture(scope="module")
def contents(make_series: MakeSeries, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Of all sizes, the largest beyond what is held back."""
    large = write_multi_frame(tmp_path_factory.mktemp("large") / "large.dcm", "at-once", 40)
    contents = [image.read_bytes() for image in make_series("at-once", 20)] + [large.read_bytes()]
    for path in list_pydicom_files():
        try:
            contents.append(change(path, renew))
        except Exception:
            continue
    return contents


@pytest.mark.parametrize(
    "options",
    [{}, {"StorageCompression": True}, {"SyncStorageArea": False}, {"StorageDirectory": "here"}],
    ids=["plain", "compressed", "not synced", "relative"],
)
def test_each_file_is_stored_byte_for_byte(
    start_orthanc: StartOrthanc, contents: list[bytes], options: dict[str, Any]
) -> None:
    orthanc = start_orthanc(perf=AT_ONCE, options=options)
    stored = {}
    for content, (status, body) in zip(contents, upload(orthanc, contents, 4), strict=True):
        if status == 200 and json.loads(body)["Status"] == "Success":
            stored[json.loads(body)["ID"]] = content
    assert len(stored) > len(contents) * 0.8
    assert set(orthanc.get_json("/instances")) == set(stored)
    assert all(orthanc.get_file(instance) == content for instance, content in stored.items())
    verify(orthanc, len(stored))


def test_it_is_switched_while_images_arrive(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc()
    check = StoreCheck()
    with AcknowledgedLoad(orthanc, NumberedImages()) as load:
        for number in range(60):
            set_at_once(orthanc, number % 2 == 0)
            time.sleep(0.02)
        load.wait_for(10)
    check.check(orthanc, load.acknowledged)
    verify(orthanc, len(orthanc.get_json("/instances")))


@pytest.mark.skipif(strace.find_obstacle() is not None, reason=str(strace.find_obstacle()))
def test_a_file_is_two_writes_and_is_synced(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    """All but what is less than a piece, and that."""
    trace = Trace(tmp_path / "trace")
    orthanc = start_orthanc(launcher=trace.launcher)
    images = make_series("at-once", 24)
    written = {}
    for is_at_once, some in ((False, images[:12]), (True, images[12:])):
        set_at_once(orthanc, is_at_once)
        upload(orthanc, [image.read_bytes() for image in some[:4]])
        store_over_web(orthanc, some[4:8])
        store(orthanc, some[8:])
        written[is_at_once] = list_files(orthanc)
        orthanc.delete_all()
    assert orthanc.stop() == 0
    threads = list(trace.list_threads())
    for is_at_once, files in written.items():
        assert len(files) == 12
        for file in files:
            calls = [call for thread in threads for call in thread if call.target == str(file)]
            assert calls[-1].is_sync()
            assert (sum(call.is_write() for call in calls) == 2) == is_at_once


def ask(server: OrthancServer, image: Image) -> dict[str, Any]:
    """What is answered to each way of storing on a full disk."""
    ((status, body),) = upload(server, [image.read_bytes()])
    assert status == 500
    command = ["storescu", "-v", "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port), image.path]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    multipart, headers = make_multipart([image.read_bytes()])
    web = server.request("POST", "/dicom-web/studies", data=multipart, headers=headers)
    return {
        "REST": (status, json.loads(body)),
        "C-STORE": [line for line in said.stderr.splitlines() if "Response" in line],
        "STOW-RS": (web.status_code, web.text),
    }


@pytest.mark.skipif(FullDisk.obstacle is not None, reason=str(FullDisk.obstacle))
@pytest.mark.parametrize("is_synced", [True, False], ids=["synced", "not synced"])
@pytest.mark.parametrize("is_full", [True, False], ids=["full", "no room for the last piece"])
def test_a_full_disk_is_answered_as_ever_and_always_seen(
    tmp_path: Path, plugin: Path, make_series: MakeSeries, is_synced: bool, is_full: bool
) -> None:
    """Orthanc's stream keeps an error with the last piece to itself: without the key, half an image
    is stored then."""
    (image, *_) = make_series("at-once", 24)
    left = image.get_size() // PIECE * PIECE
    assert left < image.get_size()
    fault = FullDisk(left=0 if is_full else left)
    with fault.prepare(tmp_path):
        options = fault.options | {"SyncStorageArea": is_synced}
        plugins = [plugin, DICOMWEB_PLUGIN]
        with OrthancServer(tmp_path, plugins=plugins, options=options) as server:
            answers = []
            for is_at_once in (False, True):
                set_at_once(server, is_at_once)
                with fault.strike(server):
                    if is_full:
                        answers.append(ask(server, image))
                        assert server.get_json("/instances") == []
                    else:
                        answers.append(upload(server, [image.read_bytes()])[0][0])
                server.delete_all()
                for file in Path(fault.options["StorageDirectory"]).rglob("*-*-*-*-*"):
                    file.unlink()
            print(f"without and with WriteAtOnce: {answers}")
            if is_full:
                assert answers[0] == answers[1]
                assert answers[1]["C-STORE"]
            else:
                assert answers[1] == 500
            assert upload(server, [image.read_bytes()])[0][0] == 200
            verify(server, 1)


@pytest.mark.skipif(FullDisk.obstacle is not None, reason=str(FullDisk.obstacle))
@pytest.mark.skipif(strace.find_obstacle() is not None, reason=str(strace.find_obstacle()))
def test_on_a_full_disk_each_descriptor_is_closed_once(
    tmp_path: Path, plugin: Path, make_series: MakeSeries
) -> None:
    """Boost.Iostreams before 1.80 closes again what could not be closed. That number may be another
    client's by then."""
    (image, *_) = make_series("at-once", 24)
    trace = tmp_path / "closes"
    launcher = ["strace", "--daemonize", "--follow-forks", "--trace=close", "--status=failed"]
    fault = FullDisk()
    with (
        fault.prepare(tmp_path),
        OrthancServer(
            tmp_path,
            plugins=[plugin],
            options=fault.options,
            perf=AT_ONCE,
            launcher=[*launcher, f"--output={trace}"],
        ) as server,
    ):
        upload(server, [image.read_bytes()])
        server.delete_all()
        before = trace.read_text("ascii").count("EBADF")
        with fault.strike(server):
            answers = upload(server, [image.read_bytes()] * 20, 4)
        assert {status for status, _ in answers} == {500}
        assert trace.read_text("ascii").count("EBADF") == before


def test_what_was_acknowledged_outlives_a_kill(
    start_orthanc: StartOrthanc, moments: random.Random, reliability: AddRow
) -> None:
    row = reliability(
        "Orthanc killed, files written at once",
        "all that was acknowledged is stored with its pixels, all that is served is whole",
    )
    server = start_orthanc(perf=AT_ONCE, options={"DicomScpTimeout": 5, "SyncStorageArea": True})
    images, check = NumberedImages(), StoreCheck()
    for _ in range(KILLS):
        with row.attempt():
            with AcknowledgedLoad(server, images) as load:
                load.wait_for(3)
                time.sleep(moments.uniform(0, LATEST_KILL))
                server.kill()
            server.start()
            check.check(server, load.acknowledged)
            verify(server, len(server.get_json("/instances")))
            row.count("instances acknowledged", len(load.acknowledged))
