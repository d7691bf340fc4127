# SPDX-License-Identifier: GPL-3.0-or-later
"""What each engine makes of each transfer syntax, seen in a running Orthanc, as a document."""

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydicom.uid import UID

from harness.orthanc import OrthancServer
from harness.sources import KINDS, MAKERS, Source
from harness.tables import fill_table
from harness.transcoding import (
    DEFLATED,
    EXPLICIT,
    IMPLICIT,
    JPEG_2000,
    JPEG_2000_LOSSLESS,
    JPEG_BASELINE,
    JPEG_EXTENDED,
    JPEG_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    JPEG_LS_LOSSY,
    LOSSLESS,
    LOSSY,
    RLE,
    decode,
    get_syntax,
    list_transcodings,
    read,
    read_stored,
)

DOCUMENT = Path(__file__).parents[2] / "Documentation" / "tables" / "transcoding.md"

ENGINES = ["dcmtk", "gdcm", "native", "auto"]
TARGETS = sorted([*LOSSLESS, *LOSSY])

NAMES = {
    IMPLICIT: "implicit",
    EXPLICIT: "explicit",
    UID("1.2.840.10008.1.2.2"): "big endian",
    DEFLATED: "deflated",
    JPEG_BASELINE: "50 Baseline",
    JPEG_EXTENDED: "51 Extended",
    JPEG_LOSSLESS: "57 Lossless",
    JPEG_LOSSLESS_SV1: "70 Lossless SV1",
    JPEG_LS: "80 JPEG-LS",
    JPEG_LS_LOSSY: "81 JPEG-LS near",
    JPEG_2000_LOSSLESS: "90 J2K lossless",
    JPEG_2000: "91 J2K",
    RLE: "RLE",
}

# Decoders round differently what is lossy already: by single steps of 256, in colour after two
# roundings, and seldom
SOURCES_WITH_LOSS = {JPEG_BASELINE, JPEG_EXTENDED, JPEG_2000}
LARGEST_ROUNDING = 4
LARGEST_MEAN_ROUNDING = 0.5
LARGEST_MEAN_ERROR = 0.05  # of the range: anything lossy that is still the same picture

DIFFERENT = "WRONG"


