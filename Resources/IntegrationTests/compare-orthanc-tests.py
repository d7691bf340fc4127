#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Orthanc's own integration tests without and with the plugin, and compares what fails.

compare-orthanc-tests.py TESTS PLUGIN, where TESTS is a checkout of
https://orthanc.uclouvain.be/hg/orthanc-tests/ at the tag of Orthanc's release. It needs what these
tests need: dcmtk, dicom3tools, libgdcm-tools, and a Python 2.7 with httplib2, numpy, pillow,
pydicom and pynetdicom (--python: a third of the tests of 1.12.7 and 1.13.0 fails in Python 3, with
or without the plugin); and setpriv, unshare (util-linux) and ip (iproute2).

The two runs go side by side, each in namespaces of its own (processes, network, /tmp), so that
the ports and files that the tests are tied to are nobody else's, and that everything is gone
with the run. There is no way out of that network: tests that ask the Internet fail on both sides.

A test fails alike if it fails at the same line with the same type of error on both sides. Another
one is run again, and counts as different only if no outcome of one side was seen on the other.

Exit code: 0 both sides fail alike, 1 they differ, 2 the tests could not be run.
"""

import argparse
import base64
import json
import os
import re
import runpy
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

START_SECONDS = 60
LIMIT_SECONDS = 3600  # of one run
MOST_REPEATED = 20  # tests; more that differ than that are no chance
TIMES_AGAIN = 3

# What ends with this script, however that ends, and takes with it whatever it has started
NAMESPACES = [
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
]

HTTP_PORT = 8042
CREDENTIALS = "alice:orthanctest"

# Run.py edits them in what its own Orthanc prints, and needs them; newer releases don't print them
LOCAL_SETTINGS = {
    "ExecuteLuaEnabled": True,
    "HttpCompressionEnabled": False,
    "DicomAssociationCloseDelay": 0,
}
LOCAL_ORTHANC = """#!/bin/sh
case $1 in
  --config=*) exec cp {defaults} "${{1#--config=}}" ;;
  *) exec {orthanc} "$@" ;;
esac
"""

SUMMARY = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
FAILURE = re.compile(
    r"^={70}\n(?P<kind>ERROR|FAIL): (?P<test>\w+) .*?\n-{70}\n(?P<trace>.*?)(?=^={70}$|^-{70}$)",
    re.MULTILINE | re.DOTALL,
)

Failures = dict[str, str]  # why, by test


class CannotRunError(RuntimeError):
    """The tests did not come to their end; the message says why."""


class Side:
    """One Orthanc, without or with the plugin, whose tests are run as often as wanted."""

    def __init__(self, name: str, plugins: list[Path], options: argparse.Namespace) -> None:
        self.name = name
        self._plugins = plugins
        self._options = options

    def run(self, tests: list[str]) -> tuple[int, Failures]:
        """How many tests were run, and which failed; all of Orthanc's if none is named."""
        logs: Path = self._options.logs
        with (logs / f"{self.name}-orthanc.log").open("ab") as orthanc_log:
            command = [
                *NAMESPACES,
                *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]),
                *(sys.executable, Path(__file__).resolve(), "--inside", str(orthanc_log.fileno())),
                *("--orthanc", self._options.orthanc, "--python", self._options.python),
                *(argument for plugin in self._plugins for argument in ("--beside", plugin)),
                *(argument for test in tests for argument in ("--only", test)),
                *("--perf", json.dumps(self._options.perf)),
                self._options.tests,
            ]
            try:
                finished = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=[orthanc_log.fileno()],
                    timeout=LIMIT_SECONDS,
                )
            except subprocess.TimeoutExpired as error:
                raise CannotRunError(f"{self.name} the plugin, the tests did not end") from error
        output = finished.stdout.decode("utf-8", "replace")
        with (logs / f"{self.name}-tests.log").open("a", encoding="utf-8") as log:
            log.write(output)
        summary = SUMMARY.search(output)
        if summary is None:
            last = "".join(output.splitlines(keepends=True)[-15:])
            raise CannotRunError(
                f"{self.name} the plugin, the tests ended with {finished.returncode}:\n{last}"
            )
        return int(summary[1]), {
            match["test"]: describe(match["kind"], match["trace"])
            for match in FAILURE.finditer(output)
        }


