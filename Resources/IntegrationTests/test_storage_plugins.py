# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage, sync and index, whatever files are called, wherever they are, whoever writes them.

And where there are no files but objects of a server: what the thread waits for it.
"""

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice, clients
from harness.certificates import Certificate
from harness.delay import DelayingProxy
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer
from harness.portable import ROOTS, enter
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.proxy import serve_objects

PIXELS = 512 * 512 * 2  # bytes, at the end of each image
HOLD = 0.05  # how long the storage plugin keeps each of its files open, in seconds

BY_CSTORE = {"Idle", "Receive", "Parse", "Prepare", "Respond"}
IN_FILES = BY_CSTORE | {"Storage", "Index"}
SYNCED = IN_FILES | {"Sync"}

APART = {"Idle", "Sync", "Remote", "Database"}

EXPLAINED = 0.85

Instance = dict[str, Any]


def store(server: OrthancServer, make_series: MakeSeries) -> list[Instance]:
    """Three images by C-STORE: what became of them. They can be read again."""
    images = make_series("storage", 3)
    clients.store(server, images)
    scrape_when_counted(server, len(images))
    for image in images:
        stored = server.get_file(server.find_instance(image.sop_instance_uid))
        assert stored[-PIXELS:] == image.read_bytes()[-PIXELS:]
    instances = server.get_json("/perf/instances")
    assert len(instances) == len(images)
    for instance in instances:
        parts = [time for name, time in instance["Phases"].items() if name not in APART]
        assert sum(parts) == pytest.approx(instance["Duration"], abs=1e-6)
    return instances


@pytest.mark.parametrize(("is_synced", "is_compressed"), [(True, False), (False, True)])
def test_orthancs_own_storage(
    start_orthanc: StartOrthanc, make_series: MakeSeries, is_synced: bool, is_compressed: bool
) -> None:
    options = {"SyncStorageArea": is_synced, "StorageCompression": is_compressed}
    for instance in store(start_orthanc(options=options), make_series):
        phases = instance["Phases"]
        assert set(phases) == (SYNCED if is_synced else IN_FILES)
        assert phases.get("Sync", 0) < phases["Storage"]


# What another thread writes is not told from the database
@pytest.mark.parametrize(
    ("keys", "phase", "expected"),
    [
        ({"Sync": True}, "Storage", SYNCED),
        ({}, "Storage", IN_FILES),
        ({"Thread": True}, "Commit", BY_CSTORE | {"Commit"}),
    ],
)
def test_a_storage_plugin_that_names_its_files(
    start_orthanc: StartOrthanc,
    plugin: Path,
    storage_plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
    keys: dict[str, bool],
    phase: str,
    expected: set[str],
) -> None:
    roots = [tmp_path / "first root", tmp_path / "second root"]
    for root in roots:
        root.mkdir()
    section = {"Roots": [*map(str, roots)], "Hold": int(1000 * HOLD), **keys}
    options = {"StoragePlugin": section}
    server = start_orthanc(plugins=[plugin, storage_plugin], options=options)
    for instance in store(server, make_series):
        phases = instance["Phases"]
        assert set(phases) == expected
        assert phases[phase] > 2 * HOLD + phases.get("Sync", 0)


@pytest.mark.parametrize("is_synced", [True, False], ids=["synced", "not synced"])
def test_advanced_storage(
    start_orthanc: StartOrthanc,
    plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
    is_synced: bool,
) -> None:
    """In the last of PERF_ROOTS (test_portable.py): this machine's Orthanc is too old."""
    library = os.environ.get("PERF_ADVANCED_STORAGE")
    if not library:
        pytest.skip("PERF_ADVANCED_STORAGE is to name its library, for Orthanc 1.12.8 or newer")
    for number, source in enumerate([plugin, library]):
        shutil.copy(source, tmp_path / f"lib{number}.so")  # seen in the root as well
    section = {
        "Enable": True,
        "NamingScheme": "{PatientID}/{split(StudyDate)}/{UUID}{.ext}",
        "MultipleStorages": {
            "Storages": {name: str(tmp_path / name) for name in ("full", "new")},
            "CurrentWriteStorage": "new",
        },
    }
    server = start_orthanc(
        plugins=[tmp_path / "lib0.so", tmp_path / "lib1.so"],
        launcher=enter(platform.machine(), ROOTS[-1], tmp_path),
        options={"AdvancedStorage": section, "SyncStorageArea": is_synced},
    )
    for instance in store(server, make_series):
        assert set(instance["Phases"]) == (SYNCED if is_synced else IN_FILES)
    assert len(list((tmp_path / "new").rglob("*.dcm"))) == 3


