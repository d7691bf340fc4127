# SPDX-License-Identifier: GPL-3.0-or-later
"""The archives of build-portable.sh: what they are, and at work in each Orthanc that there is.

Beside this machine's Orthanc, those in the root file systems that PERF_ROOTS lists, separated by
colons: of debootstrap, with Debian's package of Orthanc installed. And Debian's one for arm64, by
qemu-user, in the folder that PERF_ARM64_ROOT names: of make-arm64-root.sh.
"""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries
from harness.certificates import make_certificate
from harness.compatibility import Trial, try_all
from harness.images import list_pydicom_files
from harness.orthanc import ORTHANC
from harness.portable import ARM64_ROOT, ROOTS, enter, find_archive, unpack
from harness.transcoding import JPEG_2000_LOSSLESS, JPEG_LOSSLESS_SV1, JPEG_LS, RLE

MACHINES = ["x86_64", "aarch64"]

emulated = pytest.mark.skipif(
    not ARM64_ROOT or shutil.which("qemu-aarch64") is None,
    reason="no package qemu-user, or no PERF_ARM64_ROOT: the folder of make-arm64-root.sh",
)


def get_archive(machine: str) -> Path:
    archive = find_archive(machine)
    if archive is None:
        pytest.skip(f"no archive in build/portable: Resources/build-portable.sh {machine} makes it")
    return archive


@pytest.mark.parametrize("machine", MACHINES)
def test_it_needs_nothing_but_an_old_c_library(machine: str) -> None:
    check = ROOT / "Resources" / "Packaging" / "check-portable.py"
    command = [sys.executable, check, get_archive(machine)]
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
        machine: transcode_all(
            unpack(get_archive(machine), machine, tmp_path), host, engine, target
        )
        for machine in MACHINES
    }
    assert found["aarch64"]["outcomes"] == found["x86_64"]["outcomes"]
    assert found["aarch64"] == found["x86_64"]
    assert len(found["x86_64"]) > 10


@pytest.mark.parametrize(
    ("machine", "root"),
    [
        *((platform.machine(), root) for root in ROOTS),
        pytest.param("aarch64", ARM64_ROOT, marks=emulated),
    ],
)
def test_it_is_at_work_in_this_orthanc(
    machine: str, root: str, make_series: MakeSeries, tmp_path: Path
) -> None:
    trial = Trial(
        launcher=enter(machine, root, tmp_path),
        program=ORTHANC,
        library=unpack(get_archive(machine), machine, tmp_path) / "libOrthancPerf.so",
        folder=tmp_path,
        images=make_series("portable", 10),
        certificate=make_certificate(tmp_path),
    )
    assert not try_all(trial).list_failures()
