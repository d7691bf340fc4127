# SPDX-License-Identifier: GPL-3.0-or-later
"""Codestreams made to the letter of their standards, with what these allow and few encoders do,
and the samples that they hold: no decoder has to be asked."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydicom.encaps import encapsulate
from pydicom.uid import UID, generate_uid

from harness.sources import Kind, make_image
from harness.transcoding import RLE, write


@dataclass(frozen=True)
class Stream:
    """One frame, compressed, and its samples as (rows, columns, samples per pixel)."""

    name: str
    syntax: UID
    codestream: bytes
    samples: np.ndarray
    bits: int
    error: int = 0  # by which decoders may be off, where the standard lets them round
    colours: str = "RGB"

    def make_file(self) -> bytes:
        rows, columns, samples = self.samples.shape
        allocated = 8 * self.samples.dtype.itemsize
        image = make_image(Kind(self.name, allocated, self.bits, samples=samples))
        image.SOPInstanceUID = generate_uid(entropy_srcs=[self.name, str(self.syntax)])
        image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
        image.Rows, image.Columns = rows, columns
        if samples == 3:
            image.PhotometricInterpretation = self.colours
        image.PixelData = encapsulate([self.codestream])
        image["PixelData"].VR = "OB"
        image.file_meta.TransferSyntaxUID = self.syntax
        return write(image)


def make_samples(
    dice: random.Random, bits: int, samples: int = 1, allocated: int = 0
) -> np.ndarray:
    """Slopes with noise and even places, of any small size."""
    rows, columns = dice.randrange(1, 40), dice.randrange(1, 40)
    y, x, sample = np.indices((rows, columns, samples))
    noise = np.random.default_rng(dice.getrandbits(32)).normal(0, 2**bits / 60, y.shape)
    values = (x + 2 * y + 7 * sample) % 64 * 2.0**bits / 64 + noise * (x > columns // 3)
    width = allocated or (8 if bits <= 8 else 16)
    return np.clip(values.round(), 0, 2**bits - 1).astype(f"u{width // 8}")


# ---- RLE: DICOM PS3.5 annex G -------------------------------------------------------------------

NO_OPERATION = b"\x80"


def count_run(data: bytes) -> int:
    """How often the first byte comes, as far as one run goes."""
    longest = data[:128]
    return len(longest) - len(longest.lstrip(longest[:1]))


def encode_rle_segment(data: bytes, dice: random.Random, share_of_no_operations: float) -> bytes:
    """Runs and literals of any length that is allowed, and no-operations (section G.3.2)."""
    segment = b""
    while data:
        if dice.random() < share_of_no_operations:
            segment += NO_OPERATION * dice.randrange(1, 4)
        run = count_run(data)
        if run > 1 and dice.random() < 0.9:
            count = dice.randrange(2, run + 1)
            segment += bytes([257 - count]) + data[:1]
        else:
            count = min(len(data), dice.choice([1, 2, dice.randrange(1, 129)]))
            segment += bytes([count - 1]) + data[:count]
        data = data[count:]
    if dice.random() < share_of_no_operations:
        segment += NO_OPERATION
    return segment + b"\0" * (len(segment) % 2)


def make_rle_streams(dice: random.Random) -> Iterator[Stream]:
    for bits, samples, allocated in [(8, 1, 8), (12, 1, 16), (8, 3, 8), (16, 3, 16), (32, 1, 32)]:
        for share in (0.0, 0.3):
            array = make_samples(dice, bits, samples, allocated)
            width = allocated // 8
            header = [samples * width]
            body = b""
            for plane in np.moveaxis(array, -1, 0):
                planar = plane.astype(f">u{width}").tobytes()
                for place in range(width):
                    header.append(64 + len(body))
                    body += encode_rle_segment(planar[place::width], dice, share)
            header += [0] * (16 - len(header))
            codestream = np.array(header, "<u4").tobytes() + body
            name = f"RLE, {samples} x {bits} bits" + (", no-operations" if share else "")
            yield Stream(name, RLE, codestream, array, bits)
