# SPDX-License-Identifier: GPL-3.0-or-later
"""What strangers do to the two ports leaves nothing behind: no descriptor, no memory, no gauge.

One server takes all of it, one kind of abuse a test, each of which ends with the same look at what
is left. Orthanc accepts DICOM connections on one thread, which waits for the request of each: up to
30 s where the peer says nothing (also without the plugin). So peers that are silent from the start
come in small numbers here, and in large ones once they have an association.
"""

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from conftest import MakeSeries, StartOrthanc
from harness import abuse, clients, wire
from harness.metrics import ASSOCIATIONS, IN_FLIGHT, INSTANCES, PREFIX, get_peer, scrape, wait_until
from harness.orthanc import OrthancServer
from harness.process import allow_descriptors, count_descriptors, get_resident_bytes

OPEN = PREFIX + "associations_open"

MAXIMUM_PEERS = 32
IDLE = 1000

DESCRIPTORS = 4096

# Orthanc's own pools open a file now and then (SQLite, the HTTP connection that asks)
TOLERATED_DESCRIPTORS = 4

# Measured: below 12 MB for each kind, most of it Orthanc's own threads and their heaps
TOLERATED_BYTES = 32 << 20


@pytest.fixture(scope="module")
def server(start_for_module: StartOrthanc) -> Iterator[OrthancServer]:
    with allow_descriptors(DESCRIPTORS):
        yield start_for_module(perf={"MaximumPeers": MAXIMUM_PEERS})


@pytest.fixture(scope="module")
def warm_server(server: OrthancServer, make_series: MakeSeries) -> OrthancServer:
    """All threads and buffers that Orthanc makes once are there."""
    images = make_series("robust", 20)
    for _ in range(2):
        clients.store(server, images)
        clients.upload(server, [image.read_bytes() for image in images], clients=4)
        run_at_once(echo_briefly, server, 50)
    assert wait_until(lambda: scrape(server).sum(OPEN) == 0)  # and counted
    return server


@pytest.fixture(autouse=True)
def nothing_left(warm_server: OrthancServer) -> Iterator[None]:
    """The look at what is left after each test."""
    pid = warm_server.pid
    descriptors = count_descriptors(pid)
    memory = get_resident_bytes(pid)
    yield
    assert wait_until(lambda: count_descriptors(pid) <= descriptors + TOLERATED_DESCRIPTORS), (
        f"{count_descriptors(pid)} descriptors, {descriptors} before"
    )
    assert wait_until(lambda: scrape(warm_server).sum(OPEN) == 0)
    assert wait_until(lambda: scrape(warm_server).sum(IN_FLIGHT) == 0)
    grown = get_resident_bytes(pid) - memory
    print(f"{grown / 1e6:.1f} MB, {count_descriptors(pid) - descriptors} descriptors more")
    assert grown < TOLERATED_BYTES
    check_that_all_is_well(warm_server)


def check_that_all_is_well(server: OrthancServer) -> None:
    clients.get_output(["echoscu", "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)])
    text = server.get("/perf/metrics").text
    assert clients.get_output(["promtool", "check", "metrics"], text) == ""
    status = server.get_json("/perf/status")
    assert status["Probe"]["DroppedEvents"] == 0
    assert not status["CallbackFailures"]
    assert wait_until(lambda: scrape(server).sum(OPEN) == 0)  # echoscu's is counted
    # Beside the bounded ones stands a series without the label: who never said their name
    peers = {label for (label,) in scrape(server).group(ASSOCIATIONS, "peer") if label}
    assert len(peers) <= MAXIMUM_PEERS + 1


def run_at_once(
    visit: Callable[[OrthancServer, int], None], server: OrthancServer, count: int, threads: int = 8
) -> None:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda number: visit(server, number), range(count)))


@contextmanager
def expect_outcomes(server: OrthancServer, outcome: str, count: int) -> Iterator[None]:
    """So many more associations end so, within this."""

    def count_ended() -> float:
        return scrape(server).sum(ASSOCIATIONS, outcome=outcome)

    before = count_ended()
    yield
    wait_until(lambda: count_ended() >= before + count, 20)
    assert count_ended() == before + count


def echo_briefly(server: OrthancServer, _: int) -> None:
    association = wire.associate(server, b"BRIEF")
    wire.echo(association)
    wire.release(association)


def test_short_associations(server: OrthancServer) -> None:
    with expect_outcomes(server, "released", 500):
        run_at_once(echo_briefly, server, 500)


def test_associations_that_are_half_open(server: OrthancServer) -> None:
    with expect_outcomes(server, "released", 1):
        run_at_once(abuse.break_off_request, server, 500)
        echo_briefly(server, 0)  # the accepting thread is through with them all


def test_associations_that_are_reset_in_mid_message(server: OrthancServer) -> None:
    before = scrape(server).sum(INSTANCES)
    with expect_outcomes(server, "lost", 100):
        run_at_once(abuse.reset_in_mid_message, server, 100)
    assert scrape(server).sum(INSTANCES) == before
    assert get_peer(server, "RESET")["Associations"]["Lost"] == 100


def test_senders_that_are_killed_in_mid_message(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("robust", 20) * 10
    command = clients.make_store_command(server.dicom_port, images, "KILLED")
    generator = random.Random(1)
    for _ in range(10):
        begun = scrape(server).sum(INSTANCES)
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as sender:
            assert wait_until(lambda begun=begun: scrape(server).sum(INSTANCES) > begun, 20)
            time.sleep(generator.uniform(0, 0.05))
            assert sender.poll() is None, "it had sent everything"
            sender.send_signal(signal.SIGKILL)
    assert wait_until(lambda: scrape(server).sum(IN_FLIGHT) == 0)


@pytest.mark.parametrize(
    "speak", [abuse.speak_garbage, abuse.speak_garbage_when_associated, abuse.ask_garbage]
)
def test_garbage(server: OrthancServer, speak: Callable[[OrthancServer, int], None]) -> None:
    run_at_once(speak, server, 120)


def test_idle_associations(server: OrthancServer) -> None:
    associations = [wire.associate(server, b"IDLE") for _ in range(IDLE)]
    assert scrape(server).sum(OPEN, peer="IDLE") == IDLE
    with expect_outcomes(server, "lost", IDLE):
        for association in associations:
            association.close()


def test_nonsense_for_a_title(server: OrthancServer) -> None:
    for number in range(100):
        abuse.call_itself_nonsense(server, number)

    names = [peer["Name"] for peer in server.get_json("/perf/peers")]
    assert len(names) == len(set(names)) <= MAXIMUM_PEERS + 1
    assert all(name.isprintable() for name in names), names
