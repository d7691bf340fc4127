# SPDX-License-Identifier: GPL-3.0-or-later
"""Small made images of several kinds, in every transfer syntax that Orthanc may receive."""

import io
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.encaps import encapsulate, generate_frames
from pydicom.uid import UID, ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

from harness.transcoding import (
    EXPLICIT,
    IMPLICIT,
    JPEG_2000,
    JPEG_2000_LOSSLESS,
    JPEG_BASELINE,
    JPEG_EXTENDED,
    JPEG_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    JPEG_LS_LOSSY,
    RLE,
)

BIG_ENDIAN = UID("1.2.840.10008.1.2.2")

ROWS, COLUMNS = 61, 47
COMMENT_SIZE = 20_000  # more than a frame


@dataclass(frozen=True)
class Kind:
    """What is alike in images for whoever encodes them."""

    name: str
    bits_allocated: int
    bits_stored: int
    is_signed: bool = False
    samples: int = 1
    frames: int = 1


KINDS = [
    Kind("8 bits", 8, 8),
    Kind("12 bits", 16, 12),
    Kind("signed", 16, 16, is_signed=True),
    Kind("RGB", 8, 8, samples=3, frames=2),
]


def make_pixels(kind: Kind) -> np.ndarray:
    """Slopes and waves over the whole range, with a little noise, each sample its own."""
    generator = np.random.default_rng(kind.bits_stored * kind.samples)
    shape = (kind.frames, ROWS, COLUMNS, kind.samples)
    frame, y, x, sample = np.indices(shape)
    wave = np.sin(x / 7 + sample) + np.cos(y / 9 - frame) + x / COLUMNS + y / ROWS
    wave = wave + generator.normal(0, 0.005, shape)
    scaled = (wave - wave.min()) / (wave.max() - wave.min()) * (2**kind.bits_stored - 1)
    lowest = 2 ** (kind.bits_stored - 1) if kind.is_signed else 0
    sign = "i" if kind.is_signed else "u"
    return (scaled.round() - lowest).astype(f"<{sign}{kind.bits_allocated // 8}")


def make_image(kind: Kind) -> Dataset:
    """In Explicit VR Little Endian."""
    image = Dataset()
    image.SOPClassUID = SecondaryCaptureImageStorage
    image.SOPInstanceUID = generate_uid(entropy_srcs=[kind.name, "instance"])
    image.StudyInstanceUID = generate_uid(entropy_srcs=["study"])
    image.SeriesInstanceUID = generate_uid(entropy_srcs=["series"])
    image.PatientID = "MADE"
    image.PatientName = "Made"
    image.Modality = "OT"
    image.ImageType = ["ORIGINAL", "PRIMARY"]
    image.SamplesPerPixel = kind.samples
    image.PhotometricInterpretation = "RGB" if kind.samples == 3 else "MONOCHROME2"
    if kind.samples == 3:
        image.PlanarConfiguration = 0
    if kind.frames > 1:
        image.NumberOfFrames = kind.frames
    image.Rows, image.Columns = ROWS, COLUMNS
    image.BitsAllocated = kind.bits_allocated
    image.BitsStored = kind.bits_stored
    image.HighBit = kind.bits_stored - 1
    image.PixelRepresentation = int(kind.is_signed)
    pixels = make_pixels(kind).tobytes()
    image.PixelData = pixels + b"\0" * (len(pixels) % 2)
    image["PixelData"].VR = "OB" if kind.bits_allocated == 8 else "OW"
    image.file_meta = FileMetaDataset()
    image.file_meta.MediaStorageSOPClassUID = image.SOPClassUID
    image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    return image


Make = Callable[[Path, Path], None]


def by_dcmtk(program: str, *options: str) -> Make:
    """By a program of DCMTK's, which is not always in the PATH by its own name."""

    def make(explicit: Path, target: Path) -> None:
        command = [f"/usr/bin/{program}", *options, explicit, target]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    return make


