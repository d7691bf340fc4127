# SPDX-License-Identifier: GPL-3.0-or-later
"""What `native` writes, decoded by DCMTK, GDCM and pylibjpeg: the pixels that went in."""

import io
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.pixels import pixel_array
from pydicom.uid import (
    ExplicitVRLittleEndian,
    JPEGLosslessSV1,
    SecondaryCaptureImageStorage,
    generate_uid,
)

from harness.images import list_pydicom_files, make_explicit

# pydicom's warnings about pydicom's own odd files
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# Those of pydicom's files that JPEG Lossless cannot hold
DECLINED = {
    "SC_rgb_rle_32bit.dcm",
    "SC_rgb_rle_32bit_2frame.dcm",
    "SC_ybr_full_422_uncompressed.dcm",
    "badVR.dcm",  # Bits Allocated of 32, and the rest below of 1 and 32
    "liver_1frame.dcm",
    "liver_expb_1frame.dcm",
    "rtdose.dcm",
    "rtdose_1frame.dcm",
    "rtdose_expb.dcm",
    "rtdose_expb_1frame.dcm",
    "rtdose_rle.dcm",
    "rtdose_rle_1frame.dcm",
}

# Pixel Data, but neither Rows nor Columns
WITHOUT_DESCRIPTION = {"meta_missing_tsyntax.dcm", "nested_priv_SQ.dcm"}


def run(*command: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True, timeout=300, check=False)


def has_pixels(path: Path) -> bool:
    return "PixelData" in pydicom.dcmread(path, force=True)


def get_pixels(image: FileDataset) -> np.ndarray:
    """Native Pixel Data with all bits, frame by frame, colours interleaved."""
    frames = int(image.get("NumberOfFrames") or 1)
    shape = (frames, image.Rows, image.Columns, image.SamplesPerPixel)
    samples = np.frombuffer(image.PixelData, f"<u{image.BitsAllocated // 8}")
    samples = samples[: np.prod(shape)]
    if image.SamplesPerPixel > 1 and image.PlanarConfiguration == 1:
        planes = samples.reshape(frames, image.SamplesPerPixel, image.Rows, image.Columns)
        return planes.transpose(0, 2, 3, 1)
    return samples.reshape(shape)


def keep_stored_bits(image: FileDataset, pixels: np.ndarray) -> np.ndarray:
    return pixels >> (image.HighBit + 1 - image.BitsStored) & ((1 << image.BitsStored) - 1)


def check_dcmtk(source: FileDataset, written: Path, decoded: Path) -> None:
    """All bits are the same, those above the stored ones included."""
    finished = run("/usr/bin/dcmdjpeg", "+te", "+cn", written, decoded)
    assert finished.returncode == 0, finished.stderr.decode()
    np.testing.assert_array_equal(get_pixels(pydicom.dcmread(decoded)), get_pixels(source))


def can_gdcm_decode(image: FileDataset) -> bool:
    """GDCM 3.0.21 aborts by an assertion (ImageCodec::DecodeByStreams) on any JPEG, its own
    included, with fewer than 8 bits stored in 8, and writes no 16-bit colours of several frames.
    """
    is_narrow = image.BitsAllocated == 8 and image.BitsStored < 8
    is_deep_colour = image.SamplesPerPixel == 3 and image.BitsAllocated == 16
    return not is_narrow and not (is_deep_colour and int(image.get("NumberOfFrames") or 1) > 1)


def check_gdcm(source: FileDataset, written: Path, decoded: Path) -> None:
    """The stored bits are the same: GDCM extends the sign of signed ones over the others."""
    if can_gdcm_decode(source):
        finished = run("/usr/bin/gdcmconv", "--raw", written, decoded)
        assert finished.returncode == 0, finished.stderr.decode()
        found = pydicom.dcmread(decoded)
        np.testing.assert_array_equal(
            keep_stored_bits(source, get_pixels(found)),
            keep_stored_bits(source, get_pixels(source)),
        )


def check_pylibjpeg(source: FileDataset, written: Path, decoded: Path) -> None:
    found = pixel_array(written, raw=True, decoding_plugin="pylibjpeg")
    decoded.write_bytes(found.tobytes())
    np.testing.assert_array_equal(found, pixel_array(source, raw=True))


Check = Callable[[FileDataset, Path, Path], None]
CHECKS: list[Check] = [check_dcmtk, check_gdcm, check_pylibjpeg]


@dataclass(frozen=True)
class Native:
    """The engine as a program: TranscodeFiles."""

    program: Path

    def transcode(self, folder: Path, files: list[Path]) -> dict[str, str]:
        """What became of each file, by its name."""
        target = folder / "written"
        target.mkdir()
        finished = run(self.program, "native", JPEGLosslessSV1, target, *files)
        assert finished.returncode == 0, finished.stderr.decode()
        lines = [line.split("\t") for line in finished.stdout.decode().splitlines()]
        return {name: outcome for name, outcome, _ in lines}


@pytest.fixture(scope="module")
def native(plugin: Path) -> Native:
    return Native(plugin.parent / "TranscodeFiles")


