# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends to Orthanc peers over HTTP are followed as those to modalities are; failed ones count."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice
from harness.certificates import Certificate
from harness.metrics import PEER_INSTANCES, scrape, wait_for
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import upload_to_send


@pytest.fixture(scope="module")
def orthanc(
    start_for_module: StartOrthanc, certificate: Certificate, https: dict[str, Any]
) -> Iterator[OrthancServer]:
    """One Orthanc for all tests: each has a peer of its own, told apart by address and port.

    Those are Orthancs without the plugin, and a socket that listens and never accepts."""
    http = start_for_module(plugins=[]).http_port
    tls = start_for_module(plugins=[], options=https).http_port
    with socket.create_server(("", 0), backlog=8) as silent:
        urls = {
            "plain": f"http://127.0.0.2:{http}",
            "tls": f"https://127.0.0.1:{tls}",
            "nobody": f"http://localhost:{find_free_port()}",
            "nowhere": f"http://127.0.0.3:{http}/nowhere/",
            "stranger": f"https://127.0.0.2:{tls}",  # the certificate is for 127.0.0.1
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
        }
        peers: dict[str, Any] = {name: {"Url": url} for name, url in urls.items()}
        peers["silent"]["Timeout"] = 1
        trust = {"HttpsVerifyPeers": True, "HttpsCACertificates": str(certificate.certificate)}
        yield start_for_module(options={"OrthancPeers": peers, **trust})


@pytest.fixture(scope="module")
def identifiers(orthanc: OrthancServer, make_series: MakeSeries) -> list[str]:
    return upload_to_send(orthanc, make_series("store", 5))


def send(server: OrthancServer, peer: str, identifiers: list[str]) -> bool:
    body = {"Resources": identifiers, "Synchronous": True}
    return server.request("POST", f"/peers/{peer}/store", json=body).ok


@pytest.mark.parametrize(("peer", "outcome"), [("plain", "released"), ("tls", "encrypted")])
def test_instances_are_followed(
    orthanc: OrthancServer, identifiers: list[str], peer: str, outcome: str
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
        ("nowhere", "rejected"),
        ("stranger", "tls"),
        ("silent", "timeout"),
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
