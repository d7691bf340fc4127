# SPDX-License-Identifier: GPL-3.0-or-later
"""The power is cut: what was acknowledged is on the disk, as far as Orthanc keeps that promise.

With "SyncStorageArea", which is Orthanc's default, each file is synced before its instance is
acknowledged. Orthanc's index in SQLite is not: what the last seconds brought is then on the disk,
but no longer listed, without the plugin too.
"""

import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydicom import dcmread
from pydicom.errors import InvalidDicomError

from conftest import AddRow, StartOrthanc
from harness import forgetful_disk, strace
from harness.acknowledged import AcknowledgedLoad, StoreCheck
from harness.forgetful_disk import ForgetfulDisk
from harness.numbered import (
    NumberedImages,
    find_number,
    identify_numbered,
    make_pixels,
    name_instance,
)
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.reliability import Row
from harness.strace import Trace, find_failure
from harness.transcoding import TARGETS, decode, list_engines, read, transcode

CUTS = int(os.environ.get("PERF_KILLS", "1"))
IS_LONG = CUTS > 1

TRACED = 12  # instances
READABLE = {"HttpCompressionEnabled": False}  # answers, in a trace

# By turns, each with a row of its own, and an engine where the tuning has one
ENGINES = {
    "transcoding by dcmtk": "dcmtk",
    "without the plugin": None,
    "transcoding by native": "native",
    "transcoding by gdcm": "gdcm",
    "with the plugin": "",
}

EARLY_CUT, LATE_CUT = 0.7, 20

# Seconds: Orthanc writes its SQLite back every ten (ServerIndex::FlushThread), and takes a moment
WRITTEN_BACK = 14

LONG = pytest.mark.skipif(not IS_LONG, reason="takes some 30 s each time: run-tests.sh --long")
TRACING = pytest.mark.skipif(strace.find_obstacle() is not None, reason=str(strace.find_obstacle()))
FORGETTING = pytest.mark.skipif(
    forgetful_disk.find_obstacle() is not None, reason=str(forgetful_disk.find_obstacle())
)


def read_files(folder: Path) -> dict[int, Path]:
    """The instances in Orthanc's files, by their numbers; each has the right pixels."""
    files = {}
    for path in folder.rglob("????????-????-????-????-????????????"):
        try:
            number = find_number(dcmread(path, stop_before_pixels=True).SOPInstanceUID)
        except InvalidDicomError:  # an attachment of another kind, or a file that is not whole
            continue
        assert (decode(read(path)) == make_pixels(number)).all(), f"{number} has other pixels"
        files[number] = path
    return files


@TRACING
@pytest.mark.parametrize("engine", [*TARGETS, ""] if IS_LONG else ["dcmtk"])
def test_a_file_is_synced_before_its_instance_is_acknowledged(
    start_orthanc: StartOrthanc, tmp_path: Path, reliability: AddRow, engine: str
) -> None:
    row = reliability(
        "the power, as strace sees it" + (f", transcoding by {engine}" if engine else ""),
        "an instance's file is written and synced before the instance is acknowledged, by "
        "C-STORE, HTTP and STOW-RS; each instance is one attempt",
    )
    trace = Trace(tmp_path / "trace")
    server = start_orthanc(launcher=trace.launcher, options=READABLE)
    transcode(server, engine)
    for failure in look_for_failures(server, trace):
        with row.attempt():
            assert failure is None, failure


