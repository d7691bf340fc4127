# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run was measured on: the class of the machine, not its name."""

import hashlib
import os
import platform
import re
import sys
from pathlib import Path

import harness
from harness.orthanc import ORTHANC, UNPACKED_PACKAGES
from harness.process import run


def read_first_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else "unknown"


def get_version(program: str | Path) -> str:
    """What `program --version` says first that looks like a version."""
    try:
        finished = run([program, "--version"], timeout=20)
    except FileNotFoundError:
        return "not installed"
    return read_first_match(r"\b(v?\d+\.\d+\.\S+)", finished.stdout + finished.stderr)


def describe_machine() -> dict[str, str | int | float]:
    memory = read_first_match(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text("ascii"))
    return {
        "Cores": len(os.sched_getaffinity(0)),
        "Processor": read_first_match(
            r"^model name\s*:(.*)", Path("/proc/cpuinfo").read_text("utf-8")
        ),
        "MemoryGigabytes": round(int(memory) / 2**20),
        # Without its build, which may tell whose machine it is
        "Kernel": read_first_match(r"^(\d+(?:\.\d+){0,2})", platform.release()),
        "Orthanc": get_version(ORTHANC),
        "Dcmtk": get_version("/usr/bin/storescu"),
    }


def take_fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def describe_file(path: Path) -> str:
    return f"SHA-256 {take_fingerprint(path.read_bytes())}"


def describe_plugin(path: Path) -> str:
    """Its version, and which build of it. It is loaded by a process of its own."""
    script = (
        "import ctypes, sys; get = ctypes.CDLL(sys.argv[1]).OrthancPluginGetVersion;"
        " get.restype = ctypes.c_char_p; print(get().decode())"
    )
    command = [sys.executable, "-c", script, path]
    finished = run(command, timeout=20)
    version = finished.stdout.strip() or "of an unknown version"
    return f"{version}, {describe_file(path)}"


def describe_packages(*names: str) -> dict[str, str]:
    command = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *names]
    try:
        finished = run(command, timeout=20)
        found = dict(line.split(" ", 1) for line in finished.stdout.splitlines())
    except FileNotFoundError:
        found = {}
    for name in names:  # what setup.sh has only unpacked
        for path in UNPACKED_PACKAGES.glob(f"{name}_*.deb"):
            found[name] = path.name.split("_")[1]
    return {name: found.get(name) or "not installed" for name in names}


def ask_place(folder: Path, columns: str) -> str:
    """Columns of findmnt(8) for the file system that a folder is on."""
    command = ["findmnt", "--first-only", "--noheadings", "--output", columns, "--target", folder]
    finished = run(command, timeout=20, check=True)
    return finished.stdout.strip()


def describe_storage(folder: Path) -> str:
    """The kind of file system that a folder is on, such as "ext4", or "tmpfs" in memory."""
    return ask_place(folder, "FSTYPE")


def is_in_memory(folder: Path) -> bool:
    return describe_storage(folder) in ("tmpfs", "ramfs")


def fingerprint_place(folder: Path) -> str:
    """Which file system a folder is on: of two of one kind, one may be the faster disk."""
    return take_fingerprint(ask_place(folder, "SOURCE,TARGET").encode())


def fingerprint_program(path: Path) -> str:
    """Which build: Debian's has the same version as an official one, and is another program."""
    return take_fingerprint(path.read_bytes()) if path.exists() else "not installed"


def fingerprint_lab() -> str:
    """Its code, the harness' included: what it measures, and how."""
    folders = [Path(__file__).parent, Path(harness.__file__).parent]
    files = [path for folder in folders for path in sorted(folder.iterdir())]
    code = [path.read_bytes() for path in files if path.suffix in (".py", ".mjs")]
    return take_fingerprint(b"".join(code))


def get_load() -> float:
    """The average number of busy threads in the last minute (proc_loadavg(5)), all users'."""
    return round(os.getloadavg()[0], 2)
