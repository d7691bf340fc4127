# SPDX-License-Identifier: GPL-3.0-or-later
"""The archives of build-portable.sh: what they are, and at work in each Orthanc that there is.

Beside this machine's Orthanc, those in the root file systems that PERF_ROOTS lists, separated by
colons: of debootstrap, with Debian's package of Orthanc installed. And Debian's one for arm64, by
qemu-user, in the folder that PERF_ARM64_ROOT names: of make-arm64-root.sh.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.images import list_pydicom_files
from harness.metrics import scrape
from harness.process import list_children
from harness.transcoding import (
    JPEG_2000_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    RLE,
    decode,
    get_syntax,
    list_engines,
    read,
    read_stored,
    tune,
)
from harness.tuning import tune_sockets

PORTABLE = ROOT / "build" / "portable"
MACHINES = ["x86_64", "aarch64"]
ROOTS = ["/", *filter(None, os.environ.get("PERF_ROOTS", "").split(":"))]
ARM64_ROOT = os.environ.get("PERF_ARM64_ROOT", "")

emulated = pytest.mark.skipif(
    not ARM64_ROOT or shutil.which("qemu-aarch64") is None,
    reason="no package qemu-user, or no PERF_ARM64_ROOT: the folder of make-arm64-root.sh",
)

# What each engine writes; the programs of dcmtk and gdcm are the archive's
TARGETS = {"native": JPEG_LOSSLESS_SV1, "dcmtk": JPEG_LS, "gdcm": JPEG_LS}
PROGRAMS = ["OrthancPerfDcmtk", "OrthancPerfGdcm"]

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


def find_archive(machine: str) -> Path:
    """The newest one."""
    found = sorted(PORTABLE.glob(f"orthanc-perf-*-linux-{machine}.tar.gz"))
    if not found:
        pytest.skip(f"no archive in build/portable: Resources/build-portable.sh {machine} makes it")
    return found[-1]


def unpack(machine: str, folder: Path) -> Path:
    """The folder of the archive, unpacked as a user does; what is for arm64, qemu-user executes."""
    archive = find_archive(machine)
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True, timeout=60)
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    if machine != platform.machine():
        for program in PROGRAMS:
            original = (unpacked / program).rename(unpacked / f"{program}.{machine}")
            emulate = f"exec qemu-aarch64 -L '{ARM64_ROOT}' '{original}' \"$@\""
            (unpacked / program).write_text(f"#!/bin/sh\n{emulate}\n")
            (unpacked / program).chmod(0o755)
    return unpacked


@pytest.mark.parametrize("machine", MACHINES)
def test_it_needs_nothing_but_an_old_c_library(machine: str) -> None:
    check = ROOT / "Resources" / "Packaging" / "check-portable.py"
    command = [sys.executable, check, find_archive(machine)]
    subprocess.run(command, check=True, timeout=120, cwd=ROOT)


def transcode_all(unpacked: Path, host: Path, engine: str, target: str) -> dict[str, bytes]:
    """What the engine's program makes of pydicom's files; "outcomes" is what became of each."""
    shutil.copy(host, unpacked / host.name)
    written = unpacked / f"{engine}-{target}"
    written.mkdir()
    command = [unpacked / host.name, engine, target, written, *list_pydicom_files()]
    finished = subprocess.run(command, capture_output=True, timeout=600, check=False)
    assert finished.returncode == 0, finished.stderr.decode()
    files = {path.name: path.read_bytes() for path in written.iterdir()}
    return {**files, "outcomes": finished.stdout}


@emulated
@pytest.mark.parametrize(
    ("engine", "target"),
    [
        ("dcmtk", JPEG_LS),
        ("dcmtk", JPEG_LOSSLESS_SV1),
        ("gdcm", JPEG_2000_LOSSLESS),
        ("gdcm", JPEG_LS),
        ("gdcm", RLE),
    ],
)
def test_the_programs_for_arm64_answer_as_those_for_x86_64(
    engine: str, target: str, plugin: Path, tmp_path: Path
) -> None:
    host = plugin.parent / "TranscodeFiles"
    found = {
        machine: transcode_all(unpack(machine, tmp_path), host, engine, target)
        for machine in MACHINES
    }
    assert found["aarch64"]["outcomes"] == found["x86_64"]["outcomes"]
    assert found["aarch64"] == found["x86_64"]
    assert len(found["x86_64"]) > 10


def enter(machine: str, root: str, folder: Path) -> list[str] | None:
    """The command that executes another one below the root, with the folder where it is here."""
    if machine != platform.machine():
        return ["sh", "-c", EMULATE, "sh", root]
    if root == "/":
        return None
    return ["unshare", "--mount", "sh", "-c", ENTER, "sh", root, str(folder)]


@pytest.mark.parametrize(
    ("machine", "root"),
    [
        *((platform.machine(), root) for root in ROOTS),
        pytest.param("aarch64", ARM64_ROOT, marks=emulated),
    ],
)
def test_it_is_at_work_in_this_orthanc(
    machine: str,
    root: str,
    start_orthanc: StartOrthanc,
    make_series: MakeSeries,
    tmp_path: Path,
) -> None:
    library = unpack(machine, tmp_path) / "libOrthancPerf.so"
    launcher = enter(machine, root, tmp_path)
    server = start_orthanc(
        plugins=[library], launcher=launcher, options={"OverwriteInstances": True}
    )
    images = make_series("portable", 10)
    contents = [image.read_bytes() for image in images]

    assert server.get_json("/plugins/perf")["Version"]
    page = server.get("/perf", headers={"Accept": "text/html"}).text
    assert page.lower().startswith("<!doctype html>")
    assert set(list_engines(server)) >= set(TARGETS)

    clients.store(server, images)
    clients.upload(server, contents)
    origins = {instance["Origin"] for instance in server.get_json("/perf/instances")}
    assert origins == {"DicomProtocol", "RestApi"}

    for preset in ("stock", "tuned"):
        assert tune_sockets(server, Preset=preset)["Preset"] == preset
        clients.store(server, images)

    for engine, target in TARGETS.items():
        tune(server, Engine=engine, TransferSyntax=target)
        clients.store(server, images)
        for image in images:
            stored = read_stored(server, server.find_instance(image.sop_instance_uid))
            assert get_syntax(stored) == target, f"{engine}: {server.log}"
            assert (decode(stored) == decode(read(image.path))).all()

    assert scrape(server)
    assert list_children(server.pid), "no engine program is running"
    mapped = Path(f"/proc/{server.pid}/maps").read_text("utf-8")
    assert str(library) in mapped
    assert server.stop() == 0, server.log
