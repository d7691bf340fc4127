# SPDX-License-Identifier: GPL-3.0-or-later
"""Real files that are made to lie about themselves, in many ways, each from a number of its own."""

import io
import random
import struct
import warnings
from collections.abc import Callable
from pathlib import Path

import pydicom
from pydicom.data import get_testdata_files
from pydicom.dataelem import RawDataElement
from pydicom.dataset import FileDataset
from pydicom.tag import BaseTag, Tag

LARGEST_FILE = 250_000

ITEM = b"\xfe\xff\x00\xe0"

PHOTOMETRIC_INTERPRETATIONS = [
    b"MONOCHROME1 ",
    b"MONOCHROME2 ",
    b"PALETTE COLOR ",
    b"RGB ",
    b"YBR_FULL",
    b"YBR_FULL_422",
    b"YBR_PARTIAL_422 ",
    b"YBR_PARTIAL_420 ",
    b"YBR_ICT ",
    b"YBR_RCT ",
    b"ARGB",
    b"CMYK",
    b"",
    b"NONSENSE",
]
NUMBERS_OF_FRAMES = [
    *[b"", b"0 ", b"1 ", b"2 ", b"+2", b" 2", b"02", b"3 ", b"15", b"16", b"30", b"31"],
    *[b"-1", b"2.0 ", b"2e0 ", b"1\\2 ", b"abc ", b"99999999999 ", b"2\0", b"1A"],
]

Mutation = Callable[[FileDataset, random.Random], None]


# ---- What an image says of itself ---------------------------------------------------------------


def set_raw(image: FileDataset, tag: BaseTag, vr: str, value: bytes) -> None:
    """The bytes as they are to stand in the file, however wrong."""
    is_implicit, is_little = image.original_encoding
    raw = RawDataElement(
        tag, None if is_implicit else vr, len(value), value, 0, is_implicit, is_little
    )
    image._dict[tag] = raw


def set_short(image: FileDataset, keyword: str, value: int) -> None:
    order = "<" if image.original_encoding[1] else ">"
    set_raw(image, Tag(keyword), "US", struct.pack(order + "H", value & 0xFFFF))


def get_short(image: FileDataset, keyword: str) -> int:
    value = image.get(keyword)
    return value if isinstance(value, int) else 0


