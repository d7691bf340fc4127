# SPDX-License-Identifier: GPL-3.0-or-later
"""The power is cut: what was acknowledged is on the disk, as far as Orthanc keeps that promise.

With "SyncStorageArea", which is Orthanc's default, each file is synced before its instance is
acknowledged. Orthanc's index in SQLite is not: what the last seconds brought is then on the disk,
but no longer listed, without the plugin too.
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
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
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.reliability import Row
from harness.strace import Trace, find_failure
from harness.transcoding import TARGETS, decode, list_engines, read, transcode

CUTS = int(os.environ.get("PERF_KILLS", "1"))
IS_LONG = CUTS > 1

TRACED = 12  # instances
READABLE = {"HttpCompressionEnabled": False}  # answers, in a trace

DEFAULT_QUALITY = 90

EARLY_CUT, LATE_CUT = 0.7, 20

# It would sync each file that it finds. The disk, mounted anew, has none that is not
FOUND = {"recovery_init_sync_method": "syncfs"}

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
@pytest.mark.parametrize("engine", ["dcmtk", "gdcm", "native", ""] if IS_LONG else ["dcmtk"])
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
    failures = look_for_failures(server, trace)
    for failure in failures:
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


@FORGETTING
def test_the_disk_forgets_what_was_not_synced(public_disk: ForgetfulDisk) -> None:
    disk = public_disk
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


@dataclass(frozen=True)
class Setting:
    name: str
    has_plugin: bool = True
    engine: str = ""

    def list_plugins(self, plugin: Path) -> list[Path]:
        return [plugin, DICOMWEB_PLUGIN] if self.has_plugin else [DICOMWEB_PLUGIN]

    def tune(self, server: OrthancServer, number: int) -> None:
        """The engine, and a setting that tells this change from others."""
        if self.has_plugin:
            list_engines(server)
            transcoding = {
                "Engine": self.engine or "auto",
                "TransferSyntax": TARGETS.get(self.engine, ""),
                "LossyQuality": 1 + number % 80,
            }
            sockets = {"UserTimeoutSeconds": number}
            server.tune(DicomSockets=sockets, IngestTranscoding=transcoding)

    def check_tuning(self, server: OrthancServer, *numbers: int) -> None:
        """One of these is in force, as a whole."""
        if self.has_plugin:
            tuning = server.get_json("/perf/tuning")
            number = tuning["DicomSockets"]["UserTimeoutSeconds"]
            assert number in numbers
            quality = 1 + number % 80 if number else DEFAULT_QUALITY
            assert tuning["IngestTranscoding"]["LossyQuality"] == quality


Cut = tuple[int, Setting, Row]

SETTINGS = [
    Setting("transcoding by dcmtk", engine="dcmtk"),
    Setting("without the plugin", has_plugin=False),
    Setting("transcoding by native", engine="native"),
    Setting("transcoding by gdcm", engine="gdcm"),
    Setting("with the plugin"),
]


def list_cuts(reliability: AddRow, what: str, seen: str, tuning: str) -> Iterator[Cut]:
    """The settings by turns, as often as the power is cut, each with its row."""
    rows = [
        reliability(f"the power, {what}, {setting.name}", seen + tuning * setting.has_plugin)
        for setting in SETTINGS
    ]
    for number in range(CUTS):
        place = number % len(SETTINGS)
        yield 1000 + number, SETTINGS[place], rows[place]


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


@pytest.fixture
def public_disk() -> Iterator[ForgetfulDisk]:
    """In a folder that other users may enter, too, as PostgreSQL's."""
    folder = Path(tempfile.mkdtemp(prefix="orthanc-perf-disk-"))
    folder.chmod(0o755)
    with ForgetfulDisk(folder) as disk:
        yield disk
    shutil.rmtree(folder)


@FORGETTING
@pytest.mark.parametrize("is_same", [False, pytest.param(True, marks=LONG)])
def test_with_the_index_in_postgresql_nothing_is_lost(
    public_disk: ForgetfulDisk,
    tmp_path: Path,
    plugin: Path,
    moments: random.Random,
    reliability: AddRow,
    is_same: bool,
) -> None:
    """PostgreSQL is on a disk of its own, which keeps its promises, or dies together with Orthanc,
    and both find what the disk has kept."""
    what = "PostgreSQL on the same disk" if is_same else "index in PostgreSQL"
    seen = "PostgreSQL recovers by itself; " * is_same
    seen += "all that was acknowledged is stored with its pixels, all that is served is whole"
    images, store = NumberedImages(), StoreCheck()
    of_same = {"settings": FOUND, "disk": public_disk.point} if is_same else {}
    with PostgreSqlServer(**of_same) as postgresql:
        for number, setting, row in list_cuts(reliability, what, seen, "; so is the tuning"):
            server = OrthancServer(
                tmp_path,
                plugins=[POSTGRESQL_PLUGIN, *setting.list_plugins(plugin)],
                options=postgresql.get_options() | find_storage(public_disk),
            )
            with row.attempt(), server:
                setting.tune(server, number)
                pause, victim = moments.uniform(0, EARLY_CUT), postgresql if is_same else None
                load, _ = cut_power(server, public_disk, images, pause, victim)
                if is_same:
                    postgresql.start()
                    recoveries = postgresql.log.count("system was not properly shut down")
                    assert recoveries == number - 999
                server.start()
                store.check(server, load.acknowledged)
                setting.check_tuning(server, number)
                row.count("instances acknowledged", len(load.acknowledged))


@FORGETTING
@LONG
def test_what_postgresql_does_not_sync_is_lost(
    public_disk: ForgetfulDisk, tmp_path: Path, plugin: Path
) -> None:
    postgresql = PostgreSqlServer(settings=FOUND | {"fsync": "off"}, disk=public_disk.point)
    with postgresql:
        options = postgresql.get_options()
        with OrthancServer(
            tmp_path, plugins=[POSTGRESQL_PLUGIN, plugin, DICOMWEB_PLUGIN], options=options
        ) as server:
            load, _ = cut_power(server, public_disk, NumberedImages(), 0, postgresql)
            postgresql.start()
            server.start()
            with pytest.raises(AssertionError, match="acknowledged instances are lost"):
                StoreCheck().check(server, load.acknowledged)


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
    for number, setting, row in list_cuts(reliability, "index in SQLite", seen, tuning):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ForgetfulDisk(folder) as disk:
            server = OrthancServer(
                folder, plugins=setting.list_plugins(plugin), options=find_storage(disk)
            )
            with row.attempt(), server:
                setting.tune(server, number)
                load, moment = cut_power(server, disk, images, moments.uniform(0, LATE_CUT))
                assert set(load.acknowledged) <= set(read_files(disk.kept))
                server.start()
                setting.check_tuning(server, number, 0)
                old = [at for at in load.acknowledged if load.times[at] < moment - WRITTEN_BACK]
                store = StoreCheck()
                store.check(server, old)
                listed = store.list_numbers()
                row.count("instances acknowledged", len(load.acknowledged))
                row.count("on the disk but not listed", len(set(load.acknowledged) - listed))
        shutil.rmtree(folder)


def find_storage(disk: ForgetfulDisk) -> dict[str, str]:
    """Orthanc's files, and its SQLite if that is its index, are on the disk."""
    return {"StorageDirectory": str(disk.point / "storage")}
