# SPDX-License-Identifier: GPL-3.0-or-later
"""What Orthanc's own jobs make of stored instances is none of the transcoding of what comes in."""

import json
from collections.abc import Callable

import pytest
from pydicom.uid import UID

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.transcoding import (
    JPEG_EXTENDED,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    decode,
    get_syntax,
    read,
    read_stored,
    tune,
)

COUNT = 3

ASK_BY_LUA = "print(RestApiPost('{path}', '{body}', true))"


def ask(server: OrthancServer, path: str, body: Json) -> None:
    server.request("POST", path, json=body).raise_for_status()


def ask_by_lua(server: OrthancServer, path: str, body: Json) -> None:
    script = ASK_BY_LUA.format(path=path, body=json.dumps(body))
    server.request("POST", "/tools/execute-script", data=script).raise_for_status()


@pytest.fixture
def archive(start_orthanc: StartOrthanc) -> OrthancServer:
    return start_orthanc(options={"ExecuteLuaEnabled": True})


def keep(server: OrthancServer, images: list[Image]) -> str:
    """The identifier of the study, which is in the archive before anything is to be transcoded."""
    clients.upload(server, [image.read_bytes() for image in images])
    (study,) = server.get_json("/studies")
    return study


def list_others(server: OrthancServer, known: list[str]) -> list[str]:
    return sorted(set(server.get_json("/instances")) - set(known))


def check_unchanged(server: OrthancServer, instances: list[str], images: list[Image]) -> None:
    """They have the transfer syntax and, in whatever order, the pixels of the images."""
    stored = [read_stored(server, instance) for instance in instances]
    sent = [read(image.path) for image in images]
    assert {get_syntax(image) for image in stored} == {get_syntax(image) for image in sent}
    assert sorted(decode(image).tobytes() for image in stored) == sorted(
        decode(image).tobytes() for image in sent
    )


@pytest.mark.parametrize(
    ("asks", "change", "target"),
    [
        (ask, "anonymize", JPEG_LOSSLESS_SV1),
        (ask, "modify", JPEG_EXTENDED),
        (ask_by_lua, "anonymize", JPEG_LOSSLESS_SV1),
    ],
)
def test_what_is_modified_still_says_of_what_it_was_made(
    archive: OrthancServer,
    make_series: MakeSeries,
    asks: Callable[[OrthancServer, str, Json], None],
    change: str,
    target: UID,
) -> None:
    images = make_series("store", COUNT)
    study = keep(archive, images)
    instances = archive.get_json("/instances")
    tune(archive, TransferSyntax=target)
    wish = {"Replace": {"PatientName": "Other"}}
    asks(archive, f"/studies/{study}/{change}", wish)
    assert wait_until(lambda: len(archive.get_json("/instances")) == 2 * COUNT)
    assert wait_until(
        lambda: (
            {job["State"] for job in archive.get_json("/jobs", params={"expand": ""})}
            == {"Success"}
        )
    )

    others = list_others(archive, instances)
    name = {"anonymize": "AnonymizedFrom", "modify": "ModifiedFrom"}[change]
    origins = {archive.get(f"/instances/{other}/metadata/{name}").text for other in others}
    assert origins == set(instances)
    (new,) = set(archive.get_json("/studies")) - {study}
    assert archive.get(f"/studies/{new}/metadata/{name}").text == study
    check_unchanged(archive, others, images)


def test_the_transfer_syntax_that_a_modification_asks_for_is_stored(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    study = keep(orthanc, make_series("store", COUNT))
    instances = orthanc.get_json("/instances")
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, OfCompressed=True)
    ask(
        orthanc, f"/studies/{study}/modify", {"Replace": {"PatientName": "A"}, "Transcode": JPEG_LS}
    )
    others = list_others(orthanc, instances)
    assert {get_syntax(read_stored(orthanc, other)) for other in others} == {JPEG_LS}


def test_no_merge_and_no_split_loses_what_the_archive_has(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    """Both remove what they have made another of."""
    images = make_series("store", COUNT)
    study = keep(orthanc, images)
    (series,) = orthanc.get_json("/series")
    tune(orthanc, TransferSyntax=JPEG_EXTENDED)
    ask(orthanc, f"/studies/{study}/split", {"Series": [series]})
    (split,) = orthanc.get_json("/studies")
    assert split != study
    check_unchanged(orthanc, orthanc.get_json("/instances"), images)

    tune(orthanc, TransferSyntax="")
    (other,) = make_series("merge", 1)
    clients.upload(orthanc, [other.read_bytes()])
    (target,) = set(orthanc.get_json("/studies")) - {split}
    tune(orthanc, TransferSyntax=JPEG_EXTENDED)
    ask(orthanc, f"/studies/{target}/merge", {"Resources": [split]})
    assert orthanc.get_json("/studies") == [target]
    check_unchanged(orthanc, orthanc.get_json("/instances"), [*images, other])


def test_a_correction_in_place_is_stored(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc(options={"OverwriteInstances": True})
    if orthanc.is_older_than(1, 11, 2):
        pytest.skip("this Orthanc does not modify an instance in place")
    images = make_series("store", COUNT)
    study = keep(orthanc, images)
    instances = orthanc.get_json("/instances")
    tune(orthanc, TransferSyntax=JPEG_EXTENDED)
    tags = ["StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID"]
    body = {"Replace": {"StudyDescription": "Right"}, "Keep": tags, "Force": True}
    ask(orthanc, f"/studies/{study}/modify", body)
    assert sorted(orthanc.get_json("/instances")) == sorted(instances)
    check_unchanged(orthanc, instances, images)


def test_what_comes_in_meanwhile_is_transcoded(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    """By senders, whose threads are none of a job, while one runs."""
    orthanc = start_orthanc()
    study = keep(orthanc, make_series("store", 100))
    known = orthanc.get_json("/instances")
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    body = {"Replace": {"PatientName": "Other"}, "Asynchronous": True}
    job = orthanc.request("POST", f"/studies/{study}/modify", json=body).json()["ID"]
    new = make_series("new", 5)
    clients.store(orthanc, new)
    clients.upload_zip(orthanc, make_series("zip", 5))
    clients.store_over_web(orthanc, make_series("web", 5))
    assert wait_until(lambda: orthanc.get_json(f"/jobs/{job}")["State"] == "Success")
    others = list_others(orthanc, known)
    assert len(others) == 115
    syntaxes = [get_syntax(read_stored(orthanc, other)) for other in others]
    assert syntaxes.count(JPEG_LOSSLESS_SV1) == 15
