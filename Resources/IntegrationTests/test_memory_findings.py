# SPDX-License-Identifier: GPL-3.0-or-later
"""What /perf/advice says of memory comes where it is true, and its remedy ends it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from conftest import StartOrthanc
from harness import advice, memory_group
from harness.images import Image, write_multi_frame
from harness.large import MEBIBYTE, get_memory
from harness.ledger import Answer, Ledger
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.process import get_resident_bytes

SENDERS = 8
IMAGES = 8
ROUNDS = 3

# Of 525 kB. Blocks of up to 32 MiB come from malloc's arenas, once one as large was freed
# (mallopt(3), M_MMAP_THRESHOLD); smaller ones in between hold them apart.
FRAMES = [48, 20]

# The finding is about a minute at least, of which malloc is asked every half
KEPT_SECONDS = 180

# What keeps below is no finding, so that what has one has kept more
MUCH = 256 * MEBIBYTE

# Of the process: what it uses, and twice as much, or as often as may be. How many senders meet is
# chance.
ENOUGH = 3 * MUCH
ATTEMPTS = 6

# One image by C-STORE takes three times its size, which is most of that, and not all
GROUP_BYTES = 900 * MEBIBYTE
GROUP_FRAMES = 476  # 250 MB


def make_images(folder: Path) -> list[Image]:
    names = [f"kept-{number}" for number in range(IMAGES)]
    frames = [FRAMES[number % len(FRAMES)] for number in range(IMAGES)]
    return [
        write_multi_frame(folder / f"{name}.dcm", name, count)
        for name, count in zip(names, frames, strict=True)
    ]


def upload_at_once(server: OrthancServer, images: Sequence[Image]) -> None:
    """Several clients, each with all images in turn, which are stored anew each time."""
    bodies = [image.read_bytes() for image in images]

    def upload(first: int) -> None:
        with requests.Session() as session:
            session.trust_env = False
            for number in range(ROUNDS):
                body = bodies[(first + number) % len(bodies)]
                url = f"{server.url}/instances"
                session.post(url, data=body, timeout=300).raise_for_status()

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(upload, range(SENDERS)))


def find_kept(server: OrthancServer) -> Json:
    def is_there() -> bool:
        return "kept-memory" in advice.list_kinds(server)

    assert wait_until(is_there, KEPT_SECONDS), get_resident_bytes(server.pid)
    return advice.find(server, "kept-memory")


def test_memory_that_is_kept_is_found_and_given_back(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    """In a heap as it is by default. What is left then is less than it kept before."""
    server = start_orthanc(options={"OverwriteInstances": True})
    images = make_images(tmp_path)
    for _ in range(ATTEMPTS):
        upload_at_once(server, images)
        if get_resident_bytes(server.pid) >= ENOUGH:
            break
    finding = find_kept(server)
    kept, used = (finding["Evidence"][name] for name in ("Kept", "Used"))
    assert kept >= MUCH
    assert kept >= used
    before = get_resident_bytes(server.pid)
    assert before >= kept
    if not server.is_older_than(1, 12, 1):
        pytest.skip("this Orthanc gives back by itself what it can")

    advice.apply(server, finding)
    assert wait_until(lambda: before - get_resident_bytes(server.pid) > kept / 2), kept
    assert advice.goes_away(server, "kept-memory", 60)
    (change,) = server.get_json("/perf/history")["TuningChanges"]
    assert change["Change"] == {"Memory": {"TrimSeconds": 30}}


def test_memory_that_is_given_back_is_not_kept(start_orthanc: StartOrthanc, tmp_path: Path) -> None:
    """With the remedy in the configuration: soon after the same load."""
    perf = {"Tuning": {"Memory": {"TrimSeconds": 2}}}
    server = start_orthanc(perf=perf, options={"OverwriteInstances": True})
    upload_at_once(server, make_images(tmp_path))
    assert wait_until(lambda: get_resident_bytes(server.pid) < MUCH + 128 * MEBIBYTE)


@pytest.mark.alone
def test_memory_that_large_images_take_is_found_and_the_remedy_limits_it(
    plugin: Path, tmp_path: Path
) -> None:
    """In a control group that has enough for one, and not for two."""
    obstacle = memory_group.find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    image = write_multi_frame(tmp_path / "large.dcm", "large", GROUP_FRAMES)
    with (
        memory_group.limit_memory(GROUP_BYTES) as launcher,
        OrthancServer(tmp_path, [plugin], launcher=launcher) as server,
    ):
        assert Ledger().send(server, [image], 120) == {Answer.ACKNOWLEDGED: 1}
        finding = advice.find(server, "ingest-memory")
        evidence = finding["Evidence"]
        assert evidence["Memory"] == GROUP_BYTES
        assert evidence["Peak"] >= 0.75 * GROUP_BYTES
        assert evidence["MeanSize"] == pytest.approx(image.get_size(), rel=0.01)
        assert get_memory(server)["IngestBudget"] == 0

        advice.apply(server, finding)
        assert get_memory(server)["IngestBudget"] == pytest.approx(GROUP_BYTES / 4, abs=100)
        assert advice.goes_away(server, "ingest-memory")
