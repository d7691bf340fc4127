# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory.IngestBudget: large images wait for each other at their sockets, and all are stored.

One message goes on slowly and takes all of a small budget ("hold"): whatever is large waits then,
and what becomes of it is no matter of chance.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pydicom import dcmread

from conftest import MakeSeries, StartOrthanc
from harness import advice, clients
from harness.images import Image, write_multi_frame
from harness.large import (
    HELD,
    MEBIBYTE,
    SMALLEST_BUDGET,
    WAYS,
    Sender,
    check_all_over,
    get_memory,
    hold,
    wait_for_waiting,
)
from harness.ledger import Answer
from harness.metrics import PREFIX, scrape, wait_until
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer

TUNING = "/perf/tuning"
METRIC = PREFIX + "ingest_budget_"

BUDGET = SMALLEST_BUDGET
FRAMES = 48  # of 525 kB: 25 MB
LARGE_FRAMES = 115  # 60 MB
SENDERS = 6

# Each association takes one of these threads, also while it waits; and a sender under a test's hand
# may say nothing for a while
THREADS = {"DicomThreadsCount": 16, "DicomScpTimeout": 300}

# What a message may be ahead of its turn: its first piece, and what is read to keep its sender
AHEAD = 8 * MEBIBYTE

Start = StartOrthanc


def limit(budget: Json = BUDGET, seconds: int = 600) -> dict[str, Any]:
    return {"Tuning": {"Memory": {"IngestBudget": budget, "IngestWaitSeconds": seconds}}}


@pytest.fixture
def orthanc(start_orthanc: Start) -> OrthancServer:
    """With a small budget, for which a message waits as long as it takes."""
    return start_orthanc(perf=limit(), options=THREADS)


@pytest.fixture
def images(tmp_path: Path) -> list[Image]:
    return make_large(tmp_path, 4, FRAMES)


def make_large(folder: Path, count: int, frames: int) -> list[Image]:
    names = [f"large-{number}" for number in range(count)]
    return [write_multi_frame(folder / f"{name}.dcm", name, frames) for name in names]


def is_stored(server: OrthancServer, image: Image) -> bool:
    found = server.request("POST", "/tools/lookup", data=image.sop_instance_uid).json()
    return bool(found)


def check_stored(server: OrthancServer, image: Image, way: str = "C-STORE") -> None:
    """Byte for byte; with C-STORE, Orthanc writes the file's header."""
    stored = server.get_file(server.find_instance(image.sop_instance_uid))
    if way == "C-STORE":
        assert dcmread(BytesIO(stored)) == dcmread(image.path)
    else:
        assert stored == image.read_bytes()


def cut(content: bytes) -> Iterator[bytes]:
    """In pieces, which requests sends as chunks."""
    for place in range(0, len(content), MEBIBYTE):
        yield content[place : place + MEBIBYTE]


def find_most(server: OrthancServer, series: str) -> float:
    """Of all looks twice a second; the first comes soon after the start."""
    assert wait_until(lambda: server.get_json("/perf/history")[series])
    return max(server.get_json("/perf/history")[series])


def start_senders(
    stack: ExitStack, server: OrthancServer, ways: Sequence[str], images: Sequence[Image]
) -> list[Sender]:
    """One of each way, as many as there are."""
    return [stack.enter_context(Sender(server, *pair)) for pair in zip(ways, images, strict=False)]


def check_acknowledged(senders: Sequence[Sender]) -> None:
    for sender in senders:
        assert sender.wait() is Answer.ACKNOWLEDGED


def store_beside(server: OrthancServer, small: Sequence[Image]) -> None:
    """Ordinary images, in all ways; none of them waits."""
    before = get_memory(server)
    clients.store(server, small)
    for status, _ in clients.upload(server, [image.read_bytes() for image in small]):
        assert status == 200
    clients.store_over_web(server, small[:5])  # one request is one message, unless it is chunked
    wait_for_waiting(server, before["Waiting"])
    assert get_memory(server)["Waits"] == before["Waits"]