@pytest.fixture(scope="module")
def pydicom_images(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All of pydicom's images, in Explicit VR Little Endian where some program makes that of it."""
    folder = tmp_path_factory.mktemp("explicit")
    targets = [(path, folder / path.name) for path in list_pydicom_files() if has_pixels(path)]
    return [target for source, target in targets if make_explicit(source, target)]


def check_all(sources: list[Path], folder: Path, checks: list[Check]) -> None:
    for path in sources:
        written = folder / "written" / path.name
        assert pydicom.dcmread(written).file_meta.TransferSyntaxUID == JPEGLosslessSV1
        for check in checks:
            try:
                check(pydicom.dcmread(path), written, folder / f"decoded-{path.name}")
            except AssertionError as error:
                raise AssertionError(f"{path.name}, {check.__name__}: {error}") from error


def test_every_image_of_pydicom_is_encoded_and_decoded_by_all(
    native: Native, pydicom_images: list[Path], tmp_path: Path
) -> None:
    outcomes = native.transcode(tmp_path, pydicom_images)
    assert len(outcomes) > 60
    expected = dict.fromkeys(DECLINED | WITHOUT_DESCRIPTION, "declined")
    found = {name: outcome for name, outcome in outcomes.items() if outcome != "transcoded"}
    assert found == {name: outcome for name, outcome in expected.items() if name in outcomes}
    transcoded = [path for path in pydicom_images if outcomes[path.name] == "transcoded"]
    check_all(transcoded, tmp_path, CHECKS)


@dataclass(frozen=True)
class Kind:
    """What is alike in made images."""

    allocated: int
    stored: int
    is_signed: bool = False
    samples: int = 1
    frames: int = 1
    is_planar: bool = False


def list_kinds() -> Iterator[Kind]:
    for allocated in (8, 16):
        for stored in range(2, allocated + 1):
            yield Kind(allocated, stored)
            yield Kind(allocated, stored, is_signed=True)
            yield Kind(allocated, stored, samples=3, is_planar=stored % 2 == 0)
    for samples in (1, 3):
        yield Kind(8, 8, samples=samples, frames=3, is_planar=samples == 3)
        yield Kind(16, 12, samples=samples, frames=3)


def make_image(kind: Kind, rows: int, columns: int, generator: np.random.Generator) -> Dataset:
    """Noise over all stored bits."""
    image = Dataset()
    image.SOPClassUID = SecondaryCaptureImageStorage
    image.SOPInstanceUID = generate_uid()
    image.StudyInstanceUID = generate_uid()
    image.SeriesInstanceUID = generate_uid()
    image.Modality = "OT"
    image.PatientID = "MADE"
    image.SamplesPerPixel = kind.samples
    image.PhotometricInterpretation = "RGB" if kind.samples == 3 else "MONOCHROME2"
    if kind.samples == 3:
        image.PlanarConfiguration = int(kind.is_planar)
    if kind.frames > 1:
        image.NumberOfFrames = kind.frames
    image.Rows, image.Columns = rows, columns
    image.BitsAllocated = kind.allocated
    image.BitsStored = kind.stored
    image.HighBit = kind.stored - 1
    image.PixelRepresentation = int(kind.is_signed)
    half = 1 << (kind.stored - 1) if kind.is_signed else 0
    count = rows * columns * kind.samples * kind.frames
    samples = generator.integers(-half, (1 << kind.stored) - half, count)
    pixels = samples.astype(f"<{'i' if kind.is_signed else 'u'}{kind.allocated // 8}").tobytes()
    image.PixelData = pixels + b"\0" * (len(pixels) % 2)
    image["PixelData"].VR = "OB" if kind.allocated == 8 else "OW"
    image.file_meta = FileMetaDataset()
    image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    return image


def write_image(image: Dataset, path: Path) -> Path:
    buffer = io.BytesIO()
    image.save_as(buffer, enforce_file_format=True)
    path.write_bytes(buffer.getvalue())
    return path


def make_images(folder: Path, kinds: list[Kind], sizes: list[tuple[int, int]]) -> list[Path]:
    generator = np.random.default_rng(70)
    folder.mkdir()
    return [
        write_image(
            make_image(kind, rows, columns, generator),
            folder
            / f"{number:03}-{rows}x{columns}x{kind.samples}-{kind.stored}in{kind.allocated}.dcm",
        )
        for number, kind in enumerate(kinds)
        for rows, columns in sizes
    ]


def test_made_images_of_all_depths_are_decoded_by_all(native: Native, tmp_path: Path) -> None:
    images = make_images(tmp_path / "made", list(list_kinds()), [(1, 1), (7, 1), (37, 41)])
    outcomes = native.transcode(tmp_path, images)
    assert set(outcomes.values()) == {"transcoded"}
    check_all(images, tmp_path, CHECKS)


def test_the_largest_images_are_decoded_by_all(native: Native, tmp_path: Path) -> None:
    kinds = [Kind(16, 16), Kind(8, 8, samples=3)]
    images = make_images(tmp_path / "made", kinds, [(4096, 4096)])
    assert set(native.transcode(tmp_path, images).values()) == {"transcoded"}
    check_all(images, tmp_path, CHECKS)
