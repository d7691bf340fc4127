#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an archive of build-portable.sh is what it is to be: see --help."""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

LIBRARY = "libOrthancPerf.so"
PROGRAMS = ("OrthancPerfDcmtk", "OrthancPerfGdcm")
SCRIPT = "fleet/perf-fleet"
OTHER_FILES = {
    "COPYING",
    "NEWS",
    "README",
    "access.lua",
    "perf.json",
    "docker/Dockerfile.jodogne",
    "docker/Dockerfile.orthancteam",
    "docker/compose.yaml",
    "docker/grafana-dashboards.yml",
    "docker/grafana-datasource.yml",
    "docker/plugins-def-perf.json",
    "docker/prometheus.yml",
    "fleet/fleet.toml",
    "fleet/haproxy.cfg",
    "fleet/kubernetes.yaml",
    "fleet/orthanc-fleet.env",
    "fleet/orthanc.json",
    "fleet/orthanc.service.conf",
    SCRIPT,
    "fleet/prometheus-kubernetes.yml",
    "fleet/prometheus.yml",
    "grafana/orthanc-perf.json",
    "prometheus/alerting.yml",
    "prometheus/recording.yml",
}
DOCUMENTATION = Path(__file__).resolve().parents[1] / "Documentation"
LINKED_IN = {
    "Boost", "CharLS", "DCMTK", "DCMTK-IJG", "GDCM", "JsonCpp", "LLVM-libcxx", "OpenJPEG",
    "Orthanc-SDK", "Vue", "glibc-start-files", "uPlot", "zig-compiler-rt", "zlib",
}  # fmt: skip

# Of the C library, and nothing else
NEEDED = re.compile(r"^(lib(c|m|dl|rt|pthread)\.so\.\d|ld-linux[-\w]*\.so\.\d)$")
GLIBC = (2, 17)  # RHEL 7, Ubuntu 14.04, Debian 8
LARGEST_BYTES = 12_000_000

# A kernel of arm64 may have pages of 4, 16 or 64 KiB, and maps no segment that is aligned to less
MACHINES = {"x86_64": ("X86-64", 0x1000), "aarch64": ("AArch64", 0x10000)}

# What Orthanc looks up in a plugin
ENTRY_POINTS = {
    "OrthancPluginInitialize",
    "OrthancPluginFinalize",
    "OrthancPluginGetName",
    "OrthancPluginGetVersion",
}

# That these are inside: the dashboard, DCMTK's dictionary
CONTENTS = {
    LIBRARY: (b"index.html", b"<!DOCTYPE html>"),
    PROGRAMS[0]: (b"PatientName", b"RedPaletteColorLookupTableDescriptor"),
    PROGRAMS[1]: (b"PatientName", b"RedPaletteColorLookupTableDescriptor"),
}


def read_elf(path: Path, *options: str) -> str:
    return subprocess.run(
        ["readelf", "--wide", *options, path], capture_output=True, text=True, check=True
    ).stdout


def list_defined_symbols(path: Path) -> set[str]:
    """The names that other modules can see: rows of number, value, size, type, …, index, name."""
    rows = (line.split() for line in read_elf(path, "--dyn-syms").splitlines())
    return {row[7] for row in rows if len(row) > 7 and row[0][:-1].isdigit() and row[6] != "UND"}


def find_newest_glibc(path: Path) -> tuple[int, ...]:
    versions = re.findall(r"\bGLIBC_([\d.]+)", read_elf(path, "--version-info"))
    return max(tuple(map(int, version.split("."))) for version in versions)


