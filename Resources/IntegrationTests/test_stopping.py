# SPDX-License-Identifier: GPL-3.0-or-later
"""Orthanc stops, and starts anew, as cleanly with the plugin as without, also under load."""

import contextlib
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.load import keep_busy
from harness.metrics import INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer
from harness.process import keep_children_still, list_children
from harness.transcoding import JPEG_LS, list_engines, tune

SENDERS = 4
STOPS_WITHIN_SECONDS = 10  # an engine has 30 for an instance

STOPS = 5
RESETS = 3

# Orthanc's Lua engine, which stops first, waits until no instance has come in for 100 ms (1.10.1,
# also without the plugin): a load that never ends lets it wait forever
GOES_ON_SECONDS = 0.5

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
            server.ask_to_stop()
            time.sleep(GOES_ON_SECONDS)
        assert server.stop() == 0
        assert not CRASH.search(server.log), server.log
        assert "Perf: the callback" not in server.log


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"])
def test_engines_that_hang_do_not_keep_it_from_stopping(
    start_orthanc: StartOrthanc, make_series: MakeSeries, engine: str
) -> None:
    contents = [image.read_bytes() for image in make_series("stop", 20)]
    server = start_orthanc()
    list_engines(server)
    tune(server, Engine=engine, TransferSyntax=JPEG_LS)
    clients.upload(server, contents[:SENDERS], SENDERS)  # now there are programs at work

    def upload_share(sender: int) -> None:
        with contextlib.suppress(OSError, requests.RequestException):  # the server goes
            clients.upload(server, contents[sender::SENDERS])

    def are_all_held() -> bool:
        in_flight = server.get_json("/perf/status")["Ingest"]["InFlight"]["RestApi"]
        return in_flight == SENDERS

    with keep_children_still(server.pid), ThreadPoolExecutor(SENDERS) as pool:
        uploads = [pool.submit(upload_share, sender) for sender in range(SENDERS)]
        assert wait_until(are_all_held)
        with keep_children_still(server.pid):  # also those that were started for the load
            programs = list_children(server.pid)
            assert programs
            begin = time.monotonic()
            assert server.stop() == 0, server.log
            assert time.monotonic() - begin < STOPS_WITHIN_SECONDS
        for upload in uploads:
            upload.result()
    assert not [pid for pid in programs if Path(f"/proc/{pid}").exists()]
    assert not CRASH.search(server.log), server.log


def reset(server: OrthancServer, load: contextlib.AbstractContextManager[None]) -> None:
    """Orthanc reads its configuration, and loads its plugins, again; asked to under a load."""
    starts = server.log.count("Orthanc has started")
    with load:
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
        is_loaded = number % 2 == 1
        reset(server, keep_busy(server, images) if is_loaded else contextlib.nullcontext())
        probe = server.get_json("/perf/status")["Probe"]
        assert probe["Installed"]
        assert probe["RedirectedCalls"] == calls
        assert server.get_json("/perf/tuning")["DicomSockets"]["KeepAliveSeconds"] == 7

        # Another one than before: everything is counted from zero, and with all its phases
        begun = scrape(server).sum(INSTANCES)
        server.delete_all()  # from 1.13.0 on, Orthanc stores nothing a second time
        clients.store(server, images, title=f"AFTER{number}")
        clients.upload(server, [image.read_bytes() for image in images])
        assert wait_until(lambda begun=begun: scrape(server).sum(INSTANCES) >= begun + 8)
        (peer,) = [p for p in server.get_json("/perf/peers") if p["Name"] == f"AFTER{number}"]
        assert peer["Receive"]["Instances"] == 4
        assert "Storage" in peer["Receive"]["PhaseShares"]
    assert not CRASH.search(server.log), server.log
