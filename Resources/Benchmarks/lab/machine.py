# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run was measured on: the class of the machine, not its name."""

import hashlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from harness.orthanc import ORTHANC


def read_first_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else "unknown"


def get_version(program: str | Path) -> str:
    """What `program --version` says first that looks like a version."""
    try:
        finished = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
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


def describe_file(path: Path) -> str:
    return f"SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def describe_plugin(path: Path) -> str:
    """Its version, and which build of it. It is loaded by a process of its own."""
    script = (
        "import ctypes, sys; get = ctypes.CDLL(sys.argv[1]).OrthancPluginGetVersion;"
        " get.restype = ctypes.c_char_p; print(get().decode())"
    )
    command = [sys.executable, "-c", script, path]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    version = finished.stdout.strip() or "of an unknown version"
    return f"{version}, {describe_file(path)}"


def describe_packages(*names: str) -> dict[str, str]:
    """The versions of Debian's packages."""
    command = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *names]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        found = dict(line.split(" ", 1) for line in finished.stdout.splitlines())
    except FileNotFoundError:
        found = {}
    return {name: found.get(name) or "not installed" for name in names}


def describe_storage(folder: Path) -> str:
    """The kind of file system that a folder is on, such as "ext4", or "tmpfs" in memory."""
    command = ["findmnt", "--first-only", "--noheadings", "--output", "FSTYPE", "--target", folder]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    return finished.stdout.strip()


def is_in_memory(folder: Path) -> bool:
    return describe_storage(folder) in ("tmpfs", "ramfs")


def get_load() -> float:
    """The average number of busy threads in the last minute (proc_loadavg(5)), all users'."""
    return round(os.getloadavg()[0], 2)
