# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin in an Orthanc like the official builds, with DCMTK, OpenSSL and CivetWeb inside.

The one that build-static-orthanc.sh makes, or PERF_STATIC_ORTHANC. What differs from Debian's: libc
is called by the executable itself, DCMTK switches Nagle's algorithm off, and HTTPS works.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.certificates import Certificate
from harness.images import Image
from harness.metrics import PEER_INSTANCES, STALLS, scrape, scrape_when_counted, wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import (
    Sending,
    SlowReceiver,
    StoreScp,
    describe_modality,
    send,
    upload_to_send,
)
from harness.senders import associate
from harness.sockets import Shown, read_options, show
from harness.transcoding import JPEG_LOSSLESS_SV1, decode, get_syntax, read, read_stored, tune
from harness.tuning import tune_sockets

PROGRAM = Path(
    os.environ.get("PERF_STATIC_ORTHANC", ROOT / "build" / "static-orthanc" / "Orthanc")
).resolve()

STORED = {"Receive", "Storage", "Sync", "Index", "Respond"}
STORED_BY_CSTORE = STORED | {"Parse", "Prepare", "Idle"}
SENT = {"Send", "Wait"}

COUNT = 20

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(),
    reason=f"there is no {PROGRAM}: Resources/IntegrationTests/build-static-orthanc.sh makes it",
)


@pytest.fixture
def start_static(start_orthanc: StartOrthanc, plugin: Path) -> StartOrthanc:
    def start(**options: Any) -> OrthancServer:  # noqa: ANN401
        return start_orthanc(program=PROGRAM, plugins=[plugin], options=options)

    return start


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("static", COUNT)


def list_stored(server: OrthancServer, origin: str) -> list[dict[str, Any]]:
    scrape_when_counted(server, COUNT)
    instances = server.get_json(f"/perf/instances?origin={origin}")
    assert len(instances) == COUNT
    return instances


def test_dcmtk_and_openssl_are_inside() -> None:
    linked = clients.get_output(["readelf", "-d", PROGRAM])
    assert not any(name in linked for name in ("libdcm", "libssl", "libcivetweb"))


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_what_comes_by_cstore_has_all_phases(
    start_static: StartOrthanc, certificate: Certificate, images: list[Image], tls: bool
) -> None:
    server = start_static(**certificate.get_dicom_options() if tls else {})
    arguments = certificate.get_dcmtk_arguments() if tls else []
    clients.store(server, images, "STATIC", arguments)
    for instance in list_stored(server, "DicomProtocol"):
        assert set(instance["Phases"]) == STORED_BY_CSTORE, instance
        assert instance["Peer"] == "STATIC"


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_what_is_uploaded_has_all_phases(
    start_static: StartOrthanc, certificate: Certificate, images: list[Image], tls: bool
) -> None:
    server = start_static(**certificate.get_https_options() if tls else {})
    assert server.url.startswith("https:") == tls
    for image in images:
        server.request("POST", "/instances", data=image.read_bytes()).raise_for_status()
    for instance in list_stored(server, "RestApi"):
        assert set(instance["Phases"]) >= STORED, instance


def check_no_delay(server: OrthancServer, look: Callable[[], Shown]) -> None:
    def is_no_delay() -> bool:
        return read_options(server, look().fd).no_delay

    for preset in ("stock", "tuned", "stock"):
        tune_sockets(server, Preset=preset)
        assert not wait_until(lambda: not is_no_delay(), 2), preset


def test_stock_sockets_are_as_dcmtk_made_them_when_accepted(start_static: StartOrthanc) -> None:
    server = start_static()
    tune_sockets(server, Preset="stock")
    association = associate(server)
    assert association.is_established
    try:
        check_no_delay(server, lambda: show(server, own_port=server.dicom_port))
        told = server.get_json("/perf/status")["DicomSockets"]
        assert [entry["InForce"]["TcpNoDelay"] for entry in told["Connections"]] == [True]
        assert not told["InForce"]["TcpNoDelay"]  # of a socket that nobody asked anything of
    finally:
        association.release()


def test_stock_sockets_are_as_dcmtk_made_them_when_outgoing(
    start_static: StartOrthanc, images: list[Image]
) -> None:
    port = find_free_port()
    server = start_static(DicomModalities={"slow": describe_modality(port, "SLOW")})
    tune_sockets(server, Preset="stock")
    identifiers = upload_to_send(server, images) * 5
    with SlowReceiver(port, image_seconds=0.2) as receiver, Sending(server, "slow", identifiers):
        assert wait_until(
            lambda: bool(server.get_json("/perf/status")["DicomSockets"]["Connections"]), 10
        )
        check_no_delay(server, lambda: show(server, port=port))
        receiver.hurry()


def count_stalls(server: OrthancServer, transfer: Callable[[], None]) -> float:
    """An image of one transfer."""
    before = scrape(server)
    transfer()
    expected = before.sum(PEER_INSTANCES) + COUNT
    assert wait_until(lambda: scrape(server).sum(PEER_INSTANCES) == expected, 10)
    return (scrape(server).sum(STALLS) - before.sum(STALLS)) / COUNT


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_an_untouched_receiver_no_longer_stalls(
    start_static: StartOrthanc, certificate: Certificate, images: list[Image], tls: bool
) -> None:
    port = find_free_port()
    options = certificate.get_dicom_options(is_server=False) if tls else {}
    options["DicomModalities"] = {"receiver": describe_modality(port, tls=tls)}
    server = start_static(**options)
    identifiers = upload_to_send(server, images)
    with StoreScp(port, *(certificate.get_dcmtk_arguments() if tls else [])):
        stalls = {}
        for preset in ("stock", "tuned"):
            tune_sockets(server, Preset=preset)
            stalls[preset] = count_stalls(server, lambda: send(server, "receiver", identifiers))
    # The receiver writes its responses in two pieces, and waits for the kernel's delayed ACK
    assert stalls["stock"] > 0.5 > 0.2 > stalls["tuned"], stalls
    for instance in server.get_json("/perf/instances?direction=Send"):
        assert set(instance["Phases"]) >= SENT, instance


def test_it_transcodes_and_stops(start_static: StartOrthanc, images: list[Image]) -> None:
    server = start_static()
    tune(server, Engine="native", TransferSyntax=JPEG_LOSSLESS_SV1)
    clients.store(server, images)
    for image in images:
        stored = read_stored(server, server.find_instance(image.sop_instance_uid))
        assert get_syntax(stored) == JPEG_LOSSLESS_SV1
        assert (decode(stored) == decode(read(image.path))).all()
    assert server.get_json("/perf/status")["Transcoding"]["PluginLock"]["Known"]
    assert server.stop() == 0, server.log
