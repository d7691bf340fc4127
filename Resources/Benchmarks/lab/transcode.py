# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines x transfer syntaxes x a folder of DICOM files: speed, ratio, and what they decline.

Each engine as the plugin has it, without Orthanc, by TranscodeFiles, a program of the tests: from
memory to memory, and in processor time, which stays where others use the machine, too. It is that
of all threads, and of the engine's process.
"""

import warnings
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pydicom

from harness.images import list_pydicom_files, make_explicit
from harness.process import run
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.machine import describe_file, describe_packages
from lab.options import Option, make_plan, make_series
from lab.processes import ClientError
from lab.transcoding import TARGETS

ENGINES = ["dcmtk", "gdcm", "native"]  # the first is what the others are relative to
MADE, REAL = "CT series", "pydicom's images"
TIMEOUT = 600


@dataclass(frozen=True)
class Encoding:
    """One file by one engine: sizes in bytes, processor time in seconds; or why not."""

    reason: str
    source: int
    result: int
    seconds: float


def transcode(
    program: Path, engine: str, target: str, files: list[Path], milliseconds: int
) -> dict[str, Encoding]:
    command = [program, "--time", str(milliseconds), engine, TARGETS[target], *files]
    finished = run(command, timeout=TIMEOUT)
    if finished.returncode != 0:
        raise ClientError(f"{engine}: {finished.stderr[-500:]}")
    encodings = {}
    for line in finished.stdout.splitlines():
        name, outcome, reason, source, result, seconds = line.split("\t")
        why = "" if outcome == "transcoded" else f"{outcome}: {reason}"
        encodings[name] = Encoding(why, int(source), int(result), float(seconds))
    if len(encodings) != len(files):
        raise ClientError(f"{engine} was silent about {len(files) - len(encodings)} files")
    return encodings


def measure(
    program: Path, engine: str, target: str, files: list[Path], milliseconds: int
) -> Figures:
    encodings = transcode(program, engine, target, files, milliseconds).values()
    refused = [encoding.reason for encoding in encodings if encoding.reason]
    if refused:
        raise ClientError(f"{engine} transcoded all files before, now: {refused[0]}")
    source = sum(encoding.source for encoding in encodings)
    return {
        "speed": source / 1e6 / sum(encoding.seconds for encoding in encodings),
        "ratio": source / sum(encoding.result for encoding in encodings),
        "files": len(files),
    }


def find_program(arguments: Namespace) -> Path:
    return arguments.plugin.parent / "TranscodeFiles"


def describe(reasons: dict[str, str]) -> str:
    """How many files were declined, and why; which, where there are few."""
    counts = Counter(reason for reason in reasons.values() if reason)
    parts = []
    for reason, count in counts.most_common():
        names = sorted(name for name, found in reasons.items() if found == reason)
        which = ", ".join(names[:3]) + (", …" if count > 3 else "")
        parts.append(f"{reason} ({count} of {len(reasons)}: {which})")
    return "; ".join(parts)


def enter(arguments: Namespace, sets: dict[str, list[Path]], factors: Factors) -> Entry:
    """The engines that transcode any of the files; measured are those that all of these do."""
    files, target = sets[factors["Files"]], factors["Target"]
    program = find_program(arguments)
    if not program.exists():
        why = f"it is not beside the plugin: Resources/build.sh build {program.name}"
        return Entry({}, {program.name: why})
    transcoded, declined = {}, {}
    for engine in arguments.engines:
        encodings = transcode(program, engine, target, files, 0)
        reasons = {name: encoding.reason for name, encoding in encodings.items()}
        if any(reasons.values()):
            declined[engine] = describe(reasons)
        if not all(reasons.values()):
            transcoded[engine] = {path for path in files if not reasons[path.name]}
    common = sorted(set.intersection(*transcoded.values())) if transcoded else []
    contestants = {
        engine: partial(measure, program, engine, target, common, arguments.milliseconds)
        for engine in transcoded
        if common
    }
    return Entry(contestants, declined)


def prepare(files: list[Path], folder: Path) -> list[Path]:
    """Those that have pixel data, uncompressed: engines are compared on equal terms."""
    folder.mkdir()
    prepared = []
    for number, path in enumerate(files):
        target = folder / f"{number:04}-{path.name}"
        if has_pixels(path) and make_explicit(path, target):
            prepared.append(target)
    return prepared


def has_pixels(path: Path) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "PixelData" in pydicom.dcmread(path, force=True)
    except Exception:  # whatever a folder holds
        return False


def open_bench(arguments: Namespace, sets: dict[str, list[Path]], room: Room) -> Bench:
    prepared = {
        name: prepare(files, room.folder / f"files-{number}")
        for number, (name, files) in enumerate(sets.items())
    }
    return partial(enter, arguments, prepared)


def make_stages(arguments: Namespace) -> list[Stage]:
    if arguments.files is None:
        series = [image.path for image in make_series("transcode", arguments.images)]
        sets = {MADE: series, REAL: list_pydicom_files()}
    else:
        files = sorted(path for path in arguments.files.rglob("*") if path.is_file())
        sets = {arguments.files.name: files}
    cells = [{"Files": name, "Target": target} for name in sets for target in arguments.targets]
    bench = partial(open_bench, arguments, sets)
    return [Stage(cells, bench, arguments.turns, arguments.seconds)]


def describe_here(arguments: Namespace) -> dict[str, str]:
    """What is measured is that program, not the plugin beside it."""
    program = find_program(arguments)
    measured = describe_file(program) if program.exists() else "not built"
    return {program.name: measured, **describe_packages("libgdcm3.0")}


FOLDER = "a folder of DICOM files, instead of made and pydicom's ones"
EXPERIMENT = Experiment(
    "engines and transfer syntaxes on a folder of files: speed, ratio, what is declined",
    [
        Option("--files", None, FOLDER, kind=Path),
        Option("--images", 10, "of the made series", 2),
        Option("--targets", list(TARGETS), choices=TARGETS),
        Option("--engines", ENGINES, choices=ENGINES),
        Option("--milliseconds", 30, "for each file, at least", 1),
        *make_plan(7, 120, (2, 10)),
    ],
    make_stages,
    {
        "speed": Figure("MB/s of processor time"),
        "ratio": Figure("", is_compared=False),
        "files": Figure("", is_compared=False),
    },
    facts=describe_here,
)
