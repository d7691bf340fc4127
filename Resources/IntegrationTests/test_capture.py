# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin's times of messages against those of a packet capture."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import MakeSeries
from harness.capture import Turn, capture, find_obstacle, read_turns
from harness.images import Image
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer
from harness.senders import store_timed

COUNT = 10

TOLERANCE = 0.001  # seconds

# A machine that is busy with something else wakes Orthanc late: the best of so many series counts
ATTEMPTS = 5

pytestmark = pytest.mark.alone


def get_times(instance: dict[str, Any]) -> tuple[float, float, float]:
    """When the first and the last byte of the request, and the last of the response, went by."""
    finished = datetime.strptime(instance["FinishedAt"], "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
    end = finished.timestamp()
    begin = end - instance["Duration"]
    return begin, begin + instance["Phases"]["Receive"], end


def get_difference(instance: dict[str, Any], request: Turn, response: Turn) -> float:
    """The largest between the plugin's three times and those of the packets."""
    assert request.is_request and not response.is_request
    begin, received, end = get_times(instance)
    return max(abs(begin - request.first), abs(received - request.last), abs(end - response.last))


def measure(server: OrthancServer, images: list[Image], path: Path, title: str) -> list[float]:
    """The difference of each of ten messages, in the order in which they were sent."""
    with capture(server.dicom_port, path):
        store_timed(server, images, title)
    turns = read_turns(path, server.dicom_port)
    # The association and its release, each with an answer, and a request and a response a message
    assert len(turns) == 2 + 2 * COUNT + 2
    scrape_when_counted(server, COUNT)
    instances = server.get_json(f"/perf/instances?peer={title}")[::-1]
    assert len(instances) == COUNT
    messages = zip(turns[2:-2:2], turns[3:-2:2], strict=True)
    return [
        get_difference(instance, request, response)
        for instance, (request, response) in zip(instances, messages, strict=True)
    ]


@pytest.mark.xfail(
    strict=False, reason="open: a busy machine shifts the capture against the probe by 2 ms"
)
def test_messages_begin_and_end_when_their_packets_do(
    orthanc: OrthancServer, make_series: MakeSeries, tmp_path: Path
) -> None:
    if obstacle := find_obstacle():
        pytest.skip(obstacle)

    images = make_series("store", COUNT)
    worst: list[float] = []
    while not worst or (worst[-1] > TOLERANCE and len(worst) < ATTEMPTS):
        orthanc.delete_all()
        number = len(worst)
        worst.append(
            max(measure(orthanc, images, tmp_path / f"{number}.pcapng", f"CAPTURE{number}"))
        )
    print("largest difference in each series, in ms:", [f"{1000 * value:.3f}" for value in worst])
    assert min(worst) <= TOLERANCE, worst