def judge_elf(path: Path, architecture: str) -> Iterator[str]:
    """What is wrong with the library or one of the programs."""
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        yield f"has {size} bytes, more than {LARGEST_BYTES}"

    machine, page = MACHINES[architecture]
    if machine not in read_elf(path, "--file-header"):
        yield f"is not for {architecture}"

    headers = read_elf(path, "--program-headers")
    alignments = re.findall(r"^ *LOAD .* (0x[0-9a-f]+)$", headers, re.MULTILINE)
    if not alignments or any(int(alignment, 16) % page for alignment in alignments):
        yield f"is not aligned to pages of {page} bytes"

    dynamic = read_elf(path, "--dynamic")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not NEEDED.match(library):
            yield f"needs {library}"
    if re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", dynamic):
        yield "has a search path of its own, or text that is relocated"
    if "BIND_NOW" not in dynamic or "GNU_RELRO" not in headers:
        yield "leaves its table of functions writable (no full RELRO)"

    newest = find_newest_glibc(path)
    if newest > GLIBC:
        yield f"needs glibc {'.'.join(map(str, newest))}"

    if path.name == LIBRARY:
        exported = list_defined_symbols(path)
        if exported != ENTRY_POINTS:
            yield f"exports {', '.join(sorted(exported))}"
        if "NODELETE" not in dynamic:
            yield "can be unloaded (no NODELETE)"

    content = path.read_bytes()
    for text in CONTENTS[path.name]:
        if text not in content:
            yield f"has no {text!r} in it"
    for place in {os.fsencode(Path.cwd()), os.fsencode(Path.home()) + b"/"} - {b"//"}:
        # Not the end of a relative path: "./dcmtk/source", where this folder is "/source"
        if re.search(rb"(?<![\w./-])" + re.escape(place), content):
            yield f"names a folder of this machine, {place!r}"


def judge_archive(archive: Path, folder: Path) -> Iterator[str]:
    """What is wrong with the archive, unpacked into the folder."""
    name = archive.name.removesuffix(".tar.gz")
    architecture = name.rpartition("-")[2]

    with tarfile.open(archive) as file:
        members = file.getmembers()
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    if len({member.mtime for member in members}) != 1:
        yield "its files have several dates"
    if any(member.uid or member.gid for member in members):
        yield "its files belong to somebody"
    if any(not (member.isfile() or member.isdir()) for member in members):
        yield "it holds more than files and folders"

    licences = {f"licences/{part}.txt" for part in LINKED_IN}
    pages = {
        f"documentation/{path.relative_to(DOCUMENTATION)}"
        for path in DOCUMENTATION.rglob("*")
        if path.suffix in {".md", ".yaml", ".svg", ".png"}
    }
    expected = {LIBRARY, *PROGRAMS} | OTHER_FILES | licences | pages
    found = {member.name.removeprefix(f"{name}/") for member in members if member.isfile()}
    if found != expected:
        yield f"too much or too little in it: {', '.join(sorted(found ^ expected))}"
    for part in sorted(found & expected):
        if not (folder / name / part).stat().st_size:
            yield f"{part} is empty"

    for part in sorted({LIBRARY, *PROGRAMS, SCRIPT} & found):
        if not os.access(folder / name / part, os.X_OK):
            yield f"{part} is not executable"
    for part in sorted({LIBRARY, *PROGRAMS} & found):
        path = folder / name / part
        yield from (f"{part} {fault}" for fault in judge_elf(path, architecture))


def describe(path: Path) -> str:
    glibc = ".".join(map(str, find_newest_glibc(path)))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{path.name:18} {path.stat().st_size:9} bytes  glibc {glibc}  {digest}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Judges an archive of build-portable.sh: what is in it, what it needs, what it "
        "exports, how large it is. Exit code 1 and a line each for what is wrong."
    )
    parser.add_argument("archive", type=Path)
    parser.add_argument("again", type=Path, nargs="?", help="built again: the same bytes")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faults = list(judge_archive(arguments.archive, folder))
        if arguments.again and arguments.again.read_bytes() != arguments.archive.read_bytes():
            faults.append(f"differs from {arguments.again}")
        for part in (LIBRARY, *PROGRAMS):
            for path in folder.glob(f"*/{part}"):
                print(describe(path))

    for fault in faults:
        print(f"{arguments.archive.name}: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
