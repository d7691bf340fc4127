# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of the kinds that Orthanc shows in different ways, and what it shows of them."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError
from pydicom.dataset import Dataset, FileDataset

from harness.orthanc import OrthancServer
from harness.sources import COLUMNS, MAKERS, ROWS, Kind, by_dcmtk, by_pydicom, make_image
from harness.transcoding import (
    EXPLICIT,
    JPEG_2000_LOSSLESS,
    JPEG_BASELINE,
    JPEG_EXTENDED,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    RLE,
    read,
    write,
)

# Of 256 levels, on average, the same picture: lossy JPEG is off by up to 4.5, false colours by more
SAME = 6.0


@dataclass(frozen=True)
class Received:
    """A file, and the colours of its first frame if it has any."""

    name: str
    content: bytes
    colours: np.ndarray | None = None


def make_samples(levels: int, samples: int, frames: int) -> np.ndarray:
    """Each sample other waves, in steps that RLE makes smaller."""
    frame, y, x, sample = np.indices((frames, ROWS, COLUMNS, samples))
    wave = np.sin(x // 8 + 2 * sample + frame) + np.cos(y / 11 - sample)
    return ((wave + 2) / 4 * (levels - 1)).round()


def make_colours(levels: int, frames: int = 1) -> np.ndarray:
    """Red, green and blue, with an even number of columns."""
    return make_samples(levels, 3, frames)[:, :, : COLUMNS - 1]


def to_ybr(colours: np.ndarray) -> np.ndarray:
    """DICOM PS3.3 section C.7.6.3.1.2, for 8 bits."""
    weights = [[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]]
    return (colours @ np.array(weights).T + [0, 128, 128]).round().clip(0, 255)


def share_chrominance(pixels: np.ndarray) -> np.ndarray:
    """Two pixels have one: Y1 Y2 Cb Cr."""
    pairs = pixels.reshape(*pixels.shape[:2], -1, 2, 3)
    return np.stack(
        [pairs[..., 0, 0], pairs[..., 1, 0], pairs[..., 0, 1], pairs[..., 0, 2]], axis=-1
    )


def make_coloured(
    photometric: str, planar: int = 0, allocated: int = 8, stored: int = 8, frames: int = 1
) -> Dataset:
    image = make_image(Kind(f"{photometric} {planar}", allocated, stored, samples=3, frames=frames))
    pixels = make_colours(2**stored, frames)
    image.Columns = COLUMNS - 1
    image.PhotometricInterpretation = photometric
    image.PlanarConfiguration = planar
    if photometric != "RGB":
        pixels = to_ybr(pixels)
    if planar == 1:
        pixels = np.moveaxis(pixels, -1, 1)
    if photometric == "YBR_FULL_422":
        pixels = share_chrominance(pixels)
    image.PixelData = pixels.astype(f"<u{allocated // 8}").tobytes()
    return image


def make_grey(
    allocated: int, stored: int, is_signed: bool = False, shift: int = 0, term: str = "MONOCHROME2"
) -> Dataset:
    image = make_image(Kind(f"{allocated} {stored} {term}", allocated, stored, is_signed))
    image.PhotometricInterpretation = term
    image.HighBit += shift
    lowest = 2 ** (stored - 1) if is_signed else 0
    pixels = make_samples(2**stored, 1, 1).astype(int) - lowest << shift
    image.PixelData = pixels.astype(f"<i{allocated // 8}").tobytes() + b"\0" * (allocated == 8)
    return image


def make_palette() -> Dataset:
    image = make_grey(8, 8, term="PALETTE COLOR")
    for number, colour in enumerate(("Red", "Green", "Blue"), 1):
        setattr(image, f"{colour}PaletteColorLookupTableDescriptor", [256, 0, 16])
        table = (np.arange(256) * number * 257 % 65536).astype("<u2")
        setattr(image, f"{colour}PaletteColorLookupTableData", table.tobytes())
    return image


# Those that Orthanc once showed wrongly after transcoding are in every run, all with PERF_LONG
OFTEN = {
    "8": make_grey(8, 8),
    "7": make_grey(8, 7),
    "8 in 16": make_grey(16, 8),
    "12 in 16": make_grey(16, 12),
    "12 in 16, shifted": make_grey(16, 12, shift=4),
    "RGB": make_coloured("RGB"),
    "RGB by plane": make_coloured("RGB", planar=1, frames=2),
    "YBR_FULL": make_coloured("YBR_FULL"),
}
SELDOM = {
    "8, MONOCHROME1": make_grey(8, 8, term="MONOCHROME1"),
    "8, signed": make_grey(8, 8, is_signed=True),
    "7 in 16": make_grey(16, 7),
    "8 in 16, signed": make_grey(16, 8, is_signed=True),
    "12 in 16, signed": make_grey(16, 12, is_signed=True),
    "16": make_grey(16, 16),
    "16, signed": make_grey(16, 16, is_signed=True),
    "palette": make_palette(),
    "RGB of two frames": make_coloured("RGB", frames=2),
    "RGB, 16": make_coloured("RGB", allocated=16, stored=16),
    "RGB, 8 in 16": make_coloured("RGB", allocated=16),
    "YBR_FULL by plane": make_coloured("YBR_FULL", planar=1),
    "YBR_FULL_422": make_coloured("YBR_FULL_422"),
}

# Some of these come compressed, too
COMPRESSORS = {
    "Baseline": (JPEG_BASELINE, by_dcmtk("dcmcjpeg", "+eb")),
    "Baseline of RGB": (JPEG_BASELINE, by_dcmtk("dcmcjpeg", "+eb", "+cr")),
    "Extended": (JPEG_EXTENDED, MAKERS[JPEG_EXTENDED]),
    "JPEG Lossless": (JPEG_LOSSLESS_SV1, MAKERS[JPEG_LOSSLESS_SV1]),
    "JPEG-LS": (JPEG_LS, MAKERS[JPEG_LS]),
    "RLE": (RLE, by_dcmtk("dcmcrle")),
    "JPEG 2000": (JPEG_2000_LOSSLESS, by_pydicom(JPEG_2000_LOSSLESS)),
}
COMPRESSED_OFTEN = [("RGB", "Baseline"), ("RGB by plane", "RLE")]
COMPRESSED_SELDOM = [
    *(("RGB", name) for name in COMPRESSORS if name != "Baseline"),
    *(("YBR_FULL", name) for name in ("Baseline", "JPEG Lossless", "JPEG-LS", "RLE")),
    *(("8 in 16", name) for name in ("JPEG Lossless", "JPEG-LS", "RLE", "JPEG 2000")),
]


def get_colours(name: str, image: Dataset) -> np.ndarray | None:
    """As Orthanc is to show them, if it does."""
    is_shown_whole = image.SamplesPerPixel == 3 and image.BitsAllocated == 8
    return make_colours(256, int(image.get("NumberOfFrames", 1)))[0] if is_shown_whole else None


def make_received(folder: Path, is_long: bool) -> Iterator[Received]:
    images = OFTEN | SELDOM
    for name in images if is_long else OFTEN:
        yield Received(name, write(images[name]), get_colours(name, images[name]))
    for name, compressor in COMPRESSED_OFTEN + (COMPRESSED_SELDOM if is_long else []):
        (folder / "explicit.dcm").write_bytes(write(images[name]))
        syntax, make = COMPRESSORS[compressor]
        make(folder / "explicit.dcm", folder / "compressed.dcm")
        content = (folder / "compressed.dcm").read_bytes()
        assert read(content).file_meta.TransferSyntaxUID == syntax != EXPLICIT
        yield Received(f"{name}, {compressor}", content, get_colours(name, images[name]))


def list_views(instance: str, image: FileDataset) -> dict[str, str]:
    """Where Orthanc shows it."""
    dicomweb = "/dicom-web" + "".join(
        f"/{level}/{uid}"
        for level, uid in (
            ("studies", image.StudyInstanceUID),
            ("series", image.SeriesInstanceUID),
            ("instances", image.SOPInstanceUID),
        )
    )
    return {
        "preview": f"/instances/{instance}/preview",
        "rendered": f"/instances/{instance}/rendered",
        "WADO-RS rendered": f"{dicomweb}/rendered",
    }


def show(server: OrthancServer, instance: str) -> dict[str, np.ndarray | None]:
    """What Orthanc shows of a stored instance: pictures of red, green and blue, or none."""
    image = read(server.get_file(instance))
    pictures = {}
    for view, path in list_views(instance, image).items():
        answer = server.get(path, headers={"Accept": "image/png"})
        try:
            picture = Image.open(io.BytesIO(answer.content)) if answer.ok else None
        except UnidentifiedImageError:
            picture = None
        # Releases differ in whether they answer with an error or with a picture that says so
        is_shown = picture is not None and picture.size == (image.Columns, image.Rows)
        pictures[view] = np.asarray(picture.convert("RGB")).astype(float) if is_shown else None
    return pictures


def is_same(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).mean() <= SAME)
