# SPDX-License-Identifier: GPL-3.0-or-later
"""GET /perf/health: what a load balancer has to know of a server while something breaks."""

import json
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from conftest import MakeSeries, StartOrthanc
from harness.clients import store, upload
from harness.faults import (
    Fault,
    FullDisk,
    HangingDatabase,
    HangingFolder,
    LostDatabase,
    LostFolder,
    ReadOnlyDisk,
    UnmountedFolder,
)
from harness.metrics import wait_until
from harness.orthanc import ORTHANC, Json, OrthancServer, find_free_port
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer

PATIENCE = 120.0  # seconds, of a test on a machine that is busy with other things

NOBODY = 65534  # Debian's

LONGEST = 15  # seconds, after which silence is a problem

# Orthanc's plugin reads the sum of all sizes (key 0) for /statistics alone
SLOW_STATISTICS = """
ALTER TABLE GlobalIntegers RENAME TO Integers;
CREATE VIEW GlobalIntegers AS SELECT * FROM Integers WHERE key <> 0 OR pg_sleep(25) IS NOT NULL
"""
SLEEPING = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

# What one look may take, however long database and disk do
ANSWER_SECONDS = 30


def look(server: OrthancServer) -> tuple[int, Json]:
    answer = server.get("/perf/health")
    assert answer.elapsed.total_seconds() < ANSWER_SECONDS
    return answer.status_code, answer.json()


def is_well(server: OrthancServer) -> bool:
    status, answer = look(server)
    assert status == (200 if answer["Healthy"] else 503)
    assert answer["Healthy"] == (answer["Problems"] == {})
    return status == 200


def wait_for_problem(server: OrthancServer, part: str) -> str:
    assert wait_until(lambda: part in look(server)[1]["Problems"], PATIENCE)
    return str(look(server)[1]["Problems"].get(part, ""))


