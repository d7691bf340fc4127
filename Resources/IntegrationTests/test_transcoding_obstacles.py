# SPDX-License-Identifier: GPL-3.0-or-later
"""What no engine could keep whole is stored as received, whichever engine is chosen."""

from pathlib import Path

import numpy as np
import pytest
from pydicom.data import get_testdata_file
from pydicom.dataset import Dataset, FileDataset
from pydicom.encaps import encapsulate, generate_frames
from pydicom.sequence import Sequence
from pydicom.uid import generate_uid

from conftest import StartOrthanc
from harness.orthanc import OrthancServer
from harness.transcoding import (
    EXPLICIT,
    JPEG_EXTENDED,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    JPEG_LS_LOSSY,
    RLE,
    change,
    decode,
    get_syntax,
    list_engines,
    list_transcodings,
    read,
    tune,
)

ENGINES = ["dcmtk", "gdcm", "native", "auto"]
TARGETS = [JPEG_LOSSLESS_SV1, JPEG_LS, RLE, EXPLICIT]


def repeat(name: str, count: int, frames: str | None) -> bytes:
    """A file of pydicom's with its only frame several times, and what it says of that."""

    def edit(image: FileDataset) -> None:
        image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = generate_uid()
        if image.file_meta.TransferSyntaxUID.is_encapsulated:
            frame = next(generate_frames(image.PixelData, number_of_frames=1))
            image.PixelData = encapsulate([frame] * count, has_bot=False)
        else:
            image.PixelData *= count
        if frames is not None:
            image.NumberOfFrames = frames

    return change(Path(get_testdata_file(name)), edit)


UNDESCRIBED = [
    (name, count, frames)
    for name in ("CT_small.dcm", "SC_rgb_jpeg_gdcm.dcm", "MR_small_RLE.dcm", "JPGExtended.dcm")
    for count, frames in ((2, None), (2, "0"), (3, "2"), (1, "2"))
]


def send(server: OrthancServer, content: bytes) -> bytes:
    """Uploads; the file as it is stored."""
    server.delete_all()
    response = server.request("POST", "/instances", data=content)
    assert response.status_code == 200, response.text
    return server.get_file(response.json()["ID"])


def list_targets(server: OrthancServer, engine: str) -> list[str]:
    engines = list_engines(server)
    written = engines.get(engine, set().union(*engines.values()))
    return [target for target in TARGETS if target in written]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_frame_is_left_out(start_orthanc: StartOrthanc, engine: str) -> None:
    orthanc = start_orthanc()
    for target in list_targets(orthanc, engine):
        tune(orthanc, Engine=engine, TransferSyntax=target, OfCompressed=True)
        for name, count, frames in UNDESCRIBED:
            if get_syntax(read(Path(get_testdata_file(name)))) == target:
                continue
            what = f"{name}, {count} frames, {frames} described, to {target}"
            content = repeat(name, count, frames)
            assert send(orthanc, content) == content, what
            transcoding = list_transcodings(orthanc, 1)[0]
            assert transcoding is None or transcoding["Reason"], what


@pytest.mark.parametrize("engine", ENGINES)
def test_any_legal_number_of_frames_is_read(start_orthanc: StartOrthanc, engine: str) -> None:
    orthanc = start_orthanc()
    tune(orthanc, Engine=engine, TransferSyntax=JPEG_LOSSLESS_SV1)
    for frames in ("2", "+2", " 2", "02"):
        content = repeat("CT_small.dcm", 2, frames)
        stored = read(send(orthanc, content))
        assert get_syntax(stored) == JPEG_LOSSLESS_SV1, list_transcodings(orthanc, 1)
        assert np.array_equal(decode(stored), decode(read(content))), frames


@pytest.mark.parametrize("engine", ENGINES)
def test_signed_data_sets_stay_as_they_were_signed(
    start_orthanc: StartOrthanc, engine: str
) -> None:
    def sign(image: FileDataset) -> None:
        item = Dataset()
        item.DigitalSignaturesSequence = Sequence([Dataset()])
        image.ReferencedImageSequence = Sequence([item])

    orthanc = start_orthanc()
    content = change(Path(get_testdata_file("CT_small.dcm")), sign)
    for target in list_targets(orthanc, engine):
        if target != EXPLICIT:
            tune(orthanc, Engine=engine, TransferSyntax=target)
            assert send(orthanc, content) == content
            assert "signature" in list_transcodings(orthanc, 1)[0]["Reason"]


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm", "auto"])
def test_lossy_compression_loses_no_overlay(start_orthanc: StartOrthanc, engine: str) -> None:
    def embed(image: FileDataset) -> None:
        image.BitsStored, image.HighBit, image.PixelRepresentation = 12, 11, 0
        pixels = np.frombuffer(image.PixelData, "<u2") & 0x0FFF
        pixels[::7] |= 0x1000
        image.PixelData = pixels.tobytes()

    orthanc = start_orthanc()
    content = change(Path(get_testdata_file("CT_small.dcm")), embed)
    for target in (JPEG_EXTENDED, JPEG_LS_LOSSY):
        tune(orthanc, Engine=engine, TransferSyntax=target)
        assert send(orthanc, content) == content
        assert list_transcodings(orthanc, 1)[0]["Outcome"] == "Declined"