def test_many_large_images_take_no_more_than_the_budget_and_one_of_them(
    orthanc: OrthancServer, make_series: MakeSeries, tmp_path: Path
) -> None:
    images = make_large(tmp_path, SENDERS, LARGE_FRAMES)
    small = make_series("store", 20)
    with ExitStack() as stack:
        with hold(orthanc) as held:
            senders = start_senders(stack, orthanc, ["C-STORE"] * SENDERS, images)
            wait_for_waiting(orthanc, SENDERS)
            store_beside(orthanc, small)
            assert scrape(orthanc).sum(METRIC + "in_flight") == 1 + SENDERS
            assert wait_until(lambda: find_most(orthanc, "BudgetWaiting") == SENDERS)
        check_acknowledged(senders)

    memory = check_all_over(orthanc)
    assert memory["IngestBudget"] == BUDGET
    assert memory["Waits"] == SENDERS
    assert memory["Waited"] > 0
    assert memory["GivenUp"] == 0
    for image in images:
        check_stored(orthanc, image)

    largest = max(held.sent, *(image.get_size() for image in images))
    most = BUDGET + memory["Copies"] * (largest + SENDERS * AHEAD)
    assert HELD < find_most(orthanc, "BudgetHeld") <= most

    metrics = scrape(orthanc)
    assert metrics.sum(METRIC + "bytes") == BUDGET
    for now in ("held_bytes", "in_flight", "waiting"):
        assert metrics.sum(METRIC + now) == 0
    assert metrics.sum(METRIC + "waits_total") == SENDERS
    assert metrics.sum(METRIC + "waited_seconds_total") == pytest.approx(memory["Waited"], rel=0.01)


@pytest.mark.parametrize("way", WAYS)
def test_a_large_image_waits_in_each_way_and_is_stored(
    orthanc: OrthancServer, images: list[Image], way: str
) -> None:
    image = images[0]
    with ExitStack() as stack:
        with hold(orthanc):
            sender = stack.enter_context(Sender(orthanc, way, image))
            wait_for_waiting(orthanc, 1)
            assert not is_stored(orthanc, image)
            assert sender.is_running()
        assert sender.wait() is Answer.ACKNOWLEDGED
    check_stored(orthanc, image, way)
    memory = check_all_over(orthanc)
    assert memory["Waits"] == 1
    assert memory["GivenUp"] == 0


@pytest.mark.parametrize("way", ["C-STORE", "upload", "chunked STOW-RS"])
def test_a_sender_that_dies_while_it_waits_harms_nobody_else(
    orthanc: OrthancServer, images: list[Image], way: str
) -> None:
    """Its kernel still has megabytes to send, and tells Orthanc of its end only behind them."""
    with ExitStack() as stack:
        with hold(orthanc):
            first = stack.enter_context(Sender(orthanc, way, images[0]))
            wait_for_waiting(orthanc, 1)
            others = start_senders(stack, orthanc, ("C-STORE", "upload"), images[1:])
            wait_for_waiting(orthanc, 3)
            first.kill()
            time.sleep(1)
            assert not any(is_stored(orthanc, image) for image in images)
        check_acknowledged(others)
    memory = check_all_over(orthanc)
    assert memory["Waits"] == 3
    assert memory["GivenUp"] == 0
    assert not is_stored(orthanc, images[0])
    for image, kind in zip(images[1:3], ("C-STORE", "upload"), strict=True):
        check_stored(orthanc, image, kind)


def test_orthanc_stops_while_large_images_wait_and_takes_none_of_them_in(
    start_orthanc: Start, tmp_path: Path
) -> None:
    server = start_orthanc(perf=limit(), options={**THREADS, "DicomScpTimeout": 2})
    images = make_large(tmp_path, len(WAYS), LARGE_FRAMES)
    with ExitStack() as stack:
        held = stack.enter_context(hold(server))
        senders = start_senders(stack, server, list(WAYS), images)
        wait_for_waiting(server, len(WAYS))
        server.ask_to_stop()
        answers = [sender.wait() for sender in senders]
        held.vanish()
        assert server.stop() == 0, server.log
        assert Answer.ACKNOWLEDGED not in answers
    server.start()
    assert server.get_json("/instances") == []


