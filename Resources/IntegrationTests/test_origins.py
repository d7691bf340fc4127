# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways in that no client program of its own takes: another Orthanc, WebDAV, a Lua script."""

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import BYTES, INSTANCES, Metrics, scrape_when_counted
from harness.orthanc import OrthancServer


def count_stored(metrics: Metrics) -> dict[str, int]:
    return {
        origin: count
        for (origin, outcome), count in metrics.group(INSTANCES, "origin", "outcome").items()
        if outcome == "stored" and count > 0
    }


def test_another_orthanc_sends_as_a_peer(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    images = make_series("store", 3)
    orthanc = start_orthanc()
    peers = {"OrthancPeers": {"receiver": [f"{orthanc.url}/"]}}
    sender = start_orthanc(below="sender", plugins=[], options=peers)
    identifiers = [sender.upload(image.read_bytes()) for image in images]
    sender.request("POST", "/peers/receiver/store", json=identifiers).raise_for_status()

    metrics = scrape_when_counted(orthanc, 3)
    assert count_stored(metrics) == {"RestApi": 3}
    assert [peer["Name"] for peer in orthanc.get_json("/perf/peers")] == ["127.0.0.1"]


def test_webdav_uploads_have_their_origin(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    (image,) = make_series("store", 1)
    content = image.read_bytes()
    orthanc.request("PUT", "/webdav/uploads/image.dcm", data=content).raise_for_status()

    metrics = scrape_when_counted(orthanc, 1)
    assert count_stored(metrics) == {"WebDav": 1}
    assert metrics.sum(BYTES, origin="WebDav") == len(content)


def test_what_a_lua_script_stores_has_its_origin(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    orthanc = start_orthanc(lua=[clients.STORE_A_MODIFIED_COPY])
    clients.upload(orthanc, [image.read_bytes()])

    assert count_stored(scrape_when_counted(orthanc, 2)) == {"RestApi": 1, "Lua": 1}
