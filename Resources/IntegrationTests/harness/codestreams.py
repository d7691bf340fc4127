# SPDX-License-Identifier: GPL-3.0-or-later
"""Codestreams made to the letter of their standards, with what these allow and few encoders do,
and the samples that they hold: no decoder has to be asked."""

import base64
import io
import json
import lzma
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from pydicom.encaps import encapsulate
from pydicom.uid import UID, generate_uid

from harness.mutations import change_bytes, join_items
from harness.sources import Kind, make_image
from harness.transcoding import JPEG_2000_LOSSLESS, RLE, write


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
    is_misread: bool = False  # by libraries here: to be declined

    def make_file(self, frames: int = 1, dice: random.Random | None = None) -> bytes:
        """ "frames": all alike. "dice": they are in fragments of any size, none included."""
        rows, columns, samples = self.samples.shape
        allocated = 8 * self.samples.dtype.itemsize
        image = make_image(Kind(self.name, allocated, self.bits, samples=samples))
        image.SOPInstanceUID = generate_uid(entropy_srcs=[self.name, str(self.syntax)])
        image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
        image.Rows, image.Columns = rows, columns
        if samples == 3:
            image.PhotometricInterpretation = self.colours
        image.PixelData = self.encapsulate(frames, dice)
        if frames > 1:
            image.NumberOfFrames = frames
        image["PixelData"].VR = "OB"
        image.file_meta.TransferSyntaxUID = self.syntax
        return write(image)

    def encapsulate(self, frames: int, dice: random.Random | None) -> bytes:
        if dice is None:
            return encapsulate([self.codestream] * frames)
        fragments: list[bytes] = []
        offsets = []
        for _ in range(frames):
            offsets.append(len(join_items(fragments)))
            fragments += split(self.codestream, dice)
        table = np.array(offsets, "<u4").tobytes() if dice.random() < 0.5 else b""
        return join_items([table, *fragments])


