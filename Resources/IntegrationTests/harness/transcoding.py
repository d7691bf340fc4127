# SPDX-License-Identifier: GPL-3.0-or-later
"""Ingest transcoding as a user switches it, and its results as an independent reader sees them."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileDataset
from pydicom.pixels import pixel_array
from pydicom.uid import UID, generate_uid

from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.process import run

IMPLICIT = UID("1.2.840.10008.1.2")
EXPLICIT = UID("1.2.840.10008.1.2.1")
DEFLATED = UID("1.2.840.10008.1.2.1.99")
JPEG_BASELINE = UID("1.2.840.10008.1.2.4.50")
JPEG_EXTENDED = UID("1.2.840.10008.1.2.4.51")
JPEG_LOSSLESS = UID("1.2.840.10008.1.2.4.57")
JPEG_LOSSLESS_SV1 = UID("1.2.840.10008.1.2.4.70")
JPEG_LS = UID("1.2.840.10008.1.2.4.80")
JPEG_LS_LOSSY = UID("1.2.840.10008.1.2.4.81")
JPEG_2000_LOSSLESS = UID("1.2.840.10008.1.2.4.90")
JPEG_2000 = UID("1.2.840.10008.1.2.4.91")
RLE = UID("1.2.840.10008.1.2.5")

LOSSLESS = [
    IMPLICIT,
    EXPLICIT,
    DEFLATED,
    JPEG_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    JPEG_2000_LOSSLESS,
    RLE,
]
LOSSY = [JPEG_BASELINE, JPEG_EXTENDED, JPEG_LS_LOSSY, JPEG_2000]

TARGETS = {"native": JPEG_LOSSLESS_SV1, "dcmtk": JPEG_LS, "gdcm": JPEG_LS}  # one of each engine


def tune(server: OrthancServer, **keys: Json) -> Json:
    """Merges keys into "IngestTranscoding", and returns all that are in force then."""
    return server.tune(IngestTranscoding=keys)["IngestTranscoding"]


def transcode(server: OrthancServer, engine: str) -> None:
    """From now on, if there is an engine. Their programs come and go until all are tested."""
    list_engines(server)
    if engine:
        tune(server, Engine=engine, TransferSyntax=TARGETS[engine])


def ingest(
    plugin: Path, engine: str, folder: Path, targets: dict[Path, str], verify: bool = False
) -> list[str]:
    """The outcome of each file, by an engine as a program; what is transcoded is in the folder."""
    command = [plugin.parent / "TranscodeFiles", "--ingest", engine, str(int(verify)), folder]
    given = "".join(f"{target}\t{path}\n" for path, target in targets.items())
    finished = run(command, input=given, timeout=60 + 5 * len(targets))
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    assert len(lines) == len(targets)
    return [line.split("\t", 1)[1] for line in lines]


def list_engines(server: OrthancServer) -> dict[str, set[str]]:
    """The engines that are available, and the transfer syntaxes that each proved to write."""

    assert wait_until(lambda: server.get_json("/perf/status")["Transcoding"]["Tested"], 60)
    return {
        engine["Name"]: {
            syntax["TransferSyntax"] for syntax in engine["Syntaxes"] if syntax["State"] == "Works"
        }
        for engine in server.get_json("/perf/status")["Transcoding"]["Engines"]
        if engine["Available"]
    }


def read(content: bytes | Path) -> FileDataset:
    return pydicom.dcmread(io.BytesIO(content) if isinstance(content, bytes) else content)


def read_stored(server: OrthancServer, instance_id: str) -> FileDataset:
    return read(server.get_file(instance_id))


def get_syntax(image: FileDataset) -> UID:
    return image.file_meta.TransferSyntaxUID


def decode(image: FileDataset) -> np.ndarray:
    """The pixels, colour as RGB, by pydicom with pylibjpeg: none of the engines under test."""
    return pixel_array(image)


def get_pixels(image: FileDataset) -> np.ndarray:
    """All bits of native Pixel Data, frame by frame, colours interleaved: no reader takes part."""
    frames = int(image.get("NumberOfFrames") or 1)
    shape = (frames, image.Rows, image.Columns, image.SamplesPerPixel)
    samples = np.frombuffer(image.PixelData, f"<u{image.BitsAllocated // 8}")
    samples = samples[: np.prod(shape)]
    if image.SamplesPerPixel > 1 and image.PlanarConfiguration == 1:
        planes = samples.reshape(frames, image.SamplesPerPixel, image.Rows, image.Columns)
        return planes.transpose(0, 2, 3, 1)
    return samples.reshape(shape)


def write(image: Dataset) -> bytes:
    target = io.BytesIO()
    image.save_as(target, enforce_file_format=True)
    return target.getvalue()


def change(content: bytes | Path, edit: Callable[[FileDataset], None]) -> bytes:
    image = read(content)
    edit(image)
    return write(image)


def renew(image: FileDataset) -> None:
    """A new identity."""
    image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = generate_uid()


def list_transcodings(server: OrthancServer, limit: int = 1000) -> list[Json]:
    """What the transcoder made of the latest instances, newest first; None: it was not tried."""
    instances = server.get_json("/perf/instances", params={"limit": limit})
    return [instance.get("Transcoding") for instance in instances]
