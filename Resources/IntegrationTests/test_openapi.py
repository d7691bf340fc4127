# SPDX-License-Identifier: GPL-3.0-or-later
"""The server keeps to its description, whatever it is asked."""

import sys
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries
from harness import clients
from harness.orthanc import OrthancServer

DESCRIPTION = ROOT / "Resources" / "Documentation" / "openapi.yaml"
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")

# Requests an operation
EXAMPLES = 50


@pytest.mark.skipif(not DESCRIPTION.exists(), reason="there is no openapi.yaml yet")
def test_the_server_keeps_to_its_description(
    orthanc: OrthancServer, make_series: MakeSeries, tmp_path: Path
) -> None:
    clients.upload(orthanc, [image.read_bytes() for image in make_series("store", 3)])
    # Run in the test's folder: schemathesis keeps its own files where it runs
    command = ["env", "-C", tmp_path, SCHEMATHESIS, "run", DESCRIPTION, "--url", orthanc.url]
    clients.get_output([*command, f"--max-examples={EXAMPLES}", "--seed=1", "--no-color"])
    assert orthanc.get("/system").status_code == 200
