# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's command line: python -m lab --help."""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TypeAlias

from harness.orthanc import ORTHANC
from lab import dashboard, native_engine, overhead, side_by_side, stalls, transcoding
from lab.machine import describe_storage
from lab.processes import ClientError
from lab.report import Report

ROOT = Path(__file__).resolve().parents[3]

# A file system in memory keeps the disk's noise out, and makes the plugin's share the largest
IN_MEMORY = Path("/dev/shm")

# Where install-dicom-rs.sh puts it
DICOM_RS = ROOT / "build" / "dicom-rs" / "bin" / "dicom-storescu"

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

LOADS = ["http-1", "http-4", "storescu"]
SCENARIOS = ["storescu", "pynetdicom", "dicom-rs", "orthanc", "storescp"]
SENDERS = [1, 2, 4, 8, 16]

IMAGES = ROOT / "build" / "images"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab", description="Ratios of speeds, measured in turn.")
    plugin = Path(os.environ.get("PERF_PLUGIN", ROOT / "build" / "libOrthancPerf.so"))
    parser.add_argument("--plugin", type=Path, default=plugin, help="libOrthancPerf.so")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "build" / "benchmarks", help="for JSON and Markdown"
    )
    parser.add_argument(
        "--storage", type=Path, default=IN_MEMORY, help="where the servers keep their images"
    )
    commands = parser.add_subparsers(dest="command", required=True)

    add_side_by_side(commands, "overhead", "ingest with the plugin and without it")
    add_side_by_side(commands, "noise", "Orthanc against itself: what the lab cannot tell apart")
    probe = add_side_by_side(commands, "cost-of-probe", "sockets tuned by the probe or by DCMTK")
    probe.add_argument(
        "--probe-only", action="store_true", help="the plugin in both, the probe in one"
    )
    add_stalls(commands)
    add_transcoding(commands)
    add_native_engine(commands)
    add_dashboard(commands)
    return parser.parse_args()


def add_stalls(commands: Commands) -> None:
    command = commands.add_parser("stalls", help="transfers with stock and with tuned sockets")
    command.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    command.add_argument("--images", type=int, default=200, help="in each run")
    command.add_argument(
        "--senders", type=int, nargs="+", default=SENDERS, help="parallel storescu"
    )
    command.add_argument("--pairs", type=int, default=6)
    command.add_argument("--seconds", type=float, default=120, help="at most, for each scenario")
    command.add_argument("--tls", action="store_true", help="DICOM over TLS")
    command.add_argument("--dicom-rs", type=Path, default=DICOM_RS, help="dicom-storescu")
    command.add_argument(
        "--orthanc", action="append", type=Path, help="Orthanc's program; several in turn"
    )


def add_transcoding(commands: Commands) -> None:
    command = commands.add_parser("transcoding", help="ingest as received and transcoded")
    targets = list(transcoding.TARGETS)
    command.add_argument("--targets", nargs="+", choices=targets, default=targets)
    engines = transcoding.ENGINES
    command.add_argument("--engines", nargs="+", choices=engines, default=engines)
    command.add_argument("--images", type=int, default=100, help="in each run")
    command.add_argument("--senders", type=int, nargs="+", default=[1, 4], help="parallel storescu")
    command.add_argument("--rounds", type=int, default=6, help="of all contestants in turn")
    command.add_argument(
        "--seconds", type=float, default=120, help="at most, for each target and senders"
    )


def add_native_engine(commands: Commands) -> None:
    command = commands.add_parser("native-engine", help="JPEG Lossless by native, DCMTK and GDCM")
    command.add_argument("--images", type=int, default=20, help="of the CT series")
    command.add_argument("--rounds", type=int, default=9, help="of all three in turn")
    command.add_argument("--milliseconds", type=int, default=30, help="for each file, at least")
    command.add_argument("--seconds", type=float, default=400, help="in all, at most")


