# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a transcoded file shows what the received one showed, by a reader that is no engine.

What the received file holds is counted in its Pixel Data, not believed from its attributes: frames
and samples beyond what these say must not be lost."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
import pydicom
from pydicom.dataset import FileDataset
from pydicom.pixels import pixel_array

from harness.mutations import split_items
from harness.transcoding import LOSSY, RLE, get_syntax

# Of the range: anything lossy that is still the same picture
LARGEST_MEAN_ERROR = 0.05

# Decoders of what is lossy already round by single steps, and interpolate colour
LARGEST_MEAN_ROUNDING = 2.0


@dataclass(frozen=True)
class Verdict:
    """A problem, or none; not judged: the reader can't read what was received."""

    problem: str = ""
    is_judged: bool = True


UNREADABLE = Verdict(is_judged=False)


def read_quietly(content: bytes) -> FileDataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydicom.dcmread(io.BytesIO(content))


def complete(image: FileDataset) -> None:
    """What the reader insists on: unsigned, by pixel. And all bits are to be seen: it masks those
    above Bits Stored."""
    image.BitsStored = image.BitsAllocated
    image.HighBit = image.BitsStored - 1
    if image.get("PixelRepresentation") not in (0, 1):
        image.PixelRepresentation = 0
    # Frames of JPEG hold their colours as they like, whatever the data set says
    is_jpeg = get_syntax(image).is_encapsulated and get_syntax(image) != RLE
    if image.SamplesPerPixel > 1 and (is_jpeg or image.get("PlanarConfiguration") not in (0, 1)):
        image.PlanarConfiguration = 0


def to_rgb(samples: np.ndarray, bits_stored: int) -> np.ndarray:
    """Of YBR_FULL (DICOM PS3.3 section C.7.6.3.1.2), for any depth."""
    luminance, blue, red = np.moveaxis(samples.astype(float), -1, 0)
    blue, red = blue - 2 ** (bits_stored - 1), red - 2 ** (bits_stored - 1)
    colours = [
        luminance + 1.402 * red,
        luminance - 0.344136 * blue - 0.714136 * red,
        luminance + 1.772 * blue,
    ]
    return np.clip(np.stack(colours, axis=-1).round(), 0, 2**bits_stored - 1)


def decode_quietly(image: FileDataset, raw: bool) -> np.ndarray:
    bits_stored = image.BitsStored
    # The reader converts colours of 8 bits only
    is_deep = image.BitsAllocated > 8 and image.PhotometricInterpretation.startswith("YBR_FULL")
    complete(image)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = pixel_array(image, raw=raw or is_deep)
    array = array.reshape(-1, image.Rows, image.Columns, image.SamplesPerPixel)
    return to_rgb(array, bits_stored) if is_deep and not raw else array


