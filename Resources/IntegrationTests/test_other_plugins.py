# SPDX-License-Identifier: GPL-3.0-or-later
"""Beside the plugins of others, which may hold a hook or refuse instances."""

from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import INSTANCES, scrape_when_counted
from harness.orthanc import DICOMWEB_PLUGIN


@pytest.mark.parametrize("is_first", [False, True])
def test_instances_are_still_counted_with_their_phases_and_it_is_said_who_is_missing(
    start_orthanc: StartOrthanc,
    plugin: Path,
    other_plugin: Path,
    make_series: MakeSeries,
    is_first: bool,
) -> None:
    """Orthanc gives the received-instance callback to one plugin only: the other one has it."""
    plugins = [other_plugin, plugin] if is_first else [plugin, other_plugin]
    options = {"OtherPlugin": {"HoldReceived": True}}
    orthanc = start_orthanc(plugins=[*plugins, DICOMWEB_PLUGIN], options=options)
    assert "received-instance callback" in orthanc.log
    assert "received-instance callback" in orthanc.get("/perf/status").text
    images = make_series("store", 20)
    clients.store(orthanc, images[:5])
    clients.upload(orthanc, [image.read_bytes() for image in images[5:10]], 2)
    clients.upload_zip(orthanc, images[10:15])
    clients.store_over_web(orthanc, images[15:])
    counts = scrape_when_counted(orthanc, 20).group(INSTANCES, "origin", "outcome")
    assert counts == {
        ("DicomProtocol", "stored"): 5,
        ("RestApi", "stored"): 10,
        ("Plugins", "stored"): 5,
    }
    instances = orthanc.get_json("/perf/instances")
    assert len(instances) == 20
    assert all(instance["Phases"] and instance["Duration"] > 0 for instance in instances)


@pytest.mark.parametrize("way", ["C-STORE", "upload"])
@pytest.mark.parametrize("is_first", [False, True])
def test_what_another_plugin_uploads_when_it_is_told_of_an_instance(
    start_orthanc: StartOrthanc,
    plugin: Path,
    other_plugin: Path,
    make_series: MakeSeries,
    way: str,
    is_first: bool,
) -> None:
    outer, inner = make_series("store", 2)
    plugins = [other_plugin, plugin] if is_first else [plugin, other_plugin]
    orthanc = start_orthanc(plugins=plugins, options={"OtherPlugin": {"StoreToo": str(inner.path)}})
    if way == "C-STORE":
        clients.store(orthanc, [outer])
    else:
        clients.upload(orthanc, [outer.read_bytes()])
    counts = scrape_when_counted(orthanc, 2).group(INSTANCES, "origin", "outcome")
    origin = "DicomProtocol" if way == "C-STORE" else "RestApi"
    assert counts == {(origin, "stored"): 1, ("Plugins", "stored"): 1}
    found = {entry["Origin"]: entry for entry in orthanc.get_json("/perf/instances")}
    assert {name: entry["ID"] for name, entry in found.items()} == {
        origin: orthanc.find_instance(outer.sop_instance_uid),
        "Plugins": orthanc.find_instance(inner.sop_instance_uid),
    }
    if way == "C-STORE":  # its sender has sent one
        assert found["Plugins"].get("Peer", "") != found[origin]["Peer"]
        assert "Respond" not in found["Plugins"]["Phases"]


def test_what_another_plugin_refuses_is_counted_as_discarded(
    start_orthanc: StartOrthanc,
    plugin: Path,
    other_plugin: Path,
    make_series: MakeSeries,
) -> None:
    orthanc = start_orthanc(
        plugins=[plugin, other_plugin], options={"OtherPlugin": {"DiscardTitle": "REFUSED"}}
    )
    images = make_series("store", 15)
    clients.store(orthanc, images[:10], title="REFUSED")
    clients.store(orthanc, images[10:], title="WELCOME")
    counts = scrape_when_counted(orthanc, 15).group(INSTANCES, "origin", "outcome")
    assert counts == {("DicomProtocol", "discarded"): 10, ("DicomProtocol", "stored"): 5}
