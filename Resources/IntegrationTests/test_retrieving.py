# SPDX-License-Identifier: GPL-3.0-or-later
"""What peers fetch from Orthanc, by C-GET and by C-MOVE, is sent by it: with figures, tuned."""

from pathlib import Path
from typing import Any

import pydicom
import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import SlowReceiver, describe_modality

SECONDS = 10


def get_keys(image: Image) -> list[str]:
    """The image's series, as a key for DCMTK's query tools."""
    series = pydicom.dcmread(image.path, stop_before_pixels=True)
    keys = {
        "QueryRetrieveLevel": "SERIES",
        "StudyInstanceUID": series.StudyInstanceUID,
        "SeriesInstanceUID": series.SeriesInstanceUID,
    }
    return [part for name, value in keys.items() for part in ("-k", f"{name}={value}")]


def wait_for_sent(server: OrthancServer, peer: str, count: int) -> list[dict[str, Any]]:
    """The instances that went to the peer, once there are as many as expected."""

    def list_sent() -> list[dict[str, Any]]:
        latest = server.get_json(f"/perf/instances?peer={peer}")
        return [instance for instance in latest if instance["Direction"] == "Send"]

    assert wait_until(lambda: len(list_sent()) >= count, SECONDS), list_sent()
    return list_sent()


def wait_for_read(server: OrthancServer, service: str) -> dict[str, Any]:
    """The only request of this class, whose phases add up to its duration."""

    def list_reads() -> list[dict[str, Any]]:
        latest: list[dict[str, Any]] = server.get_json(f"/perf/requests?class={service}")["Latest"]
        return latest

    assert wait_until(lambda: len(list_reads()) == 1, SECONDS), list_reads()
    (request,) = list_reads()
    assert (request["Product"], request["Address"]) == ("VIEWER", "127.0.0.1")
    assert request["Status"] == 0
    assert request["FirstResponse"] <= request["Duration"]
    durations = [seconds for phase, seconds in request["Phases"].items() if phase != "Idle"]
    assert abs(sum(durations) - request["Duration"]) < 1e-6
    line = f'orthanc_perf_reads_total{{class="{service}",status="success"}} 1'
    assert line in server.get("/perf/metrics").text.splitlines()
    return request


def ask(server: OrthancServer, program: str, *words: str) -> None:
    command = [program, "-aet", "VIEWER", "-aec", "ORTHANC", "-S", *words]
    clients.get_output([*command, "127.0.0.1", str(server.dicom_port)])


@pytest.fixture(scope="module")
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("store", 5)


@pytest.fixture(scope="module")
def port() -> int:
    return find_free_port()


@pytest.fixture(scope="module")
def orthanc(start_for_module: StartOrthanc, images: list[Image], port: int) -> OrthancServer:
    modalities = {
        "destination": describe_modality(port, "DESTINATION"),
        "viewer": describe_modality(find_free_port(), "VIEWER"),
    }
    orthanc = start_for_module(options={"DicomModalities": modalities})
    clients.upload(orthanc, [image.read_bytes() for image in images])
    return orthanc


def test_what_a_peer_finds_is_read(orthanc: OrthancServer, images: list[Image]) -> None:
    keys = ["-k", "QueryRetrieveLevel=IMAGE", *get_keys(images[0])[2:], "-k", "SOPInstanceUID"]
    ask(orthanc, "findscu", *keys)
    request = wait_for_read(orthanc, "c-find")
    assert request["Responses"] == len(images) + 1
    assert images[0].sop_instance_uid not in orthanc.get("/perf/requests").text


def test_what_a_peer_gets_is_sent_to_it(
    orthanc: OrthancServer, images: list[Image], tmp_path: Path
) -> None:
    ask(orthanc, "getscu", "-od", str(tmp_path), *get_keys(images[0]))

    assert len(list(tmp_path.iterdir())) == len(images)
    sent = wait_for_sent(orthanc, "VIEWER", len(images))
    assert len(sent) == len(images)
    for instance in sent:
        assert instance["Phases"].keys() == {"Send", "Wait"}
        assert instance["Size"] > 500_000
        assert instance["Stalls"] == 0
    request = wait_for_read(orthanc, "c-get")
    assert request["Size"] > sum(instance["Size"] for instance in sent)
    assert request["ClientWait"] > 0
    assert request["Responses"] > 0


def test_what_a_peer_moves_is_sent_to_the_destination(
    orthanc: OrthancServer, images: list[Image], port: int
) -> None:
    with SlowReceiver(port, image_seconds=0.1):
        ask(orthanc, "movescu", "-aem", "DESTINATION", *get_keys(images[0]))

    sent = wait_for_sent(orthanc, "DESTINATION", len(images))
    assert len(sent) == len(images)
    assert sum("Connect" in instance["Phases"] for instance in sent) == 1
    for instance in sent:
        assert {"Send", "Wait"} <= instance["Phases"].keys()
    request = wait_for_read(orthanc, "c-move")
    waited = sum(instance["Phases"]["Wait"] for instance in sent)
    assert waited * 0.9 <= request["ClientWait"] <= request["Phases"]["Send"]
