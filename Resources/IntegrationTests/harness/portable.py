# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive of build-portable.sh, and Orthancs of other releases and processors to try it in."""

import os
import platform
import subprocess
from pathlib import Path

PORTABLE = Path(__file__).resolve().parents[3] / "build" / "portable"
PROGRAMS = ["OrthancPerfDcmtk", "OrthancPerfGdcm"]

# Root file systems of debootstrap, with other releases of Debian's Orthanc; separated by colons
OTHER_ROOTS = [*filter(None, os.environ.get("PERF_ROOTS", "").split(":"))]
ROOTS = ["/", *OTHER_ROOTS]

ARM64_ROOT = os.environ.get("PERF_ARM64_ROOT", "")

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of elf(5)

# In a mount namespace of its own; exec keeps the process the one that the harness has started
ENTER = """
set -e
root=$1 folder=$2
shift 2
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root$folder"
mount --bind "$folder" "$root$folder"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" "$@"
"""

# Libraries and what else is there come from the root; all other files are this machine's
EMULATE = 'root=$1 program=$2; shift 2; exec qemu-aarch64 -L "$root" "$root$program" "$@"'


def find_machine(program: Path) -> str:
    """The processor that a program is for."""
    with program.open("rb") as file:
        return MACHINES[int.from_bytes(file.read(20)[18:], "little")]


def find_archive(machine: str) -> Path | None:
    found = sorted(PORTABLE.glob(f"orthanc-perf-*-linux-{machine}.tar.gz"))
    return found[-1] if found else None


def unpack(archive: Path, machine: str, folder: Path) -> Path:
    """The folder of the archive, unpacked as a user does; what is for arm64, qemu-user executes."""
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True, timeout=60)
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    if machine != platform.machine():
        for program in PROGRAMS:
            original = (unpacked / program).rename(unpacked / f"{program}.{machine}")
            emulate = f"exec qemu-aarch64 -L '{ARM64_ROOT}' '{original}' \"$@\""
            (unpacked / program).write_text(f"#!/bin/sh\n{emulate}\n")
            (unpacked / program).chmod(0o755)
    return unpacked


def enter(machine: str, root: str, folder: Path) -> list[str] | None:
    """The command that executes another one below the root, with the folder where it is here."""
    if machine != platform.machine():
        return ["sh", "-c", EMULATE, "sh", root]
    if root == "/":
        return None
    return ["unshare", "--mount", "sh", "-c", ENTER, "sh", root, str(folder)]
