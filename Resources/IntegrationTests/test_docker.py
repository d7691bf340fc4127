# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources/Docker: the two images of Orthanc with the plugin, and what containers take away.

No container engine is needed, nor a registry. PERF_DOCKER names a folder with clones of what the
makers of the images have published (CONTRIBUTING.md says which), PERF_ROOTS root file systems with
other Orthancs: what needs one of them is skipped without.
"""

import json
import os
import platform
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.clients import get_output
from harness.compatibility import check_engine
from harness.container import (
    NOBODY,
    ORTHANC_USER,
    Limits,
    build,
    confine,
    find_obstacle,
    list_mount_options,
    unpack_orthancteam,
)
from harness.orthanc import OrthancServer, find_free_port
from harness.portable import OTHER_ROOTS, PROGRAMS, find_archive, unpack
from harness.process import run
from harness.transcoding import TARGETS
from harness.tuning import tune_sockets

DOCKER = ROOT / "Resources" / "Docker"
PAGE = ROOT / "Resources" / "Documentation" / "install.md"
CLONES = Path(os.environ.get("PERF_DOCKER", "/nonexistent"))
CONFIGURATOR = CLONES / "orthanc-builder" / "docker" / "orthanc"
PROFILE = CLONES / "profiles" / "seccomp" / "default.json"
LIBRARY = "libOrthancPerf.so"
NO_MAPS = "/proc/self/maps cannot be read"
OBSTACLE = find_obstacle()
needs_mounts = pytest.mark.skipif(OBSTACLE is not None, reason=f"{OBSTACLE}")

# Where the archive of build-portable.sh has what is elsewhere here
ARCHIVE_FOLDERS = {
    "grafana": ROOT / "Resources/Grafana",
    "prometheus": ROOT / "Resources/Prometheus",
}


def need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"no {path}: PERF_DOCKER is to name a folder with clones (CONTRIBUTING.md)")
    return path


# ---- The files -------------------------------------------------------------------------------


def read_compose() -> dict[str, Any]:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))


def list_mounted() -> dict[str, str]:
    """What compose.yaml mounts from the archive: where it is there, and where in the container."""
    mounts = {}
    for service in read_compose()["services"].values():
        for volume in service.get("volumes", []):
            source, target = volume.split(":")[:2]
            if source.startswith("."):
                mounts[source] = target
    assert len(mounts) > 4
    return mounts


def find_in_sources(path: str) -> Path:
    """The file of compose.yaml, whose folder is docker/ in the archive."""
    if path.startswith("../"):
        first, _, rest = path[3:].partition("/")
        return ARCHIVE_FOLDERS[first] / rest
    return DOCKER / path


def test_what_the_compose_file_mounts_is_there() -> None:
    assert [path for path in list_mounted() if not find_in_sources(path).exists()] == []
    for service in read_compose()["services"].values():
        if "build" in service:
            dockerfile = service["build"]["dockerfile"].removeprefix("docker/")
            assert (DOCKER / dockerfile).exists()


def test_each_role_has_a_password_of_its_own() -> None:
    """And the documented command makes all of them."""
    wanted = re.findall(r"\$\{(\w+)_PASSWORD:\?", (DOCKER / "compose.yaml").read_text("utf-8"))
    services = read_compose()["services"]
    assert services["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${DATABASE_")
    assert services["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"].startswith("${GRAFANA_")
    (made,) = re.findall(r"for role in ([A-Z ]+); do", PAGE.read_text("utf-8"))
    assert {*made.split()} == {*wanted}
    (secret,) = services["prometheus"]["secrets"]
    assert secret["mode"] & 0o004  # its user is "nobody"; Compose to 2.19, and 2.34: 0400, 0440


def test_promtool_finds_the_configuration_of_prometheus_correct(tmp_path: Path) -> None:
    for source, target in list_mounted().items():
        if target.startswith("/etc/prometheus"):
            copy = tmp_path / target.removeprefix("/etc/prometheus/")
            found = find_in_sources(source)
            (shutil.copytree if found.is_dir() else shutil.copy)(found, copy)
    (tmp_path / "password").write_text("secret", "utf-8")
    path = tmp_path / "prometheus.yml"
    text = path.read_text("utf-8")
    assert "/run/secrets/prometheus_password" in text
    path.write_text(text.replace("/run/secrets/prometheus_password", "password"), "utf-8")
    output = get_output(["promtool", "check", "config", path])
    assert "2 rule files found" in output


def test_grafana_is_told_of_the_folder_with_the_dashboard_and_of_prometheus() -> None:
    mounts = list_mounted()
    dashboards = yaml.safe_load((DOCKER / "grafana-dashboards.yml").read_text("utf-8"))
    (provider,) = dashboards["providers"]
    assert provider["options"]["path"] == mounts["../grafana"]
    services = read_compose()["services"]
    home = services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert Path(home).parent == Path(mounts["../grafana"])
    assert (find_in_sources("../grafana") / Path(home).name).exists()

    sources = yaml.safe_load((DOCKER / "grafana-datasource.yml").read_text("utf-8"))
    (source,) = sources["datasources"]
    assert source["type"] == "prometheus"
    assert source["url"].removeprefix("http://").split(":")[0] in services

    scraped = yaml.safe_load((DOCKER / "prometheus.yml").read_text("utf-8"))["scrape_configs"][0]
    (target,) = scraped["static_configs"][0]["targets"]
    assert target.split(":")[0] in services


# ---- orthancteam/orthanc's own configurator ---------------------------------------------------


def configure(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """What the image makes of environment variables, and the plugins that it enables."""
    startup = folder / "startup"
    if not startup.exists():
        shutil.copytree(need(CONFIGURATOR), startup)
        shutil.copy(DOCKER / "plugins-def-perf.json", startup)
    program = """
