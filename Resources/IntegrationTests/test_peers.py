# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends to Orthanc peers over HTTP are followed as those to modalities are; failed ones count."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import advice, certificates
from harness.certificates import Certificate
from harness.images import Image
from harness.metrics import ASSOCIATIONS, PEER_INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import upload_to_send

SECONDS = 10  # what is over is counted within half a second, a call that fails a second later


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificates.make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def receivers(
    tmp_path_factory: pytest.TempPathFactory, certificate: Certificate
) -> Iterator[dict[str, OrthancServer]]:
    """Orthancs without the plugin: over HTTP, and over HTTPS."""
    environment = certificates.mend_https(tmp_path_factory.mktemp("ssl"))
    https = certificate.get_https_options()
    with (
        OrthancServer(tmp_path_factory.mktemp("http")) as http_receiver,
        OrthancServer(
            tmp_path_factory.mktemp("https"), options=https, environment=environment
        ) as https_receiver,
    ):
        yield {"http": http_receiver, "https": https_receiver}


@pytest.fixture(scope="module")
def silent() -> Iterator[int]:
    """The port of a socket that listens and never accepts."""
    with socket.create_server(("", 0), backlog=8) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def full() -> Iterator[int]:
    """Linux drops what asks for a connection while as many wait as were asked for (listen(2))."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as s:
        port = listener.getsockname()[1]
        for _ in range(4):
            waiting = s.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        yield port


@pytest.fixture(scope="module")
def orthanc(
    plugin: Path,
    tmp_path_factory: pytest.TempPathFactory,
    certificate: Certificate,
    receivers: dict[str, OrthancServer],
    silent: int,
    full: int,
) -> Iterator[OrthancServer]:
    """One Orthanc for all tests: each has a peer of its own, told apart by address and port."""
    http, https = receivers["http"].http_port, receivers["https"].http_port
    urls = {
        "plain": f"http://127.0.0.2:{http}",
        "named": f"http://localhost:{http}/",
        "tls": f"https://127.0.0.1:{https}",
        "nobody": f"http://localhost:{find_free_port()}",
        "noname": "http://nobody.invalid:8042",  # RFC 6761
        # connect(2) reaches no group: ENETUNREACH, whatever routes there are
        "noroute": "http://224.0.0.1:8042",
        "nowhere": f"http://127.0.0.3:{http}/nowhere/",
        "stranger": f"https://127.0.0.2:{https}",  # the certificate is for 127.0.0.1
        "other": f"https://127.0.0.4:{http}",  # a server of HTTP gets TLS
    }
    peers: dict[str, Any] = {name: [url] for name, url in urls.items()}
    peers |= {
        "silent": {"Url": f"http://127.0.0.1:{silent}", "Timeout": 1},
        "silenttls": {"Url": f"https://127.0.0.2:{silent}", "Timeout": 1},
        "full": {"Url": f"http://127.0.0.1:{full}", "Timeout": 1},
    }
    options = {
        "OrthancPeers": peers,
        "HttpsVerifyPeers": True,
        "HttpsCACertificates": str(certificate.certificate),
    }
    folder = tmp_path_factory.mktemp("orthanc")
    with OrthancServer(folder, [plugin], options=options) as server:
        yield server


@pytest.fixture(scope="module")
def identifiers(orthanc: OrthancServer, make_series: MakeSeries) -> list[str]:
    return upload_to_send(orthanc, make_series("store", 5))


def send(server: OrthancServer, peer: str, identifiers: list[str]) -> bool:
    body = {"Resources": identifiers, "Synchronous": True}
    return server.request("POST", f"/peers/{peer}/store", json=body).ok


def get_sent(server: OrthancServer, name: str) -> dict[str, Any]:
    found = [peer for peer in server.get_json("/perf/peers") if peer["Name"] == name]
    assert len(found) <= 1, f"{name} is there {len(found)} times"
    return found[0]["Send"] if found else {"Associations": {}}


def wait_for(server: OrthancServer, peer: str, outcome: str, count: int = 1) -> dict[str, Any]:
    """Until connections with this peer have ended so, and no other has."""

    def has_ended() -> bool:
        metrics = scrape(server)
        labels = {"peer": peer, "direction": "send"}
        return metrics.sum(ASSOCIATIONS, **labels, outcome=outcome) == count and (
            metrics.sum(ASSOCIATIONS, **labels) == count
        )

    assert wait_until(has_ended, SECONDS), scrape(server).group(ASSOCIATIONS, "peer", "outcome")
    return get_sent(server, peer)


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
    sent = wait_for(orthanc, peer, outcome)
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
    sent = wait_for(orthanc, peer, outcome)
    assert sent["Associations"][outcome.capitalize()] == 1
    if outcome == "rejected":
        assert sent["Associations"]["LatestRejection"] == "HTTP status 404"
        assert sent["Outcomes"]["Failed"] == 1


def test_a_peer_that_refuses_is_found_until_it_listens(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    images: list[Image] = make_series("store", 2)
    port = find_free_port()
    orthanc = start_orthanc(options={"OrthancPeers": {"cloud": [f"http://127.0.0.1:{port}/"]}})
    identifiers = upload_to_send(orthanc, images)
    for _ in range(3):
        assert not send(orthanc, "cloud", identifiers)
    finding = advice.find(orthanc, "failed-associations", "cloud")
    assert finding["Evidence"] == {"Failures": 3, "Outcome": "refused"}

    # The remedy: start the server there
    receiver = tmp_path / "receiver"
    receiver.mkdir()
    with OrthancServer(receiver, options={"HttpPort": port}):
        assert send(orthanc, "cloud", identifiers)
        assert advice.goes_away(orthanc, "failed-associations")
