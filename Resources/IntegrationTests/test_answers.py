# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers: zlib's levels of archives, of gzip and of previews, and nothing but the levels."""

import gzip
import io
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import list_pydicom_files, make_grey_image
from harness.orthanc import Json, OrthancServer
from harness.process import run
from harness.transcoding import change, renew

KEYS = ("ArchiveLevel", "HttpLevel", "PreviewLevel")
LEVELS: list[Json] = ["default", *range(10)]

# Of pydicom's: each loads into Orthanc and has pixels
RAW = ["MR_small.dcm", "CT_small.dcm", "rtdose.dcm", "examples_rgb_color.dcm"]
RLE = ["MR_small_RLE.dcm", "SC_rgb_rle_2frame.dcm"]
COMPRESSED = [
    "JPEG2000.dcm",
    "JPGExtended.dcm",
    "MR_small_jp2klossless.dcm",
    "MR_small_jpeg_ls_lossless.dcm",
    "SC_rgb_small_odd_jpeg.dcm",
    "examples_ybr_color.dcm",
    "image_dfl.dcm",
]

GZIP_HEADER = 10  # bytes, without a name and the like: RFC 1952 section 2.3

# 1.12.2 and newer compress nothing over HTTP by default
COMPRESSING = {"HttpCompressionEnabled": True}


@dataclass
class Member:
    """What an archive says of a member, but for its time, and the bytes that it has of it."""

    name: str
    header: tuple[Json, ...]
    raw: bytes
    content: bytes


def begins_with_a_stored_block(deflated: bytes) -> bool:
    """BTYPE is 00: RFC 1951 section 3.2.3."""
    return deflated[0] >> 1 & 3 == 0


def read_members(archive: bytes) -> list[Member]:
    """Reads every member with its checksum verified, and checks what other programs say of it."""
    members = []
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        assert file.testzip() is None
        for info in file.infolist():
            # The local header: APPNOTE.TXT section 4.3.7
            name, extra = (
                int.from_bytes(archive[info.header_offset + at :][:2], "little") for at in (26, 28)
            )
            begin = info.header_offset + 30 + name + extra
            local = archive[info.header_offset + 4 : info.header_offset + 10]
            header = (info.compress_type, info.flag_bits, info.extract_version, info.create_version)
            header += (info.extra, extra, info.external_attr, info.internal_attr, local)
            raw = archive[begin : begin + info.compress_size]
            members.append(Member(info.filename, header, raw, file.read(info)))
    return members


def check_by_other_programs(archive: bytes, folder: Path) -> None:
    path = folder / "archive.zip"
    path.write_bytes(archive)
    for command in (["unzip", "-tqq"], ["7z", "t"], ["bsdtar", "-xOf"]):
        if shutil.which(command[0]):
            run([*command, path], text=False, check=True, timeout=600)


def set_levels(server: OrthancServer, level: Json) -> None:
    levels = dict.fromkeys(KEYS, level)
    assert server.tune(Answers=levels)["Answers"] == levels


def fetch_archive(server: OrthancServer, route: str = "archive") -> bytes:
    """All that is stored."""
    resources = {"Resources": server.get_json("/studies"), "Synchronous": True}
    answer = server.request("POST", f"/tools/create-{route}", json=resources)
    answer.raise_for_status()
    return answer.content


def fetch_compressed(server: OrthancServer, path: str) -> bytes:
    """The bytes of the gzip, as they came."""
    with server.get(path, headers={"Accept-Encoding": "gzip"}, stream=True) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        return answer.raw.read(decode_content=False)


def find_compressible(server: OrthancServer, instance: str) -> str:
    """A route that Orthanc answers compressed: newer ones, as 1.12.7, compress texts only."""
    file = f"/instances/{instance}/file"
    with server.get(file, headers={"Accept-Encoding": "gzip"}, stream=True) as answer:
        is_compressed = "Content-Encoding" in answer.headers
    return file if is_compressed else f"/instances/{instance}/tags"


def fetch_preview(server: OrthancServer, instance: str, kind: str = "preview") -> bytes:
    """Empty if Orthanc cannot decode the instance, such as JPEG 2000 without a plugin for it."""
    answer = server.get(f"/instances/{instance}/{kind}", headers={"Accept": "image/png"})
    assert answer.status_code in {200, 415}
    return answer.content if answer.status_code == 200 else b""


def read_pixels(png: bytes) -> np.ndarray:
    return np.asarray(Picture.open(io.BytesIO(png)))


@pytest.fixture(scope="module")
def contents(make_series: MakeSeries) -> dict[str, bytes]:
    files = {path.name: path for path in list_pydicom_files()}
    # Some are the same instance in several transfer syntaxes
    found = {name: change(files[name], renew) for name in [*RAW, *RLE, *COMPRESSED]}
    return {"ct.dcm": make_series("answers", 1)[0].read_bytes()} | found


@pytest.fixture(scope="module")
def orthanc(start_for_module: StartOrthanc, contents: dict[str, bytes]) -> OrthancServer:
    server = start_for_module(options=COMPRESSING)
    clients.upload(server, list(contents.values()))
    return server


def fetch_all(server: OrthancServer) -> Json:
    """Whatever has a level, but for the times in an archive, and the order of its members."""
    members = sorted(read_members(fetch_archive(server)), key=lambda member: member.name)
    members += [m for m in read_members(fetch_archive(server, "media")) if m.name != "DICOMDIR"]
    instances = sorted(server.get_json("/instances"))
    return {
        "members": [(member.name, member.header, member.raw) for member in members],
        "gzip": [fetch_compressed(server, find_compressible(server, one)) for one in instances],
        "previews": [fetch_preview(server, one) for one in instances],
        "stored": [
            server.get(f"/instances/{one}/attachments/dicom/compressed-data").content
            for one in instances
        ],
    }


