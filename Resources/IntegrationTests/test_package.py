# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's package of build-deb.sh, from its installation to its end, with Orthanc as its service.

In clean root file systems with Orthanc that make-debian-root.sh has made, which PERF_PACKAGE_ROOTS
lists, separated by colons; each with the package for its release in PERF_PACKAGES (or build/deb).
PERF_OLDER_PACKAGE is what they are upgraded from, or else the same package with another number.
Needs root and Debian's mirror.
"""

import configparser
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, MakeSeries
from harness import clients
from harness.container import find_obstacle
from harness.orthanc import OrthancServer, find_free_port
from harness.process import run
from harness.transcoding import JPEG_LS, get_syntax, list_engines, read_stored, tune
from harness.tuning import tune_sockets

ROOTS = [*filter(None, os.environ.get("PERF_PACKAGE_ROOTS", "").split(":"))]
PACKAGES = Path(os.environ.get("PERF_PACKAGES", ROOT / "build" / "deb"))
CONFFILE = "etc/orthanc/perf.json"
LIBRARY = "usr/share/orthanc/plugins/libOrthancPerf.so"
FLEET = "usr/share/doc/orthanc-perf/examples/fleet/fleet.toml"
RESTART = "orthanc-restart-trigger: restarting the Orthanc service"

# The root file system with what was changed in it before
ENTER = """
set -e
root=$1 folder=$2 packages=$3
shift 3
mkdir -p "$folder/upper" "$folder/work" "$folder/root"
mount -t overlay -o "lowerdir=$root,upperdir=$folder/upper,workdir=$folder/work" \
  overlay "$folder/root"
