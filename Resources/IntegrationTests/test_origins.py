# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways in that no client program of its own takes: another Orthanc, WebDAV, a Lua script."""

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import BYTES, INSTANCES, Metrics, scrape_when_counted
from harness.orthanc import OrthancServer


def check_stored(server: OrthancServer, counts: dict[str, int]) -> Metrics:
    metrics = scrape_when_counted(server, sum(counts.values()))
    expected = {(origin, "stored"): count for origin, count in counts.items()}
    assert metrics.group(INSTANCES, "origin", "outcome") == expected
    return metrics


def test_another_orthanc_sends_as_a_peer(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc()
    peers = {"OrthancPeers": {"receiver": [f"{orthanc.url}/"]}}
    sender = start_orthanc(below="sender", plugins=[], options=peers)
    identifiers = [sender.upload(image.read_bytes()) for image in make_series("store", 3)]
    sender.request("POST", "/peers/receiver/store", json=identifiers).raise_for_status()
    check_stored(orthanc, {"RestApi": 3})
    assert [peer["Name"] for peer in orthanc.get_json("/perf/peers")] == ["127.0.0.1"]


def test_what_comes_by_webdav_and_what_a_lua_script_stores_has_its_origin(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    first, second = (image.read_bytes() for image in make_series("store", 2))
    orthanc = start_orthanc()
    orthanc.request("PUT", "/webdav/uploads/image.dcm", data=first).raise_for_status()
    assert check_stored(orthanc, {"WebDav": 1}).sum(BYTES, origin="WebDav") == len(first)
    orthanc = start_orthanc(below="lua", lua=[clients.STORE_A_MODIFIED_COPY])
    orthanc.upload(second)
    check_stored(orthanc, {"RestApi": 1, "Lua": 1})
