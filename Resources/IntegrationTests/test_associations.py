# SPDX-License-Identifier: GPL-3.0-or-later
"""Associations: who asked for them, how they ended, and what they cost to set up."""

from collections.abc import Iterator

import pytest
from pynetdicom import AE
from pynetdicom.sop_class import Verification

from conftest import MakeSeries, StartOrthanc
from harness import clients, wire
from harness.images import Image
from harness.metrics import (
    ASSOCIATIONS,
    PREFIX,
    get_peer,
    scrape,
    wait_for,
    wait_until,
)
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import SlowReceiver, StoreScp, describe_modality, send, upload_to_send
from harness.senders import associate

SETUP = PREFIX + "association_setup_seconds"
OPEN = PREFIX + "associations_open"

SECONDS = 10

PATIENCE_ASKED = 1.0


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    names = "SLOW REJECTED NOBODY NOROUTE NONAME CHOOSY LATE"
    with wire.full_queue() as full:
        yield {name: find_free_port() for name in names.split()} | {"FULL": full}


@pytest.fixture(scope="module")
def orthanc(start_for_module: StartOrthanc, ports: dict[str, int]) -> OrthancServer:
    """One Orthanc for all tests: each has peers of its own. It listens to its own title only."""
    modalities = {name.lower(): describe_modality(port, name) for name, port in ports.items()}
    modalities["nobody"]["Host"] = "localhost"
    modalities["full"]["Timeout"] = 1
    # connect(2) reaches no group: ENETUNREACH, whatever routes there are
    modalities["noroute"]["Host"] = "224.0.0.1"
    modalities["noname"]["Host"] = "nobody.invalid"  # RFC 6761
    return start_for_module(options={"DicomCheckCalledAet": True, "DicomModalities": modalities})


@pytest.fixture
def images(make_series: MakeSeries) -> list[Image]:
    return make_series("store", 5)


def test_a_peer_has_its_titles_version_pdu_length_and_connection(
    orthanc: OrthancServer, images: list[Image]
) -> None:
    clients.store(orthanc, images, "TITLED", ["--max-pdu", "32768"])
    peer = wait_for(orthanc, "TITLED", "released")
    assert peer["CallingTitle"] == "TITLED"
    assert peer["CalledTitle"] == "ORTHANC"
    assert peer["ImplementationVersion"].startswith("OFFIS_DCMTK_")
    assert peer["MaximumPduLength"] == 32768
    assert peer["Associations"]["InstancesPerAssociation"] == len(images)
    # Besides the images, their commands and the frames around both
    sent = sum(image.get_size() for image in images)
    assert 0.99 * sent < peer["Associations"]["BytesPerAssociation"] < 1.05 * sent
    assert 0 < peer["Associations"]["SetupTime"]["Latest"] < 5

    tcp = peer["Tcp"]
    assert 0 < tcp["RoundTrip"] < 1
    assert tcp["SendMss"] > 500 and tcp["ReceiveMss"] > 500
    assert tcp["Retransmits"] >= 0  # a busy machine acknowledges late, also on loopback
    labels = {"peer": "TITLED", "direction": "receive"}
    metrics = scrape(orthanc)
    assert metrics.sum(PREFIX + "peer_round_trip_seconds", **labels) == tcp["RoundTrip"]
    assert metrics.sum(PREFIX + "peer_retransmits_total", **labels) == tcp["Retransmits"]
    assert metrics.sum(PREFIX + "peer_send_mss_bytes", **labels) == tcp["SendMss"]


def test_an_association_that_orthanc_rejects(orthanc: OrthancServer) -> None:
    # On a busy machine pynetdicom may see the connection's end before the rejection that it read
    assert not associate(orthanc, "REJECTED", called="SOMEBODY").is_established
    assert wait_for(orthanc, "REJECTED", "rejected")["CalledTitle"] == "SOMEBODY"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("NOBODY", "refused"),
        ("NOROUTE", "unreachable"),
        ("NONAME", "unresolved"),
        ("FULL", "timeout"),
    ],
)
def test_a_destination_that_cannot_be_called(
    orthanc: OrthancServer, name: str, outcome: str
) -> None:
    assert not orthanc.request("POST", f"/modalities/{name.lower()}/echo", json={}).ok
    called = wait_for(orthanc, name, outcome, "send")["Associations"]
    assert "ConnectTime" not in called


