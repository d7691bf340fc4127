# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about the server: disks, database and options, each cause made for real."""

import contextlib
import os
import re
import shlex
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from pydicom import dcmread
from pydicom.uid import generate_uid

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store, upload
from harness.images import Image
from harness.lookup_index import MAKE_LOOKUP_INDEX, fill_index, make_lookup_index, read_indexes
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.slow_disk import (
    find_mount_obstacle,
    find_throttle_obstacle,
    mount_synchronously,
    throttle_writes,
)

COUNT = 30

STATIC_ORTHANC = Path(
    os.environ.get("PERF_STATIC_ORTHANC", ROOT / "build" / "static-orthanc" / "Orthanc")
).resolve()

needs_mount = pytest.mark.skipif(
    find_mount_obstacle() is not None, reason=f"{find_mount_obstacle()}"
)
needs_throttle = pytest.mark.skipif(
    find_throttle_obstacle() is not None, reason=f"{find_throttle_obstacle()}"
)

Load = Callable[[OrthancServer], object]

# Between the mean of a finding and that of all instances: on a busy machine, those that waited for
# a processor are left out of the finding
SAME = 0.5


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("advice", 60)[:COUNT]


def load_anew(server: OrthancServer, load: Load) -> float:
    """The load on a server without images, until the plugin has taken it up: its seconds."""
    server.delete_all()
    begin = time.perf_counter()
    load(server)
    seconds = time.perf_counter() - begin
    time.sleep(1)
    return seconds


def check_remedy(
    start_orthanc: StartOrthanc, options: dict[str, Any], load: Load, identifier: str
) -> tuple[Json, Json]:
    """The finding, which its remedy ends, and its phases; a promised gain must show."""
    orthanc = start_orthanc(options=options)
    seconds: list[float] = []
    finding = advice.find_under_load(
        orthanc, identifier, lambda: seconds.append(load_anew(orthanc, load))
    )
    phases = advice.get_phases(orthanc)
    advice.configure(orthanc, finding)
    if finding["Cost"]["EstimatedGain"]:
        # Another program may hold up the one or the other
        after = [load_anew(orthanc, load) for _ in range(advice.ATTEMPTS)]
        advice.check_gain(finding, min(seconds), min(after))
    else:
        load_anew(orthanc, load)
    assert wait_until(lambda: advice.get_phases(orthanc)["Prepare"]["Count"] >= COUNT)
    assert advice.goes_away(orthanc, identifier, 0)
    return finding, phases


@pytest.mark.pair
@needs_throttle
def test_a_disk_that_is_slow_at_fsync_is_found_and_the_remedy_ends_it(
    start_orthanc: StartOrthanc, images: list[Image], tmp_path: Path
) -> None:
    with throttle_writes(tmp_path, 20) as processes:

        def load(server: OrthancServer) -> None:
            processes.write_text(str(server.pid), "ascii")
            store(server, images)

        finding, phases = check_remedy(start_orthanc, {}, load, "fsync")
    assert finding["Evidence"]["MeanSync"] == pytest.approx(phases["Sync"]["Mean"], rel=SAME)
    assert finding["Evidence"]["MeanSync"] > 0.05  # 20 writes a second, one or more a file
    assert finding["Evidence"]["SyncShare"] > 0.5
    assert finding["Cost"]["ShareOfIngestTime"] > 0.5


@pytest.mark.pair
@needs_mount
def test_an_index_on_a_slow_disk_is_found_and_a_faster_one_ends_it(
    start_orthanc: StartOrthanc, images: list[Image], tmp_path: Path
) -> None:
    with mount_synchronously(tmp_path) as disk:
        orthanc = start_orthanc(options={"IndexDirectory": str(disk / "index")})
        finding = advice.find_under_load(
            orthanc, "index", lambda: advice.store_anew(orthanc, images)
        )
        phases = advice.get_phases(orthanc)
        orthanc.begin_anew(IndexDirectory=str(tmp_path / "index"))
    assert finding["Evidence"]["Database"] == "SQLite"
    assert finding["Evidence"]["MeanIndex"] == pytest.approx(phases["Index"]["Mean"], rel=SAME)
    assert set(finding["Remedy"]["Configuration"]) == {"IndexDirectory"}

    assert advice.ends(orthanc, "index", lambda: advice.store_anew(orthanc, images))
    assert advice.get_phases(orthanc)["Index"]["Count"] == COUNT


@pytest.mark.pair
@needs_mount
def test_a_slow_storage_is_found_and_a_faster_one_ends_it(
    start_orthanc: StartOrthanc, images: list[Image], tmp_path: Path
) -> None:
    index = {"IndexDirectory": str(tmp_path / "index")}
    with mount_synchronously(tmp_path) as disk:
        orthanc = start_orthanc(options={**index, "StorageDirectory": str(disk / "storage")})
        finding = advice.find_under_load(
            orthanc, "slow-storage", lambda: advice.store_anew(orthanc, images)
        )
        phases = advice.get_phases(orthanc)
        orthanc.begin_anew(StorageDirectory=str(orthanc.storage))
    written = phases["Storage"]["Mean"] - phases["Sync"]["Mean"]
    mean = finding["Evidence"]["MeanWrite"]
    assert mean == pytest.approx(written, rel=SAME)
    # Of the time between two instances, if that is less
    assert 0.99 <= finding["Evidence"]["Rate"] / (525_000 / mean) < 1.5

    assert advice.ends(orthanc, "slow-storage", lambda: advice.store_anew(orthanc, images))
    assert advice.get_phases(orthanc)["Storage"]["Count"] == COUNT


