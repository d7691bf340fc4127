#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What fuzz targets begin with, a folder for each, and where it is kept: UnitTests/Fuzz/Corpus.

    fuzz-corpus.py unpack FOLDER    # what is kept
    fuzz-corpus.py pack FOLDER      # keeps a few of what is there that reach the same code

With what fuzzing has found come small ones of what real files and messages look like, which are
made here. "pack" asks the targets of build/asan which inputs are enough.

The kept files are text: a line for each input, in base64, in the order of their digests.
"""

import argparse
import base64
import hashlib
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydicom import Dataset

RESOURCES = Path(__file__).resolve().parent
PROGRAMS = RESOURCES.parent / "build" / "asan"
KEPT = RESOURCES.parent / "UnitTests" / "Fuzz" / "Corpus"

LARGEST_INPUT = 4000  # bytes; larger ones are not kept
LARGEST_FRAME = 512  # bytes; its headers are at its begin
LARGEST_FILE = 4000  # bytes, of pydicom's

sys.path.insert(0, str(RESOURCES / "IntegrationTests"))

Seeds = Iterator[bytes]


def put(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)


def unpack(folder: Path) -> None:
    for path in KEPT.glob("*.txt"):
        for line in path.read_text("ascii").splitlines():
            put(folder / path.stem, base64.b64decode(line))


def pack(folder: Path) -> None:
    for target, make in SEEDS.items():
        found = {path.read_bytes() for path in (folder / target).glob("*")} | set(make())
        with tempfile.TemporaryDirectory() as temporary:
            offered, enough = Path(temporary, "offered"), Path(temporary, "enough")
            enough.mkdir()
            for content in found:
                if len(content) <= LARGEST_INPUT:
                    put(offered, content)
            # Each edge once: how often it is taken would keep four times as many
            options = ["-set_cover_merge=1", "-use_counters=0", "-verbosity=0"]
            command = [PROGRAMS / target, *options, enough, offered]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            chosen = {path.name: path.read_bytes() for path in enough.iterdir()}
        lines = [base64.b64encode(chosen[name]).decode() for name in sorted(chosen)]
        KEPT.mkdir(exist_ok=True)
        (KEPT / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines), "ascii")
        print(f"{target}: {len(chosen)} inputs, of {len(found)} that were found")


# ---- What is made here -----------------------------------------------------------------------


def make_associate_requests() -> Seeds:
    from harness import wire

    yield wire.make_associate_request(b"CT_ROOM_1")
    yield wire.make_associate_request(b"MR", wire.CT_IMAGE_STORAGE, b"OFFIS_DCMTK_367")


def make_messages() -> Seeds:
    """DIMSE: requests, and a response with its status."""
    from harness import wire

    yield wire.make_command(wire.C_ECHO, wire.VERIFICATION, wire.NO_DATA_SET)
    store = wire.make_command(wire.C_STORE, wire.CT_IMAGE_STORAGE, wire.HAS_DATA_SET, "1.2.3.4")
    yield store
    yield store + wire.make_data(bytes(40), 0) + wire.make_data(bytes(10), wire.IS_LAST)
    yield make_store_response() + store


def make_store_response() -> bytes:
    from harness import wire

    body = wire.make_element(0x0100, struct.pack("<H", 0x8001))
    body += wire.make_element(0x0900, struct.pack("<H", 0))
    body = wire.make_element(0x0000, struct.pack("<I", len(body))) + body
    return wire.make_data(body, wire.IS_COMMAND | wire.IS_LAST)


OPEN_ACCEPTED, OPEN_HTTP, OPEN_OUTGOING = 0, 1, 2
READ, WRITE, WAIT, END = 0, 1, 2, 3


def make_scenes() -> Seeds:
    """What FuzzConnection.cpp reads: steps of an action, a time, and bytes."""
    from harness import wire

    def do(action: int, content: bytes = b"") -> bytes:
        pieces = [content[begin : begin + 255] for begin in range(0, len(content), 255)] or [b""]
        return b"".join(bytes([action * 4 + 16, len(piece)]) + piece for piece in pieces)

    accept = struct.pack(">BxI", 2, 10) + bytes(10)
    release, released = wire.RELEASE_REQUEST, struct.pack(">BxI4x", 6, 4)
    store = wire.make_command(wire.C_STORE, wire.CT_IMAGE_STORAGE, wire.HAS_DATA_SET, "1.2.3.4")
    store += wire.make_data(bytes(100), wire.IS_LAST)
    for opened, sent, answered in (
        (OPEN_ACCEPTED, READ, WRITE),
        (OPEN_OUTGOING, WRITE, READ),
    ):
        yield (
            do(opened)
            + do(sent, wire.make_associate_request(b"CT_ROOM_1", wire.CT_IMAGE_STORAGE))
            + do(answered, accept)
            + (do(sent, store) + do(WAIT) + do(answered, make_store_response())) * 2
            + do(sent, release)
            + do(answered, released)
            + do(END)
        )
    upload = b"POST /instances HTTP/1.1\r\nContent-Length: 9\r\n\r\n"
    yield do(OPEN_HTTP) + do(READ, upload) + do(READ, b"No DICOM.") + do(WRITE, bytes(120))


def make_files() -> Seeds:
    """The same small image in each way of writing it."""
    import numpy as np
    from pydicom.uid import RLELossless

    from harness.images import make_slice
    from harness.transcoding import DEFLATED, IMPLICIT, change, write

    image = make_slice("seed", 0, 1, np.arange(16, dtype="<u2").reshape(4, 4))
    image.Rows = image.Columns = 4
    plain = write(image)
    yield plain
    for syntax in (IMPLICIT, DEFLATED):
        image.file_meta.TransferSyntaxUID = syntax
        yield write(image)
    yield change(plain, lambda edited: edited.compress(RLELossless))


def read_encapsulated() -> Iterator[tuple[Path, "Dataset"]]:
    from pydicom import dcmread

    from harness.images import list_pydicom_files

    for path in list_pydicom_files():
        image = dcmread(path, force=True)
        syntax = getattr(image.get("file_meta"), "TransferSyntaxUID", None)
        if syntax and syntax.is_encapsulated and "PixelData" in image:
            yield path, image


def make_codestreams() -> Seeds:
    """Elements of encapsulated Pixel Data, and frames of them."""
    from pydicom.encaps import encapsulate, generate_frames

    for _, image in read_encapsulated():
        frames = generate_frames(image.PixelData, number_of_frames=1)
        frame = next(iter(frames), b"")[:LARGEST_FRAME]
        yield frame
        yield b"\xe0\x7f\x10\x00OB\0\0\xff\xff\xff\xff" + encapsulate([frame])


def make_requests() -> Seeds:
    """What FuzzRestRequest.cpp reads."""
    yield b"\x00\x00\nlimit=10&peer=CT%20ROOM&origin=RestApi\nhost:pacs\n\n"
    yield b"\x00\x02\nsince=1700000000&resolution=minute&token=x\nx-forwarded-for:10.0.0.1\n\n"
    headers = b"authorization:Basic YWxpY2U6c2VjcmV0\nx-forwarded-for:10.9.8.7, 192.168.1.5\n"
    origin = b"origin:https://pacs.example\nhost:pacs.example\nsec-fetch-site:same-origin\n"
    for tuning in (
        b'{"DicomSockets": {"Preset": "stock", "ReceiveBuffer": 65536, "TcpNoDelay": null}}',
        b'{"IngestTranscoding": {"TransferSyntax": "JPEGProcess14SV1", "Engine": "auto"}}',
    ):
        yield b"\x02\x03\nsources\n" + headers + origin + b"\n" + tuning
    yield b"\x03\x03\n_method=PUT\n" + headers + b"\n"
    compare = b'{"Resource": "0123abcd-0123abcd-0123abcd-0123abcd-0123abcd", "Priority": 1}'
    yield b"\x01\x04\n\n" + headers + b"\n" + compare
    names = b"name:CT%0a%01%80%22\\\naddress:10.0.0.5\ntitle:MR%22%0d\nversion:OFFIS\n"
    names += b"reason:frame 3%0a%ff\nuid:1.2%09\nfigures:abcdefghijklmnopqrst\n\n"
    for path in range(11):
        yield b"\x00" + bytes([path]) + b"\n\n" + names
    yield b"\x00\x09\n\naccept:text/html\naccept-encoding:gzip\nif-none-match:1\n\n"


def make_transcodings() -> Seeds:
    """What FuzzTranscoding.cpp reads: how, from what, lies (the last first), an image."""
    targets = sources = 7
    automatic, of_native, of_liar, verified, kinds_of_lies = 0, 1, 2, 4, 18
    grey = bytes([0x00, 2, 3, 2]) + bytes(range(72))
    overlays = bytes([0x90, 2, 3, 2]) + bytes(range(72))
    colours = bytes([0x0F, 1, 2, 1]) + bytes(range(36))
    for kind in range(kinds_of_lies):
        for source in range(sources):
            target = (source + 1 + kind) % targets
            way = of_liar if kind % 2 == 0 else automatic
            image = (grey, overlays, colours)[(kind + source) % 3]
            lie = bytes([kind, 1, 3])
            yield bytes([target, way + verified, 90, 0, source, 1]) + lie + image
    odd = bytes([0x10, 2, 3, 0xC0]) + bytes(range(24))  # its High Bit makes no sense
    for image in (overlays, odd):
        twice = bytes([7, 0, 15, 0, 0, 0]) * 2
        yield bytes([2, of_liar + verified, 90, 0, 1, 4]) + twice + image
    yield bytes([0, of_native + verified, 90, 4, 4, 2, 7, 0, 0, 0, 0, 0]) + grey  # inflated wrongly
    for file in make_files():
        yield bytes([0, automatic + verified, 90, 0, 0, 0]) + file
    yield bytes([0, of_liar, 90, 5, 0, 0]) + grey
    yield bytes([5, of_liar + verified, 50, 0, 0, 0]) + bytes([0x08, 7, 7, 1]) + bytes(range(128))


def make_programs() -> Seeds:
    """What ProgramCheck.h reads: to what, of what and how often, the quality, and a file; or
    changes, and an image. Of files, the smallest in each compressed transfer syntax, if small."""
    syntaxes, twice = 12, 240  # which are a multiple of them
    unchanged = bytes([0])
    grey = bytes([0x10, 9, 9, 1]) + bytes(range(1, 24, 2))
    small = bytes([0x08, 9, 8, 0]) + bytes(range(200, 224))
    colours = bytes([0x0B, 15, 15, 1]) + bytes(range(36))
    deep = bytes([0x27, 15, 15, 0]) + bytes(range(36))
    for target in range(syntaxes):
        for source in range(syntaxes):
            image = (grey, small, colours, deep)[(target + source) % 4]
            yield bytes([target, source, 89]) + unchanged + image
            image = (colours, deep, grey, small)[(target + source) % 4]
            yield bytes([target, twice + source, 89]) + unchanged + image

    smallest: dict[str, bytes] = {}
    for path, image in read_encapsulated():
        content = path.read_bytes()
        known = smallest.setdefault(image.file_meta.TransferSyntaxUID, content)
        if len(content) < len(known):
            smallest[image.file_meta.TransferSyntaxUID] = content
    for number, content in enumerate(smallest.values()):
        if len(content) <= LARGEST_FILE:
            yield bytes([number % syntaxes, 0, 89]) + content
    for file in make_files():
        yield bytes([7, 0, 89]) + file


SEEDS = {
    "FuzzAssociateRequest": make_associate_requests,
    "FuzzCodestream": make_codestreams,
    "FuzzCommandField": make_messages,
    "FuzzConnection": make_scenes,
    "FuzzDataSetEditor": make_files,
    "FuzzDcmtkProgram": make_programs,
    "FuzzDicomFile": make_files,
    "FuzzGdcmProgram": make_programs,
    "FuzzImageDescription": make_files,
    "FuzzNativeEngine": make_files,
    "FuzzRestRequest": make_requests,
    "FuzzTranscoding": make_transcodings,
    "FuzzWorkerMessages": lambda: iter([b"0.2.0"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["unpack", "pack"])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    commands = {"unpack": unpack, "pack": pack}
    commands[arguments.command](arguments.folder)


if __name__ == "__main__":
    main()
