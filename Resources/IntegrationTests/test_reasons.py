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
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer, find_free_port
from harness.receivers import describe_modality, upload_to_send
from harness.transcoding import change

ABORT = bytes([7, 0, 0, 0, 0, 4, 0, 0, 2, 0])  # A-ABORT (DICOM PS3.8 section 9.3.8)

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


ANSWERS = [
    (0x0000, "Stored", None),
    (0xA700, "Failed", "the receiver answered 0xA700: out of resources"),
    (ABORT, "Failed", "the association was aborted before the response"),
]


def answer_images(answer: int | bytes) -> list[evt.EventHandlerType]:
    """With this status, or with this PDU instead and the end."""

    def on_image(event: evt.Event) -> int:
        if isinstance(answer, int):
            return answer
        event.assoc.dul.socket.socket.sendall(answer)
        event.assoc.dul.socket.socket.shutdown(socket.SHUT_RDWR)
        return 0

    return [(evt.EVT_C_STORE, on_image)]


def send(server: OrthancServer, answer: int | bytes) -> None:
    """All instances, to a receiver that answers so."""
    port = server.get_json("/modalities/full/configuration")["Port"]
    entity = AE("FULL")
    entity.add_supported_context(CTImageStorage)
    receiver: Any = entity.start_server(
        ("127.0.0.1", port), block=False, evt_handlers=answer_images(answer)
    )
    body = {"Resources": server.get_json("/instances"), "Synchronous": True}
    try:
        server.request("POST", "/modalities/full/store", json=body)
    finally:
        receiver.shutdown()


def fetch(server: OrthancServer, answer: int | bytes) -> None:
    """The only study, by a C-GET whose images are answered so."""
    entity = AE("FETCHER")
    entity.add_requested_context(StudyRootQueryRetrieveInformationModelGet)
    entity.add_requested_context(CTImageStorage)
    association = entity.associate(
        "127.0.0.1",
        server.dicom_port,
        ext_neg=[build_role(CTImageStorage, scp_role=True)],
        evt_handlers=answer_images(answer),
    )
    keys = Dataset()
    keys.QueryRetrieveLevel = "STUDY"
    (study,) = server.get_json("/studies?expand")
    keys.StudyInstanceUID = study["MainDicomTags"]["StudyInstanceUID"]
    list(association.send_c_get(keys, StudyRootQueryRetrieveInformationModelGet))
    association.abort()


def test_what_leaves_is_named_with_what_the_receiver_answered(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    full = describe_modality(find_free_port(), "FULL")
    orthanc = start_orthanc(
        options={"DicomModalities": {"full": full}, "DicomAlwaysAllowGet": True}
    )
    upload_to_send(orthanc, make_series("reason", 1))
    count = 0
    for way, peer in [(send, "FULL"), (fetch, "FETCHER")]:
        for answer, outcome, reason in ANSWERS:
            way(orthanc, answer)
            count += 1
            *_, sent = list_instances(orthanc, count, "Send")
            assert (sent["Outcome"], sent.get("Reason")) == (outcome, reason), (peer, answer)
            assert (sent["ID"], sent["Peer"]) == (None, peer)