@pytest.fixture
def is_kept() -> bool:
    return True


@pytest.fixture
def distance(tmp_path: Path, certificate: Certificate, is_kept: bool) -> Iterator[DelayingProxy]:
    """The way to a server of objects: HTTPS, or HTTP where no connection is kept."""
    objects, folder = tmp_path / "objects", tmp_path / "nginx"
    with (
        serve_objects(objects, folder, certificate if is_kept else None) as url,
        DelayingProxy(int(url.rpartition(":")[2])) as proxy,
    ):
        yield proxy


@pytest.fixture
def start_with_objects(
    distance: DelayingProxy,
    start_orthanc: StartOrthanc,
    plugin: Path,
    object_plugin: Path,
    certificate: Certificate,
    is_kept: bool,
) -> Callable[..., OrthancServer]:
    """Starts an Orthanc whose storage area is the server of objects; takes more options."""
    section = {
        "Url": f"{'https' if is_kept else 'http'}://127.0.0.1:{distance.port}",
        "Certificates": str(certificate.certificate),
        "Keep": is_kept,
    }
    return lambda *others, **options: start_orthanc(
        plugins=[plugin, object_plugin, *others], options=options | {"ObjectStorage": section}
    )


@pytest.mark.parametrize("is_kept", [True, False], ids=["https, kept", "http, new connections"])
def test_a_storage_area_that_is_a_server(
    distance: DelayingProxy,
    start_with_objects: Callable[..., OrthancServer],
    postgresql: PostgreSqlServer,
    make_series: MakeSeries,
    tmp_path: Path,
    is_kept: bool,
) -> None:
    """With PostgreSQL and SQLite."""
    others, options = [], {}
    wanted = BY_CSTORE | {"Storage", "Remote", "Index"}
    if is_kept:
        postgresql.query("DROP DATABASE IF EXISTS objects")
        postgresql.create_database("objects")
        options = postgresql.get_options("objects")
        others = [POSTGRESQL_PLUGIN]
        wanted |= {"Database"}

    server = start_with_objects(*others, **options)
    instances = store(server, make_series)
    assert len(list((tmp_path / "objects").iterdir())) == 2 * len(instances)
    for instance in instances:
        phases = instance["Phases"]
        assert set(phases) == wanted
        assert 0 < phases["Remote"] < phases["Storage"]
        assert instance["Remote"]["Server"] == f"127.0.0.1:{distance.port}"
        assert instance["Remote"]["RoundTrips"] >= 2  # two objects
        if is_kept:
            assert 0 < phases["Database"] < phases["Index"]
            assert instance["Database"]["Server"] == f"127.0.0.1:{postgresql.port}"
        else:
            assert "Database" not in instance

    round_trips = sum(instance["Remote"]["RoundTrips"] for instance in instances)
    metrics = scrape_when_counted(server, len(instances))
    assert metrics.sum("orthanc_perf_ingest_remote_round_trips_total") == round_trips
    (peer,) = server.get_json("/perf/peers")
    assert peer["Receive"]["RemoteRoundTrips"] == round_trips
    assert "Remote" not in peer["Receive"]["PhaseShares"]


@pytest.mark.pair
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "new connections"])
def test_remote_explains_what_a_distant_storage_costs(
    distance: DelayingProxy,
    start_with_objects: Callable[..., OrthancServer],
    make_series: MakeSeries,
    is_kept: bool,
) -> None:
    images = make_series("storage", 10)
    server = start_with_objects()
    count = 0

    def measure(round_trip: float) -> tuple[float, float]:
        """The medians of an instance's duration, and of its part in waiting for the server."""
        nonlocal count
        distance.round_trip = 0
        server.delete_all()
        distance.round_trip = round_trip
        clients.store(server, images)
        distance.round_trip = 0
        count += len(images)
        scrape_when_counted(server, count)
        instances = server.get_json(f"/perf/instances?limit={len(images)}")
        return (
            median(instance["Duration"] for instance in instances),
            median(instance["Phases"]["Remote"] for instance in instances),
        )

    def explain() -> float:
        """Of what an instance loses by the distance, the part that "remote" explains."""
        near, far = measure(0), measure(0.02)
        print(f"from {near} to {far}")
        return (far[1] - near[1]) / (far[0] - near[0])

    assert any(EXPLAINED < explain() < 1 / EXPLAINED for _ in range(advice.ATTEMPTS))
    if not is_kept:  # once is enough: it asks for some seconds of traffic
        return
    finding = advice.find_under_load(server, "slow-storage", lambda: measure(0.02))
    assert finding["Evidence"]["MeanRemote"] > 0.04  # two objects