def by_pydicom(syntax: UID, **options: object) -> Make:
    def make(explicit: Path, target: Path) -> None:
        image: FileDataset = pydicom.dcmread(explicit)
        image.compress(syntax, generate_instance_uid=False, **options)
        image.save_as(target)

    return make


# JPEG Baseline and Extended keep the colours at full resolution: decoders differ less then
MAKERS: dict[UID, Make] = {
    EXPLICIT: by_dcmtk("dcmconv", "+te"),
    IMPLICIT: by_dcmtk("dcmconv", "+ti"),
    BIG_ENDIAN: by_dcmtk("dcmconv", "+tb"),
    JPEG_BASELINE: by_dcmtk("dcmcjpeg", "+eb", "+s4"),
    JPEG_EXTENDED: by_dcmtk("dcmcjpeg", "+ee", "+s4"),
    JPEG_LOSSLESS: by_dcmtk("dcmcjpeg", "+el"),
    JPEG_LOSSLESS_SV1: by_dcmtk("dcmcjpeg", "+e1"),
    JPEG_LS: by_dcmtk("dcmcjpls", "+el"),
    JPEG_LS_LOSSY: by_dcmtk("dcmcjpls", "+en"),
    JPEG_2000_LOSSLESS: by_pydicom(JPEG_2000_LOSSLESS),
    JPEG_2000: by_pydicom(JPEG_2000, j2k_cr=[6]),
    RLE: by_pydicom(RLE),
}


WITH_COMMENTS = MAKERS.keys() - {EXPLICIT, IMPLICIT, BIG_ENDIAN, RLE}


def add_comment(frame: bytes, size: int) -> bytes:
    """The codestream with a comment of this size, so that it can be made smaller."""
    text = b"A long comment. " * (size // 16)
    if frame[2:4] == b"\xff\x51":  # JPEG 2000: behind SIZ (ITU-T T.800 section A.9.2)
        place = 4 + int.from_bytes(frame[4:6], "big")
        comment = b"\xff\x64" + (len(text) + 4).to_bytes(2, "big") + b"\0\1" + text
    else:  # behind the application segments (ITU-T T.81 section B.2.4.5)
        place = 2
        while 0xE0 <= frame[place + 1] <= 0xEF:
            place += 2 + int.from_bytes(frame[place + 2 : place + 4], "big")
        comment = b"\xff\xfe" + (len(text) + 2).to_bytes(2, "big") + text
    return frame[:place] + comment + frame[place:]


@dataclass(frozen=True)
class Source:
    """A made file as Orthanc may receive it."""

    kind: Kind
    syntax: UID
    content: bytes


def make_sources(folder: Path) -> Iterator[Source]:
    """Each kind of image in each transfer syntax that can hold it."""
    for kind in KINDS:
        buffer = io.BytesIO()
        make_image(kind).save_as(buffer, enforce_file_format=True)
        explicit = folder / "explicit.dcm"
        explicit.write_bytes(buffer.getvalue())
        for syntax, make in MAKERS.items():
            # DICOM PS3.5 section 8.2.1; near-lossless is unsigned
            most = {JPEG_BASELINE: 8, JPEG_EXTENDED: 12}.get(syntax, 16)
            if kind.bits_stored > most or (syntax == JPEG_LS_LOSSY and kind.is_signed):
                continue
            target = folder / "source.dcm"
            make(explicit, target)
            image = pydicom.dcmread(target)
            assert image.file_meta.TransferSyntaxUID == syntax
            if syntax in WITH_COMMENTS:
                count = int(image.get("NumberOfFrames", 1))
                frames = generate_frames(image.PixelData, number_of_frames=count)
                commented = [add_comment(frame, COMMENT_SIZE) for frame in frames]
                image.PixelData = encapsulate(commented)
                image.save_as(target, enforce_file_format=True)
            yield Source(kind, syntax, target.read_bytes())