def test_with_nothing_set_each_byte_is_what_it_is_without_the_plugin(
    start_orthanc: StartOrthanc, contents: dict[str, bytes]
) -> None:
    options = COMPRESSING | {"StorageCompression": True}
    plain = start_orthanc(below="plain", plugins=[], options=options)
    clients.upload(plain, list(contents.values()))
    expected = fetch_all(plain)
    assert len(expected["stored"]) == len(contents)

    orthanc = start_orthanc(options=options)
    clients.upload(orthanc, list(contents.values()))
    assert fetch_all(orthanc) == expected

    # A level leaves nothing behind, and never touches what is stored
    set_levels(orthanc, 0)
    orthanc.delete_all()
    clients.upload(orthanc, list(contents.values()))
    changed = fetch_all(orthanc)
    assert changed.pop("stored") == expected["stored"]
    assert all(changed[kind] != expected[kind] for kind in changed)
    assert orthanc.request("DELETE", "/perf/tuning").status_code == 200
    assert fetch_all(orthanc) == expected


@pytest.mark.parametrize("route", ["archive", "media"])
def test_an_archive_of_each_level_has_the_same_members_and_deflates_nothing_twice(
    orthanc: OrthancServer, contents: dict[str, bytes], tmp_path: Path, route: str
) -> None:
    names = {content: name for name, content in contents.items()}
    sizes, headers = {}, {}
    for level in [*LEVELS, "default"]:
        set_levels(orthanc, level)
        archive = fetch_archive(orthanc, route)
        check_by_other_programs(archive, tmp_path)
        members = [member for member in read_members(archive) if member.name != "DICOMDIR"]
        assert sorted(member.content for member in members) == sorted(contents.values())
        sizes[level] = {member.content: len(member.raw) for member in members}
        headers[level] = {member.name: member.header for member in members}
        if level != 0:
            stored = {names[one.content] for one in members if begins_with_a_stored_block(one.raw)}
            assert stored == (set() if level == "default" else set(COMPRESSED))

    assert all(header == headers["default"] for header in headers.values())
    ct = contents["ct.dcm"]
    assert sizes[0][ct] > len(ct)
    assert len({sizes[level][ct] for level in (0, 1, 6)}) == 3
    assert sizes[6][ct] == sizes["default"][ct]


@pytest.mark.long
def test_archives_beyond_two_gigabytes_are_read_by_other_programs(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    """Orthanc writes each member as ZIP64: version 4.5 of APPNOTE.TXT section 4.4.3."""
    orthanc = start_orthanc()
    for number in range(3):
        uids = ("1.2.3", "1.2.3.4", f"1.2.3.4.{number}")
        path = tmp_path / "large.dcm"
        make_grey_image("LARGE", uids, 512, 1500).save_as(path, enforce_file_format=True)
        orthanc.upload(path.read_bytes())
    path.unlink()
    for level in (0, 1):
        set_levels(orthanc, level)
        archive = fetch_archive(orthanc)
        assert archive[:6] == b"PK\x03\x04\x2d\x00"
        check_by_other_programs(archive, tmp_path)
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            assert file.testzip() is None
            sizes = [info.file_size for info in file.infolist()]
        assert len(sizes) == 3 and sum(sizes) > 1 << 31


def test_gzip_of_each_level_is_the_same_file(
    orthanc: OrthancServer, contents: dict[str, bytes]
) -> None:
    ct = contents["ct.dcm"]
    instance = next(one for one in orthanc.get_json("/instances") if orthanc.get_file(one) == ct)
    route = find_compressible(orthanc, instance)
    expected = orthanc.get(route).content
    sizes = {}
    for level in LEVELS:
        set_levels(orthanc, level)
        answer = fetch_compressed(orthanc, route)
        assert gzip.decompress(answer) == expected
        sizes[level] = len(answer)
        frame = orthanc.get(f"/instances/{instance}/frames/0/raw.gz").content
        assert gzip.decompress(frame) == ct[-512 * 512 * 2 :]
    assert sizes[0] > len(expected)
    assert sizes[6] == sizes["default"]
    assert len({sizes[level] for level in (0, 1, 6)}) == 3


def test_gzip_of_files_that_are_compressed_already_is_stored(
    orthanc: OrthancServer, contents: dict[str, bytes]
) -> None:
    names = {content: name for name, content in contents.items()}
    files = [f"/instances/{one}/file" for one in orthanc.get_json("/instances")]
    if find_compressible(orthanc, orthanc.get_json("/instances")[0]) not in files:
        pytest.skip("this Orthanc compresses no files over HTTP")
    set_levels(orthanc, 1)
    stored = set()
    for file in files:
        answer = fetch_compressed(orthanc, file)
        content = gzip.decompress(answer)
        if begins_with_a_stored_block(answer[GZIP_HEADER:]):
            stored.add(names[content])
    assert stored == set(COMPRESSED)


@pytest.mark.parametrize("kind", ["preview", "image-uint8", "image-uint16"])
def test_previews_of_each_level_have_the_same_pixels(orthanc: OrthancServer, kind: str) -> None:
    set_levels(orthanc, "default")
    pictures = {one: fetch_preview(orthanc, one, kind) for one in orthanc.get_json("/instances")}
    pictures = {instance: picture for instance, picture in pictures.items() if picture}
    assert len(pictures) > len(RAW)
    for instance, expected in pictures.items():
        for level in (0, 1, 6, 9):
            set_levels(orthanc, level)
            png = fetch_preview(orthanc, instance, kind)
            assert np.array_equal(read_pixels(png), read_pixels(expected))
            assert (level != 0) or len(png) > len(expected)
            assert (level != 6) or png == expected
