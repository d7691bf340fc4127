# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive of build-portable.sh: what it is, and at work in each release of Orthanc there is.

Beside this machine's Orthanc, those in the root file systems that PERF_ROOTS lists, separated by
colons: of debootstrap, with Debian's package of Orthanc installed.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import scrape
from harness.process import list_children
from harness.transcoding import (
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    decode,
    get_syntax,
    list_engines,
    read,
    read_stored,
    tune,
)
from harness.tuning import tune_sockets

PORTABLE = ROOT / "build" / "portable"
ROOTS = ["/", *filter(None, os.environ.get("PERF_ROOTS", "").split(":"))]

# What each engine writes; the programs of dcmtk and gdcm are the archive's
TARGETS = {"native": JPEG_LOSSLESS_SV1, "dcmtk": JPEG_LS, "gdcm": JPEG_LS}

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


def enter(root: str, folder: Path) -> list[str] | None:
    """The command that executes another one below the root, with the folder where it is here."""
    if root == "/":
        return None
    return ["unshare", "--mount", "sh", "-c", ENTER, "sh", root, str(folder)]


@pytest.fixture
def archive() -> Path:
    """The newest archive for this machine."""
    found = sorted(PORTABLE.glob(f"orthanc-perf-*-linux-{platform.machine()}.tar.gz"))
    if not found:
        pytest.skip("no archive in build/portable: Resources/build-portable.sh makes it")
    return found[-1]


@pytest.fixture
def library(archive: Path, tmp_path: Path) -> Path:
    """The library of the archive, unpacked as a user does."""
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path], check=True, timeout=60)
    return tmp_path / archive.name.removesuffix(".tar.gz") / "libOrthancPerf.so"


def test_it_needs_nothing_but_an_old_c_library(archive: Path) -> None:
    check = ROOT / "Resources" / "Packaging" / "check-portable.py"
    subprocess.run([sys.executable, check, archive], check=True, timeout=120, cwd=ROOT)


@pytest.mark.parametrize("root", ROOTS)
def test_it_is_at_work_in_this_orthanc(
    root: str,
    library: Path,
    start_orthanc: StartOrthanc,
    make_series: MakeSeries,
    tmp_path: Path,
) -> None:
    launcher = enter(root, tmp_path)
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