def test_a_destination_that_rejects(orthanc: OrthancServer, ports: dict[str, int]) -> None:
    choosy = AE("SOMEBODY")
    choosy.require_called_aet = True
    choosy.add_supported_context(Verification)
    server = choosy.start_server(("127.0.0.1", ports["CHOOSY"]), block=False)
    assert not orthanc.request("POST", "/modalities/choosy/echo", json={}).ok
    server.shutdown()
    rejected = wait_for(orthanc, "CHOOSY", "rejected", "send")["Associations"]
    assert rejected["LatestRejection"] == "called AE title not recognized"


def test_a_store_that_nobody_listens_to_fails_and_the_next_one_counts_as_ever(
    orthanc: OrthancServer, images: list[Image], ports: dict[str, int]
) -> None:
    identifiers = upload_to_send(orthanc, images)
    answer = orthanc.request("POST", "/modalities/late/store", json=identifiers)
    assert not answer.ok
    wait_for(orthanc, "LATE", "refused", "send")
    with StoreScp(ports["LATE"]):
        send(orthanc, "late", identifiers)

    def is_released() -> bool:
        counts = get_peer(orthanc, "LATE", "Send")["Associations"]
        return counts["Refused"] == counts["Released"] == 1

    assert wait_until(is_released, SECONDS)
    assert get_peer(orthanc, "LATE", "Send")["Instances"] == len(images)

    failed = sum(
        scrape(orthanc).sum(ASSOCIATIONS, direction="send", outcome=outcome)
        for outcome in ("refused", "timeout", "unreachable", "unresolved", "rejected")
    )
    assert failed > 0
    # The point of this second is not over
    assert wait_until(lambda: sum(orthanc.get_json("/perf/history")["FailedCalls"]) == failed)


def test_an_association_that_the_peer_aborts(orthanc: OrthancServer, images: list[Image]) -> None:
    clients.store(orthanc, images, "ABORTED", ["--abort"])
    wait_for(orthanc, "ABORTED", "aborted")


def test_a_peer_that_is_slow_to_accept_stands_out(
    orthanc: OrthancServer, images: list[Image], ports: dict[str, int]
) -> None:
    before = scrape(orthanc).sum(SETUP + "_count", direction="send")
    with SlowReceiver(ports["SLOW"], association_seconds=PATIENCE_ASKED):
        send(orthanc, "slow", upload_to_send(orthanc, images))

    peer = wait_for(orthanc, "SLOW", "released", "send")
    *others, first = orthanc.get_json("/perf/instances?peer=SLOW")
    assert len(others) == len(images) - 1
    assert first["Phases"]["Associate"] >= PATIENCE_ASKED > first["Phases"]["Connect"]
    for instance in others:
        assert {"Send", "Wait", "Idle"} <= set(instance["Phases"])
        assert not {"Connect", "Associate"} & set(instance["Phases"])

    assert peer["Associations"]["SetupTime"]["Latest"] >= PATIENCE_ASKED
    assert peer["Associations"]["ConnectTime"]["Latest"] < PATIENCE_ASKED
    assert (peer["CallingTitle"], peer["CalledTitle"]) == ("ORTHANC", "SLOW")
    metrics = scrape(orthanc)
    assert metrics.sum(SETUP + "_count", direction="send") == before + 1
    assert metrics.sum(SETUP + "_sum", direction="send") >= PATIENCE_ASKED
    assert metrics.sum(PREFIX + "peer_phase_seconds_total", peer="SLOW", phase="associate") >= 1
