# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that takes no more: each instance has its outcome, and Orthanc goes on.

What stands in for the full disk is the limit of a file's size (setrlimit(2), RLIMIT_FSIZE), which
can be set, and lifted, while Orthanc runs. It needs no privilege.
"""

import subprocess
from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image
from harness.metrics import IN_FLIGHT, INSTANCES, scrape_when_counted
from harness.orthanc import OrthancServer
from harness.process import WITH_LIMITED_FILES, limit_files


@pytest.fixture
def server(start_orthanc: StartOrthanc) -> OrthancServer:
    return start_orthanc(launcher=WITH_LIMITED_FILES)


def send_all(server: OrthancServer, images: list[Image]) -> None:
    """Half by C-STORE and half over HTTP; none is stored."""
    half = len(images) // 2
    for image in images[:half]:
        with pytest.raises(subprocess.CalledProcessError):
            clients.store(server, [image])
    answers = clients.upload(server, [image.read_bytes() for image in images[half:]])
    assert all(status != 200 for status, _ in answers), answers


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(100_000, id="the images are larger"),
        pytest.param(0, id="nothing can be written, neither images nor database"),
    ],
)
def test_what_cannot_be_stored_has_failed(
    server: OrthancServer, make_series: MakeSeries, size: int
) -> None:
    images = make_series("full", 12)
    clients.upload(server, [image.read_bytes() for image in images[:2]])
    with limit_files(server.pid, size):
        send_all(server, images[2:])
        metrics = scrape_when_counted(server, 12)

    assert metrics.group(INSTANCES, "origin", "outcome") == {
        ("RestApi", "stored"): 2,
        ("RestApi", "failed"): 5,
        ("DicomProtocol", "failed"): 5,
    }
    assert metrics.sum(IN_FLIGHT) == 0

    clients.store(server, images)
    metrics = scrape_when_counted(server, 24)
    assert metrics.sum(INSTANCES, origin="DicomProtocol", outcome="stored") == 12
    assert server.get_json("/statistics")["CountInstances"] == 12
    assert not server.get_json("/perf/status")["CallbackFailures"]


def test_what_another_plugin_accepted_and_the_disk_did_not_take_has_failed(
    start_orthanc: StartOrthanc, plugin: Path, other_plugin: Path, make_series: MakeSeries
) -> None:
    """Orthanc takes the first answer of a C-STORE filter: the plugin's own is not asked."""
    server = start_orthanc(
        plugins=[plugin, other_plugin],
        options={"OtherPlugin": {"AcceptCStore": True}},
        launcher=WITH_LIMITED_FILES,
    )
    images = make_series("full", 6)
    clients.store(server, images[:1])
    with limit_files(server.pid, 100_000):
        send_all(server, images[2:])
        metrics = scrape_when_counted(server, 5)
    outcomes = metrics.group(INSTANCES, "origin", "outcome")
    assert outcomes.get(("DicomProtocol", "failed")) == 2, outcomes
    reasons = {instance.get("Reason") for instance in server.get_json("/perf/instances")}
    assert "Orthanc answered 0xA700: storage full, or storage or database failed" in reasons
    failed = server.get_json("/perf/instances?outcome=Failed")
    assert {instance["Outcome"] for instance in failed} == {"Failed"}
    assert len(failed) == 4  # by any way
    (stored,) = server.get_json("/perf/instances?outcome=Stored&limit=1")
    assert server.get_json(f"/perf/instances/{stored['ID']}") == stored
    assert server.get(f"/perf/instances/{stored['ID']}?outcome=Failed").status_code == 404


def test_a_database_that_cannot_be_written(server: OrthancServer, make_series: MakeSeries) -> None:
    # Small images fit below the limit, which the database has passed
    images = make_series("full", 12)
    clients.upload(server, [image.read_bytes() for image in images[:2]])
    small = [make_small(image.read_bytes()) for image in images[2:]]
    with limit_files(server.pid, 16_384):
        answers = clients.upload(server, small)
        failed = sum(1 for status, _ in answers if status != 200)
        metrics = scrape_when_counted(server, 2 + len(small))
    assert failed > 0
    assert metrics.sum(INSTANCES, outcome="failed") == failed
    assert metrics.sum(INSTANCES, outcome="stored") == 2 + len(small) - failed
    clients.upload(server, small)
    assert server.get_json("/statistics")["CountInstances"] == 2 + len(small)


def make_small(content: bytes) -> bytes:
    return content[: content.rindex(b"\xe0\x7f\x10\x00")]