def split(codestream: bytes, dice: random.Random) -> list[bytes]:
    """In even pieces; the rest may be EOI alone, empty, or padding."""
    padded = codestream + b"\0" * (len(codestream) % 2)
    end = len(padded)
    cuts = [dice.randrange(4, end, 2) for _ in range(dice.choice([0, 1, 4]))]
    if dice.random() < 0.3:
        cuts.append((len(codestream) - 2) // 2 * 2)
    if dice.random() < 0.3:
        cuts.append(end)
    places = [0, *sorted(cuts), end]
    return [padded[i:j] for i, j in pairwise(places)] + [b"\0\0"] * (dice.random() < 0.2)


def make_samples(
    dice: random.Random, bits: int, samples: int = 1, allocated: int = 0
) -> np.ndarray:
    """Slopes with noise and even places, noise, extremes, or all the same; of any small size."""
    rows, columns = dice.randrange(1, 40), dice.randrange(1, 40)
    y, x, sample = np.indices((rows, columns, samples))
    generator = np.random.default_rng(dice.getrandbits(32))
    largest = 2**bits - 1
    slopes = (x + 2 * y + 7 * sample) % 64 * 2.0**bits / 64
    slopes += generator.normal(0, 2**bits / 60, y.shape) * (x > columns // 3)
    others = [
        generator.integers(0, largest, y.shape, endpoint=True),
        generator.integers(0, 2, y.shape) * largest,
        np.full(y.shape, dice.randrange(largest)),
    ]
    values = dice.choice(others) if dice.random() < 0.5 else np.clip(slopes.round(), 0, largest)
    width = allocated or (8 if bits <= 8 else 16)
    return values.astype(f"u{width // 8}")


NO_OPERATION = b"\x80"


def encode_rle_segment(data: bytes, dice: random.Random, share_of_no_operations: float) -> bytes:
    """Runs and literals of any length that is allowed, and no-operations (section G.3.2)."""
    segment = b""
    while data:
        if dice.random() < share_of_no_operations:
            segment += NO_OPERATION * dice.randrange(1, 4)
        longest = data[:128]
        run = len(longest) - len(longest.lstrip(longest[:1]))
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


def make_jpeg_2000(dice: random.Random) -> Stream:
    """By Pillow, thus OpenJPEG, which GDCM has, too."""
    bits, samples = dice.choice([(8, 1), (16, 1), (8, 3)])
    array = make_samples(dice, bits, samples)
    options: dict[str, Any] = {
        "progression": dice.choice(["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"]),
        "codeblock_size": (2 ** dice.randrange(2, 7), 2 ** dice.randrange(2, 6)),
        "quality_layers": dice.choice([None, [20, 5, 1]]),
        "plt": dice.random() < 0.3,
        "mct": int(samples == 3 and dice.random() < 0.6),
    }
    if bits == 8 and dice.random() < 0.4:  # Pillow writes other samples for some tiles of 16
        options["tile_size"] = (dice.randrange(5, 20), dice.randrange(5, 20))
    # Pillow codes tiles wrongly that are too small for their resolutions, as those at the ends are
    width, height = options.get("tile_size", (64, 64))
    rows, columns = array.shape[:2]
    smallest = min(rows % height or height, columns % width or width)
    options["num_resolutions"] = dice.randrange(1, min(smallest.bit_length(), 5) + 1)
    if dice.random() < 0.3:
        options["precinct_size"] = (2 ** dice.randrange(4, 7), 2 ** dice.randrange(4, 7))
    target = io.BytesIO()
    pillow = PIL.Image.fromarray(array if samples == 3 else array[..., 0])
    pillow.save(target, "JPEG2000", no_jp2=True, **options)
    codestream = target.getvalue()
    if dice.random() < 0.3:  # T.800 section A.9.2: a comment that looks like an end
        main = codestream.index(b"\xff\x52")
        codestream = codestream[:main] + b"\xff\x64\0\x08\0\0\xff\xd9\xff\x93" + codestream[main:]
    colours = "YBR_RCT" if options["mct"] else "RGB"
    return Stream(f"JPEG 2000, {options}", JPEG_2000_LOSSLESS, codestream, array, bits, 0, colours)


KEPT = Path(__file__).with_name("codestreams.json.xz")


def read_kept() -> list[Stream]:
    """JPEG Lossless, sequential JPEG and JPEG-LS by turns, with all that ITU-T T.81 and T.87 allow:
    2 to 16 bits, restarts, fill bytes, comments, DNL, odd tables and samplings. Encoders made them
    that commit 1722cbf6 has: harness/jpeg_streams.py and jpeg_ls_streams.py."""
    streams = []
    for row in json.loads(lzma.decompress(KEPT.read_bytes())):
        width = 8 if row["bits"] <= 8 else 16
        row["samples"] = np.array(row["samples"], f"u{width // 8}")
        row["codestream"] = base64.b64decode(row["codestream"])
        streams.append(Stream(**row | {"syntax": UID(row["syntax"])}))
    return streams


def make_streams(count: int, seed: str = "standard") -> list[Stream]:
    """By turns of each kind, with numbers in their names; the same ones for the same seed."""
    kept = cycle(read_kept())
    streams = []
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        match number % 5:
            case 0:
                stream = dice.choice(list(make_rle_streams(dice)))
            case 1:
                stream = make_jpeg_2000(dice)
            case _:
                stream = next(kept)
        streams.append(replace(stream, name=f"{number}, {stream.name}"))
    return streams


def damage(codestream: bytes, dice: random.Random) -> bytes:
    """Bytes changed, put in or taken away, more often in headers; segments twice or gone."""
    changed = bytearray(codestream)
    body = max(changed.rfind(b"\xff\xda"), 64)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        markers = [m.start() for m in re.finditer(rb"\xff[\xc0-\xfe]", changed[2:-4])]
        if not markers or dice.random() < 0.7:
            reach = min(len(changed), body + 12) if dice.random() < 0.5 else len(changed)
            change_bytes(changed, dice.randrange(2, reach), dice)
            continue
        at = 2 + dice.choice(markers)
        length = 2 + int.from_bytes(changed[at + 2 : at + 4], "big")
        end = at + (2 if 0xD0 <= changed[at + 1] <= 0xD7 else length)
        segment = changed[at:end]
        if dice.random() < 0.5:
            del changed[at:end]
        else:
            at = 2 + dice.choice(markers)
            changed[at:at] = segment
    return bytes(changed)


def make_damaged_streams(count: int, seed: str = "damaged") -> list[Stream]:
    return [
        replace(stream, codestream=damage(stream.codestream, random.Random(f"{seed}/{number}")))
        for number, stream in enumerate(make_streams(count, seed))
    ]