def count_frames(image: FileDataset) -> float:
    """Of native ones, what is left over is a fraction; zeros less than a frame are padding."""
    if get_syntax(image).is_encapsulated:
        _, *fragments = split_items(image.PixelData) or [b""]
        if get_syntax(image) == RLE:
            return len(fragments)
        # SOI; SOC of JPEG 2000; the signature box of JP2, which some wrap around it
        starts = (b"\xff\xd8", b"\xff\x4f", b"\0\0\0\x0cjP")
        return sum(fragment.startswith(starts) for fragment in fragments)
    bits = image.Rows * image.Columns * image.SamplesPerPixel * image.BitsAllocated
    is_subsampled = image.PhotometricInterpretation in ("YBR_FULL_422", "YBR_PARTIAL_422")
    if is_subsampled and image.SamplesPerPixel == 3:
        bits = bits * 2 // 3
    if bits == 0:
        return 0.0
    length = len(image.PixelData) * 8
    whole, rest = divmod(length, bits)
    is_padding = whole > 0 and not any(image.PixelData[(whole * bits + 7) // 8 :])
    return float(whole) if rest < 16 or is_padding else length / bits


def strip_unused_bits(samples: np.ndarray, is_signed: bool, bits_stored: int) -> np.ndarray:
    """Of signed samples, the bits above Bits Stored may repeat the sign or be zero."""
    bits = samples.astype(f"u{samples.dtype.itemsize}")
    return bits & ((1 << bits_stored) - 1) if is_signed else bits


def is_lossy(image: FileDataset) -> bool:
    """What the first codestream says, whatever the file claims (ITU-T T.81 table B.1)."""
    if not get_syntax(image).is_encapsulated:
        return False
    pixels = image.PixelData[:4096]
    return get_syntax(image) in LOSSY or any(
        pixels.find(b"\xff" + marker) >= 0 for marker in (b"\xc0\0", b"\xc1\0", b"\xc2\0")
    )


def is_copy(received: FileDataset, stored: FileDataset) -> bool:
    """The same uncompressed Pixel Data, whatever they are said to be."""
    if get_syntax(received).is_encapsulated or get_syntax(stored).is_encapsulated:
        return False
    before, after = received.PixelData, stored.PixelData
    if not received.original_encoding[1] and received["PixelData"].VR == "OW":
        before = np.frombuffer(before[: len(before) // 2 * 2], ">u2").astype("<u2").tobytes()
    return before.rstrip(b"\0") == after.rstrip(b"\0") and len(after) - len(before) in (0, 1)


def compare(received: FileDataset, stored: FileDataset, is_damaged: bool) -> str:
    """What differs; throws what the reader throws at the received file."""
    is_lossy_source = is_lossy(received)
    is_lossy_target = get_syntax(stored) in LOSSY
    are_colours_same = received.PhotometricInterpretation == stored.PhotometricInterpretation
    is_signed, bits_stored = received.get("PixelRepresentation") == 1, received.BitsStored
    # The reader converts no signed colours
    raw = are_colours_same or received.SamplesPerPixel == 1 or is_signed
    expected = decode_quietly(received, raw)
    found = decode_quietly(stored, raw)
    if expected.shape != found.shape:
        return f"{found.shape} instead of {expected.shape}"
    if not is_lossy_source and not is_lossy_target and expected.dtype.kind != "f":
        same = np.array_equal(
            strip_unused_bits(expected, is_signed, bits_stored),
            strip_unused_bits(found, is_signed, bits_stored),
        )
        return "" if same else "other samples"
    if is_damaged and is_lossy_source:
        return ""  # decoders make of it what they like
    error = np.abs(expected.astype(float) - found.astype(float)).mean()
    scale = 2.0 ** (bits_stored - 8)
    limit = LARGEST_MEAN_ROUNDING * max(1.0, scale) if is_lossy_source else 0.0
    if is_lossy_target:
        is_tiny = expected.shape[1] * expected.shape[2] < 64  # one block, or less: all edges
        limit += (4 if is_tiny else 1) * LARGEST_MEAN_ERROR * 2.0**bits_stored
    return "" if error <= limit else f"off by {error:.1f} on average"


def judge(content: bytes, result: bytes, target: str, is_damaged: bool) -> Verdict:
    """What was received, what was made of it, the transfer syntax that was asked for, and whether
    bytes of a codestream may have been changed."""
    try:
        received = read_quietly(content)
        frames = count_frames(received)
    except Exception:
        return UNREADABLE
    try:
        stored = read_quietly(result)
        if get_syntax(stored) != target:
            return Verdict(f"in {get_syntax(stored)}")
        if is_copy(received, stored):
            return Verdict()
        frames_stored = int(stored.get("NumberOfFrames") or 1)
        if count_frames(stored) != frames_stored:
            return Verdict(f"{count_frames(stored)} frames, and says {frames_stored}")
    except Exception as problem:
        return Verdict(f"the result cannot be read: {problem}")

    if frames != frames_stored:
        return Verdict(f"{frames_stored} frames of {frames}")

    try:
        received.NumberOfFrames = frames_stored
        decode_quietly(read_quietly(content), raw=True)
    except Exception:
        return UNREADABLE
    try:
        return Verdict(compare(received, stored, is_damaged))
    except Exception as problem:
        return Verdict(f"the result cannot be decoded: {problem}")