def test_the_next_one_is_admitted_after_the_longest_wait(
    start_orthanc: Start, images: list[Image]
) -> None:
    """Beside one that stalls; a finding says so."""
    server = start_orthanc(perf=limit(seconds=1), options=THREADS)
    ways = ("C-STORE", "upload", "STOW-RS")
    with hold(server), ExitStack() as stack:
        for way, image in zip(ways, images[:3], strict=True):
            sender = stack.enter_context(Sender(server, way, image))
            assert sender.wait() is Answer.ACKNOWLEDGED
        memory = get_memory(server)
        assert memory["Waits"] == memory["GivenUp"] == 3
        assert memory["Waited"] >= 3 * 0.9
    # The advisor looks once a second
    assert wait_until(
        lambda: advice.find(server, "ingest-memory")["Evidence"]["GivenUp"] == 3, seconds=10
    )
    assert scrape(server).sum(METRIC + "given_up_total") == 3
    for way, image in zip(ways, images[:3], strict=True):
        check_stored(server, image, way)


@pytest.mark.skipif(not os.environ.get("PERF_LONG"), reason="run-tests.sh --long does it")
def test_who_gives_up_after_a_minute_without_a_write_waits_for_longer(
    orthanc: OrthancServer, tmp_path: Path
) -> None:
    """DCMTK; Linux lets it write again once a third of its buffer is free, of 4 MB at most."""
    images = make_large(tmp_path, 4, 2 * LARGE_FRAMES)
    with ExitStack() as stack:
        with hold(orthanc, 512 * MEBIBYTE):
            senders = start_senders(stack, orthanc, ["C-STORE"] * len(images), images)
            wait_for_waiting(orthanc, len(images))
            time.sleep(130)  # twice as long as it waits
            assert all(sender.is_running() for sender in senders)
        check_acknowledged(senders)
    memory = check_all_over(orthanc)
    assert memory["GivenUp"] == 0
    for image in images:
        check_stored(orthanc, image)


def list_answers(server: OrthancServer, images: list[Image]) -> list[Json]:
    """What clients are told of large images, and of what is none."""
    answers: list[Json] = []
    for content in [images[0].read_bytes(), images[0].read_bytes(), bytes(8 * MEBIBYTE)]:
        response = server.request("POST", "/instances", data=content)
        answers.append((response.status_code, response.json()))
    response = server.request("POST", "/instances", data=cut(images[1].read_bytes()))
    answers.append((response.status_code, response.json()))
    for method, path in [("PUT", "/instances"), ("POST", "/nowhere"), ("POST", "/tools/find")]:
        response = server.request(method, path, data=bytes(8 * MEBIBYTE))
        answers.append((response.status_code, response.text))
    with Sender(server, "C-STORE", images[2]) as sender:
        answers.append(sender.wait())
    return answers


def test_it_is_off_by_default_and_orthanc_answers_the_same_with_it_off_and_on(
    start_orthanc: Start, plugin: Path, images: list[Image]
) -> None:
    answers = []
    kinds = {"without": ([], None), "off": ([plugin], None), "on": ([plugin], limit())}
    for name, (plugins, perf) in kinds.items():
        plugins = [*plugins, DICOMWEB_PLUGIN]
        server = start_orthanc(below=name, plugins=plugins, perf=perf, options=THREADS)
        answers.append(list_answers(server, images))
        if name == "off":
            memory = check_all_over(server)
            assert memory["IngestBudget"] == memory["Waits"] == memory["GivenUp"] == 0
    assert answers[0] == answers[1] == answers[2]
