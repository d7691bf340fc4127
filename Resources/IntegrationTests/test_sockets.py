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

CONGESTION = Path("/proc/sys/net/ipv4")

SECONDS = 10

# None of it is a default of the kernel's, and the kernel allows it to everybody
SMALL = {"ReceiveBuffer": 30000, "SendBuffer": 40000}

Look = Callable[[], Shown]


def list_congestion_controls() -> list[str]:
    """Those that the kernel has, the default first."""
    default = (CONGESTION / "tcp_congestion_control").read_text("ascii").strip()
    available = (CONGESTION / "tcp_available_congestion_control").read_text("ascii").split()
    return [default, *(name for name in available if name != default)]


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


def check(server: OrthancServer, look: Look, condition: Callable[[Shown, Options], bool]) -> Shown:
    """Waits until the kernel says so of the very same socket; the plugin must say the same."""
    seen: list[tuple[Shown, Options]] = []

    def is_so() -> bool:
        shown = look()
        seen.append((shown, read_options(server, shown.fd)))
        return condition(*seen[-1])

    assert wait_until(is_so, SECONDS), seen[-1]
    shown, options = seen[-1]
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
    return shown


Condition = Callable[[Shown, Options], bool]


@pytest.mark.parametrize(
    ("before", "asked", "then", "undone", "after"),
    [
        (
            lambda _, options: options.no_delay,
            {"Preset": "stock"},
            lambda _, options: not options.no_delay,
            {"TcpNoDelay": True},
            lambda _, options: options.no_delay,
        ),
        (
            lambda _, options: not options.is_receive_buffer_fixed,
            SMALL,
            # The kernel doubles what it is asked for, to have room for its own needs (socket(7))
            lambda shown, options: (
                shown.receive_buffer == 2 * SMALL["ReceiveBuffer"]
                and shown.send_buffer == 2 * SMALL["SendBuffer"]
                and options.is_receive_buffer_fixed
                and options.is_send_buffer_fixed
            ),
            {"ReceiveBuffer": "auto", "SendBuffer": "auto"},
            lambda _, options: (
                not options.is_receive_buffer_fixed and not options.is_send_buffer_fixed
            ),
        ),
        (
            lambda _, options: options.keep_alive == 60,
            {"KeepAliveSeconds": 7},
            # The kernel has one timer a socket: ss shows it as that of keep-alive if nothing is
            # under way
            lambda shown, options: (
                (options.keep_alive, options.keep_alive_interval) == (7, 7)
                and shown.keep_alive is not None
                and shown.keep_alive <= 7
            ),
            {"KeepAliveSeconds": 0},
            # What ss shows was read before the options
            lambda shown, options: options.keep_alive == 0 and shown.keep_alive is None,
        ),
        (
            lambda _, options: options.user_timeout == 0,
            {"UserTimeoutSeconds": 45},
            lambda _, options: options.user_timeout == 45,
            {"Preset": "tuned"},
            lambda _, options: options.user_timeout == 0,
        ),
    ],
    ids=["no delay", "buffers", "keep-alive", "user timeout"],
)
def test_a_live_socket_has_what_is_asked_for(
    live: tuple[OrthancServer, Look],
    before: Condition,
    asked: Json,
    then: Condition,
    undone: Json,
    after: Condition,
) -> None:
    orthanc, look = live
    first = check(orthanc, look, before)
    tune_sockets(orthanc, **asked)
    check(orthanc, look, then)
    tune_sockets(orthanc, **undone)
    assert check(orthanc, look, after).fd == first.fd


def test_what_the_kernel_refuses_is_reported_and_the_transfer_goes_on(
    live: tuple[OrthancServer, Look],
) -> None:
    orthanc, look = live
    default = list_congestion_controls()[0]
    tune_sockets(orthanc, CongestionControl="no_such_thing", UserTimeoutSeconds=33)
    status = orthanc.get_json("/perf/status")
    sockets = status["DicomSockets"]
    (problem,) = sockets["Problems"]
    assert "DicomSockets.CongestionControl" in status["Tuning"]["NotYetInEffect"]
    assert problem.startswith("CongestionControl: the kernel refuses it")
    assert sockets["InForce"]["CongestionControl"] == default
    assert "DicomSockets.CongestionControl: the kernel refuses it" in orthanc.log
    shown = check(orthanc, look, lambda _, options: options.user_timeout == 33)
    assert shown.has_congestion_control(default)


def test_auto_undoes_the_buffers_of_dcmtk_in_a_live_association(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(environment={"TCP_BUFFER_LENGTH": "16384"})
    tune_sockets(orthanc, Preset="stock")

    def look() -> Shown:
        return show(orthanc, own_port=orthanc.dicom_port)

    with transfer(orthanc, make_series("store", 5), "LIVE"):
        stock = check(orthanc, look, lambda _, options: options.is_receive_buffer_fixed)
        assert stock.receive_buffer == stock.send_buffer == 2 * 16384
        tune_sockets(orthanc, Preset="tuned")
        tuned = check(
            orthanc,
            look,
            lambda shown, options: (
                not options.is_receive_buffer_fixed and shown.receive_buffer > 2 * 16384
            ),
        )
        assert tuned.fd == stock.fd

    # And in a new one, DCMTK does not get to fix them
    with transfer(orthanc, make_series("store", 5), "LIVE"):
        check(
            orthanc,
            look,
            lambda _, options: (
                not options.is_receive_buffer_fixed and not options.is_send_buffer_fixed
            ),
        )
