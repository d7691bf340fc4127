# SPDX-License-Identifier: GPL-3.0-or-later
"""Options on real sockets, accepted and outgoing, as the kernel shows them during a transfer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer, find_free_port
from harness.receivers import Sending, SlowReceiver, describe_modality, upload_to_send
from harness.senders import transfer
from harness.sockets import Options, Shown, read_options, show
from harness.tuning import tune_sockets

DEFAULT_CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")

SECONDS = 10

# None of it is a default of the kernel's, and the kernel allows it to everybody
SMALL = {"ReceiveBuffer": 30000, "SendBuffer": 40000}
AUTOMATIC = {"is_receive_buffer_fixed": False, "is_send_buffer_fixed": False}
# The kernel doubles what it is asked for, to have room for its own needs (socket(7))
FIXED = {
    "receive_buffer": 2 * SMALL["ReceiveBuffer"],
    "send_buffer": 2 * SMALL["SendBuffer"],
    "is_receive_buffer_fixed": True,
    "is_send_buffer_fixed": True,
}

Look = Callable[[], Shown]


@pytest.fixture(scope="module")
def receiver_port() -> int:
    return find_free_port()


@pytest.fixture(scope="module")
def module_orthanc(start_for_module: StartOrthanc, receiver_port: int) -> OrthancServer:
    options = {"DicomModalities": {"slow": describe_modality(receiver_port)}}
    return start_for_module(options=options)


@pytest.fixture(params=["accepted", "outgoing"])
def live(
    request: pytest.FixtureRequest,
    server: OrthancServer,
    make_series: MakeSeries,
    receiver_port: int,
) -> Iterator[tuple[OrthancServer, Look]]:
    """Orthanc in the midst of a transfer, and a way to look at the one socket of it."""
    images = make_series("store", 20)
    assert wait_until(lambda: not list_connections(server), SECONDS)

    if request.param == "accepted":
        with transfer(server, images[:5], "LIVE"):
            yield server, lambda: show(server, own_port=server.dicom_port)
        return

    # So many, each so slowly, that it takes longer than a test
    identifiers = upload_to_send(server, images) * 5
    with (
        SlowReceiver(receiver_port, image_seconds=0.2) as receiver,
        Sending(server, "slow", identifiers),
    ):
        assert wait_until(lambda: bool(list_connections(server)), SECONDS)
        yield server, lambda: show(server, port=receiver_port)
        receiver.hurry()


def list_connections(server: OrthancServer) -> list[Json]:
    return server.get_json("/perf/status")["DicomSockets"]["Connections"]


def check(server: OrthancServer, look: Look, **expected: Json) -> int:
    """Waits until the kernel says so of the socket; the plugin must say the same."""
    seen: list[Options] = []

    def is_so() -> bool:
        seen.append(read_options(server, look().fd))
        return vars(seen[-1]).items() >= expected.items()

    assert wait_until(is_so, SECONDS), seen[-1]
    options = seen[-1]
    (connection,) = list_connections(server)
    in_force = connection["InForce"]
    assert in_force["TcpNoDelay"] == options.no_delay
    assert in_force["KeepAliveSeconds"] == options.keep_alive
    assert in_force["UserTimeoutSeconds"] == options.user_timeout
    assert in_force["CongestionControl"] == options.congestion_control
    assert in_force["ReceiveBufferFixed"] == options.is_receive_buffer_fixed
    assert in_force["SendBufferFixed"] == options.is_send_buffer_fixed
    # What is not fixed goes on growing
    if options.is_receive_buffer_fixed:
        assert in_force["ReceiveBuffer"] == options.receive_buffer
    if options.is_send_buffer_fixed:
        assert in_force["SendBuffer"] == options.send_buffer
    return look().fd


@pytest.mark.parametrize(
    ("asked", "then", "undone", "default"),
    [
        ({"Preset": "stock"}, {"no_delay": False}, {"TcpNoDelay": True}, {"no_delay": True}),
        (SMALL, FIXED, {"ReceiveBuffer": "auto", "SendBuffer": "auto"}, AUTOMATIC),
        (
            {"KeepAliveSeconds": 7},
            {"keep_alive": 7, "keep_alive_interval": 7},
            {"Preset": "tuned"},
            {"keep_alive": 60},
        ),
        ({"KeepAliveSeconds": 0}, {"keep_alive": 0}, {"Preset": "tuned"}, {"keep_alive": 60}),
        (
            {"UserTimeoutSeconds": 45},
            {"user_timeout": 45},
            {"Preset": "tuned"},
            {"user_timeout": 0},
        ),
    ],
    ids=["no delay", "buffers", "keep-alive", "no keep-alive", "user timeout"],
)
def test_a_live_socket_has_what_is_asked_for(
    live: tuple[OrthancServer, Look], asked: Json, then: Json, undone: Json, default: Json
) -> None:
    orthanc, look = live
    first = check(orthanc, look, **default)
    tune_sockets(orthanc, **asked)
    check(orthanc, look, **then)
    tune_sockets(orthanc, **undone)
    assert check(orthanc, look, **default) == first


def test_what_the_kernel_refuses_is_reported_and_the_transfer_goes_on(
    live: tuple[OrthancServer, Look],
) -> None:
    orthanc, look = live
    default = DEFAULT_CONTROL.read_text("ascii").strip()
    tune_sockets(orthanc, CongestionControl="no_such_thing", UserTimeoutSeconds=33)
    status = orthanc.get_json("/perf/status")
    sockets = status["DicomSockets"]
    (problem,) = sockets["Problems"]
    assert "DicomSockets.CongestionControl" in status["Tuning"]["NotYetInEffect"]
    assert problem.startswith("CongestionControl: the kernel refuses it")
    assert sockets["InForce"]["CongestionControl"] == default
    assert "DicomSockets.CongestionControl: the kernel refuses it" in orthanc.log
    check(orthanc, look, user_timeout=33, congestion_control=default)


def test_auto_undoes_the_buffers_of_dcmtk_in_a_live_association(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(environment={"TCP_BUFFER_LENGTH": "16384"})
    tune_sockets(orthanc, Preset="stock")

    def look() -> Shown:
        return show(orthanc, own_port=orthanc.dicom_port)

    fixed = {"is_receive_buffer_fixed": True, "receive_buffer": 2 * 16384}
    with transfer(orthanc, make_series("store", 5), "LIVE"):
        stock = check(orthanc, look, **fixed, send_buffer=2 * 16384)
        tune_sockets(orthanc, Preset="tuned")
        assert check(orthanc, look, is_receive_buffer_fixed=False) == stock
        grown = wait_until(lambda: read_options(orthanc, stock).receive_buffer > 2 * 16384, SECONDS)
        assert grown

    # And in a new one, DCMTK does not get to fix them
    with transfer(orthanc, make_series("store", 5), "LIVE"):
        check(orthanc, look, **AUTOMATIC)
