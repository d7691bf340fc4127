# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever did not arrive can be identified in /perf/instances, and says why."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from pydicom.dataset import Dataset
from pynetdicom import AE, build_role, evt
from pynetdicom.sop_class import CTImageStorage, StudyRootQueryRetrieveInformationModelGet

from conftest import MakeSeries, StartOrthanc
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer, find_free_port
from harness.receivers import describe_modality, upload_to_send
from harness.transcoding import change

# A-ABORT and A-RELEASE-RQ (DICOM PS3.8 sections 9.3.8 and 9.3.6)
ABORT = bytes([7, 0, 0, 0, 0, 4, 0, 0, 2, 0])
RELEASE = bytes([5, 0, 0, 0, 0, 4, 0, 0, 0, 0])

REFUSE = "function ReceivedInstanceFilter(dicom, origin, info) return false end"


def list_instances(server: OrthancServer, count: int, direction: str) -> list[Json]:
    """The oldest first."""
    path = f"/perf/instances?direction={direction}"
    assert wait_until(lambda: len(server.get_json(path)) == count), server.get_json(path)
    return server.get_json(path)[::-1]


def drop(*keywords: str) -> Callable[[Dataset], None]:
    def edit(image: Dataset) -> None:
        for keyword in keywords:
            delattr(image, keyword)

    return edit


@pytest.mark.parametrize("probe", [True, False])
def test_what_was_not_stored_has_the_identifier_that_orthanc_gives_it(
    start_orthanc: StartOrthanc, make_series: MakeSeries, probe: bool
) -> None:
    (image,) = make_series("reason", 1)
    whole = image.read_bytes()
    nameless = change(image.path, drop("PatientID"))
    server = start_orthanc(perf={"SocketProbe": probe})
    stored = [server.request("POST", "/instances", data=file).json() for file in (whole, nameless)]
    identifiers = [answer["ID"] for answer in stored]

    files = [whole[:-1000], change(image.path, drop("SOPInstanceUID")), b"This is not DICOM."]
    for file in files:
        assert server.request("POST", "/instances", data=file).status_code >= 400
    told = list_instances(server, 5, "Receive")
    assert [entry["ID"] for entry in told] == [*identifiers, identifiers[0], None, None]
    assert [entry.get("Reason") for entry in told] == [
        None,
        None,
        "the DICOM file is truncated",
        "SOP Instance UID is missing",
        "not DICOM",
    ]

    server.stop()
    refusing = start_orthanc(lua=[REFUSE], perf={"SocketProbe": probe})
    refusing.delete_all()
    for file in (whole, nameless):
        refusing.request("POST", "/instances", data=file).raise_for_status()
    told = list_instances(refusing, 2, "Receive")
    assert [entry["ID"] for entry in told] == identifiers
    assert {entry["Outcome"] for entry in told} == {"Discarded"}
    assert {entry["Reason"] for entry in told} == {
        "refused by a filter, or stored already"
        if probe
        else "not stored; there is no response that says why"
    }


class FullReceiver:
    """A receiver that answers with this status, or with this PDU instead."""

    def __init__(self, port: int, answer: int | bytes) -> None:
        self._answer = answer
        self._entity = AE("FULL")
        self._entity.add_supported_context(CTImageStorage)
        handlers = [(evt.EVT_C_STORE, self._on_image)]
        address = ("127.0.0.1", port)
        self.server: Any = self._entity.start_server(address, block=False, evt_handlers=handlers)

    def _on_image(self, event: evt.Event) -> int:
        if isinstance(self._answer, bytes):
            event.assoc.dul.socket.socket.sendall(self._answer)
            return 0
        return self._answer


ANSWERS = [
    (0x0000, "Stored", None),
    (0xB007, "Stored", None),
    (0xA700, "Failed", "the receiver answered 0xA700: out of resources"),
    (0xC210, "Failed", "the receiver answered 0xC210: the receiver cannot understand it"),
    (ABORT, "Failed", "the association was aborted before the response"),
    (RELEASE, "Failed", "the receiver sent no response"),
]


def test_what_was_sent_is_named_with_what_the_receiver_answered(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    port = find_free_port()
    orthanc = start_orthanc(options={"DicomModalities": {"full": describe_modality(port, "FULL")}})
    images: list[Image] = make_series("reason", 1)
    (identifier,) = upload_to_send(orthanc, images)
    for count, (answer, outcome, reason) in enumerate(ANSWERS, 1):
        receiver = FullReceiver(port, answer)
        try:
            body = {"Resources": [identifier], "Synchronous": True}
            orthanc.request("POST", "/modalities/full/store", json=body)
            *_, sent = list_instances(orthanc, count, "Send")
        finally:
            receiver.server.shutdown()
        assert (sent["Outcome"], sent.get("Reason")) == (outcome, reason), answer
        assert (sent["ID"], sent["Peer"]) == (None, "FULL")


FETCHED = [
    (0xA700, "the receiver answered 0xA700: out of resources"),
    (ABORT, "the association was aborted before the response"),
    (None, "the connection was closed before the response"),
]


def fetch(server: OrthancServer, answer: int | bytes | None) -> None:
    """The only study, by C-GET; the image is answered with a status, a PDU or the end."""

    def on_image(event: evt.Event) -> int:
        if isinstance(answer, int):
            return answer
        if answer is not None:
            event.assoc.dul.socket.socket.sendall(answer)
        event.assoc.dul.socket.socket.shutdown(socket.SHUT_RDWR)
        return 0

    entity = AE("FETCHER")
    entity.add_requested_context(StudyRootQueryRetrieveInformationModelGet)
    entity.add_requested_context(CTImageStorage)
    association = entity.associate(
        "127.0.0.1",
        server.dicom_port,
        ext_neg=[build_role(CTImageStorage, scp_role=True)],
        evt_handlers=[(evt.EVT_C_STORE, on_image)],
    )
    keys = Dataset()
    keys.QueryRetrieveLevel = "STUDY"
    keys.StudyInstanceUID = server.get_json("/studies?expand")[0]["MainDicomTags"][
        "StudyInstanceUID"
    ]
    list(association.send_c_get(keys, StudyRootQueryRetrieveInformationModelGet))
    association.abort()


def test_what_a_peer_fetches_is_named_with_what_it_answered(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(options={"DicomAlwaysAllowGet": True})
    upload_to_send(orthanc, make_series("reason", 1))
    for count, (answer, reason) in enumerate(FETCHED, 1):
        fetch(orthanc, answer)
        *_, sent = list_instances(orthanc, count, "Send")
        assert (sent["Outcome"], sent["Reason"]) == ("Failed", reason)
        assert (sent["ID"], sent["Peer"]) == (None, "FETCHER")
