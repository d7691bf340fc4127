# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about what Orthanc lives with: an object storage, a busy machine."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.clients import store, upload
from harness.images import Image
from harness.metrics import wait_until

COUNT = 40

# The plugin's mean of tasks that want to run goes back 3 s
SETTLED = 6

STORING = {"fsync", "slow-storage", "index", "slow-commit"}

pytestmark = pytest.mark.alone


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("advice", 60)[:COUNT]


def test_a_slow_object_storage_is_found_and_more_associations_end_it(
    start_orthanc: StartOrthanc,
    plugin: Path,
    storage_plugin: Path,
    images: list[Image],
    tmp_path: Path,
) -> None:
    """The storage answers in the same time, but for several at once."""
    section = {"Roots": [str(tmp_path)], "Writer": "thread", "Hold": 40}
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


@contextmanager
def keep_processors_busy() -> Iterator[None]:
    """Other programs that always want to run, six for each processor."""
    code = "while True: pass"
    count = 6 * (os.cpu_count() or 1)
    programs = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def test_no_disk_is_blamed_on_a_machine_busy_with_other_programs(
    start_orthanc: StartOrthanc, images: list[Image]
) -> None:
    # Whoever is nicer gets less of the processor, whatever the scheduler
    orthanc = start_orthanc(launcher=["nice", "-n", "5"])
    with keep_processors_busy():
        time.sleep(SETTLED)
        advice.store_anew(orthanc, images)
        findings = {finding["ID"]: finding for finding in orthanc.get_json("/perf/advice")}
    assert not findings.keys() & STORING
    if "processor" in findings:  # whether storing suffers is up to the scheduler, each time anew
        evidence = findings["processor"]["Evidence"]
        assert evidence["RunnableTasks"] >= 4
        assert evidence["Cores"] == os.cpu_count()
        assert set(evidence["SeemsLike"].split(", ")) <= STORING
        assert findings["processor"]["Remedy"]["Kind"] == "System"

    orthanc.begin_anew()
    upload(orthanc, advice.read_all(images))
    assert wait_until(lambda: advice.get_phases(orthanc)["Index"]["Count"] == COUNT)
    assert advice.goes_away(orthanc, "processor", 0)
