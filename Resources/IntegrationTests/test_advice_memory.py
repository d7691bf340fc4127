# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about the sizes of Orthanc's caches and pools, from its configuration alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import advice
from harness.memory_group import find_obstacle, limit_memory
from harness.orthanc import OrthancServer

MEBIBYTE = 1024 * 1024


@pytest.fixture
def small_group() -> Iterator[list[str]]:
    """What starts a program in a control group that may have 250 MiB of memory."""
    obstacle = find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    with limit_memory(250 * MEBIBYTE) as launcher:
        yield launcher


def test_caches_that_outgrow_a_container_are_found_and_the_remedy_ends_it(
    small_group: list[str], plugin: Path, tmp_path: Path
) -> None:
    with OrthancServer(tmp_path, plugins=[plugin], launcher=small_group) as server:
        finding = advice.find(server, "memory-limit")
        assert finding["Evidence"]["Memory"] == 250 * MEBIBYTE
        assert finding["Evidence"]["MaximumStorageCacheSize"] == 128 * MEBIBYTE
        advice.configure(server, finding)
        assert "memory-limit" not in advice.list_kinds(server)
