# SPDX-License-Identifier: GPL-3.0-or-later
"""Ingest transcoding: the live choice, on every way into Orthanc, and who it leaves alone."""

import functools
import hashlib
import io
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
from harness.orthanc import OrthancServer, find_free_port
from harness.receivers import StoreScp, send
from harness.senders import associate
from harness.transcoding import (
    DEFLATED,
    EXPLICIT,
    IMPLICIT,
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


@pytest.mark.parametrize("send", WAYS_IN)
def test_the_live_choice_is_taken_on_every_way_in(
    server: OrthancServer, make_series: MakeSeries, send: Callable[..., object]
) -> None:
    images = make_series("store", 3)
    tune(server, TransferSyntax=JPEG_LOSSLESS_SV1)
    send(server, images)
    for image in images:
        check_stored(server, image, JPEG_LOSSLESS_SV1)
    for transcoding in list_transcodings(server, len(images)):
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


def test_it_takes_effect_with_the_next_instance_and_ends_with_it(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    images = make_series("store", 4)
    for image, syntax in zip(images, [RLE, "", JPEG_LOSSLESS_SV1, EXPLICIT], strict=True):
        tune(server, TransferSyntax=syntax)
        server.upload(image.read_bytes())
        check_stored(server, image, UID(syntax or EXPLICIT))


def test_the_same_association_changes_its_target_midway(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    first, second = (read(image.path) for image in make_series("store", 2))
    association = associate(server)
    tune(server, TransferSyntax=RLE)
    assert association.send_c_store(first).Status == 0
    tune(server, TransferSyntax=JPEG_LOSSLESS_SV1)
    assert association.send_c_store(second).Status == 0
    association.release()
    for image, syntax in [(first, RLE), (second, JPEG_LOSSLESS_SV1)]:
        stored = read_stored(server, server.find_instance(image.SOPInstanceUID))
        assert get_syntax(stored) == syntax


def make_8_bits(image: FileDataset) -> None:
    image.PixelData = (decode(image) >> 4).astype("u1").tobytes()
    image.BitsAllocated = image.BitsStored = 8
    image.HighBit = 7
    image["PixelData"].VR = "OB"


def test_lossy_makes_a_new_instance_that_says_what_it_is(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    content = change(image.path, make_8_bits)
    tune(server, TransferSyntax=JPEG_BASELINE, LossyQuality=95)
    stored = read_stored(server, server.upload(content))

    assert get_syntax(stored) == JPEG_BASELINE
    assert stored.SOPInstanceUID != image.sop_instance_uid
    assert stored.file_meta.MediaStorageSOPInstanceUID == stored.SOPInstanceUID
    assert stored.LossyImageCompression == "01"  # PS3.3 C.7.6.1.1.5
    assert float(stored.LossyImageCompressionRatio) > 1
    assert stored.LossyImageCompressionMethod
    assert stored.ImageType[0] == "DERIVED"
    assert stored.SourceImageSequence[0].ReferencedSOPInstanceUID == image.sop_instance_uid
    difference = decode(stored).astype(int) - decode(read(content))
    assert 0 < np.abs(difference).mean() < 3


def test_sent_again_it_is_the_same_lossy_instance(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    content = change(make_series("store", 1)[0].path, make_8_bits)
    stored = []
    for engine in ["dcmtk", "gdcm", "dcmtk"]:
        tune(server, TransferSyntax=JPEG_BASELINE, LossyQuality=95, Engine=engine)
        stored.append(server.upload(content))
        assert list_transcodings(server, 1)[0]["Engine"] == engine
    assert len(set(stored)) == 1
    assert server.get_json("/instances") == stored[:1]

    tune(server, LossyQuality=50)
    assert server.upload(content) not in stored


def test_a_lossy_cstore_succeeds(server: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("store", 2)
    tune(server, TransferSyntax="JPEG2000", LossyQuality=80)
    clients.store(server, images)  # raises unless each response is a success
    stored = [read_stored(server, name) for name in server.get_json("/instances")]
    assert [get_syntax(image).name[:9] for image in stored] == ["JPEG 2000"] * len(images)


@pytest.mark.parametrize("quality", [1, 100])
@pytest.mark.parametrize("syntax", [JPEG_LOSSLESS_SV1, *LOSSY])
def test_verified_instances_say_so(
    server: OrthancServer, make_series: MakeSeries, syntax: UID, quality: int
) -> None:
    content = change(make_series("store", 1)[0].path, make_8_bits)
    engines = [name for name, written in list_engines(server).items() if syntax in written]
    assert engines
    for engine in engines:
        for verify in (True, False):
            choice = {"Engine": engine, "TransferSyntax": syntax, "Verify": verify}
            tune(server, LossyQuality=quality, **choice)
            server.delete_all()
            server.upload(content)
            transcoding = list_transcodings(server, 1)[0]
            assert transcoding["Outcome"] == "Transcoded", (engine, transcoding)
            assert transcoding["Verified"] is verify
            if syntax == JPEG_LOSSLESS_SV1:
                (stored,) = server.get_json("/instances")
                pixels = decode(read(content))
                assert (decode(read_stored(server, stored)) == pixels).all()


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


def test_the_transcode_phase_is_the_engines_time(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    orthanc.upload(image.read_bytes())
    (before,) = orthanc.get_json("/perf/instances")
    assert "Transcode" not in before["Phases"]
    orthanc.delete_all()

    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, Engine="dcmtk")
    orthanc.upload(image.read_bytes())
    after = orthanc.get_json("/perf/instances")[0]
    engine = scrape(orthanc).sum("orthanc_perf_transcode_seconds_sum", engine="dcmtk")
    assert engine <= after["Phases"]["Transcode"] <= after["Duration"]


def test_metrics_count_bytes_of_both_sides(orthanc: OrthancServer, make_series: MakeSeries) -> None:
    images = make_series("store", 3)
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, Engine="dcmtk")
    clients.upload(orthanc, [image.read_bytes() for image in images])
    metrics = scrape(orthanc)
    labels = {"engine": "dcmtk", "target": "JPEGProcess14SV1"}
    assert metrics.sum(TRANSCODED, outcome="transcoded", **labels) == 3
    sent = sum(image.get_size() for image in images)
    stored = sum(len(orthanc.get_file(name)) for name in orthanc.get_json("/instances"))
    assert metrics.sum("orthanc_perf_transcode_bytes_total", side="source", **labels) == sent
    assert metrics.sum("orthanc_perf_transcode_bytes_total", side="target", **labels) == stored
    assert clients.get_output(["promtool", "check", "metrics"], metrics.text) == ""


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


def strip_new_identity(body: bytes, received: bytes) -> bytes:
    """Without the SOP Instance UID that Orthanc makes up anew for each lossy file."""
    if body[128:132] != b"DICM" or read(body).SOPInstanceUID == read(received).SOPInstanceUID:
        return body

    def strip(image: FileDataset) -> None:
        image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = "1.2.3"

    return change(body, strip)


def clear_padding(body: bytes) -> bytes:
    """With zero behind a JPEG-LS frame of odd length, where DCMTK leaves a byte to chance."""
    if body[128:132] != b"DICM" or read(body).file_meta.TransferSyntaxUID != JPEG_LS:
        return body
    frame, end, rest = body.rpartition(b"\xff\xd9")
    return frame + end + b"\0" + rest[1:] if len(frame) % 2 == 1 else body


def ask_for_transcodings(server: OrthancServer, content: bytes) -> list[tuple[int, str]]:
    """What Orthanc answers wherever it transcodes or decodes: the status, and a hash of the body"""
    name = server.upload(content)
    (series,) = server.get_json("/series")
    modify = {"Keep": ["SOPInstanceUID"], "Replace": {"PatientName": "Other"}, "Force": True}
    answers = [
        server.get(f"/instances/{name}/preview"),
        server.get(f"/instances/{name}/frames/0/image-uint16"),
        server.get(f"/instances/{name}/numpy"),
        *[
            server.request("POST", f"/instances/{name}/modify", json={**modify, "Transcode": s})
            for s in (EXPLICIT, JPEG_BASELINE, JPEG_LOSSLESS_SV1, JPEG_LS, JPEG_2000_LOSSLESS)
        ],
    ]
    said = [(answer.status_code, answer.content if answer.ok else b"") for answer in answers]
    for syntax in (EXPLICIT, JPEG_BASELINE, JPEG_LOSSLESS_SV1, JPEG_LS):
        answer = server.get(f"/series/{series}/archive", params={"transcode": syntax})
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            said += [(answer.status_code, archive.read(entry)) for entry in archive.namelist()]
    bodies = [(status, clear_padding(strip_new_identity(body, content))) for status, body in said]
    return [(status, hashlib.sha256(body).hexdigest()) for status, body in bodies]


@pytest.mark.parametrize(
    "name",
    ["CT_small.dcm", "examples_rgb_color.dcm", "MR_small_jp2klossless.dcm", "JPGExtended.dcm"],
)
def test_left_alone_orthanc_answers_byte_for_byte_as_without_the_plugin(
    start_orthanc: StartOrthanc, name: str
) -> None:
    content = Path(get_testdata_file(name)).read_bytes()
    orthanc, plain = start_orthanc(), start_orthanc(below="plain", plugins=[])
    list_engines(orthanc)
    assert ask_for_transcodings(orthanc, content) == ask_for_transcodings(plain, content)
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


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"])
def test_downloads_are_transcoded_by_the_chosen_engine(
    orthanc: OrthancServer, make_series: MakeSeries, engine: str
) -> None:
    (image,) = make_series("store", 1)
    orthanc.upload(image.read_bytes())
    tune(orthanc, Engine=engine, OrthancTranscoding=True)
    transcoded = read(download(orthanc, JPEG_LOSSLESS_SV1))
    assert get_syntax(transcoded) == JPEG_LOSSLESS_SV1
    assert transcoded.SOPInstanceUID == image.sop_instance_uid
    assert np.array_equal(decode(transcoded), decode(read(image.path)))
    assert scrape(orthanc).sum(TRANSCODED, engine=engine, outcome="transcoded") == 1

    tune(orthanc, OrthancTranscoding=False)
    assert get_syntax(read(download(orthanc, JPEG_LOSSLESS_SV1))) == JPEG_LOSSLESS_SV1
    assert scrape(orthanc).sum(TRANSCODED, engine=engine, outcome="transcoded") == 1


def test_what_orthanc_modifies_is_transcoded_by_the_chosen_engine(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    name = orthanc.upload(image.read_bytes())
    tune(orthanc, Engine="gdcm", OrthancTranscoding=True)
    wish = {"Replace": {"PatientName": "Other"}, "Transcode": JPEG_2000_LOSSLESS}
    answer = orthanc.request("POST", f"/instances/{name}/modify", json=wish)
    answer.raise_for_status()
    modified = read(answer.content)
    assert get_syntax(modified) == JPEG_2000_LOSSLESS
    assert modified.PatientName == "Other"
    assert np.array_equal(decode(modified), decode(read(image.path)))
    assert scrape(orthanc).sum(TRANSCODED, engine="gdcm", outcome="transcoded") == 1


def test_lossy_targets_are_orthancs_own_whatever_the_tuning_says(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    """A transcoder is not told the quality, and would have to guess it."""
    (image,) = make_series("store", 1)
    name = orthanc.upload(image.read_bytes())
    wish = {"Replace": {"PatientName": "Other"}, "Transcode": JPEG_EXTENDED, "Force": True}
    wish["Keep"] = ["StudyInstanceUID"]

    def modify() -> np.ndarray:
        answer = orthanc.request("POST", f"/instances/{name}/modify", json=wish)
        answer.raise_for_status()
        return decode(read(answer.content))

    before = modify()
    tune(orthanc, LossyQuality=1, OrthancTranscoding=True)
    assert np.array_equal(modify(), before)
    assert scrape(orthanc).sum(TRANSCODED, outcome="transcoded") == 0


def test_what_orthanc_sends_is_transcoded_by_the_chosen_engine(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    """The receiver takes uncompressed images only: Orthanc's C-STORE SCU has to decode."""
    (image,) = make_series("store", 1)
    port = find_free_port()
    orthanc = start_orthanc(
        options={"DicomModalities": {"receiver": ["RECEIVER", "127.0.0.1", port]}}
    )
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1, Engine="gdcm", OrthancTranscoding=True)
    name = orthanc.upload(image.read_bytes())
    before = scrape(orthanc).sum(TRANSCODED, engine="gdcm", outcome="transcoded")
    with StoreScp(port, "+xi"):  # implicit VR little endian only
        send(orthanc, "receiver", [name])
    after = scrape(orthanc).sum(TRANSCODED, engine="gdcm", outcome="transcoded")
    assert (before, after) == (1, 2)


@pytest.mark.parametrize("syntax", [JPEG_LS, IMPLICIT, JPEG_2000_LOSSLESS, RLE])
def test_what_comes_compressed_is_transcoded_if_asked_for(
    server: OrthancServer, make_series: MakeSeries, syntax: UID
) -> None:
    (image,) = make_series("store", 1)
    tune(server, TransferSyntax=syntax)
    compressed = server.get_file(server.upload(image.read_bytes()))
    assert get_syntax(read(compressed)) == syntax
    server.delete_all()
    target = EXPLICIT if syntax in (JPEG_LS, JPEG_2000_LOSSLESS) else JPEG_LOSSLESS_SV1
    tune(server, TransferSyntax=target, OfCompressed=True)
    server.upload(compressed)
    check_stored(server, image, target)


def test_a_compressed_image_does_not_grow(orthanc: OrthancServer) -> None:
    content = Path(get_testdata_file("JPGExtended.dcm")).read_bytes()
    tune(orthanc, TransferSyntax=JPEG_LOSSLESS_SV1)
    assert orthanc.get_file(orthanc.upload(content)) == content
    assert list_transcodings(orthanc) == [None]
    orthanc.delete_all()

    tune(orthanc, OfCompressed=True)
    assert orthanc.get_file(orthanc.upload(content)) == content
    transcoding = list_transcodings(orthanc)[0]
    assert (transcoding["Outcome"], transcoding["Reason"]) == ("Declined", "larger than what came")
    assert orthanc.get_json("/perf/status")["Transcoding"]["Failures"] == []
    assert "larger than what came" not in orthanc.log
    orthanc.delete_all()

    tune(orthanc, TransferSyntax=EXPLICIT)  # nobody asks for that to save space
    assert get_syntax(read_stored(orthanc, orthanc.upload(content))) == EXPLICIT


def test_a_deflated_file_is_stored_as_received(
    server: OrthancServer, make_series: MakeSeries
) -> None:
    (image,) = make_series("store", 1)
    tune(server, TransferSyntax=DEFLATED)
    deflated = server.get_file(server.upload(image.read_bytes()))
    server.delete_all()
    tune(server, TransferSyntax=JPEG_LOSSLESS_SV1)
    assert server.get_file(server.upload(deflated)) == deflated
    assert list_transcodings(server, 1)[0] is None
    server.delete_all()

    tune(server, OfCompressed=True)
    assert server.get_file(server.upload(deflated)) == deflated
    reason = list_transcodings(server, 1)[0]["Reason"]
    assert reason == "deflated, which is not transcoded"