@TRACING
def test_a_file_that_is_not_synced_is_found(start_orthanc: StartOrthanc, tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    options = READABLE | {"SyncStorageArea": False}
    server = start_orthanc(launcher=trace.launcher, options=options)
    assert set(look_for_failures(server, trace)) == {"it was not synced before the answer"}


def look_for_failures(server: OrthancServer, trace: Trace) -> list[str | None]:
    """One for each instance that was acknowledged; ends the server."""
    images = NumberedImages()
    acknowledged = {}
    for way in AcknowledgedLoad.WAYS:
        with AcknowledgedLoad(server, images, [way]) as load:
            load.wait_for(TRACED)
        acknowledged[way] = load.acknowledged
    assert server.stop() == 0

    files = read_files(server.storage)
    threads = list(trace.list_threads())
    failures = []
    for way, numbers in acknowledged.items():
        for number in numbers:
            path = str(files[number])
            mark = identify_numbered(number) if way == "upload" else name_instance(number)
            (calls,) = [calls for calls in threads if any(call.target == path for call in calls)]
            failures.append(find_failure(calls, path, mark))
    return failures


@contextmanager
def make_disk() -> Iterator[ForgetfulDisk]:
    """In a folder that other users may enter, too, as PostgreSQL's."""
    with tempfile.TemporaryDirectory(prefix="orthanc-perf-disk-") as folder:
        Path(folder).chmod(0o755)
        with ForgetfulDisk(Path(folder)) as disk:
            yield disk


@FORGETTING
def test_the_disk_forgets_what_was_not_synced() -> None:
    with make_disk() as disk:
        for name in ("synced", "forgotten"):
            with (disk.point / name).open("wb") as file:
                file.write(b"synced")
                file.flush()
                if name == "synced":
                    os.fdatasync(file.fileno())
                file.write(b", or not")
        (disk.point / "synced").rename(disk.point / "renamed")
        disk.cut_power()
        assert [path.name for path in disk.point.iterdir()] == ["synced"]
        assert (disk.point / "synced").read_bytes() == b"synced"


def list_cuts(
    reliability: AddRow, what: str, seen: str, tuning: str
) -> Iterator[tuple[int, str | None, Row]]:
    """The engines by turns, as often as the power is cut, each with its row."""
    rows = [
        (engine, reliability(f"the power, {what}, {name}", seen + tuning * (engine is not None)))
        for name, engine in ENGINES.items()
    ]
    for number in range(CUTS):
        yield number, *rows[number % len(rows)]


def make_server(
    folder: Path, disk: ForgetfulDisk, plugins: list[Path], options: Json
) -> OrthancServer:
    """Its files, and its SQLite if that is its index, are on the disk."""
    options = {"StorageDirectory": str(disk.point / "storage")} | options
    return OrthancServer(folder, plugins=[*plugins, DICOMWEB_PLUGIN], options=options)


def tune(server: OrthancServer, engine: str | None, number: int) -> list[Json]:
    """The tunings before and after a change that is told from others; none without the plugin."""
    if engine is None:
        return []
    list_engines(server)
    before = server.get_json("/perf/tuning")
    transcoding = {"Engine": engine or "auto", "TransferSyntax": TARGETS.get(engine, "")}
    sockets = {"UserTimeoutSeconds": 1000 + number}
    return [before, server.tune(DicomSockets=sockets, IngestTranscoding=transcoding)]


def cut_power(
    server: OrthancServer,
    disk: ForgetfulDisk,
    images: NumberedImages,
    pause: float,
    postgresql: PostgreSqlServer | None = None,
) -> tuple[AcknowledgedLoad, float]:
    """The senders' account, and when it was; the caller starts Orthanc and PostgreSQL anew."""
    with AcknowledgedLoad(server, images) as load:
        load.wait_for(3)
        time.sleep(pause)
        moment = time.monotonic()
        server.kill()
        if postgresql:
            postgresql.kill()
    disk.cut_power()
    return load, moment


@FORGETTING
@pytest.mark.parametrize("is_same", [False, pytest.param(True, marks=LONG)])
def test_with_the_index_in_postgresql_nothing_is_lost(
    tmp_path: Path, plugin: Path, moments: random.Random, reliability: AddRow, is_same: bool
) -> None:
    """PostgreSQL is on a disk of its own, which keeps its promises, or dies together with Orthanc,
    and both find what the disk has kept."""
    what = "PostgreSQL on the same disk" if is_same else "index in PostgreSQL"
    seen = "PostgreSQL recovers by itself; " * is_same
    seen += "all that was acknowledged is stored with its pixels, all that is served is whole"
    images, store = NumberedImages(), StoreCheck()
    with make_disk() as disk, PostgreSqlServer(disk=disk.point if is_same else None) as postgresql:
        for number, engine, row in list_cuts(reliability, what, seen, "; so is the tuning"):
            plugins = [POSTGRESQL_PLUGIN, *[plugin] * (engine is not None)]
            server = make_server(tmp_path, disk, plugins, postgresql.get_options())
            with row.attempt(), server:
                tunings = tune(server, engine, number)
                pause, victim = moments.uniform(0, EARLY_CUT), postgresql if is_same else None
                load, _ = cut_power(server, disk, images, pause, victim)
                if is_same:
                    postgresql.start()
                    recoveries = postgresql.log.count("system was not properly shut down")
                    assert recoveries == number + 1
                server.start()
                store.check(server, load.acknowledged)
                assert not tunings or server.get_json("/perf/tuning") == tunings[-1]
                row.count("instances acknowledged", len(load.acknowledged))


@FORGETTING
@LONG
def test_with_the_index_in_sqlite_files_are_kept_and_the_last_seconds_not_listed(
    tmp_path: Path, plugin: Path, moments: random.Random, reliability: AddRow
) -> None:
    """Without the plugin as well: Orthanc has SQLite sync every ten seconds only."""
    seen = "the files of all that was acknowledged are on the disk with their pixels; what was "
    seen += f"acknowledged {WRITTEN_BACK} s before is stored, all that is served is whole"
    tuning = "; the tuning is the latest or the one before"
    images = NumberedImages()
    for number, engine, row in list_cuts(reliability, "index in SQLite", seen, tuning):
        with make_disk() as disk:
            server = make_server(tmp_path, disk, [plugin] * (engine is not None), {})
            with row.attempt(), server:
                tunings = tune(server, engine, number)
                load, moment = cut_power(server, disk, images, moments.uniform(0, LATE_CUT))
                assert set(load.acknowledged) <= set(read_files(disk.kept))
                server.start()
                assert not tunings or server.get_json("/perf/tuning") in tunings
                old = [at for at in load.acknowledged if load.times[at] < moment - WRITTEN_BACK]
                store = StoreCheck()
                store.check(server, old)
                listed = store.list_numbers()
                row.count("instances acknowledged", len(load.acknowledged))
                row.count("on the disk but not listed", len(set(load.acknowledged) - listed))
