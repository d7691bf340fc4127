# SPDX-License-Identifier: GPL-3.0-or-later
"""Without the probe no call is redirected; the listening socket gets the options."""

from dataclasses import replace

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import STALLS, get_peer, scrape_when_counted, wait_until
from harness.orthanc import Json, OrthancServer
from harness.senders import associate, transfer
from harness.sockets import read_options, show, show_listening
from harness.tuning import tune_sockets

NEED_THE_PROBE = {"Idle", "Parse", "Storage", "Sync", "Index", "Respond"}


@pytest.fixture(scope="module")
def orthanc(start_for_module: StartOrthanc) -> OrthancServer:
    return start_for_module(perf={"SocketProbe": False})


def test_what_needs_the_probe_is_absent(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    status = orthanc.get_json("/perf/status")
    assert status["Probe"]["Installed"] is False
    assert "SocketProbe" in status["Probe"]["Reason"]
    assert not any(status["Probe"]["RedirectedCalls"].values())
    assert status["DicomSockets"]["Connections"] == []
    images = make_series("store", 10)
    clients.store(orthanc, images[:5])
    clients.upload(orthanc, [image.read_bytes() for image in images[5:]])
    metrics = scrape_when_counted(orthanc, 10)
    assert STALLS not in metrics.list_names()
    instances = orthanc.get_json("/perf/instances")
    assert len(instances) == 10
    for instance in instances:
        assert instance["Phases"] and not NEED_THE_PROBE & set(instance["Phases"])
        assert "Stalls" not in instance
    peer = get_peer(orthanc, "STORESCU")
    assert "Associations" not in peer

    # In the history once the second is over
    def read_history() -> Json:
        return orthanc.get_json("/perf/history")["Receive"]

    assert wait_until(lambda: sum(read_history()["Instances"]) == 10, seconds=20)
    window = orthanc.get_json("/perf/status")["Windows"][2]["Receive"]
    assert window["Instances"] == 10
    for traffic in (peer, window, read_history()):
        assert not any(key.startswith("Stall") for key in traffic)


def test_the_listening_socket_gives_its_options_to_accepted_ones(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    listening = read_options(orthanc, show_listening(orthanc).fd)
    assert listening.no_delay
    assert (listening.keep_alive, listening.keep_alive_interval) == (60, 60)

    with transfer(orthanc, make_series("store", 2), "LIVE"):
        shown = show(orthanc, own_port=orthanc.dicom_port)
        accepted = read_options(orthanc, shown.fd)
        assert accepted.keep_alive == 60
        assert accepted.no_delay

        # What is open stays as it is, what comes next is changed
        tune_sockets(orthanc, Preset="stock", KeepAliveSeconds=9)
        still = read_options(orthanc, shown.fd)
        grown = {"receive_buffer": still.receive_buffer, "send_buffer": still.send_buffer}
        assert still == replace(accepted, **grown)

    association = associate(orthanc)
    assert association.is_established
    after = read_options(orthanc, show(orthanc, own_port=orthanc.dicom_port).fd)
    association.release()
    assert after.keep_alive == 9
    assert not after.no_delay
