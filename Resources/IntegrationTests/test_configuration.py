# SPDX-License-Identifier: GPL-3.0-or-later
"""The section "Perf" of Orthanc's configuration: what is wrong stops the start, in one line."""

from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.orthanc import Json, OrthancDidNotStartError


@pytest.mark.parametrize(
    ("perf", "key", "allowed"),
    [
        ("on", "Perf", "object"),
        ({"Enabled": "yes"}, "Perf.Enabled", "true or false"),
        ({"SocketProbe": 1}, "Perf.SocketProbe", "true or false"),
        ({"RecentInstances": -1}, "Perf.RecentInstances", "an integer from 0"),
        ({"MaximumPeers": "many"}, "Perf.MaximumPeers", "an integer from 1"),
        ({"AllowTuning": 0}, "Perf.AllowTuning", "true or false"),
        ({"Tuning": []}, "Perf.Tuning", "object"),
        (
            {"Tuning": {"DicomSockets": {"ReceiveBuffer": "big"}}},
            "Perf.Tuning.DicomSockets.ReceiveBuffer",
            '"auto"',
        ),
        (
            {"Tuning": {"IngestTranscoding": {"Engine": "magic"}}},
            "Perf.Tuning.IngestTranscoding.Engine",
            '"native"',
        ),
    ],
)
def test_a_wrong_value_stops_the_start_with_one_clear_line(
    start_orthanc: StartOrthanc,
    perf: Json,
    key: str,
    allowed: str,
) -> None:
    with pytest.raises(OrthancDidNotStartError) as stopped:
        start_orthanc(perf=perf)
    lines = [line for line in str(stopped.value).splitlines() if "allowed" in line]
    assert len(lines) == 1, str(stopped.value)
    assert key in lines[0] and allowed in lines[0]


def test_an_unknown_key_warns_and_names_the_nearest(start_orthanc: StartOrthanc) -> None:
    orthanc = start_orthanc(
        perf={"RecentInstance": 5, "Tuning": {"DicomSockets": {"NoDelay": True}}}
    )
    warnings = [line for line in orthanc.log.splitlines() if "Unknown key" in line]
    assert len(warnings) == 2
    assert "Perf.RecentInstance" in warnings[0] and "Perf.RecentInstances" in warnings[0]
    assert "Perf.Tuning.DicomSockets.TcpNoDelay" in warnings[1]


@pytest.mark.parametrize(
    "perf",
    [
        {"RecentInstances": None, "AllowTuning": None, "Tuning": None},
        {"Tuning": {"DicomSockets": None, "IngestTranscoding": {"Engine": None}}},
    ],
)
def test_a_null_is_as_good_as_no_key(start_orthanc: StartOrthanc, perf: Json) -> None:
    tuning = start_orthanc(perf=perf).get_json("/perf/tuning?sources")
    sources = {entry["Source"] for section in tuning.values() for entry in section.values()}
    assert sources == {"Default"}


def test_without_a_section_everything_works(start_orthanc: StartOrthanc) -> None:
    assert start_orthanc(perf=None).get("/perf/status").status_code == 200


def test_disabled_it_leaves_no_route_and_no_hook(
    start_orthanc: StartOrthanc, other_plugin: Path, plugin: Path, make_series: MakeSeries
) -> None:
    # The other plugin, loaded later, gets the one received-instance callback that Orthanc has
    orthanc = start_orthanc(
        plugins=[plugin, other_plugin],
        perf={"Enabled": False},
        options={"OtherPlugin": {"HoldReceived": True}},
    )
    for path in ("/perf", "/perf/status", "/perf/metrics", "/perf/tuning"):
        assert orthanc.get(path).status_code == 404
    clients.upload(orthanc, [image.read_bytes() for image in make_series("store", 2)])
    assert orthanc.get_json("/statistics")["CountInstances"] == 2
    assert "orthanc_perf_" not in orthanc.get("/tools/metrics-prometheus").text


def test_the_number_of_recent_instances_is_bounded(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(perf={"RecentInstances": 3})
    clients.upload(orthanc, [image.read_bytes() for image in make_series("store", 5)])
    assert len(orthanc.get_json("/perf/instances?limit=100")) == 3


def test_the_number_of_peers_is_bounded(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(perf={"MaximumPeers": 2})
    images = make_series("store", 5)
    for number, image in enumerate(images):
        clients.store(orthanc, [image], title=f"PEER{number}")
    names = {peer["Name"] for peer in orthanc.get_json("/perf/peers")}
    assert len(names) == 3
    assert "other" in names
