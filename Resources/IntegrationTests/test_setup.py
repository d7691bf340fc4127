# SPDX-License-Identifier: GPL-3.0-or-later
"""What setup.sh and the lab's run.sh install, and leave alone; stand-ins say what they would."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SETUP, RUN = Path("Resources/setup.sh"), Path("Resources/Benchmarks/run.sh")
REQUIREMENTS = Path("Resources/IntegrationTests/requirements.txt")
SECONDS = 60

# A Debian without DCMTK, whose owner has PostgreSQL start with the machine
STAND_INS = {
    "dpkg-query": 'case $* in *" dcmtk") ;; *) printf installed ;; esac',
    "apt-get": 'echo "apt-get $*" >> said; case $* in install*) touch installed ;; esac',
    "systemctl": """
case $1 in
  list-unit-files)
    echo "postgresql.service enabled enabled"
    [ ! -e installed ] || echo "added.service enabled enabled"
    ;;
  *) echo "systemctl $*" >> said ;;
esac""",
    "sudo": 'exec "$@"',
    "npm": 'echo "npm $*" >> said',
    # Of invoke-rc.d's policy, which is this machine's own
    "tee": "exec cat > /dev/null",
    "chmod": "",
    "rm": "",
}


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def copy_script(path: Path, folder: Path) -> Path:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    return shutil.copy(ROOT / path, folder / path)


def test_a_client_brings_no_server_and_what_was_enabled_before_stays_so(tmp_path: Path) -> None:
    for name, text in STAND_INS.items():
        write_program(tmp_path / "bin" / name, text)
    setup = copy_script(SETUP, tmp_path)
    digest = hashlib.sha256(copy_script(REQUIREMENTS, tmp_path).read_bytes()).hexdigest()
    stamp = tmp_path / "build" / "venv" / "requirements.stamp"
    stamp.parent.mkdir(parents=True)
    stamp.write_text(f"{digest}  {REQUIREMENTS}\n", "utf-8")

    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}
    subprocess.run([setup, "client"], env=environment, check=True, timeout=SECONDS)
    update, install, disable = (tmp_path / "said").read_text("utf-8").splitlines()
    assert update.startswith("apt-get update")
    assert install.startswith("apt-get install") and install.endswith(" dcmtk")
    assert disable == "systemctl disable --quiet added.service"


CLIENT = ["setup client"]
ALL = [*CLIENT, "setup", "build OrthancPerf", "build TranscodeFiles"]


@pytest.mark.parametrize(
    ("words", "installed"),
    [
        (["--output", "noise", "own", "--help"], CLIENT),
        (["--output", "own", "noise", "--plugin", "none"], ALL),
        (["onw", "http://pacs"], CLIENT),
        (["own"], CLIENT),
        (["--help"], CLIENT),
        (["compare", "none.json", "none.json"], CLIENT),
    ],
    ids=" ".join,
)
def test_only_what_has_servers_of_its_own_installs_them(
    words: list[str], installed: list[str], tmp_path: Path
) -> None:
    said = tmp_path / "said"
    run = copy_script(RUN, tmp_path)
    for folder in (RUN.parent / "lab", REQUIREMENTS.parent):
        (tmp_path / folder).symlink_to(ROOT / folder)
    write_program(tmp_path / SETUP, f'echo setup $* $ORTHANC_USER $ORTHANC_PASSWORD >> "{said}"')
    write_program(tmp_path / "Resources" / "build.sh", f'echo "$@" >> "{said}"')
    write_program(tmp_path / "build/venv/bin/python", f'exec "{sys.executable}" "$@"')
    environment = {**os.environ, "ORTHANC_USER": "alice", "ORTHANC_PASSWORD": "secret"}
    environment.pop("PERF_PLUGIN", None)
    subprocess.run([run, *words], env=environment, cwd=tmp_path, timeout=SECONDS, check=False)
    assert said.read_text("utf-8").splitlines() == installed