@pytest.fixture
def memory() -> Iterator[Path]:
    with TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def make_large_files(image: Image, count: int) -> list[bytes]:
    """Multi-frame images of 8 MB."""
    folder = image.path.parent.parent / "advice-large"
    folder.mkdir(exist_ok=True)
    content = dcmread(image.path)
    frames = 16
    generator = np.random.default_rng(1)
    content.PixelData = generator.integers(0, 4096, (frames, 512, 512)).astype("<u2").tobytes()
    content.NumberOfFrames = frames
    files = []
    for number in range(count):
        uid = generate_uid(entropy_srcs=["advice-large", str(number)])
        content.SOPInstanceUID = content.file_meta.MediaStorageSOPInstanceUID = uid
        content.save_as(folder / "large.dcm")
        files.append((folder / "large.dcm").read_bytes())
    return files


@pytest.mark.alone
def test_md5_sums_of_large_instances_are_found_and_the_remedy_ends_it(
    start_orthanc: StartOrthanc, images: list[Image], memory: Path
) -> None:
    files = make_large_files(images[0], COUNT)
    options = {"StorageDirectory": str(memory)}  # no disk is faster than MD5 then
    finding, phases = check_remedy(start_orthanc, options, lambda it: upload(it, files), "md5")
    assert finding["Evidence"]["MeanSize"] == pytest.approx(len(files[0]), rel=0.01)
    assert 0.25 <= finding["Evidence"]["HashingShare"] < 1
    assert finding["Evidence"]["EstimatedHashing"] < phases["Prepare"]["Mean"]


def time_lookup(server: OrthancServer, image: Image) -> float:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        server.find_instance(image.sop_instance_uid)
        times.append(time.perf_counter() - begin)
    return min(times)


def test_slow_lookups_are_found_and_an_upgrade_keeps_the_index_that_ends_them(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    orthanc = start_orthanc()
    if not orthanc.is_older_than(1, 12, 10):
        pytest.skip("this Orthanc makes the index itself")
    index = orthanc.storage / "index"
    upload(orthanc, advice.read_all(images[:1]))
    orthanc.stop()
    fill_index(index, 100_000)
    orthanc.start()
    finding = advice.find(orthanc, "sqlite-lookup-index")
    before = time_lookup(orthanc, images[0])
    assert finding["Evidence"]["StoredInstances"] == 100_001
    # The plugin has measured during the self-test of its engines, which has the processors
    assert finding["Evidence"]["LookupTime"] > before / 4

    orthanc.stop()
    command = re.search(r"sqlite3 '[^']+' '[^']+'", finding["Remedy"]["Text"])
    assert command is not None
    _, path, statements = shlex.split(command[0])
    assert Path(path) == index
    assert statements == MAKE_LOOKUP_INDEX
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(statements)
    orthanc.start()
    assert wait_until(lambda: time_lookup(orthanc, images[0]) < before / 4, 60)
    after = time_lookup(orthanc, images[0])
    print(f"POST /tools/lookup: {before * 1000:.1f} ms, with the index {after * 1000:.1f} ms")
    # By another finding, this start has looked at the store
    assert wait_until(lambda: "sqlite-large" in advice.list_kinds(orthanc), 30)
    assert "sqlite-lookup-index" not in advice.list_kinds(orthanc)
    orthanc.stop()
    indexes = {"DicomIdentifiersIndex1", "DicomIdentifiersIndex3"}
    assert read_indexes(index) == indexes

    if not STATIC_ORTHANC.exists():
        pytest.skip(f"there is no {STATIC_ORTHANC} to upgrade to")
    newer = start_orthanc(program=STATIC_ORTHANC, plugins=[])
    assert not newer.is_older_than(1, 12, 10)
    assert newer.get_file(newer.find_instance(images[0].sop_instance_uid)) == images[0].read_bytes()
    upload(newer, advice.read_all(images[1:2]))
    assert newer.get_json("/statistics")["CountInstances"] == 100_002
    newer.stop()
    assert read_indexes(index) == indexes


def test_a_store_that_has_grown_large_gets_the_checklist(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    upload(orthanc, advice.read_all(images[:1]))
    assert advice.list_findings(orthanc) == []
    orthanc.kill()
    fill_index(orthanc.storage / "index", 300_000)

    make_lookup_index(orthanc.storage / "index")
    orthanc.start()
    expected = {"sqlite-large", "storage-access-on-find"}
    assert wait_until(lambda: advice.list_kinds(orthanc) == expected, 30)
    findings = {finding["ID"]: finding for finding in orthanc.get_json("/perf/advice")}
    assert findings["sqlite-large"]["Evidence"]["StoredInstances"] == 300_001

    for name in expected - {"sqlite-large"}:
        orthanc.configure(**findings[name]["Remedy"]["Configuration"])
    orthanc.begin_anew()
    assert wait_until(lambda: advice.list_findings(orthanc) != [], 30)
    assert [name for name, _ in advice.list_findings(orthanc)] == ["sqlite-large"]


@pytest.mark.parametrize(
    ("finding", "options"),
    [
        ("postgresql-storage", {"PostgreSQL": {"EnableStorage": True}}),
        ("storage-compression", {"StorageCompression": True}),
    ],
)
def test_options_that_cost_are_found(
    start_orthanc: StartOrthanc, finding: str, options: dict[str, object]
) -> None:
    orthanc = start_orthanc(options=options)
    advice.configure(orthanc, advice.find(orthanc, finding))
    assert advice.goes_away(orthanc, finding, 0)
