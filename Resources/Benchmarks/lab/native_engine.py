# SPDX-License-Identifier: GPL-3.0-or-later
"""JPEG Lossless SV1 by the project's own encoder, DCMTK and GDCM: each a program, in one thread.

The programs take turns, all files of a set each time, and tell the processor time of an
encoding from memory to memory.
"""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pydicom

from harness.images import list_pydicom_files, make_ct_series, make_explicit
from lab.processes import ClientError
from lab.ratios import Comparison
from lab.report import Report

NATIVE = "native"
LIBRARIES = ["dcmtk", "gdcm"]
PROGRAMS = {NATIVE: "EncodeNative", "dcmtk": "EncodeDcmtk", "gdcm": "EncodeGdcm"}

# What is promised: so many times as fast as the faster library
FACTOR = 5

TIMEOUT = 300


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    images: int
    rounds: int
    milliseconds: int
    seconds: float


@dataclass(frozen=True)
class Encoding:
    """One file by one encoder: sizes in bytes, processor time in seconds."""

    source: int
    result: int
    seconds: float


Encodings = dict[str, Encoding]
Round = dict[str, Encodings]


def encode(program: Path, files: list[Path], milliseconds: int) -> Encodings:
    """Each file that the program encodes, by its name."""
    command = [program, str(milliseconds), *files]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if finished.returncode != 0:
        raise ClientError(f"{program.name}: {finished.stderr[-500:]}")
    lines = [line.split("\t") for line in finished.stdout.splitlines()]
    return {
        name: Encoding(int(source), int(result), float(mean))
        for name, source, result, _, mean in lines
        if int(result) > 0
    }


def measure(programs: dict[str, Path], files: list[Path], plan: Plan) -> list[Round]:
    """A B C, C B A, …: what drifts, or depends on who comes first, cancels out."""
    deadline = time.monotonic() + plan.seconds / 2
    order = list(programs)
    rounds: list[Round] = []
    while len(rounds) < plan.rounds and (not rounds or time.monotonic() < deadline):
        rounds.append({name: encode(programs[name], files, plan.milliseconds) for name in order})
        order.reverse()
    return rounds


def get_speed(encodings: Encodings, files: set[str]) -> float:
    """Megabytes of source a second, over all files."""
    size = sum(encodings[name].source for name in files)
    return size / sum(encodings[name].seconds for name in files) / 1e6


def find_slow(rounds: list[Round], files: set[str], libraries: list[str]) -> str:
    """The files for which the factor is not reached, with their ratio to the faster library."""
    slow = []
    for name in sorted(files):
        ratios = [
            min(found[library][name].seconds for library in libraries) / found[NATIVE][name].seconds
            for found in rounds
        ]
        if median(ratios) < FACTOR:
            slow.append(f"{name} {median(ratios):.1f}")
    return ", ".join(slow) or "none"


def describe_sizes(first: Round, files: set[str], library: str) -> str:
    native = sum(first[NATIVE][name].result for name in files)
    other = sum(first[library][name].result for name in files)
    larger = [name for name in files if first[NATIVE][name].result > first[library][name].result]
    return (
        f"{len(files)} files, bytes {native} of native, {other} of {library};"
        f" larger than {library}'s: {', '.join(sorted(larger)) or 'none'}"
    )


def compare(scenario: str, rounds: list[Round], libraries: list[str]) -> list[Comparison]:
    """Native with each library, on the files that both encode."""
    comparisons = []
    for library in libraries:
        files = set(rounds[0][NATIVE]) & set(rounds[0][library])
        pairs = [(get_speed(r[library], files), get_speed(r[NATIVE], files)) for r in rounds]
        note = describe_sizes(rounds[0], files, library)
        common = files.intersection(*(rounds[0][other] for other in libraries))
        if library == libraries[-1]:
            slow = find_slow(rounds, common, libraries)
            note += f"; below {FACTOR} times the faster library: {slow}"
        comparisons.append(
            Comparison(scenario, "speed", "MB/s", library, NATIVE, [[pair] for pair in pairs], note)
        )
    return comparisons


def list_real_images(native: Path, folder: Path) -> list[Path]:
    """Those of pydicom's images, in Explicit VR Little Endian, that native encodes."""
    targets = []
    for path in list_pydicom_files():
        if "PixelData" in pydicom.dcmread(path, force=True):
            target = folder / path.name
            if make_explicit(path, target):
                targets.append(target)
    encoded = encode(native, targets, 0)
    return [target for target in targets if target.name in encoded]


def run(report: Report, build: Path, images: Path, folder: Path, plan: Plan) -> None:
    programs = {name: build / program for name, program in PROGRAMS.items()}
    for name in LIBRARIES:
        if not programs[name].exists():
            report.skip(name, f"there is no {programs[name].name}")
            del programs[name]
    series = [image.path for image in make_ct_series(images, "native-engine", plan.images)]
    sets = {
        "CT series": series,
        "pydicom's images": list_real_images(programs[NATIVE], folder),
    }
    for scenario, files in sets.items():
        rounds = measure(programs, files, plan)
        report.add(compare(scenario, rounds, [name for name in LIBRARIES if name in programs]))