@pytest.mark.parametrize(
    ("fault", "part", "reasons"),
    [
        (FullDisk(), "Storage", {"No space left on device"}),
        (FullDisk(left=8 << 20), "Storage", {"No space left on device"}),
        (ReadOnlyDisk(), "Storage", {"Read-only file system"}),
        (HangingFolder(), "Storage", {"no answer"}),
        (LostFolder(), "Storage", {"Transport endpoint", "not connected"}),
        (FullDisk(storage=False, index=True), "Index", {"No space left on device"}),
        (LostDatabase(), "Database", {"no answer", "error code"}),
        (HangingDatabase(), "Database", {"no answer"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Fault) else "",
)
def test_it_says_what_is_broken_and_when_it_is_well_again(
    start_orthanc: StartOrthanc,
    plugin: Path,
    tmp_path: Path,
    make_series: MakeSeries,
    fault: Fault,
    part: str,
    reasons: set[str],
) -> None:
    if fault.obstacle:
        pytest.skip(fault.obstacle)
    images = make_series("health", 2)
    with fault.prepare(tmp_path):
        server = start_orthanc(plugins=[plugin, *fault.plugins], options=fault.options)
        assert wait_until(lambda: is_well(server), PATIENCE)
        store(server, images[:1])
        assert is_well(server)
        with fault.strike(server):
            said = wait_for_problem(server, part)
            assert any(reason in said for reason in reasons), said
            # As many checks as a load balancer has in five minutes, and no thread is missing
            with ThreadPoolExecutor(10) as pool:
                for found in pool.map(lambda _: look(server), range(150)):
                    assert list(found[1]["Problems"]) == [part]
            for route in ("status", "metrics", "advice", "instances", "instances?direction=Send"):
                assert server.get(f"/perf/{route}").status_code == 200
        assert wait_until(lambda: is_well(server), PATIENCE)
        ((status, _),) = upload(server, [images[1].read_bytes()])
        assert status == 200
        server.stop()


@pytest.mark.skipif(bool(LostDatabase.obstacle), reason=str(LostDatabase.obstacle))
def test_it_does_not_queue_behind_the_statistics(start_orthanc: StartOrthanc, plugin: Path) -> None:
    """Which the plugin asks for once a minute, and which take long where there is much."""
    with PostgreSqlServer() as database:
        options = database.get_options(connections=4)
        server = start_orthanc(plugins=[plugin, POSTGRESQL_PLUGIN], options=options)
        assert wait_until(lambda: is_well(server), PATIENCE)
        database.query(SLOW_STATISTICS)
        assert wait_until(lambda: database.query(SLEEPING) != [["0"]], PATIENCE)
        for _ in range(LONGEST + 5):
            assert is_well(server), look(server)
            time.sleep(1)
        assert wait_until(lambda: database.query(SLEEPING) == [["0"]], PATIENCE)
        server.stop()


@pytest.mark.parametrize(
    ("section", "is_for_index"),
    [
        ({"EnableIndex": True, "Lock": False}, True),
        ({"EnableIndx": True, "EnableStorage": False, "Lock": False}, True),
        ({"EnableIndex": False, "Lock": False}, False),
        ({"EnableStorage": True, "Lock": False}, False),
        ({"Host": "127.0.0.1"}, False),
    ],
)
def test_who_has_fallen_back_to_sqlite_is_out(
    start_orthanc: StartOrthanc, section: Json, is_for_index: bool
) -> None:
    """A misspelt option, or a plugin that is not there: no other server would find its images."""
    server = start_orthanc(options={"PostgreSQL": section})
    if is_for_index:
        assert wait_until(lambda: "SQLite" in look(server)[1]["Problems"].get("Database", ""))
        assert not is_well(server)
    else:
        assert wait_until(lambda: is_well(server), PATIENCE)


@pytest.mark.skipif(bool(UnmountedFolder.obstacle), reason=str(UnmountedFolder.obstacle))
@pytest.mark.parametrize("owner", [NOBODY, 0], ids=["another's", "Orthanc's own"])
def test_the_folder_beneath_a_disk_takes_no_image_unless_it_is_orthancs_own(
    owner: int, start_orthanc: StartOrthanc, tmp_path: Path, make_series: MakeSeries
) -> None:
    """Once its disk is unmounted. Where it is Orthanc's own, nobody notices: fleet.md warns."""
    images = make_series("health", 2)
    fault = UnmountedFolder(owner)
    with fault.prepare(tmp_path):
        server = start_orthanc(options=fault.options, launcher=fault.launcher)
        assert wait_until(lambda: is_well(server), PATIENCE)
        store(server, images[:1])
        with fault.strike(server):
            if owner == NOBODY:
                assert wait_for_problem(server, "Storage") == "Permission denied"
            ((status, _),) = upload(server, [images[1].read_bytes()])
            assert (status == 200) == (owner != NOBODY)
            assert bool(fault.list_beneath()) == (owner != NOBODY)
            assert is_well(server) == (owner != NOBODY)
        assert wait_until(lambda: is_well(server), PATIENCE)
        assert server.get_file(server.find_instance(images[0].sop_instance_uid))
        server.stop()


@pytest.mark.parametrize("folder", ["", "images"], ids=["default", "relative"])
def test_it_looks_at_the_disk_that_orthanc_has(plugin: Path, tmp_path: Path, folder: str) -> None:
    """As Debian starts it: with a folder, no slash at its end, from elsewhere."""
    port = find_free_port()
    options = {
        "Plugins": [str(plugin)],
        "HttpPort": port,
        "DicomServerEnabled": False,
        **({"StorageDirectory": folder} if folder else {}),
    }
    configuration = tmp_path / "configuration"
    configuration.mkdir()
    (configuration / "orthanc.json").write_text(json.dumps(options))

    def ask() -> int:
        with suppress(requests.ConnectionError):
            answer = requests.get(f"http://127.0.0.1:{port}/perf/health", timeout=60)
            return answer.status_code
        return 0

    with subprocess.Popen([ORTHANC, configuration], cwd="/", stderr=subprocess.DEVNULL) as process:
        try:
            assert wait_until(lambda: ask() == 200, PATIENCE)
            images = configuration / (folder or "OrthancStorage")
            assert images.is_dir()
            shutil.rmtree(images)
            assert wait_until(lambda: ask() == 503, PATIENCE)
        finally:
            process.terminate()
