# SPDX-License-Identifier: GPL-3.0-or-later
"""Of what is stored, Orthanc shows what it showed of what came, under the same identifiers. What
stays as received does so whatever the engine."""

import os
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import FileDataset

from harness.orthanc import OrthancServer
from harness.pictures import Received, is_same, make_grey, make_received, show
from harness.sources import by_dcmtk
from harness.transcoding import (
    EXPLICIT,
    IMPLICIT,
    JPEG_2000,
    JPEG_2000_LOSSLESS,
    JPEG_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    LOSSLESS,
    LOSSY,
    RLE,
    list_engines,
    list_transcodings,
    read,
    tune,
    write,
)

IS_LONG = "PERF_LONG" in os.environ

ENGINES = ["dcmtk", "gdcm", "native", "auto"] if IS_LONG else ["auto"]

# Of JPEG 2000, Orthanc itself shows nothing, whoever compressed it
TARGETS = [
    target
    for target in (LOSSLESS + LOSSY if IS_LONG else [EXPLICIT, JPEG_LOSSLESS_SV1, JPEG_LS, RLE])
    if target not in (JPEG_2000_LOSSLESS, JPEG_2000)
]

# What is shown in every transfer syntax has no reason to stay as received
COMPRESSED = [JPEG_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS, RLE]
ALWAYS_COMPRESSED = {"7", "8", "12 in 16", "RGB", "RGB by plane"}


@pytest.fixture(scope="module")
def received(
    module_orthanc: OrthancServer, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Received, dict[str, np.ndarray | None]]]:
    folder = tmp_path_factory.mktemp("received")
    shown = []
    for file in make_received(folder, IS_LONG):
        shown.append((file, show(module_orthanc, module_orthanc.upload(file.content))))
        module_orthanc.delete_all()
    assert all(view is not None for view in shown[0][1].values())
    return shown


def list_targets(server: OrthancServer, engine: str, targets: list[str]) -> list[str]:
    engines = list_engines(server)
    written = engines.get(engine, set().union(*engines.values()))
    return [target for target in targets if target in written]


def find_loss(
    file: Received, before: dict[str, np.ndarray | None], after: dict[str, np.ndarray | None]
) -> str:
    for view, picture in after.items():
        expected = before[view]
        if picture is None and expected is not None:
            return f"{view}: none any more"
        if picture is None:
            continue
        if file.colours is not None and not is_same(picture, file.colours):
            return f"{view}: false colours, off by {np.abs(picture - file.colours).mean()}"
        if file.colours is None and expected is not None and not is_same(picture, expected):
            return f"{view}: another picture"
    return ""


@pytest.mark.parametrize("engine", ENGINES)
def test_orthanc_shows_what_it_showed(
    server: OrthancServer,
    received: list[tuple[Received, dict[str, np.ndarray | None]]],
    engine: str,
) -> None:
    losses = {}
    for target in list_targets(server, engine, TARGETS):
        tune(server, Engine=engine, TransferSyntax=target, OfCompressed=True)
        for file, before in received:
            instance = server.upload(file.content)
            if server.get_file(instance) != file.content:
                losses[file.name, target.name] = find_loss(file, before, show(server, instance))
            elif file.name in ALWAYS_COMPRESSED and target in COMPRESSED:
                losses[file.name, target.name] = f"kept: {list_transcodings(server, 1)}"
            server.delete_all()
    lost = [f"{name}, to {target}: {loss}" for (name, target), loss in losses.items() if loss]
    assert not lost, "\n".join(lost)


def make_unknown() -> bytes:
    """Identifiers in VR UN, Patient ID padded by a blank."""
    image = make_grey(8, 8)
    for keyword in ("SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID"):
        image[keyword].VR = "UN"
        text = str(image[keyword].value).encode()
        image[keyword]._value = text + b"\0" * (len(text) % 2)
    image["PatientID"].VR = "UN"
    image["PatientID"]._value = b"MADE1 "
    return write(image)


def make_blanks(folder: Path) -> bytes:
    """Implicit VR, with blanks inside a UID and inside another one in a sequence."""
    image = make_grey(8, 8)
    image.SeriesInstanceUID = "1.2.34567.8"
    image.ReferencedImageSequence = [type(image)()]
    image.ReferencedImageSequence[0].ReferencedSOPInstanceUID = "1.2.34567.9"
    (folder / "explicit.dcm").write_bytes(write(image))
    by_dcmtk("dcmconv", "+ti")(folder / "explicit.dcm", folder / "implicit.dcm")
    content = (folder / "implicit.dcm").read_bytes()
    assert content.count(b"1.2.34567.") == 2
    return content.replace(b"1.2.34567.", b"1.2.34 67.")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_keeps_its_identifiers(server: OrthancServer, engine: str, tmp_path: Path) -> None:
    for content in (make_unknown(), make_blanks(tmp_path)):
        tune(server, TransferSyntax="")
        answers = [server.request("POST", "/instances", data=content).json()]
        server.delete_all()
        for target in list_targets(server, engine, [EXPLICIT, IMPLICIT, *COMPRESSED]):
            tune(server, Engine=engine, TransferSyntax=target)
            answers.append(server.request("POST", "/instances", data=content).json())
            stored = server.get_file(answers[-1]["ID"])
            assert stored.count(b"1.2.34 67.") == content.count(b"1.2.34 67."), target
            server.delete_all()
        for level in ("ID", "ParentPatient", "ParentStudy", "ParentSeries"):
            assert len({answer[level] for answer in answers}) == 1, level


def make_8_in_16(folder: Path, program: str, *options: str) -> bytes:
    """A frame of 8 bits, and Bits Allocated says 16."""
    (folder / "explicit.dcm").write_bytes(write(make_grey(8, 8)))
    by_dcmtk(program, *options)(folder / "explicit.dcm", folder / "compressed.dcm")
    image: FileDataset = read(folder / "compressed.dcm")
    image.BitsAllocated = 16
    return write(image)


def make_without_meta(folder: Path, has_meta: bool) -> bytes:
    """No preamble, and no File Meta Information or nothing else missing."""
    (folder / "explicit.dcm").write_bytes(write(make_grey(16, 12)))
    by_dcmtk("dcmconv", "+ti")(folder / "explicit.dcm", folder / "implicit.dcm")
    content = (folder / "implicit.dcm").read_bytes()[132:]
    length = 12 + int.from_bytes(content[8:12], "little")
    return content if has_meta else content[length:]


def test_what_engines_treat_in_two_ways_stays(server: OrthancServer, tmp_path: Path) -> None:
    files = {
        "JPEG Lossless of 8 bits": make_8_in_16(tmp_path, "dcmcjpeg", "+e1"),
        "JPEG-LS of 8 bits": make_8_in_16(tmp_path, "dcmcjpls", "+el"),
        "no preamble": make_without_meta(tmp_path, has_meta=True),
        "no File Meta Information": make_without_meta(tmp_path, has_meta=False),
    }
    for engine in ENGINES:
        for target in list_targets(server, engine, [EXPLICIT, JPEG_LOSSLESS, RLE, JPEG_LS]):
            tune(server, Engine=engine, TransferSyntax=target, OfCompressed=True, Verify=True)
            for name, content in files.items():
                if name != "JPEG-LS of 8 bits" or target != JPEG_LS:
                    assert server.get_file(server.upload(content)) == content, (name, target)
                    (transcoding,) = list_transcodings(server, 1)
                    assert transcoding["Outcome"] == "Declined", (name, engine, transcoding)
                    server.delete_all()