def describe(kind: str, trace: str) -> str:
    """Where a test failed and with what: the same on both sides if Orthanc answers the same."""
    lines = re.findall(r'/Tests\.py", line (\d+)', trace)
    errors = re.findall(r"^(\w[\w.]*)(?::|$)", trace, re.MULTILINE)
    return f"{kind} at line {lines[-1] if lines else '?'}, {errors[-1] if errors else '?'}"


def run_side_by_side(sides: list[Side], tests: list[str]) -> list[tuple[int, Failures]]:
    with ThreadPoolExecutor(len(sides)) as pool:
        return list(pool.map(lambda side: side.run(tests), sides))


def compare(options: argparse.Namespace) -> bool:
    without = Side("without", options.beside, options)
    with_plugin = Side("with", [*options.beside, options.plugin], options)
    sides = [without, with_plugin]

    results = run_side_by_side(sides, options.only)
    for side, (count, failures) in zip(sides, results, strict=True):
        print(f"\n{side.name.capitalize()} the plugin: {count} tests, {len(failures)} fail")
        for test, reason in sorted(failures.items()):
            print(f"  {test}: {reason}")

    (count, before), (count_with, after) = results
    if 2 * len(before) > count:
        raise CannotRunError("More than half fail without the plugin: that compares nothing")
    if count != count_with:
        print(f"\nDIFFERENT: {count} tests without the plugin, {count_with} with it")
        return False

    suspects = sorted(
        test for test in before.keys() | after.keys() if before.get(test) != after.get(test)
    )
    differing = []
    for test in suspects:
        seen = [Counter([before.get(test, "ok")]), Counter([after.get(test, "ok")])]
        for _ in range(TIMES_AGAIN if len(suspects) <= MOST_REPEATED else 0):
            again = run_side_by_side(sides, [f"Orthanc.{test}"])
            for counter, (_, failures) in zip(seen, again, strict=True):
                counter[failures.get(test, "ok")] += 1
        is_steady = seen[0].keys().isdisjoint(seen[1].keys())
        if is_steady:
            differing.append(test)
        print(f"\n{'DIFFERENT' if is_steady else 'Not the same each time'}: {test}")
        for side, counter in zip(sides, seen, strict=True):
            outcomes = ", ".join(f"{times} times {outcome}" for outcome, times in counter.items())
            print(f"  {side.name}: {outcomes}")

    print(f"\nTests that differ: {len(differing)}")
    return not differing