import json, os
from configurator import OrthancConfigurator
configurator = OrthancConfigurator()
for name, value in os.environ.items():
    configurator.mergeConfigFromEnvVar(name, value)
configurator.mergeConfigFromDefaults()
print(json.dumps([configurator.configuration, configurator.getEnabledPlugins(),
                  configurator.hasErrors]))
"""
    finished = run([sys.executable, "-c", program], cwd=startup, env=environment, check=True)
    configuration, enabled, has_errors = json.loads(finished.stdout.splitlines()[-1])
    assert not has_errors
    return {**configuration, "Enabled": enabled}


def test_the_image_enables_the_plugin_when_it_is_asked_to(tmp_path: Path) -> None:
    nothing = configure(tmp_path, {})
    assert "Perf" not in nothing
    assert "Perf" not in nothing["Enabled"]
    asked = configure(tmp_path, {"PERF_PLUGIN_ENABLED": "true"})
    assert asked["Perf"] == {"Enable": True}
    assert "Perf" in asked["Enabled"]
    with_a_key = configure(tmp_path, {"ORTHANC__PERF__SOCKET_PROBE": "false"})
    assert with_a_key["Perf"] == {"SocketProbe": False, "Enable": True}
    assert "Perf" in with_a_key["Enabled"]
    no = {"PERF_PLUGIN_ENABLED": "false", "ORTHANC__PERF__SOCKET_PROBE": "false"}
    assert "Perf" not in configure(tmp_path, no)["Enabled"]
    off = {"PERF_PLUGIN_ENABLED": "true", "ORTHANC__PERF__ENABLE": "false"}
    assert configure(tmp_path, off)["Perf"] == {"Enable": False}


@pytest.mark.parametrize("password", ["secret", "12345678", "true", "a b'c\"d\\e"])
def test_the_image_understands_the_variables_of_the_compose_file(
    tmp_path: Path, password: str
) -> None:
    variables = read_compose()["services"]["orthanc"]["environment"]
    passwords = {"ORTHANC": password, "DATABASE": "other", "PROMETHEUS": "12345678"}
    environment = {
        name: re.sub(r"\$\{(\w+)_PASSWORD\b.*?\}", lambda found: passwords[found[1]], value)
        for name, value in variables.items()
    }
    assert environment["ORTHANC_PASSWORD"] == password  # of the user "orthanc"
    assert environment["PGPASSWORD"] == "other"  # libpq takes it where there is no other
    configuration = configure(tmp_path, environment)
    assert {"DicomWeb", "Perf", "PostgreSQL"} <= set(configuration["Enabled"])
    assert configuration["PostgreSQL"]["Host"] in read_compose()["services"]
    assert configuration["PostgreSQL"]["Password"] == ""
    assert configuration["RegisteredUsers"] == {"prometheus": "12345678"}
    (script,) = configuration["LuaScripts"]
    assert Path(script).name in (DOCKER / "Dockerfile.orthancteam").read_text("utf-8")


# ---- At work, with less than it is used to ----------------------------------------------------


def judge_at_work(server: OrthancServer, make_series: MakeSeries) -> None:
    """Images come in, sockets are tuned, engines transcode, the dashboard answers; it stops."""
    images = make_series("docker", 5)
    clients.store(server, images)
    page = server.get("/perf", headers={"Accept": "text/html"}).text
    assert page.lower().startswith("<!doctype html>")
    for preset in ("stock", "tuned"):
        assert tune_sockets(server, Preset=preset)["Preset"] == preset
    for engine in TARGETS:
        check_engine(server, engine, images)
    assert server.stop() == 0, server.log


@pytest.fixture
def here(plugin: Path, tmp_path: Path) -> Path:
    """A copy of the plugin and its programs that everybody may read."""
    for path in [plugin, *(plugin.parent / name for name in PROGRAMS)]:
        shutil.copy(path, tmp_path)
    tmp_path.chmod(0o755)
    return tmp_path / plugin.name


@needs_mounts
@pytest.mark.parametrize(
    "limits",
    [
        Limits(read_only=True, user=NOBODY),
        Limits(read_only=True, user=NOBODY, seccomp=PROFILE),
    ],
    ids=["read-only and not root", "and seccomp"],
)
def test_it_is_at_work_with_what_a_container_leaves_it(
    limits: Limits, here: Path, start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    if limits.seccomp:
        need(limits.seccomp)
    server = start_orthanc(plugins=[here], launcher=confine(tmp_path, limits))
    judge_limits(server, limits)
    assert server.get_json("/perf/status")["Probe"]["Installed"]
    judge_at_work(server, make_series)


def judge_limits(server: OrthancServer, limits: Limits) -> None:
    status = Path(f"/proc/{server.pid}/status").read_text("ascii")
    if limits.user is not None:
        assert re.search(rf"^Uid:\s+{limits.user}\s+{limits.user}", status, re.MULTILINE)
        assert re.search(r"^CapBnd:\s+0+$", status, re.MULTILINE)
    if limits.seccomp:
        assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
    if limits.read_only:
        assert "ro" in list_mount_options(server.pid, "/")


@needs_mounts
def test_without_proc_it_says_what_does_not_work_and_the_rest_does(
    here: Path, start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    server = start_orthanc(plugins=[here], launcher=confine(tmp_path, Limits(proc=False)))
    probe = server.get_json("/perf/status")["Probe"]
    assert (probe["Installed"], probe["Reason"]) == (False, NO_MAPS)
    judge_at_work(server, make_series)
    assert f"the socket probe cannot be installed: {NO_MAPS}; DICOM sockets" in server.log
    assert f"Orthanc's plugin lock was not found: {NO_MAPS}\n" in server.log


# ---- The images -------------------------------------------------------------------------------


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """The newest archive for this machine, unpacked, with the files for Docker as they are here."""
    archive = find_archive(platform.machine())
    if archive is None:
        pytest.skip("no archive in build/portable: Resources/build-portable.sh makes it")
    folder = unpack(archive, platform.machine(), tmp_path)
    shutil.copytree(DOCKER, folder / "docker", dirs_exist_ok=True)
    return folder


def find_volume() -> str:
    (volume,) = set(re.findall(r"-v images:(\S+)", PAGE.read_text("utf-8")))
    return volume


def test_the_compose_file_runs_orthanc_as_the_image_s_user_with_a_volume_that_is_its_own() -> None:
    orthanc = read_compose()["services"]["orthanc"]
    assert orthanc["user"] == "orthanc"
    assert orthanc["volumes"] == [f"images:{find_volume()}"]


def test_jodogne_s_image_gets_what_is_in_the_archive(context: Path, tmp_path: Path) -> None:
    """Its Orthanc loads every plugin of that folder."""
    build(DOCKER / "Dockerfile.jodogne", context, tmp_path / "layers")
    folder = tmp_path / "layers/usr/local/share/orthanc/plugins"
    assert {path.name for path in folder.iterdir()} == {LIBRARY, *PROGRAMS}


def find_root() -> Path:
    """The first of PERF_ROOTS that has Orthanc, and Python for the image's configurator."""
    for root in map(Path, OTHER_ROOTS):
        if all((root / path).exists() for path in ("usr/sbin/Orthanc", "usr/bin/python3")):
            return root
    pytest.skip("PERF_ROOTS has no root file system with Orthanc and Python")


