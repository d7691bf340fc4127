# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is not let in by its certificate leaves no instance and hides nobody: DICOM TLS and HTTPS."""

import subprocess

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.certificates import Certificate, make_certificate
from harness.images import Image
from harness.metrics import ASSOCIATIONS, PEER_INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import StoreScp, describe_modality, upload_to_send

COUNT = 4


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("stranger"))


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("certificates", COUNT)


def get_arguments(own: Certificate | None, server: Certificate) -> list[str]:
    """DCMTK's, of who has this certificate, or none, and trusts the server."""
    begin = ["--enable-tls", str(own.key), str(own.certificate)] if own else ["--anonymous-tls"]
    return [*begin, "--add-cert-file", str(server.certificate)]


def is_stored(server: OrthancServer, images: list[Image], arguments: list[str]) -> bool:
    command = clients.make_store_command(server.dicom_port, images, "CT_ROOM_1", arguments)
    return subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 0


def count_associations(server: OrthancServer) -> dict[tuple[str, ...], int]:
    return scrape(server).group(ASSOCIATIONS, "direction", "outcome")


def test_only_a_client_with_a_trusted_certificate_stores(
    start_orthanc: StartOrthanc,
    certificate: Certificate,
    stranger: Certificate,
    images: list[Image],
) -> None:
    server = start_orthanc(options=certificate.get_dicom_options())
    for arguments in (get_arguments(stranger, certificate), get_arguments(None, certificate), []):
        assert not is_stored(server, images, arguments)
    assert is_stored(server, images, get_arguments(certificate, certificate))

    assert wait_until(lambda: scrape(server).sum(PEER_INSTANCES) == COUNT)
    expected = {("receive", "encrypted"): 3, ("receive", "incomplete"): 1}
    assert wait_until(lambda: count_associations(server) == expected)
    assert server.get_json("/statistics")["CountInstances"] == COUNT
    assert scrape(server).group(PEER_INSTANCES, "peer") == {("CT_ROOM_1",): COUNT}
    associations = scrape(server).group(ASSOCIATIONS, "peer", "outcome")
    assert associations[("CT_ROOM_1", "encrypted")] == 1  # Orthanc told its title
    assert associations[("other", "encrypted")] == 2
    assert server.get_json("/perf/status")["DicomSockets"]["Connections"] == []
    assert server.get_json("/perf/status")["CallbackFailures"] == {}


def test_a_receiver_that_wants_another_certificate_gets_nothing(
    start_orthanc: StartOrthanc,
    certificate: Certificate,
    stranger: Certificate,
    images: list[Image],
) -> None:
    port = find_free_port()
    options = certificate.get_dicom_options(is_server=False)
    modality = describe_modality(port, tls=True) | {"Port": str(port)}  # as it may be written
    options["DicomModalities"] = {"receiver": modality}
    server = start_orthanc(options=options)
    identifiers = upload_to_send(server, images)

    def send() -> int:
        path = "/modalities/receiver/store"
        return server.request("POST", path, json=identifiers).status_code

    # It trusts itself alone, and Orthanc trusts the other one
    with StoreScp(port, *get_arguments(stranger, stranger)):
        assert send() != 200
    with StoreScp(port, *certificate.get_dcmtk_arguments()):
        assert send() == 200

    assert wait_until(lambda: scrape(server).sum(PEER_INSTANCES, direction="send") == COUNT)
    assert wait_until(
        lambda: count_associations(server) == {("send", "tls"): 1, ("send", "encrypted"): 1}
    )
    assert server.get_json("/perf/status")["DicomSockets"]["Connections"] == []