def add_dashboard(commands: Commands) -> None:
    command = commands.add_parser("dashboard", help="the dashboard's first paint, and its cost")
    command.add_argument("--visits", type=int, default=20, help="with an empty cache")
    command.add_argument("--pairs", type=int, default=6, help="of phases, the page closed and open")
    command.add_argument("--phase-seconds", type=float, default=30, help="of each phase")
    command.add_argument("--rate", type=float, default=50, help="instances a second")
    command.add_argument("--images", type=int, default=200, help="different ones")
    command.add_argument("--seconds", type=float, default=600, help="for all pairs, at most")


def add_side_by_side(commands: Commands, name: str, help_text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_text)
    command.add_argument("--loads", nargs="+", choices=LOADS, default=LOADS)
    command.add_argument("--images", type=int, default=25, help="in each block")
    command.add_argument("--pairs", type=int, default=12, help="of blocks, in each round")
    command.add_argument("--rounds", type=int, default=16, help="with servers started anew")
    command.add_argument("--seconds", type=float, default=400, help="in all, at most")
    return command


def run_side_by_side(arguments: argparse.Namespace, report: Report, folder: Path) -> None:
    plugin = arguments.plugin.resolve(strict=True)
    if arguments.command == "overhead":
        contestants = overhead.make_overhead_contestants(plugin)
    elif arguments.command == "noise":
        contestants = overhead.make_equal_contestants()
    elif arguments.probe_only:
        contestants = overhead.make_probe_only_contestants(plugin)
    else:
        contestants = overhead.make_probe_contestants(plugin)

    plan = side_by_side.Plan(arguments.images, arguments.pairs, arguments.rounds, arguments.seconds)
    loads = overhead.make_loads(IMAGES, arguments.images, arguments.loads)
    side_by_side.run(report, contestants, loads, folder, plan)


def run_stalls(arguments: argparse.Namespace, report: Report, folder: Path) -> None:
    settings = stalls.Settings(
        arguments.scenarios,
        arguments.images,
        arguments.senders,
        arguments.pairs,
        arguments.seconds,
        arguments.tls,
        arguments.dicom_rs,
        [program.resolve(strict=True) for program in arguments.orthanc or [ORTHANC]],
    )
    stalls.run(report, settings, arguments.plugin.resolve(strict=True), IMAGES, folder)


def run_transcoding(arguments: argparse.Namespace, report: Report, folder: Path) -> None:
    settings = transcoding.Settings(
        arguments.targets,
        arguments.engines,
        arguments.images,
        arguments.senders,
        arguments.rounds,
        arguments.seconds,
    )
    transcoding.run(report, settings, arguments.plugin.resolve(strict=True), IMAGES, folder)


def run_native_engine(arguments: argparse.Namespace, report: Report, folder: Path) -> None:
    plan = native_engine.Plan(
        arguments.images, arguments.rounds, arguments.milliseconds, arguments.seconds
    )
    native_engine.run(report, arguments.plugin.absolute().parent, IMAGES, folder, plan)


def run_dashboard(arguments: argparse.Namespace, report: Report, folder: Path) -> None:
    plan = dashboard.Plan(
        arguments.visits,
        arguments.pairs,
        arguments.phase_seconds,
        arguments.rate,
        arguments.images,
        arguments.seconds,
    )
    plugin = arguments.plugin.resolve(strict=True)
    dashboard.run(report, plugin, ROOT / "WebApp", IMAGES, folder, plan)


# The others run two servers side by side
BENCHMARKS = {
    "stalls": run_stalls,
    "transcoding": run_transcoding,
    "native-engine": run_native_engine,
    "dashboard": run_dashboard,
}


def main() -> None:
    # So that servers and folders go, too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    arguments = parse_arguments()
    hidden = ("command", "plugin", "output", "storage", "dicom_rs", "orthanc")
    options = {key: value for key, value in vars(arguments).items() if key not in hidden}
    report = Report(arguments.command, options)
    report.machine["Storage"] = describe_storage(arguments.storage)
    failure = None
    with tempfile.TemporaryDirectory(prefix="lab-", dir=arguments.storage) as folder:
        try:
            run = BENCHMARKS.get(arguments.command, run_side_by_side)
            run(arguments, report, Path(folder))
        except ClientError as error:
            failure = str(error)
    report.write(arguments.output)
    sys.exit(failure)


if __name__ == "__main__":
    main()
