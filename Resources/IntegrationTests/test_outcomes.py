# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of an instance is what Orthanc answered, also where it asked no plugin."""

from io import BytesIO

import pytest
from pydicom import dcmread
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.filebase import DicomBytesIO
from pydicom.filewriter import dcmwrite, write_dataset
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian, generate_uid
from pynetdicom import AE
from pynetdicom.dimse_primitives import C_STORE

from conftest import MakeSeries
from harness.clients import make_multipart
from harness.images import Image
from harness.metrics import BYTES, INSTANCES, scrape_when_counted, wait_until
from harness.orthanc import Json, OrthancServer
from harness.senders import keep_reactor_paused

PIXELS_IN_ITEMS = (  # of undefined length, as only encapsulated transfer syntaxes have it
    b"\xe0\x7f\x10\x00OB\x00\x00\xff\xff\xff\xff"
    b"\xfe\xff\x00\xe0\x00\x00\x00\x00"
    b"\xfe\xff\x00\xe0\x04\x00\x00\x00\xff\xd8\xff\xd9"
    b"\xfe\xff\xdd\xe0\x00\x00\x00\x00"
)
TEXT_FOR_A_SEQUENCE = b"\x40\x00\x70\xa1\x0c\x00\x00\x00no sequence "


def encode(image: Dataset, syntax: str) -> bytes:
    file = DicomBytesIO()
    file.is_little_endian = True
    file.is_implicit_VR = syntax == ImplicitVRLittleEndian
    write_dataset(file, image)
    return file.getvalue()


def read(image: Image) -> Dataset:
    """Without pixels, and what stands behind them."""
    content = dcmread(image.path)
    return content[:0x7FE00010]


def send(
    server: OrthancServer, image: Dataset, content: bytes, syntax: str, instance: str = ""
) -> int | None:
    """The status that a C-STORE of these bytes gets, if it is answered."""
    entity = AE("ODD")
    entity.dimse_timeout = 3
    entity.add_requested_context(image.SOPClassUID, syntax)
    association = entity.associate("127.0.0.1", server.dicom_port)
    assert association.is_established
    request = C_STORE()
    request.MessageID = 1
    request.AffectedSOPClassUID = image.SOPClassUID
    request.AffectedSOPInstanceUID = instance or image.SOPInstanceUID
    request.Priority = 0
    request.DataSet = BytesIO(content)
    with keep_reactor_paused(association):
        association.dimse.send_msg(request, association.accepted_contexts[0].context_id)
        _, response = association.dimse.get_msg(block=True)
    if response is None:
        association.abort()
        return None
    association.release()
    assert isinstance(response, C_STORE)
    return int(response.Status or 0)


def get_newest(server: OrthancServer, count: int = 1) -> Json:
    """Of so many instances."""
    assert wait_until(lambda: len(server.get_json("/perf/instances")) == count)
    return server.get_json("/perf/instances")[0]


def test_a_c_store_that_orthanc_refuses_before_it_asks_a_plugin_has_failed(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("outcome", 1)
    head = read(image)
    syntax = ExplicitVRLittleEndian
    content = encode(head, syntax)
    bare = read(image)
    del bare.SOPInstanceUID
    refused = [
        (content + PIXELS_IN_ITEMS, "", "0xA700: it failed before it came to the storage"),
        (encode(bare, syntax), "", "0xC000: it cannot read the data set"),
        (
            content,
            generate_uid(),
            "0xA900: the data set has another SOP class or instance than the request",
        ),
    ]
    size = 0
    for count, (sent, instance, answer) in enumerate(refused, 1):
        status = send(orthanc, head, sent, syntax, instance)
        assert f"0x{status:04X}" == answer[:6]
        failed = get_newest(orthanc, count)
        assert (failed["Outcome"], failed["Reason"]) == ("Failed", f"Orthanc answered {answer}")
        assert (failed["Direction"], failed["Origin"]) == ("Receive", "DicomProtocol")
        assert (failed["Peer"], failed["Address"], failed["ID"]) == ("ODD", "127.0.0.1", None)
        assert len(sent) < failed["Size"] < len(sent) + 1000
        size += failed["Size"]
    metrics = scrape_when_counted(orthanc, len(refused))
    assert metrics.group(INSTANCES, "origin", "outcome") == {("DicomProtocol", "failed"): 3}
    assert metrics.sum(BYTES, origin="DicomProtocol") == size


@pytest.mark.parametrize("size", [0, 500_000])
def test_a_c_store_that_orthanc_cannot_parse_has_failed_though_it_does_not_answer(
    orthanc: OrthancServer, make_series: MakeSeries, size: int
) -> None:
    """It breaks off in the middle of a large one, and waits for the next one after a small one."""
    (image,) = make_series("outcome", 1)
    pixels = b"\xe0\x7f\x10\x00" + size.to_bytes(4, "little") + bytes(size)
    head = encode(read(image)[:0x0040A170], ImplicitVRLittleEndian)
    content = head + TEXT_FOR_A_SEQUENCE + pixels
    assert send(orthanc, read(image), content, ImplicitVRLittleEndian) is None
    failed = get_newest(orthanc)
    assert failed["Outcome"] == "Failed"
    assert failed["Reason"] == "Orthanc did not answer: it cannot read the data set"
    assert (failed["Peer"], failed["ID"]) == ("ODD", None)
    assert 0 < failed["Size"] < len(content) + 1000


@pytest.mark.parametrize("way", ["rest", "stow", "stow, after 100 Continue"])
def test_an_upload_that_orthanc_cannot_read_has_failed_and_what_stands_beside_it_is_stored(
    orthanc: OrthancServer, make_series: MakeSeries, way: str
) -> None:
    """Though plugins may filter."""
    (image, *others) = make_series("outcome", 3)
    head = read(image)[:0x0040A170]
    head.file_meta = FileMetaDataset()
    head.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian
    file = BytesIO()
    dcmwrite(file, head, enforce_file_format=True)
    unreadable = file.getvalue() + TEXT_FOR_A_SEQUENCE
    uri, content, headers = "/instances", unreadable, {}
    if way != "rest":
        uri = "/dicom-web/studies"
        first, last = (other.read_bytes() for other in others)
        content, headers = make_multipart([first, unreadable, last])
    if "100" in way:
        headers["Expect"] = "100-continue"
    answer = orthanc.request("POST", uri, data=content, headers=headers)
    assert answer.status_code == 400
    origin, stored = ("RestApi", {}) if way == "rest" else ("Plugins", {("Plugins", "stored"): 2})
    metrics = scrape_when_counted(orthanc, 1 + sum(stored.values()))
    outcomes = metrics.group(INSTANCES, "origin", "outcome")
    assert outcomes == {(origin, "failed"): 1, **stored}
    (failed,) = orthanc.get_json("/perf/instances?outcome=Failed")
    assert failed["Reason"] == "Orthanc answered 400: it cannot read what was uploaded"
    assert failed["Origin"] == origin
    assert failed["Peer"] == "127.0.0.1"
    assert 0 < failed["Size"] < len(content) + 1000