def change_short(keyword: str, values: list[int]) -> Mutation:
    """One of the values, or what is there plus or minus one, or without its lowest bit."""

    def mutate(image: FileDataset, dice: random.Random) -> None:
        now = get_short(image, keyword)
        set_short(image, keyword, dice.choice([*values, now + 1, now - 1, now * 2, now // 2]))

    mutate.__name__ = f"change_{keyword}"
    return mutate


def drop(keyword: str) -> Mutation:
    def mutate(image: FileDataset, dice: random.Random) -> None:
        image._dict.pop(Tag(keyword), None)

    mutate.__name__ = f"drop_{keyword}"
    return mutate


def change_frames(image: FileDataset, dice: random.Random) -> None:
    set_raw(image, Tag("NumberOfFrames"), "IS", dice.choice(NUMBERS_OF_FRAMES))


def change_colours(image: FileDataset, dice: random.Random) -> None:
    set_raw(image, Tag("PhotometricInterpretation"), "CS", dice.choice(PHOTOMETRIC_INTERPRETATIONS))


def swap_sides(image: FileDataset, dice: random.Random) -> None:
    rows, columns = get_short(image, "Rows"), get_short(image, "Columns")
    set_short(image, "Rows", columns)
    set_short(image, "Columns", rows)


def describe_other_depth(image: FileDataset, dice: random.Random) -> None:
    """A depth that is consistent in itself."""
    allocated, stored = dice.choice(
        [(8, 8), (8, 6), (16, 16), (16, 12), (16, 10), (32, 32), (1, 1)]
    )
    set_short(image, "BitsAllocated", allocated)
    set_short(image, "BitsStored", stored)
    set_short(image, "HighBit", stored - 1)


def store_fewer_bits(image: FileDataset, dice: random.Random) -> None:
    """So that there are bits above High Bit."""
    stored = max(1, get_short(image, "BitsStored") - dice.randrange(1, 6))
    set_short(image, "BitsStored", stored)
    set_short(image, "HighBit", stored - 1)


def embed_an_overlay(image: FileDataset, dice: random.Random) -> None:
    """In the unused bits of the pixels, as before DICOM 2004."""
    for tag, vr, value in [
        (0x60000010, "US", struct.pack("<H", get_short(image, "Rows"))),
        (0x60000011, "US", struct.pack("<H", get_short(image, "Columns"))),
        (0x60000040, "CS", b"G "),
        (0x60000100, "US", struct.pack("<H", get_short(image, "BitsAllocated"))),
        (0x60000102, "US", struct.pack("<H", dice.randrange(16))),
    ]:
        set_raw(image, Tag(tag), vr, value)
    store_fewer_bits(image, dice)


def add_a_palette(image: FileDataset, dice: random.Random) -> None:
    if dice.random() < 0.5:
        set_raw(image, Tag("PhotometricInterpretation"), "CS", b"PALETTE COLOR ")
    bits = dice.choice([8, 16])
    for group in (0x1101, 0x1102, 0x1103):
        set_raw(image, Tag(0x0028, group), "US", struct.pack("<HHH", 256, 0, bits))
    for group in (0x1201, 0x1202, 0x1203):
        set_raw(image, Tag(0x0028, group), "OW", dice.randbytes(512))


def sign_it(image: FileDataset, dice: random.Random) -> None:
    set_raw(image, Tag(0x04000100), "UI", b"1.2.3\0")
    item = pydicom.Dataset()
    item.MACIDNumber = 1
    image.add_new(0x4FFE0001, "SQ", [item])


# ---- Pixel Data ---------------------------------------------------------------------------------


def get_bytes(image: FileDataset) -> bytes:
    return bytes(image.get_item("PixelData").value or b"")


def set_pixels(image: FileDataset, value: bytes) -> None:
    image["PixelData"].value = value


def split_items(encapsulated: bytes) -> list[bytes]:
    """The offset table, and the fragments."""
    items = []
    place = 0
    while encapsulated[place : place + 4] == ITEM:
        length = int.from_bytes(encapsulated[place + 4 : place + 8], "little")
        items.append(encapsulated[place + 8 : place + 8 + length])
        place += 8 + length
    return items


def join_items(items: list[bytes]) -> bytes:
    joined = b""
    for item in items:
        padded = item + b"\0" * (len(item) % 2)
        joined += ITEM + struct.pack("<I", len(padded)) + padded
    return joined


def is_encapsulated(image: FileDataset) -> bool:
    return image.file_meta.TransferSyntaxUID.is_encapsulated


def change_native_length(image: FileDataset, dice: random.Random) -> None:
    pixels = get_bytes(image)
    frame = max(2, len(pixels) // max(1, dice.choice([1, 1, 2, 15])))
    changed = dice.choice(
        [
            pixels[:-2],
            pixels[: len(pixels) // 2 // 2 * 2],
            pixels + b"\0\0",
            pixels + b"\1\2",
            pixels + pixels[:frame],
            pixels + pixels,
            pixels * 3,
            pixels + dice.randbytes(100),
            pixels + b"\0" * 512,
            b"",
        ]
    )
    set_pixels(image, changed)


def change_native_bits(image: FileDataset, dice: random.Random) -> None:
    pixels = bytearray(get_bytes(image))
    for _ in range(dice.choice([1, 3, 30])):
        if pixels:
            pixels[dice.randrange(len(pixels))] ^= 1 << dice.randrange(8)
    set_pixels(image, bytes(pixels))


def change_fragments(image: FileDataset, dice: random.Random) -> None:
    table, *fragments = split_items(get_bytes(image)) or [b""]
    if not fragments:
        return
    place = dice.randrange(len(fragments))
    fragment = fragments[place]
    middle = len(fragment) // 2 // 2 * 2
    match dice.randrange(9):
        case 0:
            fragments[place : place + 1] = [fragment[:middle], fragment[middle:]]
            table = dice.choice([b"", table])
        case 1:
            fragments.insert(place, fragment)
            table = b""
        case 2:
            fragments += fragments
            table = b""
        case 3:
            fragments.insert(place, b"")
        case 4:
            del fragments[place]
        case 5:
            fragments.append(dice.randbytes(64))
        case 6:
            fragments[place] = fragment + fragment
            table = b""
        case 7:
            fragments[place] = fragment + b"\0" * dice.choice([2, 16, 100])
            table = b""
        case _:
            fragments = [b"".join(fragments)]
            table = b""
    set_pixels(image, join_items([table, *fragments]))


def change_offset_table(image: FileDataset, dice: random.Random) -> None:
    _, *fragments = split_items(get_bytes(image)) or [b""]
    offsets = [0]
    for fragment in fragments:
        offsets.append(offsets[-1] + 8 + len(fragment) + len(fragment) % 2)
    right = offsets[:-1]
    table = dice.choice(
        [
            [],
            right,
            right[:1],
            offsets,
            right[1:],
            [offset + 2 for offset in right],
            right[::-1],
            [dice.getrandbits(32) for _ in right],
        ]
    )
    encoded = b"".join(struct.pack("<I", offset) for offset in table)
    set_pixels(image, join_items([encoded, *fragments]))


def change_bytes(content: bytearray, place: int, dice: random.Random) -> None:
    """Takes some away, puts some in, or changes one."""
    match dice.randrange(4):
        case 0:
            del content[place : place + dice.randrange(1, 5)]
        case 1:
            content[place:place] = dice.randbytes(dice.randrange(1, 5))
        case 2:
            content[place] ^= 1 << dice.randrange(8)
        case _:
            content[place] = dice.choice([0, 1, 0x80, 0xFF, dice.randrange(256)])


def change_codestream(image: FileDataset, dice: random.Random) -> None:
    table, *fragments = split_items(get_bytes(image)) or [b""]
    if not fragments:
        return
    place = dice.randrange(len(fragments))
    stream = bytearray(fragments[place])
    reach = len(stream) if dice.random() < 0.4 else 200
    for _ in range(dice.choice([1, 1, 2, 5])):
        if stream:
            change_bytes(stream, dice.randrange(min(reach, len(stream))), dice)
    fragments[place] = bytes(stream)
    set_pixels(image, join_items([table, *fragments]))


def change_jpeg_markers(image: FileDataset, dice: random.Random) -> None:
    """JFIF and Adobe markers taken away or put in, other component identifiers."""
    _, *fragments = split_items(get_bytes(image)) or [b""]
    if not fragments or not fragments[0].startswith(b"\xff\xd8"):
        return
    place = dice.randrange(len(fragments))
    stream = fragments[place]
    without = b"\xff\xd8" + skip_application_segments(stream)
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([dice.choice([0, 1, 2])])
    jfif = b"\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    match dice.randrange(4):
        case 0:
            stream = without
        case 1:
            stream = without[:2] + adobe + without[2:]
        case 2:
            stream = without[:2] + jfif + without[2:]
        case _:
            stream = rename_components(without, dice.choice([b"\1\2\3", b"RGB", b"\0\1\2"]))
    fragments[place] = stream
    set_pixels(image, join_items([b"", *fragments]))


def skip_application_segments(stream: bytes) -> bytes:
    place = 2
    while stream[place : place + 1] == b"\xff" and 0xE0 <= stream[place + 1] <= 0xEF:
        place += 2 + int.from_bytes(stream[place + 2 : place + 4], "big")
    return stream[place:]


def rename_components(stream: bytes, names: bytes) -> bytes:
    """In the frame header and in the scan headers (ITU-T T.81 B.2.2, B.2.3)."""
    changed = bytearray(stream)
    old: list[int] = []
    place = 2
    while place + 4 < len(stream) and stream[place] == 0xFF:
        marker = stream[place + 1]
        length = int.from_bytes(stream[place + 2 : place + 4], "big")
        if marker in (0xC0, 0xC1, 0xC3, 0xF7) and stream[place + 9] == 3:
            for index in range(3):
                old.append(stream[place + 10 + 3 * index])
                changed[place + 10 + 3 * index] = names[index]
        elif marker == 0xDA:
            for index in range(stream[place + 4]):
                component = stream[place + 5 + 2 * index]
                if component in old:
                    changed[place + 5 + 2 * index] = names[old.index(component)]
            break
        place += 2 + length
    return bytes(changed)


def call_it_otherwise(image: FileDataset, dice: random.Random) -> None:
    """Another transfer syntax of the same family."""
    suffix = dice.choice(["4.50", "4.51", "4.57", "4.70", "4.80", "4.81", "4.90", "4.91", "5"])
    if is_encapsulated(image):
        image.file_meta.TransferSyntaxUID = pydicom.uid.UID("1.2.840.10008.1.2." + suffix)


DESCRIPTION: list[Mutation] = [
    change_frames,
    change_frames,
    drop("NumberOfFrames"),
    change_short("SamplesPerPixel", [0, 1, 2, 3, 4]),
    change_short("BitsAllocated", [0, 1, 8, 12, 16, 24, 32, 64]),
    change_short("BitsStored", [0, 1, 8, 12, 16, 17]),
    change_short("HighBit", [0, 7, 11, 15, 31]),
    change_short("PixelRepresentation", [0, 1, 2]),
    change_short("PlanarConfiguration", [0, 1, 2]),
    change_short("Rows", [0, 1, 65535]),
    change_short("Columns", [0, 1, 65535]),
    drop("PlanarConfiguration"),
    drop("PixelRepresentation"),
    drop("HighBit"),
    change_colours,
    change_colours,
    swap_sides,
    describe_other_depth,
    store_fewer_bits,
    embed_an_overlay,
    add_a_palette,
    sign_it,
]
NATIVE: list[Mutation] = [change_native_length, change_native_length, change_native_bits]
ENCAPSULATED: list[Mutation] = [
    change_fragments,
    change_fragments,
    change_offset_table,
    change_codestream,
    change_jpeg_markers,
    call_it_otherwise,
]


# ---- Whole files --------------------------------------------------------------------------------


def list_originals() -> list[Path]:
    """Pydicom's images that are whole, and small enough to be mutated by the thousand."""
    found = []
    for name in sorted(set(get_testdata_files())):
        path = Path(name)
        if path.stat().st_size > LARGEST_FILE:
            continue
        try:
            image = pydicom.dcmread(path)
            is_image = "PixelData" in image and "SOPInstanceUID" in image
        except Exception:  # not DICOM, which is some files' point
            continue
        if is_image and image.file_meta.get("TransferSyntaxUID") is not None:
            found.append(path)
    return found


def mutate_bytes(content: bytes, dice: random.Random) -> bytes:
    """Anywhere behind the preamble."""
    changed = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 4])):
        change_bytes(changed, dice.randrange(132, len(changed)), dice)
    if dice.random() < 0.1:
        del changed[dice.randrange(len(changed) // 2, len(changed)) :]
    return bytes(changed)


def mutate(path: Path, dice: random.Random) -> tuple[str, bytes]:
    """What was done, and the file."""
    content = path.read_bytes()
    if dice.random() < 0.15:
        return "mutate_bytes", mutate_bytes(content, dice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = pydicom.dcmread(io.BytesIO(content))
        pixel_mutations = ENCAPSULATED if is_encapsulated(image) else NATIVE
        done = []
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            mutation = dice.choice(dice.choice([DESCRIPTION, pixel_mutations]))
            mutation(image, dice)
            done.append(mutation.__name__)
        target = io.BytesIO()
        image.save_as(target, enforce_file_format=False)
    return "+".join(done), target.getvalue()


def make_mutants(count: int, seed: int = 1) -> list[tuple[str, bytes]]:
    """Names that tell file, number and mutation, and contents; the same ones for the same seed."""
    originals = list_originals()
    mutants = []
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        path = originals[number % len(originals)]
        try:
            name, content = mutate(path, dice)
        except Exception as problem:  # pydicom has no way to write some combinations
            name, content = f"unchanged ({type(problem).__name__})", path.read_bytes()
        mutants.append((f"{number}-{path.name}-{name}", content))
    return mutants
