# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of Orthanc that came after 1.10.1 are used where the running Orthanc has them.

Beside this machine's Orthanc with the plugin under test, those of PERF_ROOTS with the portable one
(see test_portable.py).
"""

import platform
import re
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import FileDataset

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer
from harness.portable import ROOTS, enter, unpack
from harness.transcoding import change, write
from test_portable import get_archive

BYTES = "orthanc_perf_received_bytes"


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


def read_own_metric(server: OrthancServer, name: str) -> int:
    """Of Orthanc's own /tools/metrics-prometheus, which has a time stamp behind the value."""
    text = server.get("/tools/metrics-prometheus").text
    found = re.search(rf"^{name} (\S+)", text, re.MULTILINE)
    assert found, text
    return int(float(found[1]))


def test_lines_of_the_log_name_the_plugin(server: OrthancServer) -> None:
    assert "] Perf: version" in server.log
    has_place = re.search(r" perf:/\w+:\d+\] Perf: version", server.log) is not None
    assert has_place == (not server.is_older_than(1, 12, 4))


def test_a_browser_is_told_that_the_page_is_one(server: OrthancServer) -> None:
    """Since 1.12.2, Orthanc adds a type of its own to answers that a plugin has compressed."""
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip, deflate, br"}
    page = server.get("/perf", headers=headers)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.text.startswith("<!DOCTYPE html>")


def make_a_count_that_no_float_holds(image: FileDataset) -> None:
    """Of bytes, beyond 2^25: the next float is 4 bytes away."""
    image.Rows = image.Columns = 4096
    image.PixelData = bytes(2 * 4096 * 4096)
    if len(write(image)) % 4 == 0:
        image.ImageComments = "xx"  # 10 bytes, with what is before it


def test_counts_among_orthancs_own_metrics_are_exact(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("counts", 1)
    content = change(image.path, make_a_count_that_no_float_holds)
    assert int(np.float32(len(content))) != len(content)
    clients.upload(server, [content])
    scrape_when_counted(server, 1)
    is_exact = read_own_metric(server, BYTES) == len(content)
    assert is_exact == (not server.is_older_than(1, 12, 1))
