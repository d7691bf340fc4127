# SPDX-License-Identifier: GPL-3.0-or-later
"""What Orthanc has already and will refuse is not transcoded first, and is stored all the same."""

import time

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image
from harness.metrics import scrape_when_counted
from harness.orthanc import OrthancServer
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    get_syntax,
    list_transcodings,
    read_stored,
    tune,
)

TRANSCODED = "orthanc_perf_transcode_total"
COUNT = 10


def send_twice(server: OrthancServer, images: list[Image]) -> None:
    """Once the index may be asked again for a series that it did not have."""
    clients.store(server, images)
    time.sleep(1.1)
    clients.store(server, images)


def count_outcomes(server: OrthancServer, instances: int) -> dict[str, int]:
    metrics = scrape_when_counted(server, instances)
    return {outcome: count for (outcome,), count in metrics.group(TRANSCODED, "outcome").items()}


def test_what_is_stored_already_is_not_transcoded_until_it_is_deleted(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("duplicates", COUNT)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    send_twice(orthanc, images)

    assert count_outcomes(orthanc, 2 * COUNT) == {"transcoded": COUNT, "duplicate": COUNT}
    for transcoding in list_transcodings(orthanc)[:COUNT]:
        assert transcoding["Outcome"] == "Duplicate"
        assert transcoding["Reason"] == "stored already, and OverwriteInstances is off"
        assert transcoding["Engine"] is None

    latest = orthanc.get_json("/perf/instances")
    assert {instance["Outcome"] for instance in latest} == {"Stored"}
    for image in images:
        stored = read_stored(orthanc, orthanc.find_instance(image.sop_instance_uid))
        assert get_syntax(stored) == JPEG_LOSSLESS_SV1

    orthanc.delete_all()
    clients.store(orthanc, images)
    assert count_outcomes(orthanc, 3 * COUNT) == {"transcoded": 2 * COUNT, "duplicate": COUNT}
    assert len(orthanc.get_json("/instances")) == COUNT


def test_what_replaces_a_stored_instance_is_transcoded(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(options={"OverwriteInstances": True})
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    send_twice(orthanc, make_series("duplicates", COUNT))
    assert count_outcomes(orthanc, 2 * COUNT) == {"transcoded": 2 * COUNT}
