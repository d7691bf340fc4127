# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about the server: disks, database and options, each cause made for real."""

import os
import re
import shlex
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store, upload
from harness.images import Image, write_multi_frame
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
@pytest.mark.parametrize(
    ("identifier", "option", "phase"),
    [("index", "IndexDirectory", "Index"), ("slow-storage", "StorageDirectory", "Storage")],
)
def test_a_slow_disk_of_index_or_storage_is_found_and_a_faster_one_ends_it(
    start_orthanc: StartOrthanc,
    images: list[Image],
    tmp_path: Path,
    identifier: str,
    option: str,
    phase: str,
) -> None:
    with mount_synchronously(tmp_path) as disk:
        options = {"IndexDirectory": str(tmp_path / "index"), option: str(disk / phase)}
        orthanc = start_orthanc(options=options)
        finding = advice.find_under_load(
            orthanc, identifier, lambda: advice.store_anew(orthanc, images)
        )
        phases = advice.get_phases(orthanc)
        orthanc.begin_anew(**{option: str(tmp_path / phase)})
    evidence = finding["Evidence"]
    if phase == "Index":
        assert evidence["Database"] == "SQLite"
        assert evidence["MeanIndex"] == pytest.approx(phases["Index"]["Mean"], rel=SAME)
        assert set(finding["Remedy"]["Configuration"]) == {"IndexDirectory"}
    else:
        written = phases["Storage"]["Mean"] - phases["Sync"]["Mean"]
        assert evidence["MeanWrite"] == pytest.approx(written, rel=SAME)
        # Of the time between two instances, if that is less
        assert 0.99 <= evidence["Rate"] / (525_000 / evidence["MeanWrite"]) < 1.5

    assert advice.ends(orthanc, identifier, lambda: advice.store_anew(orthanc, images))
    assert advice.get_phases(orthanc)[phase]["Count"] == COUNT


@pytest.mark.alone
def test_a_slow_object_storage_is_found_and_more_associations_end_it(
    start_orthanc: StartOrthanc,
    plugin: Path,
    storage_plugin: Path,
    images: list[Image],
    tmp_path: Path,
) -> None:
    """The storage answers in the same time, but for several at once."""
    section = {"Roots": [str(tmp_path)], "Thread": True, "Hold": 40}
    options = {"StoragePlugin": section, "DicomThreadsCount": 16}
    orthanc = start_orthanc(plugins=[plugin, storage_plugin], options=options)
    finding = advice.find_under_load(
        orthanc, "slow-commit", lambda: advice.store_anew(orthanc, images)
    )
    phases = advice.get_phases(orthanc)
    assert "Storage" not in phases  # no file is seen
    # Instances that waited for a processor are left out of the finding
    assert finding["Evidence"]["MeanCommit"] == pytest.approx(phases["Commit"]["Mean"], rel=0.5)
    assert 0.040 <= finding["Evidence"]["MeanCommit"] < 0.160
    assert finding["Evidence"]["CommitShare"] > 0.6
    assert finding["Cost"]["ShareOfIngestTime"] > 0.5
    assert finding["Remedy"]["Kind"] == "System"
    assert "associations" in finding["Remedy"]["Text"]

    def store_at_once() -> None:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda first: store(orthanc, images[first::16]), range(16)))
        assert wait_until(lambda: advice.get_phases(orthanc)["Commit"]["Count"] == COUNT)
        assert advice.get_phases(orthanc)["Commit"]["Mean"] >= 0.040

    assert advice.ends(orthanc, "slow-commit", store_at_once), orthanc.get_json("/perf/advice")


@pytest.mark.alone
def test_md5_sums_of_large_instances_are_found_and_the_remedy_ends_it(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    names = [f"md5-{number}" for number in range(COUNT)]
    files = [write_multi_frame(tmp_path / "large.dcm", name, 16).read_bytes() for name in names]
    with TemporaryDirectory(dir="/dev/shm") as memory:  # no disk is faster than MD5 then
        options = {"StorageDirectory": memory}
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
    assert advice.list_findings(orthanc) == []
    orthanc.stop()
    fill_index(index, 300_000)
    orthanc.start()
    finding = advice.find(orthanc, "sqlite-lookup-index")
    before = time_lookup(orthanc, images[0])
    assert finding["Evidence"]["StoredInstances"] == 300_001
    # The plugin has measured during the self-test of its engines, which has the processors
    assert finding["Evidence"]["LookupTime"] > before / 4

    orthanc.stop()
    command = re.search(r"sqlite3 '[^']+' '[^']+'", finding["Remedy"]["Text"])
    assert command is not None
    _, path, statements = shlex.split(command[0])
    assert Path(path) == index
    assert statements == MAKE_LOOKUP_INDEX
    make_lookup_index(index)
    orthanc.start()
    assert wait_until(lambda: time_lookup(orthanc, images[0]) < before / 4, 60)
    after = time_lookup(orthanc, images[0])
    print(f"POST /tools/lookup: {before * 1000:.1f} ms, with the index {after * 1000:.1f} ms")

    # What else is said of a store that has grown large
    expected = {"sqlite-large", "storage-access-on-find"}
    assert wait_until(lambda: advice.list_kinds(orthanc) == expected, 30)
    findings = {finding["ID"]: finding for finding in orthanc.get_json("/perf/advice")}
    assert findings["sqlite-large"]["Evidence"]["StoredInstances"] == 300_001
    advice.configure(orthanc, findings["storage-access-on-find"])
    assert wait_until(lambda: advice.list_findings(orthanc) == [("sqlite-large", None)], 30)
    orthanc.stop()
    indexes = {"DicomIdentifiersIndex1", "DicomIdentifiersIndex3"}
    assert read_indexes(index) == indexes

    if not STATIC_ORTHANC.exists():
        pytest.skip(f"there is no {STATIC_ORTHANC} to upgrade to")
    newer = start_orthanc(program=STATIC_ORTHANC, plugins=[])
    assert not newer.is_older_than(1, 12, 10)
    assert newer.get_file(newer.find_instance(images[0].sop_instance_uid)) == images[0].read_bytes()
    upload(newer, advice.read_all(images[1:2]))
    assert newer.get_json("/statistics")["CountInstances"] == 300_002
    newer.stop()
    assert read_indexes(index) == indexes


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