mount -t proc proc "$folder/root/proc"
mount --rbind /dev "$folder/root/dev"
mkdir -p "$folder/root/packages"
mount --bind "$packages" "$folder/root/packages"
exec chroot "$folder/root" "$@"
"""


class Machine:
    """A Debian that nothing else has touched: an overlay over a root file system."""

    def __init__(self, root: str, folder: Path, packages: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._enter = ["unshare", "--mount", "sh", "-c", ENTER, "sh", root, str(folder)]
        self._enter.append(str(packages))

    def run(self, *command: str) -> str:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        finished = run([*self._enter, *command], env=environment, timeout=600)
        output = finished.stdout + finished.stderr
        assert finished.returncode == 0, output
        return output

    def has(self, path: str) -> bool:
        return self.run("sh", "-c", f"test -e /{path} && echo yes || true").strip() == "yes"

    def read(self, path: str) -> str:
        return self.run("cat", f"/{path}")

    @contextmanager
    def start_service(self) -> Iterator[OrthancServer]:
        """Orthanc as systemd starts it: the unit's command as the unit's user."""
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        found = self.run("sh", "-c", "cat /usr/lib/systemd/system/orthanc.service")
        unit.read_string(found)
        service = unit["Service"]
        launcher = [*self._enter, "setpriv", f"--reuid={service['User']}", "--init-groups"]
        launcher += [f"--regid={service['Group']}", *shlex.split(service["ExecStart"])]
        # What the harness would have executed is an argument that the shell drops
        launcher = ["sh", "-c", f"exec {shlex.join(launcher)}"]
        with ServiceOrthanc(self.folder, launcher) as server:
            yield server


class ServiceOrthanc(OrthancServer):
    """One whose log and configuration are those of its package."""

    def __init__(self, folder: Path, launcher: list[str]) -> None:
        super().__init__(folder, launcher=launcher)
        text = (folder / "upper/etc/orthanc/orthanc.json").read_text("utf-8")
        http, dicom = (
            int(re.search(rf'^ *"{name}" : (\d+),', text, re.MULTILINE).group(1))  # type: ignore[union-attr]
            for name in ("HttpPort", "DicomPort")
        )
        self.http_port, self.dicom_port = http, dicom
        self.url = f"http://127.0.0.1:{http}"

    @property
    def log(self) -> str:
        logs = sorted((self.folder / "upper/var/log/orthanc").glob("Orthanc.log.*"))
        return logs[-1].read_text("utf-8", "replace") if logs else ""


def find_package(root: str) -> Path:
    release = Path(root, "etc/os-release").read_text("utf-8")
    number = re.search(r'VERSION_ID="(\d+)"', release)
    assert number
    found = sorted(PACKAGES.glob(f"orthanc-perf_*+deb{number.group(1)}_*.deb"))
    if not found:
        pytest.skip(f"no package for Debian {number.group(1)} in {PACKAGES}: build-deb.sh makes it")
    return found[-1]


def make_older(package: Path, folder: Path) -> Path:
    """The package of a version before, with a file that the newer one no longer has."""
    tree = folder / "older"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    text = re.sub(r"^Version: .*", "Version: 0.0.9-1", control.read_text("utf-8"), flags=re.M)
    control.write_text(text, "utf-8")
    (tree / "usr/share/orthanc-perf/of-old").touch()
    older = folder / "orthanc-perf-older.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, older], check=True)
    return older


@pytest.mark.skipif(find_obstacle() is not None, reason=f"{find_obstacle()}")
@pytest.mark.parametrize("root", ROOTS or [pytest.param("", id="none")])
def test_its_life(root: str, make_series: MakeSeries, tmp_path: Path) -> None:
    if not root:
        pytest.skip("PERF_PACKAGE_ROOTS lists no root file system of make-debian-root.sh")
    packages = tmp_path / "packages"
    packages.mkdir()
    package = find_package(root)
    older = make_older(Path(os.environ.get("PERF_OLDER_PACKAGE", package)), packages)
    (packages / package.name).write_bytes(package.read_bytes())
    machine = Machine(root, tmp_path / "machine", packages)
    http, dicom = give_ports(machine)
    images = make_series("package", 5)
    install = ("apt-get", "install", "--yes", "-qq", "-o", "Dpkg::Use-Pty=0")

    # It is installed, and loaded when Orthanc has started anew, which its trigger asks for
    assert RESTART in machine.run(*install, f"/packages/{older.name}")
    with machine.start_service() as server:
        assert server.get_json("/plugins/perf")["Version"]
        assert set(list_engines(server)) == {"native", "dcmtk", "gdcm"}
        assert set(list_sources(server.get_json("/perf/tuning?sources"))) == {"Default"}
        clients.store(server, images)
        tune_sockets(server, Preset="stock", KeepAliveSeconds=33)
        tune(server, Engine="dcmtk", TransferSyntax=JPEG_LS)
        tuning = server.get_json("/perf/tuning")
        assert list_names_of_fleet(machine, server) == ["orthanc-a"]

    # The next version keeps what was tuned over REST, and what the configuration has become
    conffile = machine.folder / "upper" / CONFFILE
    assert '"Perf"' in conffile.read_text("utf-8")
    conffile.write_text('{ "Perf" : { "AllowTuning" : false } }', "utf-8")
    assert RESTART in machine.run(*install, f"/packages/{package.name}")
    version = package.name.split("_")[1]
    assert machine.run("dpkg-query", "-W", "-f=${Version}", "orthanc-perf") == version
    assert not machine.has("usr/share/orthanc-perf/of-old")
    with machine.start_service() as server:
        assert (server.http_port, server.dicom_port) == (http, dicom)
        now = server.get_json("/perf/tuning")
        assert now == {**now, **tuning}  # a newer version may have more sections
        assert server.request("PUT", "/perf/tuning", json={}).status_code == 403
        assert len(server.get_json("/instances")) == len(images)
        server.delete_all()
        clients.store(server, images)
        stored = read_stored(server, server.find_instance(images[0].sop_instance_uid))
        assert get_syntax(stored) == JPEG_LS

    # Removed, it leaves Orthanc as it was, and its configuration for a next time
    installed = machine.run("dpkg-query", "-L", "orthanc-perf").splitlines()
    assert RESTART in machine.run("apt-get", "remove", "--yes", "-qq", "orthanc-perf")
    assert machine.has(CONFFILE)
    assert not machine.has(LIBRARY)
    with machine.start_service() as server:
        assert "perf" not in server.get_json("/plugins")
        assert len(server.get_json("/instances")) == len(images)

    # Purged, nothing is left
    machine.run("apt-get", "purge", "--yes", "-qq", "orthanc-perf")
    own = [path for path in installed if re.search("perf", path, re.IGNORECASE)]
    assert len(own) > 10
    assert [path for path in own if machine.has(path.lstrip("/"))] == []
    with machine.start_service() as server:
        assert "perf" not in server.get_json("/plugins")


def list_names_of_fleet(machine: Machine, server: OrthancServer) -> list[str]:
    """The servers that answer the command perf-fleet, of a file made of the sample."""
    change = rf"/^orthanc-b/d; s|^\(orthanc-a = \).*|\1\"{server.url}\"|"
    machine.run("sh", "-c", f"sed '{change}' /{FLEET} > /etc/perf-fleet.toml")
    status = json.loads(machine.run("perf-fleet", "--json", "--timeout", "60", "status"))
    machine.run("rm", "/etc/perf-fleet.toml")
    return [answer["Name"] for answer in status["Servers"] if not answer["Errors"]]


def list_sources(tuning: Any) -> list[str]:  # noqa: ANN401
    """Where each value comes from, whatever section it is in."""
    if "Source" in tuning:
        return [tuning["Source"]]
    return [source for section in tuning.values() for source in list_sources(section)]


def give_ports(machine: Machine) -> tuple[int, int]:
    """Other ports than Orthanc's own, which somebody may have here."""
    http, dicom = find_free_port(), find_free_port()
    change = f"s/: 8042,/: {http},/; s/: 4242,/: {dicom},/"
    machine.run("sed", "-i", change, "/etc/orthanc/orthanc.json")
    return http, dicom