def run_inside(options: argparse.Namespace) -> int:
    """What happens in the namespaces: one Orthanc and its tests. All of it ends with process 1."""
    socket.sethostname("localhost")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True)
    folder = Path(tempfile.mkdtemp())
    os.chdir(folder)

    defaults = folder / "defaults.json"
    subprocess.run([options.orthanc, f"--config={defaults}"], check=True)
    configuration = make_configuration(options.tests, defaults)
    configuration["Plugins"] = [str(plugin) for plugin in options.beside]
    configuration["Perf"] = options.perf
    (folder / "orthanc.json").write_text(json.dumps(configuration), "utf-8")
    orthanc = subprocess.Popen(
        [options.orthanc, "orthanc.json"], stdout=options.inside, stderr=subprocess.STDOUT
    )
    wait_until_ready(orthanc)
    loaded = set(ask("/plugins")) - {"explorer.js"}
    if len(loaded) != len(options.beside):
        raise CannotRunError(f"Orthanc loaded {len(loaded)} of {len(options.beside)} plugins")
    local_orthanc = make_local_orthanc(options.orthanc, defaults)

    tests = subprocess.run(
        [
            *(options.python, options.tests / "Tests" / "Run.py", "--force"),
            *("--orthanc", local_orthanc, "--", "--verbose", *options.only),
        ],
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if orthanc.poll() is not None:
        print(f"Orthanc ended during the tests, with {orthanc.returncode}")
    return tests.returncode


def answer(content: str | bytes) -> mock.Mock:
    response = mock.Mock()
    response.getcode.return_value = 200
    response.read.return_value = content
    return response


def make_configuration(tests: Path, defaults: Path) -> dict[str, Any]:
    """As the tests' own script does, from what this Orthanc prints instead of the Internet's."""
    script, target = tests / "GenerateConfigurationForTests.py", Path("configuration.json")
    with (
        mock.patch("urllib.request.urlopen", return_value=answer(defaults.read_bytes())),
        # The script of 1.10.1 is written for Python 2
        mock.patch("urllib.urlopen", create=True, return_value=answer(defaults.read_text("utf-8"))),
        mock.patch("sys.argv", [str(script), "--force", "--target", str(target)]),
    ):
        runpy.run_path(str(script))
    return json.loads(target.read_text("utf-8"))


def make_local_orthanc(orthanc: Path, defaults: Path) -> Path:
    """The Orthanc that Run.py starts for itself: it prints what Run.py needs to find there."""
    text = defaults.read_text("utf-8")
    missing = {
        name: value
        for name, value in LOCAL_SETTINGS.items()
        if not re.search(rf'^\s*"{name}"\s*:', text, re.MULTILINE)
    }
    if missing:
        text = re.sub(r"^{", f"{json.dumps(missing)[:-1]},", text, count=1, flags=re.MULTILINE)
        defaults.write_text(text, "utf-8")
    command = Path("local-orthanc").resolve()
    command.write_text(LOCAL_ORTHANC.format(defaults=defaults, orthanc=orthanc), "utf-8")
    command.chmod(0o700)
    return command


def ask(route: str) -> Any:  # noqa: ANN401
    credentials = base64.b64encode(CREDENTIALS.encode()).decode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{HTTP_PORT}{route}", headers={"Authorization": f"Basic {credentials}"}
    )
    with urllib.request.urlopen(request, timeout=START_SECONDS) as response:
        return json.load(response)


def wait_until_ready(orthanc: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            ask("/system")
        except OSError as error:
            if orthanc.poll() is not None or time.monotonic() > deadline:
                raise CannotRunError(f"Orthanc did not start, see its log: {error}") from error
            time.sleep(0.1)
        else:
            return


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", type=Path, help="a checkout of Orthanc's integration tests")
    parser.add_argument("plugin", type=Path, nargs="?", help="libOrthancPerf.so")
    parser.add_argument("--orthanc", type=Path, default=Path("/usr/sbin/Orthanc"))
    parser.add_argument("--python", type=Path, default=Path("/usr/bin/python2.7"))
    parser.add_argument(
        *("--beside",),
        type=Path,
        action="append",
        default=[],
        metavar="PLUGIN",
        help="another plugin, loaded on both sides",
    )
    parser.add_argument(
        *("--only",),
        action="append",
        default=[],
        metavar="TEST",
        help="one test, as Orthanc.test_upload; may be given several times",
    )
    parser.add_argument(
        "--perf", type=json.loads, default={}, help='section "Perf" of the configuration, as JSON'
    )
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()

    for name in ("tests", "plugin", "orthanc"):
        path = getattr(options, name)
        setattr(options, name, path and path.resolve())
    options.beside = [plugin.resolve() for plugin in options.beside]
    if options.inside is not None:
        return options

    if options.plugin is None:
        parser.error("which plugin?")
    given = [options.tests / "Tests" / "Run.py", options.plugin, options.orthanc, options.python]
    given += options.beside
    for path in given:
        if not path.exists():
            parser.error(f"{path} does not exist")
    for path in (*given, Path(sys.prefix), Path(__file__).resolve()):
        if path.is_relative_to("/tmp"):
            parser.error(f"{path}: the tests have a /tmp of their own, they would not see it")
    options.logs = Path(tempfile.mkdtemp(prefix="compare-orthanc-tests-"))
    return options


def main() -> int:
    options = parse_arguments()
    try:
        if options.inside is not None:
            return run_inside(options)
        print(f"Logs: {options.logs}", flush=True)
        return 0 if compare(options) else 1
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
