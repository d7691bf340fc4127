# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the plugin under test, servers with it, and series to send."""

import os
import random
import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from harness.certificates import Certificate, make_certificate, mend_https
from harness.images import Image, make_ct_series
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer
from harness.postgresql import PostgreSqlServer
from harness.reaper import Reaper
from harness.reliability import Row, keep_rows

ROOT = Path(__file__).resolve().parents[2]

# Sections of Orthanc's configuration that name a server that Orthanc needs until it has stopped
OTHER_SERVERS = {"PostgreSQL", "ObjectStorage"}

REAPER = Reaper()
HAS_FAILED = pytest.StashKey[bool]()

StartOrthanc = Callable[..., OrthancServer]
MakeSeries = Callable[..., list[Image]]
AddRow = Callable[[str, str], Row]


# Where several processes share the modules, what takes longest begins first
LONGEST = ["test_dashboard", "test_openapi", "test_benchmarks", "test_health", "test_prometheus"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(LONGEST)))
    if not os.environ.get("PERF_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="run-tests.sh --long runs it"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    item.stash[HAS_FAILED] = item.stash.get(HAS_FAILED, False) or report.failed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Servers of earlier tests that have ended by now are judged here; after the last test, all."""
    yield
    if faults := REAPER.judge(wait=nextitem is None):
        pytest.fail("\n".join(faults), pytrace=False)


def pytest_sessionfinish() -> None:
    """After -x or an interruption, too, no server is left, and what went wrong is shown."""
    for fault in REAPER.judge(wait=True):
        print(fault, file=sys.stderr)


@pytest.fixture(scope="session")
def plugin() -> Path:
    path = Path(os.environ.get("PERF_PLUGIN", ROOT / "build" / "libOrthancPerf.so")).resolve()
    assert path.exists(), f"there is no {path}: build it first (Resources/run-tests.sh does)"
    return path


def _built_beside(name: str) -> Any:  # noqa: ANN401
    """The path of a plugin that only tests need; its source says what it is for."""
    return pytest.fixture(scope="session")(lambda plugin: plugin.parent / name / f"lib{name}.so")


other_plugin = _built_beside("OtherPlugin")
storage_plugin = _built_beside("StoragePlugin")
object_plugin = _built_beside("ObjectStorage")


@pytest.fixture(scope="session")
def make_series(plugin: Path) -> MakeSeries:
    """Makes CT series, kept beside the plugin for the next run."""
    return lambda name, count=200: make_ct_series(plugin.parent / "images", name, count)


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """pytest's, except that it stays until the servers in it have stopped, or for good if the test
    or one of them fails."""
    folder = tmp_path_factory.mktemp(re.sub(r"\W", "_", request.node.name)[:30])
    yield folder
    if not request.node.stash.get(HAS_FAILED, False):
        REAPER.remove(folder)


def start(stack: ExitStack, test: str, folder: Path, arguments: dict[str, Any]) -> OrthancServer:
    """Until the stack's end, and, if it needs no other server, some seconds beyond."""
    server = OrthancServer(folder, **arguments)
    if arguments.get("launcher") or OTHER_SERVERS & {*(arguments.get("options") or {})}:
        return stack.enter_context(server)
    server.start()
    stack.callback(REAPER.take, server, test)
    return server


@pytest.fixture
def start_orthanc(
    request: pytest.FixtureRequest, plugin: Path, tmp_path: Path
) -> Iterator[StartOrthanc]:
    """Starts Orthanc with the plugin and DICOMweb, in the folder `below` of the test's own."""
    with ExitStack() as stack:
        defaults = {"plugins": [plugin, DICOMWEB_PLUGIN]}
        yield lambda below="", **arguments: start(
            stack, request.node.nodeid, tmp_path / below, defaults | arguments
        )


@pytest.fixture
def orthanc(start_orthanc: StartOrthanc) -> OrthancServer:
    """Orthanc with the plugin as it comes."""
    return start_orthanc()


@pytest.fixture(scope="module")
def start_for_module(
    request: pytest.FixtureRequest, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartOrthanc]:
    """As `start_orthanc`, for all tests of a module; each server has a folder of its own."""
    with ExitStack() as stack:
        defaults = {"plugins": [plugin, DICOMWEB_PLUGIN]}

        def start_one(**arguments: Any) -> OrthancServer:  # noqa: ANN401
            folder = tmp_path_factory.mktemp("module")
            stack.callback(REAPER.remove, folder)
            return start(stack, request.node.nodeid, folder, defaults | arguments)

        yield start_one


@pytest.fixture(scope="module")
def module_orthanc(start_for_module: StartOrthanc) -> OrthancServer:
    return start_for_module()


@pytest.fixture
def server(module_orthanc: OrthancServer) -> Iterator[OrthancServer]:
    """As `orthanc`, but one for all tests of a module: what it has counted so far stays."""
    yield module_orthanc
    module_orthanc.request("DELETE", "/perf/tuning").raise_for_status()
    module_orthanc.delete_all()


@pytest.fixture
def moments() -> random.Random:
    """Random moments, which PERF_SEED repeats as far as the machine lets it."""
    seed = int(os.environ.get("PERF_SEED", random.randrange(2**32)))
    print(f"PERF_SEED={seed}")  # which pytest shows of a test that failed
    return random.Random(seed)


@pytest.fixture
def reliability() -> Iterator[AddRow]:
    """Adds a row to tables/reliability.md: what breaks, and what is checked at each attempt."""
    rows: list[Row] = []

    def add(breaks: str, seen: str) -> Row:
        rows.append(Row(breaks, seen))
        return rows[-1]

    yield add
    keep_rows(rows)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for 127.0.0.1 that a server and its clients can share."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def postgresql(certificate: Certificate) -> Iterator[PostgreSqlServer]:
    """A server that offers TLS with that certificate."""
    with PostgreSqlServer(certificate) as server:
        yield server


@pytest.fixture(scope="module")
def https(
    certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Options for HTTPS. Debian's Orthanc crashes at the first connection, without any plugin too:
    the environment of those that are started then has what it lacks."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in mend_https(tmp_path_factory.mktemp("openssl")).items():
            patch.setenv(name, value)
        yield certificate.get_https_options()
