# SPDX-License-Identifier: GPL-3.0-or-later
"""GET /perf/history adds up to what was sent, second by second and minute by minute."""

import time

import pytest

from conftest import MakeSeries
from harness.clients import store, upload
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer, read_moment, write_moment
from harness.senders import associate

COUNT = 20
SERIES = ("Instances", "Bytes", "Failed", "Stalls", "StallSeconds", "StallIdleSeconds")


def get_history(server: OrthancServer, **arguments: str | int) -> Json:
    return server.get_json("/perf/history", params=arguments)


def test_the_seconds_add_up_to_what_was_sent(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("history", COUNT)
    begin = time.time()
    upload(orthanc, [image.read_bytes() for image in images])
    store(orthanc, images)
    assert wait_until(
        lambda: sum(get_history(orthanc)["Receive"]["Instances"]) >= 2 * COUNT, seconds=20
    )
    taken_up = time.time()

    history = get_history(orthanc)
    received = history["Receive"]
    assert history["Resolution"] == 1
    lists = [history["Associations"]]
    for one in (received, history["Send"]):
        lists += [one[name] for name in SERIES if name in one] + [*one["Phases"].values()]
    assert len({len(values) for values in lists}) == 1
    assert sum(received["Instances"]) == 2 * COUNT
    assert sum(received["Failed"]) == 0
    assert sum(history["Send"]["Instances"]) == 0

    # All is as in /perf/status, over the same instances
    window = orthanc.get_json("/perf/status")["Windows"][2]["Receive"]
    assert sum(received["Bytes"]) == window["Bytes"]
    for phase, seconds in received["Phases"].items():
        assert sum(seconds) == pytest.approx(window["Phases"][phase]["Total"], rel=1e-3)
    assert set(received["Phases"]) == set(window["Phases"])

    # They lie where they were sent, the last ones where they were taken up
    start = read_moment(history["Begin"])
    seconds = [start + i for i, count in enumerate(received["Instances"]) if count]
    assert begin - 1 < min(seconds) <= max(seconds) <= taken_up


def test_a_reader_that_goes_on_misses_nothing_and_gets_nothing_twice(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    contents = [image.read_bytes() for image in make_series("history", COUNT)]
    since = 0.0
    seen: list[int] = []

    def read_on() -> int:
        nonlocal since
        history = get_history(orthanc, since=write_moment(since))
        counts = history["Receive"]["Instances"]
        begin = read_moment(history["Begin"])
        assert since == 0 or not counts or begin == since
        since = begin + len(counts)
        seen.extend(counts)
        return sum(seen)

    for content in contents:
        upload(orthanc, [content])
        time.sleep(0.1)
        read_on()
    assert wait_until(lambda: read_on() >= COUNT, seconds=20)
    assert sum(seen) == COUNT
    assert get_history(orthanc)["Receive"]["Instances"][: len(seen)] == seen


def test_open_associations_are_told(orthanc: OrthancServer) -> None:
    association = associate(orthanc)
    try:
        assert wait_until(lambda: max(get_history(orthanc)["Associations"], default=0) == 1, 20)
    finally:
        association.release()
    assert wait_until(lambda: get_history(orthanc)["Associations"][-1] == 0, 20)
