# SPDX-License-Identifier: GPL-3.0-or-later
"""Transcoding under load, live switches and hostile pixel data: nothing is lost or changed."""

import itertools
import os
import random
import subprocess
from pathlib import Path

import pytest
from pydicom.data import get_testdata_file

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.acknowledged import AcknowledgedLoad, StoreCheck
from harness.mutations import make_mutants
from harness.numbered import NumberedImages, identify_numbered
from harness.orthanc import OrthancServer, read_moment
from harness.process import get_resident_bytes
from harness.transcoding import (
    EXPLICIT,
    JPEG_2000_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    LOSSLESS,
    RLE,
    ingest,
    list_engines,
    list_transcodings,
    read,
    renew,
    tune,
    write,
)

SENDERS = 4

# "run-tests.sh --long" does 1,000
SWITCHES = int(os.environ.get("PERF_SWITCHES", "200"))

MEMORY_ALLOWANCE = 256 * 1024 * 1024


def list_transcode_intervals(server: OrthancServer) -> list[tuple[float, float]]:
    """When a transcoder was at work, as the phases of the finished instances tell."""
    intervals = []
    for instance in server.get_json("/perf/instances"):
        phases = instance["Phases"]
        later = ["Prepare", "Storage", "Index", "Commit", "Respond"]
        end = read_moment(instance["FinishedAt"])
        end -= sum(phases.get(phase, 0) for phase in later)
        intervals.append((end - phases["Transcode"], end))
    return intervals


def count_most_at_once(intervals: list[tuple[float, float]], tolerance: float = 0.001) -> int:
    """How many overlapped; what overlaps by less than the tolerance does not count."""
    marks = [(begin + tolerance, 1) for begin, _ in intervals]
    marks += [(max(end - tolerance, begin + tolerance), -1) for begin, end in intervals]
    return max(itertools.accumulate(step for _, step in sorted(marks)))


@pytest.mark.alone
@pytest.mark.parametrize("probe", [True, False])
def test_instances_are_transcoded_in_parallel_unless_the_lock_stays(
    start_orthanc: StartOrthanc, make_series: MakeSeries, probe: bool
) -> None:
    orthanc = start_orthanc(perf={"SocketProbe": probe})
    tune(orthanc, TransferSyntax=JPEG_2000_LOSSLESS, Engine="gdcm")
    images = make_series("store", 20)
    clients.upload(orthanc, [image.read_bytes() for image in images], SENDERS)

    lock = orthanc.get_json("/perf/status")["Transcoding"]["PluginLock"]
    assert lock["Known"] is probe
    assert lock["Released"] == (len(images) if probe else 0)
    assert lock["Kept"] == (0 if probe else len(images))
    assert ("Reason" in lock) is not probe
    assert len(orthanc.get_json("/instances")) == len(images)
    at_once = count_most_at_once(list_transcode_intervals(orthanc))
    assert at_once > 1 if probe else at_once == 1


def test_switching_engine_and_target_loses_nothing(orthanc: OrthancServer) -> None:
    engines = list_engines(orthanc)
    engines["auto"] = set.union(*engines.values())
    choices = [
        {"Engine": engine, "TransferSyntax": syntax}
        for engine, written in sorted(engines.items())
        for syntax in ["", *sorted(written & set(LOSSLESS))]
    ]
    dice = random.Random(1)
    with AcknowledgedLoad(orthanc, NumberedImages(), ["store", "upload"] * 2) as load:
        for _ in range(SWITCHES):
            tune(orthanc, **dice.choice(choices), Verify=dice.random() < 0.2)

    store = StoreCheck()
    store.check(orthanc, load.acknowledged)
    assert store.list_numbers() == load.sent == {*load.acknowledged}
    syntaxes = {
        orthanc.get(f"/instances/{identify_numbered(number)}/metadata/TransferSyntax").text
        for number in load.sent
    }
    assert len(syntaxes) > 3


# A malloc that has none of so many bytes
NO_MEMORY = """
#include <stdlib.h>
extern void* __libc_malloc(size_t);
void* malloc(size_t size)
{
  static size_t refused = 0;
  if (refused == 0)
  {
    refused = strtoul(getenv("REFUSED_SIZE"), NULL, 10);
  }
  return size == refused ? NULL : __libc_malloc(size);
}
"""


def test_what_orthanc_has_no_memory_for_has_failed_and_stays_as_it_came(
    start_orthanc: StartOrthanc, make_series: MakeSeries, plugin: Path, tmp_path: Path
) -> None:
    (image,) = make_series("store", 1)
    ingest(plugin, "native", tmp_path, {image.path: JPEG_LOSSLESS_SV1})
    size = (tmp_path / image.path.name).stat().st_size
    library = tmp_path / "malloc.so"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", library]
    subprocess.run(command, input=NO_MEMORY.encode(), check=True, timeout=60)
    environment = {"LD_PRELOAD": str(library), "REFUSED_SIZE": str(size)}
    orthanc = start_orthanc(environment=environment)
    tune(orthanc, Engine="native", TransferSyntax=JPEG_LOSSLESS_SV1)
    assert orthanc.get_file(orthanc.upload(image.read_bytes())) == image.read_bytes()
    (failed,) = list_transcodings(orthanc)
    assert failed is not None and failed["Outcome"] == "Failed", failed
    assert "Orthanc does not take the result" in failed["Reason"]


CLAIMS = [{"Rows": 65535, "Columns": 65535}, {"NumberOfFrames": 1_000_000_000}]


def make_hostile_files() -> list[tuple[str, bytes]]:
    """Names that tell what was done, and contents. test_mutations.py judges the pixels of more."""
    files = make_mutants(100)
    for name in ("CT_small.dcm", "MR_small_RLE.dcm", "JPGExtended.dcm", "JPEG2000.dcm"):
        for claim in CLAIMS:
            image = read(Path(get_testdata_file(name)))
            renew(image)
            for keyword, value in claim.items():
                setattr(image, keyword, value)
            files.append((f"{name}: {claim}", write(image)))
    return files


def test_hostile_pixel_data_is_stored_as_without_the_plugin(start_orthanc: StartOrthanc) -> None:
    plain, orthanc = start_orthanc(below="plain", plugins=[]), start_orthanc()
    list_engines(orthanc)
    pid = orthanc.pid
    memory = get_resident_bytes(pid)
    for name, content in make_hostile_files():
        expected = plain.request("POST", "/instances", data=content).status_code
        plain.delete_all()
        for target in (JPEG_LOSSLESS_SV1, JPEG_LS, RLE, EXPLICIT):
            tune(orthanc, TransferSyntax=target, OfCompressed=True)
            response = orthanc.request("POST", "/instances", data=content)
            assert response.status_code == expected, name
            if response.ok:
                stored = orthanc.get_file(response.json()["ID"])
                transcoding = list_transcodings(orthanc, 1)[0] or {"Outcome": None}
                is_transcoded = transcoding["Outcome"] == "Transcoded"
                assert is_transcoded == (stored != content), name
                assert is_transcoded or transcoding["Outcome"] is None or transcoding["Reason"], (
                    name
                )
                orthanc.delete_all()
    assert orthanc.pid == pid
    assert get_resident_bytes(pid) - memory < MEMORY_ALLOWANCE
    assert orthanc.get_json("/perf/status")["CallbackFailures"] == {}