@dataclass
class Matrix:
    """Cells by engine, source, target and kind of image; footnotes say why some are declined."""

    cells: dict[tuple[str, UID, UID, str], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unwritten: dict[str, dict[UID, str]] = field(default_factory=dict)

    def list_wrong(self) -> list[tuple[str, UID, UID, str]]:
        return [place for place, cell in self.cells.items() if cell == DIFFERENT]

    def number(self, reason: str) -> int:
        """The footnote with this text, from 1."""
        text = generalize(reason)
        if text not in self.notes:
            self.notes.append(text)
        return self.notes.index(text) + 1


def generalize(reason: str) -> str:
    """Without what differs from run to run: paths, and the order in which engines were tried."""
    parts = re.sub(r"/\S+/", "", re.sub(r"\s+", " ", reason)).strip().split("; ")
    return "; ".join(sorted(parts))


def compare(source: Source, target: UID, stored: np.ndarray) -> str:
    expected = decode(read(source.content))
    if expected.shape != stored.shape:
        return DIFFERENT
    difference = np.abs(expected.astype(int) - stored.astype(int))
    if target in LOSSY:
        is_picture = difference.mean() <= LARGEST_MEAN_ERROR * 2**source.kind.bits_stored
        return "lossy" if is_picture else DIFFERENT
    if source.syntax in SOURCES_WITH_LOSS:
        step = 2 ** (source.kind.bits_stored - 8)
        is_rounding = difference.mean() <= LARGEST_MEAN_ROUNDING * step
        is_same = is_rounding and difference.max() <= LARGEST_ROUNDING * step
    else:
        is_same = not difference.any()
    return "lossless" if is_same else DIFFERENT


def store(matrix: Matrix, server: OrthancServer, source: Source, target: UID) -> str:
    """The cell for this source, once Orthanc has stored it under the tuning in force."""
    stored = read_stored(server, server.upload(source.content))
    (transcoding,) = list_transcodings(server, 1)
    server.delete_all()
    if get_syntax(stored) == target:
        return "=" if transcoding is None else compare(source, target, decode(stored))
    assert get_syntax(stored) == source.syntax
    reason = transcoding["Reason"] if transcoding else "left alone"
    if reason == "larger than what came":
        return "larger"
    outcome = transcoding["Outcome"].lower() if transcoding else "declined"
    return f"{outcome} [{matrix.number(reason)}]"


def measure(server: OrthancServer, sources: Sequence[Source]) -> Matrix:
    """Every engine, every target, every source: some thousand instances."""
    matrix = Matrix()
    for engine in ENGINES:
        for target in TARGETS:
            wish = {"Engine": engine, "TransferSyntax": target, "OfCompressed": True}
            tuning = {"IngestTranscoding": wish}
            answer = server.request("PUT", "/perf/tuning", json=tuning)
            if not answer.ok:
                reason = answer.json()["Allowed"].rpartition("; ")[2]
                matrix.unwritten.setdefault(engine, {})[target] = reason
                continue
            for source in sources:
                place = (engine, source.syntax, target, source.kind.name)
                matrix.cells[place] = store(matrix, server, source, target)
    return matrix


def join(cells: dict[str, str]) -> str:
    """One cell for all kinds of images where they agree, else what holds for which."""
    groups: dict[str, list[str]] = {}
    for kind, cell in cells.items():
        groups.setdefault(cell, []).append(kind)
    if len(groups) == 1:
        return next(iter(groups))
    most = max(groups, key=lambda cell: len(groups[cell]))
    rest = [f"{', '.join(kinds)}: {cell}" for cell, kinds in groups.items() if cell != most]
    return f"{most}; {'; '.join(rest)}"


def format_engine(matrix: Matrix, engine: str) -> Iterable[str]:
    unwritten = matrix.unwritten.get(engine, {})
    targets = [target for target in TARGETS if target not in unwritten]
    yield f"## {engine}\n"
    if targets:
        yield "| source ╲ target | " + " | ".join(NAMES[target] for target in targets) + " |"
        yield "| --- |" + " --- |" * len(targets)
        for source in MAKERS:
            row = []
            for target in targets:
                kinds = {
                    kind.name: matrix.cells[engine, source, target, kind.name]
                    for kind in KINDS
                    if (engine, source, target, kind.name) in matrix.cells
                }
                row.append(join(kinds))
            yield f"| {NAMES[source]} | " + " | ".join(row) + " |"
        yield ""
    if unwritten:
        names = ", ".join(NAMES[target] for target in unwritten)
        yield f"Not written: {names}.\n"


def format_notes(matrix: Matrix) -> Iterable[str]:
    if matrix.notes:
        yield "## Why not\n"
        for number, note in enumerate(matrix.notes, 1):
            yield f"{number}. {note}"
        yield ""


def get_library_versions() -> str:
    """Debian's, which make the matrix what it is."""
    found = []
    for name, pattern in [("DCMTK", "libdcmtk[0-9]*"), ("GDCM", "libgdcm3*")]:
        command = ["dpkg-query", "--show", "--showformat=${Version}\n", pattern]
        shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        versions = {version.split("-")[0].split("+")[0] for version in shown.split()}
        found.append(f"{name} {', '.join(sorted(versions)) or 'is not installed'}")
    return ", ".join(found)


def format_matrix(matrix: Matrix) -> str:
    """The page, with these cells."""
    lines = [f"Libraries: {get_library_versions()}.", ""]
    for engine in ENGINES:
        lines += format_engine(matrix, engine)
    lines += format_notes(matrix)
    return fill_table(DOCUMENT.read_text("utf-8"), "matrix", "\n".join(lines).rstrip().split("\n"))
