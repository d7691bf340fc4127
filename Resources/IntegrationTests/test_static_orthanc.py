# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin in an Orthanc like the official builds, with DCMTK, OpenSSL and CivetWeb inside.

The one that build-static-orthanc.sh makes, or PERF_STATIC_ORTHANC. What differs from Debian's: libc
is called by the executable itself, DCMTK switches Nagle's algorithm off, and HTTPS works.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.certificates import Certificate
from harness.compatibility import Trial, try_all
from harness.metrics import wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import Sending, SlowReceiver, describe_modality, upload_to_send
from harness.senders import associate
from harness.sockets import Shown, read_options, show
from harness.tuning import tune_sockets

PROGRAM = Path(
    os.environ.get("PERF_STATIC_ORTHANC", ROOT / "build" / "static-orthanc" / "Orthanc")
).resolve()

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(),
    reason=f"there is no {PROGRAM}: Resources/IntegrationTests/build-static-orthanc.sh makes it",
)


def test_dcmtk_and_openssl_are_inside() -> None:
    linked = clients.get_output(["readelf", "-d", PROGRAM])
    assert not any(name in linked for name in ("libdcm", "libssl", "libcivetweb"))


def test_it_is_at_work(
    plugin: Path, make_series: MakeSeries, certificate: Certificate, tmp_path: Path
) -> None:
    result = try_all(Trial(None, PROGRAM, plugin, tmp_path, make_series("static", 20), certificate))
    assert not result.list_failures() and not result.fails_without


def check_no_delay(server: OrthancServer, look: Callable[[], Shown]) -> None:
    """Stock sockets are as DCMTK made them."""

    def is_no_delay() -> bool:
        return read_options(server, look().fd).no_delay

    for preset in ("stock", "tuned", "stock"):
        tune_sockets(server, Preset=preset)
        assert not wait_until(lambda: not is_no_delay(), 2), preset


def test_nagles_algorithm_stays_off_on_sockets_that_are_accepted(
    start_orthanc: StartOrthanc, plugin: Path
) -> None:
    server = start_orthanc(program=PROGRAM, plugins=[plugin])
    tune_sockets(server, Preset="stock")
    association = associate(server)
    assert association.is_established
    try:
        check_no_delay(server, lambda: show(server, own_port=server.dicom_port))
        told = server.get_json("/perf/status")["DicomSockets"]
        assert [entry["InForce"]["TcpNoDelay"] for entry in told["Connections"]] == [True]
        assert not told["InForce"]["TcpNoDelay"]  # of a socket that nobody asked anything of
    finally:
        association.release()


def test_nagles_algorithm_stays_off_on_sockets_that_are_outgoing(
    start_orthanc: StartOrthanc, plugin: Path, make_series: MakeSeries
) -> None:
    port = find_free_port()
    options = {"DicomModalities": {"slow": describe_modality(port, "SLOW")}}
    server = start_orthanc(program=PROGRAM, plugins=[plugin], options=options)
    tune_sockets(server, Preset="stock")
    identifiers = upload_to_send(server, make_series("static", 20)) * 5
    with SlowReceiver(port, image_seconds=0.2) as receiver, Sending(server, "slow", identifiers):
        assert wait_until(
            lambda: bool(server.get_json("/perf/status")["DicomSockets"]["Connections"]), 10
        )
        check_no_delay(server, lambda: show(server, port=port))
        receiver.hurry()
