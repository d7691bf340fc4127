# SPDX-License-Identifier: GPL-3.0-or-later
"""What setup.sh and the lab's run.sh install, and leave alone; stand-ins say what they would."""

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SETUP, RUN = Path("Resources/setup.sh"), Path("Resources/Benchmarks/run.sh")
START = Path("Resources/run-orthanc.sh")
CONFIGURE = Path("Resources/Configuration/make-configuration.py")
REQUIREMENTS = Path("Resources/IntegrationTests/requirements.txt")
SECONDS = 60

# A Debian without DCMTK, whose owner has PostgreSQL start with the machine
STAND_INS = {
    "dpkg-query": 'case $* in *" dcmtk") ;; *) printf installed ;; esac',
    "apt-get": 'echo "apt-get $*" >> "$SAID"; case $* in install*) touch installed ;; esac',
    "systemctl": """
case $1 in
  list-unit-files)
    echo "postgresql.service enabled enabled"
    [ ! -e installed ] || echo "added.service enabled enabled"
    ;;
  *) echo "systemctl $*" >> "$SAID" ;;
esac""",
    "sudo": 'exec "$@"',
    "npm": 'mkdir -p WebApp/node_modules; echo "npm $*" >> "$SAID"',
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


def run_setup(tmp_path: Path, *words: str, **stand_ins: str) -> list[str]:
    """What the stand-ins have been told by setup.sh."""
    for name, text in {**STAND_INS, **stand_ins}.items():
        write_program(tmp_path / "bin" / name.replace("_", "-"), text)
    setup = copy_script(SETUP, tmp_path)
    digest = hashlib.sha256(copy_script(REQUIREMENTS, tmp_path).read_bytes()).hexdigest()
    stamp = tmp_path / "build" / "venv" / "requirements.stamp"
    stamp.parent.mkdir(parents=True)
    stamp.write_text(f"{digest}  {REQUIREMENTS}\n", "utf-8")

    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path), "SAID": f"{tmp_path}/said"}
    subprocess.run([setup, *words], env=environment, cwd=tmp_path, check=True, timeout=SECONDS)
    return (tmp_path / "said").read_text("utf-8").splitlines()


def test_a_client_brings_no_server_and_what_was_enabled_before_stays_so(tmp_path: Path) -> None:
    update, install, disable = run_setup(tmp_path, "client")
    assert update.startswith("apt-get update")
    assert install.startswith("apt-get install") and install.endswith(" dcmtk")
    assert disable == "systemctl disable --quiet added.service"


# The packages that dpkg-query is asked for are missing, and apt-get brings them
NOTHING = {"dpkg_query": 'case $* in *Depends*) echo "clang-14 (>= 14.0)" ;; esac'}
DPKG = {"dpkg": 'mkdir -p "$3"'}


def test_running_needs_no_server_of_the_tests(tmp_path: Path) -> None:
    said = run_setup(tmp_path, "run", **NOTHING)
    installed = {word for line in said if "install" in line for word in line.split()}
    assert {"g++", "orthanc", "orthanc-dev"} < installed
    servers = {"postgresql", "mariadb-server", "prometheus", "samba"}
    assert not installed & {*servers, "chromium", "clang"}
    assert not any("download" in line for line in said)


def test_no_plugin_for_tests_gets_where_an_installed_orthanc_loads_it(tmp_path: Path) -> None:
    said = run_setup(tmp_path, **NOTHING, **DPKG)
    installed = {word for line in said if " install " in f" {line} " for word in line.split()}
    (downloaded,) = [line for line in said if "download" in line]
    for plugin in ("orthanc-postgresql", "orthanc-mysql", "orthanc-dicomweb", "orthanc-gdcm"):
        assert plugin not in installed and plugin in downloaded.split()
    assert {"postgresql", "mariadb-server"} < installed


@pytest.mark.parametrize("is_taken", [True, False], ids=["another program", "the other port"])
def test_a_taken_port_is_told_before_anything_is_installed(tmp_path: Path, is_taken: bool) -> None:
    said = tmp_path / "said"
    start = copy_script(START, tmp_path)
    copy_script(CONFIGURE, tmp_path)
    for script in ("setup.sh", "build.sh"):
        write_program(tmp_path / "Resources" / script, f'echo "{script}" >> "{said}"')
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        if is_taken:
            taken.listen()
        else:
            taken.close()
        command = [start, "--dicom-port", port, "--http-port", "1" if is_taken else port]
        ended = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    assert ended.returncode != 0 and b"--dicom-port" in ended.stderr
    assert not said.exists()


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
