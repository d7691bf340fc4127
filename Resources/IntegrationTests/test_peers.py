# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends to Orthanc peers over HTTP are followed as those to modalities are; failed ones count."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice, certificates, wire
from harness.certificates import Certificate
from harness.metrics import PEER_INSTANCES, scrape, wait_for
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import upload_to_send


@pytest.fixture(scope="module")
def receivers(
    tmp_path_factory: pytest.TempPathFactory,
    start_for_module: StartOrthanc,
    certificate: Certificate,
) -> dict[str, OrthancServer]:
    """Orthancs without the plugin: over HTTP, and over HTTPS."""
    environment = certificates.mend_https(tmp_path_factory.mktemp("ssl"))
    https = certificate.get_https_options()
    return {
        "http": start_for_module(plugins=[]),
        "https": start_for_module(plugins=[], options=https, environment=environment),
    }


@pytest.fixture(scope="module")
def silent() -> Iterator[int]:
    """The port of a socket that listens and never accepts."""
    with socket.create_server(("", 0), backlog=8) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def full() -> Iterator[int]:
    with wire.full_queue() as port:
        yield port


@pytest.fixture(scope="module")
def orthanc(
    start_for_module: StartOrthanc,
    certificate: Certificate,
    receivers: dict[str, OrthancServer],
    silent: int,
    full: int,
) -> OrthancServer:
    """One Orthanc for all tests: each has a peer of its own, told apart by address and port."""
    http, tls = receivers["http"].http_port, receivers["https"].http_port
    urls = {
        "plain": f"http://127.0.0.2:{http}",
        "named": f"http://localhost:{http}/",
        "tls": f"https://127.0.0.1:{tls}",
        "nobody": f"http://localhost:{find_free_port()}",
        "noname": "http://nobody.invalid:8042",  # RFC 6761
        # connect(2) reaches no group: ENETUNREACH, whatever routes there are
        "noroute": "http://224.0.0.1:8042",
        "nowhere": f"http://127.0.0.3:{http}/nowhere/",
        "stranger": f"https://127.0.0.2:{tls}",  # the certificate is for 127.0.0.1
        "other": f"https://127.0.0.4:{http}",  # a server of HTTP gets TLS
    }
    peers: dict[str, Any] = {name: [url] for name, url in urls.items()}
    peers |= {
        "silent": {"Url": f"http://127.0.0.1:{silent}", "Timeout": 1},
        "silenttls": {"Url": f"https://127.0.0.2:{silent}", "Timeout": 1},
        "full": {"Url": f"http://127.0.0.1:{full}", "Timeout": 1},
    }
    trusted = str(certificate.certificate)
    https = {"HttpsVerifyPeers": True, "HttpsCACertificates": trusted}
    return start_for_module(options={"OrthancPeers": peers, **https})


@pytest.fixture(scope="module")
def identifiers(orthanc: OrthancServer, make_series: MakeSeries) -> list[str]:
    return upload_to_send(orthanc, make_series("store", 5))


def send(server: OrthancServer, peer: str, identifiers: list[str]) -> bool:
    body = {"Resources": identifiers, "Synchronous": True}
    return server.request("POST", f"/peers/{peer}/store", json=body).ok


@pytest.mark.parametrize(
    ("peer", "outcome"), [("plain", "released"), ("named", "released"), ("tls", "encrypted")]
)
def test_instances_are_followed(
    orthanc: OrthancServer,
    receivers: dict[str, OrthancServer],
    identifiers: list[str],
    peer: str,
    outcome: str,
) -> None:
    assert send(orthanc, peer, identifiers)
    sent = wait_for(orthanc, peer, outcome, "send")
    assert sent["Instances"] == sent["Outcomes"]["Stored"] == len(identifiers)
    size = sum(len(orthanc.get_file(identifier)) for identifier in identifiers)
    assert size < sent["Bytes"] < 1.01 * size + 300 * len(identifiers)
    times = sent["PhaseTimes"]
    assert 0 < times["Send"] < 5 and 0 < times["Wait"] < 20 and 0 < times["Connect"] < 5
    metrics = scrape(orthanc)
    assert metrics.sum(PEER_INSTANCES, peer=peer, direction="send") == len(identifiers)


@pytest.mark.parametrize(
    ("peer", "outcome"),
    [
        ("nobody", "refused"),
        ("noname", "unresolved"),
        ("noroute", "unreachable"),
        ("nowhere", "rejected"),
        ("stranger", "tls"),
        ("other", "tls"),
        ("silent", "timeout"),
        ("silenttls", "timeout"),
        ("full", "timeout"),
    ],
)
def test_a_send_that_fails_is_counted_once(
    orthanc: OrthancServer, identifiers: list[str], peer: str, outcome: str
) -> None:
    if peer == "nobody":  # what a reader has Orthanc ask is no send
        assert not orthanc.request("GET", f"/peers/{peer}/system").ok
    assert not send(orthanc, peer, identifiers[:1])
    sent = wait_for(orthanc, peer, outcome, "send")
    if outcome == "rejected":
        assert sent["Associations"]["LatestRejection"] == "HTTP status 404"
        assert sent["Outcomes"]["Failed"] == 1


def test_a_peer_that_refuses_is_found_until_it_listens(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    port = find_free_port()
    orthanc = start_orthanc(options={"OrthancPeers": {"cloud": [f"http://127.0.0.1:{port}/"]}})
    identifiers = upload_to_send(orthanc, make_series("store", 2))
    for _ in range(3):
        assert not send(orthanc, "cloud", identifiers)
    finding = advice.find(orthanc, "failed-associations", "cloud")
    assert finding["Evidence"] == {"Failures": 3, "Outcome": "refused"}

    start_orthanc(below="receiver", plugins=[], options={"HttpPort": port})
    assert send(orthanc, "cloud", identifiers)
    assert advice.goes_away(orthanc, "failed-associations")
