# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin's own code under AddressSanitizer and UndefinedBehaviorSanitizer, in a real Orthanc.

Orthanc itself is as Debian built it: the sanitizer's library is loaded before it, and takes over
the heap of all. Leaks are not looked for, as Orthanc and its libraries have some of their own.
"""

from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import abuse, clients
from harness.acknowledged import AcknowledgedLoad
from harness.metrics import IN_FLIGHT, INSTANCES, scrape, wait_until
from harness.numbered import NumberedImages
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer

SANITIZED = ROOT / "build" / "asan" / "libOrthancPerf.so"

# AddressSanitizer refuses mallopt(3), and std::locale waits for itself forever under it (GCC 12)
OPTIONS = {"MallocArenaMax": 0, "Locale": "C", "DicomScpTimeout": 2, "OverwriteInstances": True}

WAYS = ["store", "upload"] * 2

pytestmark = [pytest.mark.pair, pytest.mark.flaky(reruns=0)]


def find_runtime() -> Path:
    """The sanitizer's library that the plugin was linked with: gcc's, or that of a clang."""
    for line in clients.get_output(["ldd", SANITIZED]).splitlines():
        name, _, path = line.strip().partition(" => ")
        if "asan" in name:
            return Path(path.split()[0])
    raise AssertionError(f"{SANITIZED} is linked with no sanitizer")


@pytest.fixture
def server(start_orthanc: StartOrthanc) -> OrthancServer:
    if not SANITIZED.exists():
        pytest.skip(f"there is no {SANITIZED} (Resources/run-tests.sh builds it)")
    variables = [f"LD_PRELOAD={find_runtime()}", "ASAN_OPTIONS=detect_leaks=0"]
    return start_orthanc(
        plugins=[SANITIZED, DICOMWEB_PLUGIN],
        options=OPTIONS,
        launcher=["env", *variables, "UBSAN_OPTIONS=print_stacktrace=1"],
    )


def misbehave(server: OrthancServer) -> None:
    for number in range(10):
        abuse.reset_in_mid_message(server, number)
        abuse.call_itself_nonsense(server, number)
        abuse.speak_garbage(server, number)


def look_everywhere(server: OrthancServer) -> None:
    for path in ("/perf", "/perf/status", "/perf/metrics", "/perf/instances", "/perf/peers"):
        assert server.get(path).status_code == 200
    assert server.get("/tools/metrics-prometheus").status_code == 200
    assert server.get("/perf/instances?limit=none").status_code == 400


def tune(server: OrthancServer) -> None:
    for preset in ("stock", "tuned"):
        server.tune(DicomSockets={"Preset": preset})
    wrong = {"DicomSockets": {"ReceiveBuffer": "big"}}
    assert server.request("PUT", "/perf/tuning", json=wrong).status_code == 400
    server.request("DELETE", "/perf/tuning").raise_for_status()


def test_no_sanitizer_has_anything_to_say(server: OrthancServer, make_series: MakeSeries) -> None:
    assert find_runtime().name in Path(f"/proc/{server.pid}/maps").read_text("ascii")
    images = make_series("sanitized", 10)
    numbered = NumberedImages()
    clients.store_over_web(server, images)
    clients.upload_zip(server, images)
    with AcknowledgedLoad(server, numbered, WAYS) as load:
        load.wait_for_each()
        for _ in range(3):
            tune(server)
            look_everywhere(server)
            misbehave(server)
            clients.upload(server, [b"This is not DICOM."])
    assert wait_until(lambda: scrape(server).sum(IN_FLIGHT) == 0)
    assert scrape(server).sum(INSTANCES, outcome="stored") >= 40

    with AcknowledgedLoad(server, numbered, WAYS) as load:
        load.wait_for_each()
        server.ask_to_stop()
    assert server.stop() == 0
    assert "Sanitizer" not in server.log and "runtime error" not in server.log, server.log
