# SPDX-License-Identifier: GPL-3.0-or-later
"""Every instance that is sent is counted once, by its origin and its outcome, to the byte.

One server takes everything that the module sends; each test looks at one side of the result.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from io import BytesIO

import pydicom
import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image, list_pydicom_files
from harness.metrics import (
    BYTES,
    IN_FLIGHT,
    INSTANCES,
    Metrics,
    scrape,
    scrape_when_counted,
    wait_until,
)
from harness.orthanc import OrthancServer

COUNT = 50  # by each way

REFUSE_ONE_PATIENT = """
function ReceivedInstanceFilter(dicom, origin, info)
  return dicom.PatientID ~= 'PHANTOM-refused'
end
"""


@dataclass
class Traffic:
    """What was sent to the server, as its clients know it."""

    server: OrthancServer
    instances: Counter[tuple[str, str]] = field(default_factory=Counter)
    bytes: Counter[tuple[str]] = field(default_factory=Counter)
    uploaded: dict[str, bytes] = field(default_factory=dict)  # Orthanc's identifier: content
    stored_by_dicom: list[Image] = field(default_factory=list)

    def note(self, origin: str, outcome: str, size: int) -> None:
        self.instances[origin, outcome] += 1
        self.bytes[(origin,)] += size

    def store(self, images: list[Image]) -> None:
        """By C-STORE, in which each side writes its own file meta information: the size that
        counts is that of the file which Orthanc makes of the message."""
        clients.store(self.server, images)
        self.stored_by_dicom += images
        for image in images:
            identifier = self.server.find_instance(image.sop_instance_uid)
            self.note("DicomProtocol", "stored", len(self.server.get_file(identifier)))

    def upload(self, contents: list[bytes], parallel: int = 1) -> None:
        """Over HTTP, where Orthanc tells the outcome of each."""
        answers = clients.upload(self.server, contents, parallel)
        for content, (status, body) in zip(contents, answers, strict=True):
            answer = json.loads(body)
            if status != 200:
                self.note("RestApi", "failed", len(content))
            elif answer["Status"] == "FilteredOut":
                self.note("RestApi", "discarded", len(content))
            else:
                self.note("RestApi", "stored", len(content))
                self.uploaded.setdefault(answer["ID"], content)

    def upload_zip(self, images: list[Image]) -> None:
        answers = clients.upload_zip(self.server, images)
        assert [answer["Status"] for answer in answers] == ["Success"] * len(images)
        self._note_all("RestApi", images)

    def store_over_web(self, images: list[Image]) -> None:
        clients.store_over_web(self.server, images)
        self._note_all("Plugins", images)

    def _note_all(self, origin: str, images: list[Image]) -> None:
        for image in images:
            content = image.read_bytes()
            self.note(origin, "stored", len(content))
            self.uploaded[self.server.find_instance(image.sop_instance_uid)] = content


@pytest.fixture(scope="module")
def traffic(start_for_module: StartOrthanc, make_series: MakeSeries) -> Traffic:
    traffic = Traffic(start_for_module(lua=[REFUSE_ONE_PATIENT]))
    traffic.store(make_series("store", COUNT))
    traffic.upload([image.read_bytes() for image in make_series("upload", COUNT)], parallel=4)
    traffic.upload_zip(make_series("zip", COUNT))
    traffic.store_over_web(make_series("web", COUNT))
    traffic.upload([path.read_bytes() for path in list_pydicom_files()])
    traffic.upload([b"This is not DICOM." * (number + 1) for number in range(10)])
    traffic.upload([image.read_bytes() for image in make_series("refused", 10)])
    return traffic


@pytest.fixture(scope="module")
def metrics(traffic: Traffic) -> Metrics:
    return scrape_when_counted(traffic.server, traffic.instances.total())


def test_every_instance_is_counted_by_its_origin_and_outcome_and_every_byte(
    traffic: Traffic, metrics: Metrics
) -> None:
    assert traffic.instances["DicomProtocol", "stored"] == COUNT
    assert traffic.instances["Plugins", "stored"] == COUNT
    assert traffic.instances["RestApi", "stored"] > 2 * COUNT + 50
    assert traffic.instances["RestApi", "discarded"] == 10
    assert traffic.instances["RestApi", "failed"] > 10
    assert metrics.group(INSTANCES, "origin", "outcome") == traffic.instances
    assert metrics.group(BYTES, "origin") == traffic.bytes
    assert IN_FLIGHT in metrics.list_names()
    assert metrics.group(IN_FLIGHT, "origin") == {}
    listed = traffic.server.get_json("/perf/instances?limit=1000")
    assert len(listed) == min(1000, traffic.instances.total())
    assert [entry["Outcome"] for entry in listed].count("Discarded") == 10


def test_what_was_sent_is_stored_unchanged(traffic: Traffic) -> None:
    """Uploads byte by byte; with C-STORE, Orthanc writes the file's header."""
    for identifier, content in traffic.uploaded.items():
        assert traffic.server.get_file(identifier) == content
    for image in traffic.stored_by_dicom:
        stored = traffic.server.get_file(traffic.server.find_instance(image.sop_instance_uid))
        assert pydicom.dcmread(BytesIO(stored)) == pydicom.dcmread(image.path)


def test_an_instance_that_its_sender_gives_up_is_not_counted(orthanc: OrthancServer) -> None:
    uploader = clients.Uploader(orthanc)
    uploader.upload_half(b"\0" * 1_000_000)
    uploader.close()
    clients.upload(orthanc, [b"This is not DICOM."])
    metrics = scrape_when_counted(orthanc, 1)
    assert metrics.group(INSTANCES, "origin", "outcome") == {("RestApi", "failed"): 1}
    assert wait_until(lambda: scrape(orthanc).sum(IN_FLIGHT) == 0)
