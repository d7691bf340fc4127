# SPDX-License-Identifier: GPL-3.0-or-later
"""A collection of real files, by every way in, with every engine and six lossless targets: what
Orthanc answers, stores and shows is the same without the plugin.

PERF_COLLECTION names the folder, which this project does not contain: CONTRIBUTING.md."""

import os
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset

from conftest import StartOrthanc
from harness.clients import make_multipart
from harness.judge import is_lossy, judge, read_quietly
from harness.orthanc import DICOMWEB_PLUGIN, Json, OrthancServer
from harness.transcoding import (
    EXPLICIT,
    IMPLICIT,
    JPEG_2000_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    RLE,
    UID,
    list_engines,
    tune,
)

COLLECTION = Path(os.environ.get("PERF_COLLECTION", "/nonexistent"))
WAYS = ["rest", "cstore", "stow"]
TARGETS = [JPEG_LOSSLESS_SV1, JPEG_LS, JPEG_2000_LOSSLESS, RLE, EXPLICIT, IMPLICIT]

WRITTEN = {
    "dcmtk": [target for target in TARGETS if target != JPEG_2000_LOSSLESS],
    "gdcm": TARGETS,
    "native": [JPEG_LOSSLESS_SV1],
    "auto": TARGETS,
}

# Of 256, where what came was compressed with loss: decoders round by single steps
LARGEST_ROUNDING = 2.0

# Pixel Data, where its frames begin, and what the transfer syntax decides: guide.md
PIXELS = {0x7FE00010, 0x7FE00001, 0x7FE00002, 0x00280004, 0x00280006, 0x00282110}

pytestmark = pytest.mark.skipif(
    not COLLECTION.is_dir(), reason="PERF_COLLECTION names no folder of files"
)


@dataclass(frozen=True)
class Outcome:
    """What became of a file: the verdict, identifiers of all levels, the stored file, a preview."""

    verdict: str
    identifiers: list[list[str]]
    stored: bytes = b""
    picture: bytes = b""


def send(server: OrthancServer, way: str, path: Path) -> str:
    if way == "cstore":
        command = ["dcmsend", "--decompress-never", "127.0.0.1", str(server.dicom_port), path]
        return str(subprocess.run(command, capture_output=True, check=False).returncode)
    if way == "rest":
        response = server.request("POST", "/instances", data=path.read_bytes())
        return f"{response.status_code} {response.json().get('Status')}"
    body, headers = make_multipart([path.read_bytes()])
    response = server.request("POST", "/dicom-web/studies", data=body, headers=headers)
    return f"{response.status_code} {sorted(response.json())}"


def try_file(server: OrthancServer, way: str, path: Path) -> Outcome:
    verdict = send(server, way, path)
    levels = [server.get_json(f"/{level}") for level in ("patients", "studies", "series")]
    identifiers = [*levels, server.get_json("/instances")]
    if not identifiers[-1]:
        return Outcome(verdict, identifiers)
    (instance,) = identifiers[-1]
    picture = server.get(
        f"/instances/{instance}/preview", headers={"Accept": "image/x-portable-arbitrarymap"}
    )
    stored = server.get_file(instance)
    server.delete_all()
    return Outcome(verdict, identifiers, stored, picture.content if picture.ok else b"")


def flatten(dataset: Dataset, path: str = "") -> Iterator[tuple[str, object]]:
    """All values with their places. Blanks at the end mean nothing, and DCMTK leaves them out."""
    for element in dataset:
        if (element.tag in PIXELS and not path) or element.tag.element == 0:
            continue
        place = f"{path}{element.tag}"
        if element.VR == "SQ":
            for number, item in enumerate(element.value):
                yield from flatten(item, f"{place}[{number}]")
        yield place, str(len(element.value) if element.VR == "SQ" else element.value).rstrip()


def compare_elements(received: bytes, stored: bytes) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = (dict(flatten(read_quietly(file))) for file in (received, stored))
    changed = [place for place in before | after if before.get(place) != after.get(place)]
    return f"other elements: {' '.join(changed)}" if changed else ""


def compare_pictures(expected: bytes, found: bytes, is_rounded: bool) -> str:
    if not expected or expected == found:
        return ""
    before, after = (np.frombuffer(image, np.uint8).astype(int) for image in (expected, found))
    if is_rounded and before.shape == after.shape:
        return "" if np.abs(before - after).mean() <= LARGEST_ROUNDING else "another picture"
    return "another picture"


def find_problem(expected: Outcome, found: Outcome, target: UID, said: Json) -> str:
    if (found.verdict, found.identifiers) != (expected.verdict, expected.identifiers):
        return f"{found} instead of {expected}"[:300]
    transcoding = (said[0].get("Transcoding") if said else None) or {"Outcome": None}
    is_transcoded = found.stored != expected.stored
    if is_transcoded != (transcoding["Outcome"] == "Transcoded"):
        return f"said to be {transcoding}"
    if not is_transcoded:
        return ""
    return (
        judge(expected.stored, found.stored, target, is_damaged=False).problem
        or compare_elements(expected.stored, found.stored)
        # Orthanc itself decodes no JPEG 2000
        or (target != JPEG_2000_LOSSLESS)
        * compare_pictures(expected.picture, found.picture, is_lossy(read_quietly(expected.stored)))
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[Path, str], Outcome]:
    """By an Orthanc without the plugin."""
    files = sorted(path for path in COLLECTION.rglob("*") if path.is_file())
    with OrthancServer(tmp_path_factory.mktemp("plain"), plugins=[DICOMWEB_PLUGIN]) as server:
        return {(path, way): try_file(server, way, path) for path in files for way in WAYS}


@pytest.mark.parametrize("of_compressed", [False, True], ids=["native", "compressed"])
@pytest.mark.parametrize(
    ("engine", "target"),
    [(engine, target) for engine, targets in WRITTEN.items() for target in targets],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_orthanc_says_and_keeps_is_the_same(
    start_orthanc: StartOrthanc,
    expected: dict[tuple[Path, str], Outcome],
    engine: str,
    target: UID,
    of_compressed: bool,
) -> None:
    orthanc = start_orthanc()
    list_engines(orthanc)  # once they are tested
    tune(orthanc, Engine=engine, TransferSyntax=target, OfCompressed=of_compressed)
    wrong = []
    for (path, way), outcome in expected.items():
        found = try_file(orthanc, way, path)
        said = orthanc.get_json("/perf/instances", params={"limit": 1})
        if problem := find_problem(outcome, found, target, said):
            wrong.append(f"{path.relative_to(COLLECTION)} by {way}: {problem}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(expected)}", *wrong])
