# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage, sync and index, whatever files are called, wherever they are, whoever writes them."""

import os
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer
from harness.portable import ROOTS, enter

PIXELS = 512 * 512 * 2  # bytes, at the end of each image
HOLD = 0.05  # how long the storage plugin keeps each of its files open, in seconds

BY_CSTORE = {"Idle", "Receive", "Parse", "Prepare", "Respond"}
IN_FILES = BY_CSTORE | {"Storage", "Index"}
SYNCED = IN_FILES | {"Sync"}

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
        parts = [time for name, time in instance["Phases"].items() if name not in {"Idle", "Sync"}]
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


@pytest.mark.parametrize(
    ("writer", "is_synced"),
    [("open", True), ("rename", False), ("fopen", True), ("ofstream", False)],
)
def test_a_storage_plugin_that_names_its_files(
    start_orthanc: StartOrthanc,
    plugin: Path,
    storage_plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
    writer: str,
    is_synced: bool,
) -> None:
    server = start_with_storage(
        start_orthanc, [plugin, storage_plugin], tmp_path, writer, is_synced
    )
    for instance in store(server, make_series):
        phases = instance["Phases"]
        assert set(phases) == (SYNCED if is_synced else IN_FILES)
        # The image, and what stands before its pixels
        assert phases["Storage"] > 2 * HOLD + phases.get("Sync", 0)


def test_what_another_thread_writes_is_not_told_from_the_database(
    start_orthanc: StartOrthanc,
    plugin: Path,
    storage_plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
) -> None:
    server = start_with_storage(start_orthanc, [plugin, storage_plugin], tmp_path, "thread", False)
    for instance in store(server, make_series):
        assert set(instance["Phases"]) == BY_CSTORE | {"Commit"}
        assert instance["Phases"]["Commit"] > 2 * HOLD


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


def start_with_storage(
    start_orthanc: StartOrthanc, plugins: list[Path], folder: Path, writer: str, is_synced: bool
) -> OrthancServer:
    roots = [folder / "first root", folder / "second root"]
    for root in roots:
        root.mkdir()
    section = {
        "Roots": [str(root) for root in roots],
        "Writer": writer,
        "Sync": is_synced,
        "Hold": int(1000 * HOLD),
    }
    return start_orthanc(plugins=plugins, options={"StoragePlugin": section})
