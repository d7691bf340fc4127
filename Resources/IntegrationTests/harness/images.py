# SPDX-License-Identifier: GPL-3.0-or-later
"""Images to send: a made CT series that compresses like a real one, and pydicom's own files."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import (
    CTImageStorage,
    ExplicitVRLittleEndian,
    MultiFrameGrayscaleWordSecondaryCaptureImageStorage,
    generate_uid,
)

# To be changed with the images: older ones in the build folder are then made anew
VERSION = 2

SIZE = 512
BITS = 12

# Standard deviation that gives 2.4:1 under JPEG Lossless, as published for real CT
NOISE = 12

AIR, WATER, BONE = 64, 1024, 1900


@dataclass(frozen=True)
class Image:
    path: Path
    sop_instance_uid: str

    def read_bytes(self) -> bytes:
        return self.path.read_bytes()

    def get_size(self) -> int:
        return self.path.stat().st_size


def make_phantom(generator: np.random.Generator, position: float) -> np.ndarray:
    """One slice of a body of water with a spine and two rods, at a position from 0 to 1."""
    y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    pixels = np.full((SIZE, SIZE), AIR, float)
    pixels[(x / 0.8) ** 2 + (y / 0.6) ** 2 < 1] = WATER
    pixels[x**2 + (y - 0.35) ** 2 < 0.015 + 0.01 * position] = BONE
    for side in (-0.4, 0.4):
        pixels[(x - side) ** 2 + (y + 0.1 * position) ** 2 < 0.02] = WATER + 60
    pixels += generator.normal(0, NOISE, pixels.shape)
    return np.clip(pixels.round(), 0, 2**BITS - 1).astype("<u2")


def make_slice(name: str, number: int, count: int, pixels: np.ndarray) -> Dataset:
    image = Dataset()
    image.SpecificCharacterSet = "ISO_IR 100"
    image.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
    image.SOPClassUID = CTImageStorage
    image.SOPInstanceUID = generate_uid(entropy_srcs=[name, str(number)])
    image.StudyDate = "20240102"
    image.StudyTime = "030405"
    image.AccessionNumber = ""
    image.Modality = "CT"
    image.PatientName = "Phantom^Made"
    image.PatientID = f"PHANTOM-{name}"
    image.PatientBirthDate = ""
    image.PatientSex = "O"
    image.SliceThickness = 1
    image.StudyInstanceUID = generate_uid(entropy_srcs=[name, "study"])
    image.SeriesInstanceUID = generate_uid(entropy_srcs=[name, "series"])
    image.StudyID = "1"
    image.SeriesNumber = 1
    image.InstanceNumber = number + 1
    image.ImagePositionPatient = [-256, -256, number]
    image.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    image.FrameOfReferenceUID = generate_uid(entropy_srcs=[name, "frame of reference"])
    image.SamplesPerPixel = 1
    image.PhotometricInterpretation = "MONOCHROME2"
    image.Rows = image.Columns = SIZE
    image.PixelSpacing = [1, 1]
    image.BitsAllocated = 16
    image.BitsStored = BITS
    image.HighBit = BITS - 1
    image.PixelRepresentation = 0
    image.RescaleIntercept = -1024
    image.RescaleSlope = 1
    image.PixelData = pixels.tobytes()

    image.file_meta = FileMetaDataset()
    image.file_meta.MediaStorageSOPClassUID = image.SOPClassUID
    image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    return image


def make_ct_series(folder: Path, name: str, count: int = 200) -> list[Image]:
    """A CT series of images of 525 kB, kept for the next run; its UIDs follow from the name."""
    series = folder / f"{name}-{count}-v{VERSION}"
    series.mkdir(parents=True, exist_ok=True)
    images = []
    for number in range(count):
        path = series / f"{number:04}.dcm"
        if not path.exists():
            # Whoever makes it at the same time makes the same: the last one's stays
            generator = np.random.default_rng([*name.encode(), number])
            pixels = make_phantom(generator, number / count)
            partial = path.with_suffix(f".{os.getpid()}")
            make_slice(name, number, count, pixels).save_as(partial, enforce_file_format=True)
            partial.rename(path)
        images.append(Image(path, generate_uid(entropy_srcs=[name, str(number)])))
    return images


def identify(patient: str, *uids: str) -> str:
    """Orthanc's identifier of a patient, study, series or instance: a digest of all their names."""
    digest = hashlib.sha1("|".join([patient, *uids]).encode("ascii")).hexdigest()
    return "-".join(digest[place : place + 8] for place in range(0, 40, 8))


def make_grey_image(
    patient: str, uids: tuple[str, str, str], rows: int, frames: int = 1
) -> Dataset:
    """A square image of 12 bits, all frames alike; the UIDs are study's, series' and instance's."""
    image = make_slice(patient, 0, 1, np.zeros(0, "<u2"))
    image.PatientID = patient
    image.StudyInstanceUID, image.SeriesInstanceUID, image.SOPInstanceUID = uids
    image.Rows = image.Columns = rows
    if frames > 1:
        image.SOPClassUID = MultiFrameGrayscaleWordSecondaryCaptureImageStorage
        image.NumberOfFrames = frames
    pixels = np.random.default_rng(rows).integers(0, 2**BITS, rows * rows, "<u2")
    image.PixelData = pixels.tobytes() * frames
    image.file_meta.MediaStorageSOPClassUID = image.SOPClassUID
    image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
    return image


def write_multi_frame(path: Path, name: str, frames: int) -> Image:
    """A file of so many frames of noise, 525 kB each, written frame by frame."""
    image = make_slice(name, 0, 1, np.zeros(0, "<u2"))
    image.SOPClassUID = MultiFrameGrayscaleWordSecondaryCaptureImageStorage
    image.file_meta.MediaStorageSOPClassUID = image.SOPClassUID
    image.NumberOfFrames = frames
    image.save_as(path, enforce_file_format=True)
    generator = np.random.default_rng(list(name.encode()))
    with path.open("r+b") as file:
        file.seek(-4, os.SEEK_END)  # the length of the pixel data, which is the last element
        file.write((frames * SIZE * SIZE * 2).to_bytes(4, "little"))
        for _ in range(frames):
            file.write(generator.integers(0, 2**BITS, SIZE * SIZE, "<u2").tobytes())
    return Image(path, image.SOPInstanceUID)


def list_pydicom_files() -> list[Path]:
    """The files that pydicom brings along (others it would download: those are left out)."""
    data = Path(pydicom.__file__).parent / "data"
    files = [*data.glob("test_files/*.dcm"), *data.glob("charset_files/*.dcm")]
    assert len(files) > 50, f"pydicom's files are not in {data}"
    return sorted(files)


def make_explicit(source: Path, target: Path) -> bool:
    """The file in Explicit VR Little Endian, by whichever program can do it."""
    programs = [
        ["/usr/bin/dcmconv", "+te"],
        ["/usr/bin/dcmdjpeg", "+te"],
        ["/usr/bin/dcmdrle", "+te"],
        ["/usr/bin/dcmdjpls", "+te"],
        ["/usr/bin/gdcmconv", "--raw"],
    ]
    commands = [[*program, source, target] for program in programs]
    return any(
        subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0
        for command in commands
    )
