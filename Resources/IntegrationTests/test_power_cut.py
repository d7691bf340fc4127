# SPDX-License-Identifier: GPL-3.0-or-later
"""The power is cut: each file is synced before its instance is acknowledged, as Orthanc promises.

With "SyncStorageArea", which is Orthanc's default. Orthanc's index in SQLite is not synced: what
the last seconds brought is then on the disk, but no longer listed, without the plugin too.
"""

import os
from pathlib import Path

import pytest
from pydicom import dcmread
from pydicom.errors import InvalidDicomError

from conftest import AddRow, StartOrthanc
from harness import strace
from harness.acknowledged import AcknowledgedLoad
from harness.numbered import (
    NumberedImages,
    find_number,
    identify_numbered,
    make_pixels,
    name_instance,
)
from harness.orthanc import OrthancServer
from harness.strace import Trace, find_failure
from harness.transcoding import TARGETS, decode, read, transcode

TRACED = 12  # instances
READABLE = {"HttpCompressionEnabled": False}  # answers, in a trace

pytestmark = pytest.mark.skipif(
    strace.find_obstacle() is not None, reason=str(strace.find_obstacle())
)


def read_files(folder: Path) -> dict[int, Path]:
    """The instances in Orthanc's files, by their numbers; each has the right pixels."""
    files = {}
    for path in folder.rglob("????????-????-????-????-????????????"):
        try:
            number = find_number(dcmread(path, stop_before_pixels=True).SOPInstanceUID)
        except InvalidDicomError:  # an attachment of another kind, or a file that is not whole
            continue
        assert (decode(read(path)) == make_pixels(number)).all(), f"{number} has other pixels"
        files[number] = path
    return files


@pytest.mark.parametrize("engine", [*TARGETS, ""] if os.environ.get("PERF_LONG") else ["dcmtk"])
def test_a_file_is_synced_before_its_instance_is_acknowledged(
    start_orthanc: StartOrthanc, tmp_path: Path, reliability: AddRow, engine: str
) -> None:
    row = reliability(
        "the power, as strace sees it" + (f", transcoding by {engine}" if engine else ""),
        "an instance's file is written and synced before the instance is acknowledged, by "
        "C-STORE, HTTP and STOW-RS; each instance is one attempt",
    )
    trace = Trace(tmp_path / "trace")
    server = start_orthanc(launcher=trace.launcher, options=READABLE)
    transcode(server, engine)
    for failure in look_for_failures(server, trace):
        with row.attempt():
            assert failure is None, failure


def test_a_file_that_is_not_synced_is_found(start_orthanc: StartOrthanc, tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    options = READABLE | {"SyncStorageArea": False}
    server = start_orthanc(launcher=trace.launcher, options=options)
    assert set(look_for_failures(server, trace)) == {"it was not synced before the answer"}


def look_for_failures(server: OrthancServer, trace: Trace) -> list[str | None]:
    """One for each instance that was acknowledged; ends the server."""
    images = NumberedImages()
    acknowledged = {}
    for way in AcknowledgedLoad.WAYS:
        with AcknowledgedLoad(server, images, [way]) as load:
            load.wait_for(TRACED)
        acknowledged[way] = load.acknowledged
    assert server.stop() == 0

    files = read_files(server.storage)
    threads = list(trace.list_threads())
    failures = []
    for way, numbers in acknowledged.items():
        for number in numbers:
            path = str(files[number])
            mark = identify_numbered(number) if way == "upload" else name_instance(number)
            (calls,) = [calls for calls in threads if any(call.target == path for call in calls)]
            failures.append(find_failure(calls, path, mark))
    return failures
