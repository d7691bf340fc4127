# SPDX-License-Identifier: GPL-3.0-or-later
"""Ingest transcoding: the live choice, on every way into Orthanc, and who it leaves alone."""

import functools
import hashlib
import io
import itertools
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pydicom.data import get_testdata_file
from pydicom.dataset import FileDataset
from pydicom.uid import UID

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image
from harness.metrics import scrape, wait_until
from harness.orthanc import Json, OrthancServer, find_free_port
from harness.receivers import StoreScp, send
from harness.senders import associate
from harness.transcoding import (
    EXPLICIT,
    JPEG_2000_LOSSLESS,
    JPEG_BASELINE,
    JPEG_EXTENDED,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    LOSSY,
    RLE,
    change,
    decode,
    get_syntax,
    list_engines,
    list_transcodings,
    read,
    read_stored,
    tune,
)

ENGINES = ["dcmtk", "gdcm", "native"]
TRANSCODED = "orthanc_perf_transcode_total"


def put_by_webdav(server: OrthancServer, images: list[Image]) -> None:
    for image in images:
        path = f"/webdav/uploads/{image.path.name}"
        server.request("PUT", path, data=image.read_bytes()).raise_for_status()
    assert wait_until(lambda: len(server.get_json("/instances")) == len(images))


WAYS_IN = [
    clients.store,
    lambda server, images: clients.upload(server, [image.read_bytes() for image in images]),
    clients.upload_zip,
    clients.store_over_web,
    put_by_webdav,
]


def check_stored(server: OrthancServer, image: Image, syntax: UID) -> None:
    """The image is stored in that transfer syntax, with the same identity and pixels."""
    stored = read_stored(server, server.find_instance(image.sop_instance_uid))
    assert get_syntax(stored) == syntax
    assert stored.file_meta.MediaStorageSOPInstanceUID == image.sop_instance_uid
    assert np.array_equal(decode(stored), decode(read(image.path)))


def list_finished(server: OrthancServer, limit: int) -> list[Json]:
    """Once the plugin knows that the last response is written, which its receiver knows first."""
    assert wait_until(lambda: scrape(server).sum("orthanc_perf_ingest_in_flight") == 0)
    return list_transcodings(server, limit)


@pytest.mark.parametrize("send", WAYS_IN)
def test_the_live_choice_is_taken_on_every_way_in(
    server: OrthancServer, make_series: MakeSeries, send: Callable[..., object]
) -> None:
    images = make_series("store", 3)
    tune(server, TransferSyntax=JPEG_LOSSLESS_SV1)
    send(server, images)
    for image in images:
        check_stored(server, image, JPEG_LOSSLESS_SV1)
    for transcoding in list_finished(server, len(images)):
        assert transcoding["Outcome"] == "Transcoded"
        assert transcoding["Target"] == JPEG_LOSSLESS_SV1
        assert transcoding["Engine"] in ENGINES


