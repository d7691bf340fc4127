# SPDX-License-Identifier: GPL-3.0-or-later
"""Orthanc stops, and starts anew, as cleanly with the plugin as without, also under load."""

import contextlib
import re

import requests

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.load import keep_busy
from harness.metrics import INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer

STOPS = 3
RESETS = 3

# What a process says, or has said of it, when it does not end well
CRASH = re.compile(r"segmentation|terminate called|abort|corrupt|free\(\)|Sanitizer", re.IGNORECASE)

# Whoever sends at that moment loses the connection: storescu then waits for nothing more
DICOM_OPTIONS = {"DicomScpTimeout": 2}


def test_it_stops_cleanly_under_load(start_orthanc: StartOrthanc, make_series: MakeSeries) -> None:
    images = make_series("stop", 20)
    server = start_orthanc(options=DICOM_OPTIONS)
    for number in range(STOPS):
        if number > 0:
            server.start()
        with keep_busy(server, images):
            code = server.stop()
        assert code == 0
        assert not CRASH.search(server.log), server.log
        assert "Perf: the callback" not in server.log


def reset(server: OrthancServer) -> None:
    """Orthanc reads its configuration, and loads its plugins, again."""
    starts = server.log.count("Orthanc has started")
    server.request("POST", "/tools/reset", data="{}").raise_for_status()
    assert wait_until(lambda: server.log.count("Orthanc has started") > starts, 30)
    server.session.close()

    def answers() -> bool:
        with contextlib.suppress(requests.ConnectionError):
            return server.get("/system").status_code == 200
        return False

    assert wait_until(answers)


def test_it_works_after_each_reset(start_orthanc: StartOrthanc, make_series: MakeSeries) -> None:
    images = make_series("reset", 4)
    server = start_orthanc(options=DICOM_OPTIONS)
    calls = server.get_json("/perf/status")["Probe"]["RedirectedCalls"]
    server.request("PUT", "/perf/tuning", json={"DicomSockets": {"KeepAliveSeconds": 7}})
    for number in range(RESETS):
        if number % 2 == 1:
            with keep_busy(server, images):
                reset(server)
        else:
            reset(server)
        probe = server.get_json("/perf/status")["Probe"]
        assert probe["Installed"]
        assert probe["RedirectedCalls"] == calls
        assert server.get_json("/perf/tuning")["DicomSockets"]["KeepAliveSeconds"] == 7

        # Another one than before: everything is counted from zero, and with all its phases
        begun = scrape(server).sum(INSTANCES)
        clients.store(server, images, title=f"AFTER{number}")
        clients.upload(server, [image.read_bytes() for image in images])
        assert wait_until(lambda begun=begun: scrape(server).sum(INSTANCES) >= begun + 8)
        (peer,) = [p for p in server.get_json("/perf/peers") if p["Name"] == f"AFTER{number}"]
        assert peer["Receive"]["Instances"] == 4
        assert "Storage" in peer["Receive"]["PhaseShares"]
    assert not CRASH.search(server.log), server.log
