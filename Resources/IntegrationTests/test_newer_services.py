# SPDX-License-Identifier: GPL-3.0-or-later
"""What newer releases of Orthanc do differently.

Beside this machine's Orthanc with the plugin under test, those of PERF_ROOTS with the portable one
(see test_portable.py).
"""

import platform
from pathlib import Path

import pytest

from conftest import StartOrthanc
from harness.orthanc import OrthancServer
from harness.portable import ROOTS, enter, unpack
from test_portable import get_archive


@pytest.fixture(params=ROOTS)
def server(
    request: pytest.FixtureRequest, start_orthanc: StartOrthanc, plugin: Path, tmp_path: Path
) -> OrthancServer:
    root = request.param
    if root == "/":
        return start_orthanc(plugins=[plugin])
    machine = platform.machine()
    portable = unpack(get_archive(machine), machine, tmp_path) / "libOrthancPerf.so"
    return start_orthanc(plugins=[portable], launcher=enter(machine, root, tmp_path))


def test_a_browser_is_told_that_the_page_is_one(server: OrthancServer) -> None:
    """Since 1.12.2, Orthanc adds a type of its own to answers that a plugin has compressed."""
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip, deflate, br"}
    page = server.get("/perf", headers=headers)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.text.startswith("<!DOCTYPE html>")
