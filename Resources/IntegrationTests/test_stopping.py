# SPDX-License-Identifier: GPL-3.0-or-later
"""Orthanc stops, and starts anew, as cleanly with the plugin as without, also under load."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.acknowledged import AcknowledgedLoad
from harness.metrics import INSTANCES, get_peer, scrape, wait_until
from harness.numbered import NumberedImages, identify_numbered
from harness.orthanc import OrthancServer
from harness.process import keep_children_still, list_children
from harness.transcoding import JPEG_LOSSLESS_SV1, JPEG_LS, list_engines, tune

SENDERS = 4
WAYS = ["store", "upload"] * SENDERS
FEW_WAYS = ["store", "upload"] * 2
IMAGES = NumberedImages()

CLOSED = "DICOM server has stopped"
STOPS_WITHIN_SECONDS = 10  # an engine has 30 for an instance

STOPS = 5
RESETS = 3

# Orthanc's Lua engine, which stops first, waits until no instance has come in for 100 ms (1.10.1,
# also without the plugin): a load that never ends lets it wait forever
GOES_ON_SECONDS = 0.5
LUA_ENDS_SECONDS = 0.3

CRASH = re.compile(r"segmentation|terminate called|abort|corrupt|free\(\)|Sanitizer", re.IGNORECASE)

# Whoever sends at that moment loses the connection: storescu then waits for nothing more
DICOM_OPTIONS = {"DicomScpTimeout": 2}


def test_it_stops_cleanly_under_load(start_orthanc: StartOrthanc) -> None:
    server = start_orthanc(options=DICOM_OPTIONS)
    for number in range(STOPS):
        if number > 0:
            server.start()
        with AcknowledgedLoad(server, IMAGES, FEW_WAYS) as load:
            load.wait_for_each()
            server.ask_to_stop()
            time.sleep(GOES_ON_SECONDS)
        assert server.stop() == 0
        assert not CRASH.search(server.log), server.log
        assert "Perf: the callback" not in server.log


def test_engines_that_hang_do_not_keep_it_from_stopping(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    images = make_series("stop", 20)
    contents = [image.read_bytes() for image in images]
    server = start_orthanc()
    list_engines(server)
    tune(server, TransferSyntax=JPEG_LS)
    clients.upload(server, contents[:SENDERS], SENDERS)  # now there are programs at work

    def upload_share(sender: int) -> None:
        with contextlib.suppress(OSError, requests.RequestException):  # the server goes
            clients.upload(server, contents[sender::SENDERS])

    def upload_archive() -> None:
        with contextlib.suppress(OSError, requests.RequestException):
            clients.upload_zip(server, images)

    def are_all_held() -> bool:
        in_flight = server.get_json("/perf/status")["Ingest"]["InFlight"]["RestApi"]
        return in_flight == SENDERS + 1

    with keep_children_still(server.pid), ThreadPoolExecutor(SENDERS + 1) as pool:
        uploads = [pool.submit(upload_share, sender) for sender in range(SENDERS)]
        uploads.append(pool.submit(upload_archive))
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


def wait_until_answers(server: OrthancServer) -> None:
    server.session.close()

    def answers() -> bool:
        with contextlib.suppress(requests.ConnectionError):
            return server.get("/system").status_code == 200
        return False

    assert wait_until(answers)


def reset(server: OrthancServer, ways: list[str]) -> None:
    """Orthanc reads its configuration, and loads its plugins, again; asked to under such a load."""
    starts = server.log.count("Orthanc has started")
    with AcknowledgedLoad(server, IMAGES, ways) as load:
        load.wait_for_each()
        server.request("POST", "/tools/reset", data="{}").raise_for_status()
    assert wait_until(lambda: server.log.count("Orthanc has started") > starts, 30)
    wait_until_answers(server)


def send_until_closed(server: OrthancServer, ask: Callable[[], object]) -> list[int]:
    """What is acknowledged to senders until Orthanc, asked to end, has closed its servers."""
    with AcknowledgedLoad(server, IMAGES, WAYS) as load:
        load.wait_for(10 * SENDERS)
        ask()
        asked = time.monotonic()
        while CLOSED not in server.log:
            assert time.monotonic() - asked < STOPS_WITHIN_SECONDS
            with load.pause():
                time.sleep(LUA_ENDS_SECONDS)
            # A new Orthanc takes instances before its plugins know that it has started
            wait_until(lambda: CLOSED in server.log, GOES_ON_SECONDS)
    assert max(load.times.values()) > asked + LUA_ENDS_SECONDS
    return load.acknowledged


def check_syntax(server: OrthancServer, numbers: list[int]) -> None:
    syntaxes = Counter(
        server.get(f"/instances/{identify_numbered(number)}/metadata/TransferSyntax").text
        for number in numbers
    )
    assert syntaxes.keys() == {JPEG_LOSSLESS_SV1}, syntaxes


@pytest.mark.parametrize("engine", ["gdcm", "native"])
def test_what_is_acknowledged_after_the_signal_is_transcoded(
    start_orthanc: StartOrthanc, engine: str
) -> None:
    server = start_orthanc(options=DICOM_OPTIONS)
    list_engines(server)
    tune(server, Engine=engine, TransferSyntax=JPEG_LOSSLESS_SV1, Verify=engine == "native")
    acknowledged = send_until_closed(server, lambda: server.request("POST", "/tools/reset"))
    assert wait_until(lambda: "Orthanc has started" in server.log.partition(CLOSED)[2], 30)
    wait_until_answers(server)
    check_syntax(server, acknowledged)
    server.restart()
    acknowledged = send_until_closed(server, server.ask_to_stop)
    assert server.stop() == 0, server.log
    server.start()
    check_syntax(server, acknowledged)


def count_calls(server: OrthancServer) -> dict[str, int]:
    probe = server.get_json("/perf/status")["Probe"]
    assert probe["Installed"]
    return probe["RedirectedCalls"]


def test_it_works_after_each_reset(start_orthanc: StartOrthanc, make_series: MakeSeries) -> None:
    images = make_series("reset", 4)
    server = start_orthanc(options=DICOM_OPTIONS)
    calls = count_calls(server)
    server.tune(DicomSockets={"KeepAliveSeconds": 7})
    for number in range(RESETS):
        reset(server, FEW_WAYS if number % 2 == 1 else [])
        assert wait_until(lambda: count_calls(server) == calls)  # with those of other plugins
        assert server.get_json("/perf/tuning")["DicomSockets"]["KeepAliveSeconds"] == 7

        # Another one than before: everything is counted from zero, and with all its phases
        begun = scrape(server).sum(INSTANCES)
        server.delete_all()  # from 1.13.0 on, Orthanc stores nothing a second time
        clients.store(server, images, title=f"AFTER{number}")
        clients.upload(server, [image.read_bytes() for image in images])
        assert wait_until(lambda begun=begun: scrape(server).sum(INSTANCES) >= begun + 8)
        received = get_peer(server, f"AFTER{number}")
        assert received["Instances"] == 4
        assert "Storage" in received["PhaseShares"]
        assert sum(received["PhaseShares"].values()) == pytest.approx(1)
    assert not CRASH.search(server.log), server.log


def count_threads(server: OrthancServer) -> int:
    """Those at rest: none of a request."""
    counts: list[int] = []

    def is_at_rest() -> bool:
        counts.append(len(list(Path(f"/proc/{server.pid}/task").iterdir())))
        return len(counts) > 5 and len(set(counts[-5:])) == 1

    assert wait_until(is_at_rest, 60), counts
    return counts[-1]


def test_the_plugin_has_three_threads_at_rest(start_orthanc: StartOrthanc) -> None:
    plain = start_orthanc(plugins=[])
    count = count_threads(plain)
    plain.stop()
    server = start_orthanc()
    list_engines(server)  # their self-test is over
    assert wait_until(lambda: count_threads(server) == count + 3), count
