# SPDX-License-Identifier: GPL-3.0-or-later
"""What no engine could keep whole is stored as received."""

import base64
from pathlib import Path

import numpy as np
from pydicom.data import get_testdata_file
from pydicom.dataset import Dataset, FileDataset
from pydicom.encaps import encapsulate, generate_frames

from harness.orthanc import OrthancServer
from harness.sources import Kind, by_dcmtk, make_image
from harness.transcoding import (
    EXPLICIT,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    JPEG_LS_LOSSY,
    RLE,
    change,
    decode,
    get_syntax,
    list_transcodings,
    read,
    read_stored,
    renew,
    tune,
    write,
)

TARGETS = [JPEG_LOSSLESS_SV1, JPEG_LS, RLE, EXPLICIT]


def repeat(name: str, count: int, frames: str | None) -> bytes:
    """A file of pydicom's with its only frame several times, and what it says of that."""

    def edit(image: FileDataset) -> None:
        renew(image)
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
    return server.get_file(server.upload(content))


def test_no_frame_is_left_out(server: OrthancServer) -> None:
    for target in TARGETS:
        tune(server, TransferSyntax=target, OfCompressed=True)
        for name, count, frames in UNDESCRIBED:
            if get_syntax(read(Path(get_testdata_file(name)))) == target:
                continue
            what = f"{name}, {count} frames, {frames} described, to {target}"
            content = repeat(name, count, frames)
            assert send(server, content) == content, what
            transcoding = list_transcodings(server, 1)[0]
            assert transcoding is None or transcoding["Reason"], what


# 20 columns and 16 rows of 7 bits, near-lossless by 2, from 45 to 87, by an encoder that conforms
# to ITU-T T.87: DCMTK 3.6.7 decodes it without a word, and is off by 80
CONFORMING_7_BITS = base64.b64decode(
    "/9j/9wALBwAQABQBAREA/9oACAEBAAIAAAAGqlkRDCIYI1bIgrDg/NZEIahITiFAhsUaiFMQSP0EEc0WVzsx3FEmRVERSU3c"
    "gqgscJBNIGEIixN9b2uGA2EeJKtIaie0iEQokcQug8iCS7UgLCgxM69sgoDBdABNRXIIxMrEvgYuMy8oie+VcQiFjL4NpaPr"
    "BXRMQbEkyUiDCRXI1jgjLAuIwP/ZAA=="
)


def recode(folder: Path, image: Dataset, *options: str) -> FileDataset:
    """The image in JPEG-LS of as many bits as are stored, by DCMTK."""
    (folder / "explicit.dcm").write_bytes(write(image))
    by_dcmtk("dcmcjpls", "+pc", *options)(folder / "explicit.dcm", folder / "recoded.dcm")
    return read(folder / "recoded.dcm")


def restore(server: OrthancServer, instance: str) -> np.ndarray:
    """The pixels of what is stored, as Orthanc's own decoder gives them."""
    command = {"Transcode": EXPLICIT, "Keep": ["SOPInstanceUID"], "Force": True}
    response = server.request("POST", f"/instances/{instance}/modify", json=command)
    assert response.status_code == 200, (list_transcodings(server, 1), response.text)
    return decode(read(response.content))


def test_jpeg_ls_of_few_bits_is_readable_for_orthanc_and_others(server: OrthancServer) -> None:
    for target, quality in ((JPEG_LS, 100), (JPEG_LS_LOSSY, 90)):
        tune(server, TransferSyntax=target, LossyQuality=quality, Verify=True)
        for allocated, stored in ((8, 4), (8, 6), (8, 7), (16, 6), (16, 7)):
            server.delete_all()
            image = make_image(Kind("few bits", allocated, stored))
            instance = server.upload(write(image))
            for pixels in restore(server, instance), decode(read_stored(server, instance)):
                off = np.abs(pixels.astype(int) - decode(image))
                assert off.max() <= (0 if target == JPEG_LS else 2), (target, allocated, stored)


def test_sources_that_libraries_read_in_two_ways_stay(
    server: OrthancServer, tmp_path: Path
) -> None:
    conforming = make_image(Kind("7 bits", 8, 7))
    conforming.Rows, conforming.Columns = 16, 20
    conforming.PixelData = encapsulate([CONFORMING_7_BITS])
    conforming.file_meta.TransferSyntaxUID = JPEG_LS_LOSSY
    fewer = recode(tmp_path, make_image(Kind("12 bits", 16, 12)), "+el")
    fewer.BitsStored, fewer.HighBit, fewer.PixelRepresentation = 16, 15, 1
    sources = {
        "conforming JPEG-LS of 7 bits": conforming,
        "DCMTK's JPEG-LS of 7 bits": recode(tmp_path, make_image(Kind("7 bits", 8, 7)), "+el"),
        "signed, of fewer bits": fewer,
    }

    for target in TARGETS:
        tune(server, TransferSyntax=target, OfCompressed=True)
        for name, image in sources.items():
            content = write(image)
            if get_syntax(image) != target:
                assert send(server, content) == content, (name, target)
                assert "bits" in list_transcodings(server, 1)[0]["Reason"], (name, target)
