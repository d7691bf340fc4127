# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that does not end well fails the run, though its test is over by then."""

from pathlib import Path

import pytest

from harness.orthanc import OrthancServer
from harness.reaper import Reaper

FAULTS = ["killed", "callback failed"]


@pytest.mark.parametrize("fault", ["none", *FAULTS])
def test_a_server_is_judged_once_it_has_stopped(tmp_path: Path, fault: str) -> None:
    reaper = Reaper()
    script = """print('Perf: the callback "x" failed: y')""" if fault == "callback failed" else ""
    server = OrthancServer(tmp_path / "server", lua=[script])
    server.start()
    if fault == "killed":
        server.kill()
    reaper.take(server, "test_x")
    reaper.remove(server.folder)
    said = reaper.judge(wait=True)
    assert not server.is_running()
    assert [line.partition(":")[0] for line in said] == ["test_x"] * (fault in FAULTS)
    assert server.folder.exists() == (fault in FAULTS)