def test_what_lua_creates_is_transcoded(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    orthanc = start_orthanc(lua=[clients.STORE_A_MODIFIED_COPY])
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    orthanc.upload(image.read_bytes())
    assert wait_until(lambda: len(orthanc.get_json("/instances")) == 2)
    for instance in orthanc.get_json("/instances"):
        assert get_syntax(read_stored(orthanc, instance)) == JPEG_LOSSLESS_SV1


def test_the_choice_takes_effect_with_the_next_instance_of_an_association(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("store", 3)
    association = associate(server)
    for image, syntax in zip(images, [RLE, "", JPEG_LOSSLESS_SV1], strict=True):
        tune(server, TransferSyntax=syntax)
        assert association.send_c_store(read(image.path)).Status == 0
        check_stored(server, image, UID(syntax or EXPLICIT))
    association.release()


def make_8_bits(image: FileDataset) -> None:
    image.PixelData = (decode(image) >> 4).astype("u1").tobytes()
    image.BitsAllocated = image.BitsStored = 8
    image.HighBit = 7
    image["PixelData"].VR = "OB"


def test_lossy_makes_a_new_instance_and_the_same_one_when_it_is_sent_again(
    server: OrthancServer, make_series: MakeSeries, tmp_path: Path
) -> None:
    (image,) = make_series("store", 1)
    content = change(image.path, make_8_bits)
    (tmp_path / "8-bits.dcm").write_bytes(content)
    for engine in ["dcmtk", "gdcm", "dcmtk"]:
        tune(server, TransferSyntax=JPEG_BASELINE, LossyQuality=95, Engine=engine)
        clients.store(server, [Image(tmp_path / "8-bits.dcm", image.sop_instance_uid)])
        assert list_finished(server, 1)[0]["Engine"] == engine
    (name,) = server.get_json("/instances")
    stored = read_stored(server, name)
    assert get_syntax(stored) == JPEG_BASELINE
    assert stored.SOPInstanceUID != image.sop_instance_uid
    assert stored.SourceImageSequence[0].ReferencedSOPInstanceUID == image.sop_instance_uid
    difference = decode(stored).astype(int) - decode(read(content))
    assert 0 < np.abs(difference).mean() < 3

    tune(server, LossyQuality=50)
    assert server.upload(content) != name


@pytest.mark.parametrize("syntax", [JPEG_LOSSLESS_SV1, *LOSSY])
def test_verified_instances_say_so(
    server: OrthancServer, make_series: MakeSeries, syntax: UID
) -> None:
    content = change(make_series("store", 1)[0].path, make_8_bits)
    engines = [name for name, written in list_engines(server).items() if syntax in written]
    assert engines
    for engine, (quality, verify) in itertools.product(
        engines, [(1, True), (100, True), (1, False)]
    ):
        choice = {"Engine": engine, "TransferSyntax": syntax, "LossyQuality": quality}
        tune(server, Verify=verify, **choice)
        server.delete_all()
        server.upload(content)
        transcoding = list_transcodings(server, 1)[0]
        assert transcoding["Outcome"] == "Transcoded", (engine, transcoding)
        assert transcoding["Verified"] is verify


def test_lossy_targets_are_logged_once_each(orthanc: OrthancServer) -> None:
    def is_logged(count: int) -> bool:
        return orthanc.log.count("compressed with loss from now on (JPEG") == count

    for keys, count in (
        ({"TransferSyntax": JPEG_LS}, 0),
        ({"TransferSyntax": "JPEG2000", "LossyQuality": 80}, 1),
        ({"Verify": True}, 1),
        ({"TransferSyntax": "JPEGProcess1"}, 2),
    ):
        tune(orthanc, **keys)
        assert wait_until(functools.partial(is_logged, count))  # once the self-test has ended


def test_without_the_received_callback_the_status_says_so(
    start_orthanc: StartOrthanc, plugin: Path, other_plugin: Path, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    orthanc = start_orthanc(
        plugins=[other_plugin, plugin], options={"OtherPlugin": {"HoldReceived": True}}
    )
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    status = orthanc.get_json("/perf/status")
    assert status["Transcoding"]["InEffect"] is False
    assert "received-instance callback" in status["Transcoding"]["Reason"]
    assert "IngestTranscoding.TransferSyntax" in status["Tuning"]["NotYetInEffect"]
    assert wait_until(  # the plugin's thread looks every second
        lambda: (
            "IngestTranscoding.TransferSyntax" in str(orthanc.get_json("/perf/status")["Warnings"])
        )
    )
    assert orthanc.get_file(orthanc.upload(image.read_bytes())) == image.read_bytes()


SERVE_ORTHANC = {"Tuning": {"IngestTranscoding": {"OrthancTranscoding": True}}}


def ask_for_transcodings(server: OrthancServer, content: bytes) -> list[tuple[int, str]]:
    """What Orthanc answers wherever it transcodes or decodes: the status, and a hash of the body"""
    server.delete_all()
    name = server.upload(content)
    (series,) = server.get_json("/series")
    modify = {"Keep": ["SOPInstanceUID"], "Replace": {"PatientName": "Other"}, "Force": True}
    answers = [
        server.get(f"/instances/{name}/preview"),
        server.get(f"/instances/{name}/frames/0/image-uint16"),
        server.get(f"/instances/{name}/numpy"),
        *[
            server.request("POST", f"/instances/{name}/modify", json={**modify, "Transcode": s})
            for s in (EXPLICIT, JPEG_LOSSLESS_SV1, JPEG_2000_LOSSLESS)
        ],
    ]
    said = [(answer.status_code, answer.content if answer.ok else b"") for answer in answers]
    for syntax in (EXPLICIT, JPEG_LOSSLESS_SV1):
        answer = server.get(f"/series/{series}/archive", params={"transcode": syntax})
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            said += [(answer.status_code, archive.read(entry)) for entry in archive.namelist()]
    return [(status, hashlib.sha256(body).hexdigest()) for status, body in said]


def test_left_alone_orthanc_answers_byte_for_byte_as_without_the_plugin(
    orthanc: OrthancServer, start_orthanc: StartOrthanc
) -> None:
    plain = start_orthanc(below="plain", plugins=[])
    list_engines(orthanc)
    for name in (
        "CT_small.dcm",
        "examples_rgb_color.dcm",
        "MR_small_jp2klossless.dcm",
        "JPGExtended.dcm",
    ):
        content = Path(get_testdata_file(name)).read_bytes()
        answers = ask_for_transcodings(orthanc, content)
        assert answers == ask_for_transcodings(plain, content), name
    assert scrape(orthanc).sum(TRANSCODED) == 0
    assert orthanc.get_json("/perf/status")["Hooks"]["Transcoder"]["Installed"] is False


def test_orthancs_own_ingest_transcoding_uses_the_chosen_engine(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    first, second = make_series("store", 2)
    orthanc = start_orthanc(options={"IngestTranscoding": JPEG_LOSSLESS_SV1}, perf=SERVE_ORTHANC)
    tune(orthanc, Engine="gdcm")
    for image, engine in [(first, "gdcm"), (second, "dcmtk")]:
        tune(orthanc, Engine=engine)
        orthanc.upload(image.read_bytes())
        check_stored(orthanc, image, JPEG_LOSSLESS_SV1)
        newest = orthanc.get_json("/perf/instances")[0]
        assert newest["Transcoding"]["Engine"] == engine
        assert newest["Phases"]["Transcode"] > 0


def test_orthancs_own_ingest_transcoding_has_the_last_word(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    orthanc = start_orthanc(options={"IngestTranscoding": JPEG_LOSSLESS_SV1})
    tune(orthanc, TransferSyntax=RLE)
    assert wait_until(lambda: "has the last word" in orthanc.log)  # once the self-test has ended
    status = orthanc.get_json("/perf/status")
    assert "IngestTranscoding.TransferSyntax" in status["Tuning"]["NotYetInEffect"]
    orthanc.upload(image.read_bytes())
    check_stored(orthanc, image, JPEG_LOSSLESS_SV1)


def download(server: OrthancServer, syntax: UID) -> bytes:
    """The only instance there is, transcoded by Orthanc. Newer ones do it for single files, too."""
    (series,) = server.get_json("/series")
    answer = server.get(f"/series/{series}/archive", params={"transcode": syntax})
    answer.raise_for_status()
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (name,) = archive.namelist()
        return archive.read(name)


def modify(server: OrthancServer, name: str, syntax: UID) -> FileDataset:
    wish = {"Replace": {"PatientName": "Other"}, "Transcode": syntax, "Force": True}
    wish["Keep"] = ["StudyInstanceUID"]
    answer = server.request("POST", f"/instances/{name}/modify", json=wish)
    answer.raise_for_status()
    return read(answer.content)


def test_what_orthanc_transcodes_itself_is_done_by_the_chosen_engine(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    """Downloads, modifications, and images for a receiver that takes uncompressed ones only. Lossy
    ones are Orthanc's own: a transcoder is not told the quality, and would have to guess it."""
    (image,) = make_series("store", 1)
    port = find_free_port()
    modalities = {"receiver": ["RECEIVER", "127.0.0.1", port]}
    orthanc = start_orthanc(options={"DicomModalities": modalities})
    name = orthanc.upload(image.read_bytes())
    lossy = decode(modify(orthanc, name, JPEG_EXTENDED))

    def count(engine: str) -> float:
        return scrape(orthanc).sum(TRANSCODED, engine=engine, outcome="transcoded")

    tune(orthanc, Engine="dcmtk", OrthancTranscoding=True, LossyQuality=1)
    downloaded = read(download(orthanc, JPEG_LOSSLESS_SV1))
    assert downloaded.SOPInstanceUID == image.sop_instance_uid
    tune(orthanc, Engine="gdcm")
    modified = modify(orthanc, name, JPEG_2000_LOSSLESS)
    assert modified.PatientName == "Other"
    for result, syntax in [(downloaded, JPEG_LOSSLESS_SV1), (modified, JPEG_2000_LOSSLESS)]:
        assert get_syntax(result) == syntax
        assert np.array_equal(decode(result), decode(read(image.path)))
    assert np.array_equal(decode(modify(orthanc, name, JPEG_EXTENDED)), lossy)
    assert (count("dcmtk"), count("gdcm")) == (1, 1)

    orthanc.delete_all()
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    name = orthanc.upload(image.read_bytes())
    with StoreScp(port, "+xi"):  # implicit VR little endian only
        send(orthanc, "receiver", [name])
    assert count("gdcm") == 3

    tune(orthanc, OrthancTranscoding=False)
    assert get_syntax(read(download(orthanc, EXPLICIT))) == EXPLICIT
    assert (count("dcmtk"), count("gdcm")) == (1, 3)