@needs_mounts
@pytest.mark.parametrize(
    "limits",
    [Limits(), Limits(read_only=True, user=ORTHANC_USER, seccomp=PROFILE)],
    ids=["as it comes", "read-only, not root, seccomp"],
)
def test_it_is_at_work_in_orthancteam_s_image(
    limits: Limits,
    context: Path,
    start_orthanc: StartOrthanc,
    make_series: MakeSeries,
    tmp_path: Path,
) -> None:
    """Without the image's own plugins, which are not here."""
    layers, ports = tmp_path / "layers", [find_free_port(), find_free_port()]
    image = unpack_orthancteam(need(CONFIGURATOR), find_root(), layers)
    build(DOCKER / "Dockerfile.orthancteam", context, layers)
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "GDCM_PLUGIN_ENABLED": "false",
        "ORTHANC_EXPLORER_2_ENABLED": "false",
        "ORTHANC__HTTP_PORT": str(ports[0]),
        "ORTHANC__DICOM_PORT": str(ports[1]),
        "ORTHANC_PASSWORD": "orthanc",
        "PERF_PLUGIN_ENABLED": "true",
        "ORTHANC__PERF__TUNING__DICOM_SOCKETS__KEEP_ALIVE_SECONDS": "33",
        # Or else the image wants to write /etc/hostid
        "GENERATE_HOST_ID_IF_MISSING": "false" if limits.read_only else "true",
    }
    server = start_orthanc(
        launcher=image.run(tmp_path / "container", limits, find_volume()),
        options={"HttpPort": ports[0]},
        credentials=("orthanc", "orthanc"),
        environment=environment,
    )
    server.dicom_port = ports[1]
    judge_limits(server, limits)
    assert server.get_json("/perf/tuning")["DicomSockets"]["KeepAliveSeconds"] == 33
    judge_at_work(server, make_series)
