# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about the sizes of Orthanc's caches and pools, from its configuration alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import StartOrthanc
from harness import advice
from harness.orthanc import OrthancServer

MEMORY = Path("/sys/fs/cgroup/memory")  # of control groups of version 1
MEBIBYTE = 1024 * 1024

# In the group before it executes Orthanc
ENTER = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A control group that may have 250 MiB of memory."""
    if os.geteuid() != 0 or not (MEMORY / "memory.limit_in_bytes").exists():
        pytest.skip("no control group of version 1 can limit memory here")
    group = MEMORY / f"orthanc-perf-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(250 * MEBIBYTE), "ascii")
        yield group
    finally:
        group.rmdir()


def test_caches_that_outgrow_a_container_are_found_and_the_remedy_ends_it(
    small_group: Path, plugin: Path, tmp_path: Path
) -> None:
    launcher = ["sh", "-c", ENTER, "sh", str(small_group)]
    with OrthancServer(tmp_path, plugins=[plugin], launcher=launcher) as server:
        finding = advice.find(server, "memory-limit")
        assert finding["Evidence"]["Memory"] == 250 * MEBIBYTE
        assert finding["Evidence"]["MaximumStorageCacheSize"] == 128 * MEBIBYTE
    options = advice.configure({}, finding)
    with OrthancServer(tmp_path, plugins=[plugin], launcher=launcher, options=options) as server:
        assert "memory-limit" not in advice.list_kinds(server)


def test_options_of_other_releases_are_named(start_orthanc: StartOrthanc) -> None:
    """Orthanc says nothing of options that it does not know."""
    options = {"TranscoderThreadsCount": 8, "LoaderThreads": 8}
    orthanc = start_orthanc(options=options)
    finding = advice.find(orthanc, "foreign-options")
    if orthanc.is_older_than(1, 12, 11):
        assert finding["Evidence"] == {"OfNewerReleases": "LoaderThreads, TranscoderThreadsCount"}
        assert finding["Remedy"]["Kind"] == "System"
    elif not orthanc.is_older_than(1, 13, 0):
        assert finding["Evidence"] == {"OfOlderReleases": "LoaderThreads"}
        assert finding["Remedy"]["Configuration"]["SequentialDicomReaderWindowSize"] == 8
