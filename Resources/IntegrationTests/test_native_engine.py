# SPDX-License-Identifier: GPL-3.0-or-later
"""What `native` writes, decoded by DCMTK, GDCM and pylibjpeg: the pixels that went in."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset, FileDataset
from pydicom.pixels import pixel_array
from pydicom.uid import JPEGLosslessSV1

from harness.clients import get_output
from harness.images import list_pydicom_files, make_explicit
from harness.process import run
from harness.sources import Kind, make_image
from harness.transcoding import get_pixels

# pydicom's warnings about pydicom's own odd files
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def is_covered(image: FileDataset) -> bool:
    is_shared = image.get("PhotometricInterpretation") == "YBR_FULL_422"
    return image.get("BitsAllocated") in (8, 16) and not is_shared


def keep_stored_bits(image: FileDataset, pixels: np.ndarray) -> np.ndarray:
    return pixels >> (image.HighBit + 1 - image.BitsStored) & ((1 << image.BitsStored) - 1)


def check_dcmtk(source: FileDataset, written: Path, decoded: Path) -> None:
    """All bits are the same, those above the stored ones included."""
    get_output(["/usr/bin/dcmdjpeg", "+te", "+cn", written, decoded])
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
        get_output(["/usr/bin/gdcmconv", "--raw", written, decoded])
        found = pydicom.dcmread(decoded)
        np.testing.assert_array_equal(
            keep_stored_bits(source, get_pixels(found)),
            keep_stored_bits(source, get_pixels(source)),
        )


def check_pylibjpeg(source: FileDataset, written: Path, decoded: Path) -> None:
    found = pixel_array(written, raw=True, decoding_plugin="pylibjpeg")
    decoded.write_bytes(found.tobytes())
    np.testing.assert_array_equal(found, pixel_array(source, raw=True))


def transcode(plugin: Path, folder: Path, files: list[Path]) -> dict[str, str]:
    target = folder / "written"
    target.mkdir()
    command = [plugin.parent / "TranscodeFiles", "native", JPEGLosslessSV1, target, *files]
    lines = [line.split("\t") for line in run(command, check=True).stdout.splitlines()]
    return {name: outcome for name, outcome, _ in lines}


def check_all(sources: list[Path], folder: Path) -> None:
    for path in sources:
        written = folder / "written" / path.name
        assert pydicom.dcmread(written).file_meta.TransferSyntaxUID == JPEGLosslessSV1
        for check in (check_dcmtk, check_gdcm, check_pylibjpeg):
            try:
                check(pydicom.dcmread(path), written, folder / f"decoded-{path.name}")
            except AssertionError as error:
                raise AssertionError(f"{path.name}, {check.__name__}: {error}") from error


def test_every_image_of_pydicom_is_encoded_and_decoded_by_all(plugin: Path, tmp_path: Path) -> None:
    """In Explicit VR Little Endian where some program makes that of it."""
    images = []
    for source in list_pydicom_files():
        image = tmp_path / source.name
        has_pixels = "PixelData" in pydicom.dcmread(source, force=True)
        if has_pixels and make_explicit(source, image):
            images.append(image)
    outcomes = transcode(plugin, tmp_path, images)
    assert set(outcomes.values()) == {"transcoded", "declined"}
    covered = [path for path in images if is_covered(pydicom.dcmread(path))]
    assert len(covered) > 50
    assert {name for name, outcome in outcomes.items() if outcome == "transcoded"} == {
        path.name for path in covered
    }
    check_all(covered, tmp_path)


def list_kinds() -> Iterator[tuple[Kind, int, int]]:
    """With the numbers of rows and columns."""
    for allocated in (8, 16):
        for stored in range(2, allocated + 1):
            for rows, columns in [(1, 1), (7, 1), (37, 41)]:
                yield Kind("", allocated, stored), rows, columns
                yield Kind("", allocated, stored, is_signed=True), rows, columns
                yield Kind("", allocated, stored, samples=3), rows, columns
    for samples in (1, 3):
        yield Kind("", 8, 8, samples=samples, frames=3), 37, 41
        yield Kind("", 16, 12, samples=samples, frames=3), 37, 41
    yield Kind("", 16, 16), 4096, 4096
    yield Kind("", 8, 8, samples=3), 4096, 4096


def make_noise(kind: Kind, rows: int, columns: int, generator: np.random.Generator) -> Dataset:
    image = make_image(kind)
    image.Rows, image.Columns = rows, columns
    half = 1 << (kind.bits_stored - 1) if kind.is_signed else 0
    count = rows * columns * kind.samples * kind.frames
    samples = generator.integers(-half, (1 << kind.bits_stored) - half, count)
    sign = "i" if kind.is_signed else "u"
    pixels = samples.astype(f"<{sign}{kind.bits_allocated // 8}").tobytes()
    image.PixelData = pixels + b"\0" * (len(pixels) % 2)
    return image


def test_made_images_are_decoded_by_all(plugin: Path, tmp_path: Path) -> None:
    generator = np.random.default_rng(70)
    images = []
    for number, (kind, rows, columns) in enumerate(list_kinds()):
        name = f"{rows}x{columns}x{kind.samples}-{kind.bits_stored}in{kind.bits_allocated}"
        images.append(tmp_path / f"{number:03}-{name}.dcm")
        made = make_noise(kind, rows, columns, generator)
        made.save_as(images[-1], enforce_file_format=True)
    assert set(transcode(plugin, tmp_path, images).values()) == {"transcoded"}
    check_all(images, tmp_path)
