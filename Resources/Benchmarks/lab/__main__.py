# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's command line: python -m lab --help."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from harness.orthanc import ORTHANC
from lab import (
    compare,
    dashboard,
    dcmtk_sockets,
    ingest,
    machine,
    overhead,
    own,
    peers,
    retrieve,
    scale,
    stalls,
    transcode,
    transcoding,
    wan,
)
from lab.cells import Experiment, Stage
from lab.charts import Charts
from lab.options import ROOT
from lab.pages import fill, keep
from lab.places import hide_path, hide_words, identify_path
from lab.processes import ClientError, adopt_orphans, end_children, forget_switches
from lab.report import write_report
from lab.results import Cell, ResultError, Results
from lab.runner import Interrupted, Runner, interruptible

# A file system in memory keeps the disk's noise out, and makes the plugin's share the largest
IN_MEMORY = Path("/dev/shm")

EXPERIMENTS: dict[str, Experiment] = {
    "overhead": overhead.OVERHEAD,
    "noise": overhead.NOISE,
    "cost-of-probe": overhead.COST_OF_PROBE,
    "stalls": stalls.EXPERIMENT,
    "transcoding": transcoding.EXPERIMENT,
    "transcode": transcode.EXPERIMENT,
    "ingest": ingest.EXPERIMENT,
    "peers": peers.EXPERIMENT,
    "retrieve": retrieve.EXPERIMENT,
    "wan": wan.EXPERIMENT,
    "dcmtk-sockets": dcmtk_sockets.EXPERIMENT,
    "dashboard": dashboard.EXPERIMENT,
    "scale": scale.EXPERIMENT,
    "own": own.EXPERIMENT,
}

# Where, not what: a run may go on with others, if their fingerprints are the same
PLACES = (
    *("command", "plugin", "output", "storage", "resume", "quick", "disk"),
    *("user", "password_file", "headers", "cacert", "yes", "no_limit"),
)

OTHER_ORTHANC = "PERF_ORTHANC"  # of the harness


def make_common(is_default: bool, is_local: bool = True) -> argparse.ArgumentParser:
    """Options before the experiment, or after it without defaults; `is_local`: also servers'."""
    common = argparse.ArgumentParser(add_help=False)
    plugin = Path(os.environ.get("PERF_PLUGIN", ROOT / "build" / "libOrthancPerf.so"))
    for option, default, text in (
        ("--plugin", plugin, "libOrthancPerf.so"),
        ("--output", ROOT / "build" / "benchmarks", "folder for JSON, Markdown and charts"),
        ("--storage", None, "where the servers keep their images; by itself mostly in memory"),
    ):
        is_told = is_local or option == "--output"
        chosen = default if is_default else argparse.SUPPRESS
        shown = text if is_told else argparse.SUPPRESS
        common.add_argument(option, type=Path, default=chosen, help=shown)
    return common


def make_parser(is_quick: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.sh",
        description="Speeds of a real Orthanc: ratios of what was measured in turn.",
        parents=[make_common(is_default=True)],
        allow_abbrev=False,
    )
    # What is shortened would be in a result as if it were something else
    exact = partial(argparse.ArgumentParser, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=exact)
    for name, experiment in EXPERIMENTS.items():
        common = make_common(is_default=False, is_local=experiment.is_local)
        command = commands.add_parser(name, help=experiment.question, parents=[common])
        command.add_argument("--quick", action="store_true", help="two minutes at most")
        command.add_argument("--resume", type=Path, help="goes on with this interrupted run")
        for option in experiment.options:
            option.add_to(command, is_quick)

    report = commands.add_parser("report", help="Markdown and charts from a JSON, beside it")
    report.add_argument("results", type=Path, help="a JSON, or a page (.md) to be made anew")
    report.add_argument("--output", type=Path, help="another folder")
    command = commands.add_parser("keep", help="a JSON for a page, smaller, under another name")
    command.add_argument("results", type=Path)
    command.add_argument("target", type=Path)
    command = commands.add_parser("compare", help="two JSON side by side: what differs")
    command.add_argument("a", type=Path)
    command.add_argument("b", type=Path)
    return parser


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    arguments = make_parser(is_quick=False).parse_args(words)
    if "quick" in arguments and arguments.quick:
        # The short form has other defaults; what was asked for in words stays
        return make_parser(is_quick=True).parse_args(words)
    return arguments


def tell_need(words: Sequence[str]) -> None:
    """For run.sh: "all" that it installs and builds, or no more than a client."""
    experiment = EXPERIMENTS.get(parse_arguments(words).command)
    print("all" if experiment and experiment.is_local else "client")


def describe_here(arguments: argparse.Namespace, storage: Path) -> dict[str, object]:
    experiment = EXPERIMENTS[arguments.command]
    if not experiment.is_local:
        facts = {"Client": "this machine", **machine.describe_machine()}
        return {key: fact for key, fact in facts.items() if key != "Orthanc"}
    return {
        **machine.describe_machine(),
        "Storage": machine.describe_storage(storage),
        "Plugin": machine.describe_plugin(arguments.plugin),
        **experiment.facts(arguments),
    }


def take_fingerprints(arguments: argparse.Namespace, storage: Path) -> dict[str, str]:
    """What no version tells, and no option."""
    prints = {"the lab's code": machine.fingerprint_lab()}
    if not EXPERIMENTS[arguments.command].is_local:
        return prints
    programs = vars(arguments).get("orthanc") or [ORTHANC]
    prints["Orthanc's file"] = ", ".join(map(machine.fingerprint_program, programs))
    prints["--storage"] = machine.fingerprint_place(storage)
    if "disk" in arguments:
        prints["--disk"] = machine.fingerprint_place(arguments.disk)
    return prints


def describe_command(words: Sequence[str]) -> str:
    """The one that repeats this run, from the project's folder."""
    command = ["Resources/Benchmarks/run.sh", *hide_words(words)]
    if OTHER_ORTHANC in os.environ:
        command.insert(0, f"{OTHER_ORTHANC}={hide_path(Path(os.environ[OTHER_ORTHANC]))}")
    return shlex.join(command)


def to_json(option: object) -> object:
    if isinstance(option, list):
        return [to_json(value) for value in option]
    return identify_path(option) if isinstance(option, Path) else option


def start(arguments: argparse.Namespace, storage: Path, stages: Sequence[Stage]) -> Results:
    """A run in which nothing is measured yet."""
    return Results(
        arguments.command,
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        describe_command(sys.argv[1:]),
        {key: to_json(value) for key, value in vars(arguments).items() if key not in PLACES},
        describe_here(arguments, storage),
        EXPERIMENTS[arguments.command].figures,
        [Cell(factors) for stage in stages for factors in stage.cells],
        take_fingerprints(arguments, storage),
    )


def find_difference(old: Results, new: Results) -> str:
    """Why the old run cannot be gone on with, or nothing."""
    if old.experiment != new.experiment:
        return f"it is of {old.experiment}"
    for kind, name, before, now in old.list_differences(new):
        return f"its {kind.lower()} {name} was {before}, and is {now} now"
    if [cell.factors for cell in old.cells] != [cell.factors for cell in new.cells]:
        return "its cells are others"
    return ""


def choose(
    arguments: argparse.Namespace, new: Results, path: Path, goes_on: bool = True
) -> Results:
    """The run to go on with, or the new one; --resume names it unless it `goes_on` by itself."""
    if arguments.resume is not None:
        old = Results.read(arguments.resume)
        difference = find_difference(old, new)
        if difference:
            raise ResultError(f"{arguments.resume} cannot be gone on with: {difference}")
        return old
    if path.exists():
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        kept = path.with_name(f"{path.stem}-{moment:%Y%m%d-%H%M%S}.json")
        try:
            old = Results.read(path)
            obstacle = "it is complete" if old.is_complete() else find_difference(old, new)
            if not obstacle and not goes_on:
                obstacle = f"--resume {kept} goes on with it"
        except ResultError as error:
            obstacle = str(error)
        if not obstacle:
            print(f"Goes on with {path}", flush=True)
            return old
        path.replace(kept)
        print(f"{path.name} of before is {kept.name} now: {obstacle}", flush=True)
    return new


def run(arguments: argparse.Namespace) -> str | int | None:
    experiment = EXPERIMENTS[arguments.command]
    storage = arguments.storage or experiment.storage or IN_MEMORY
    storage.mkdir(parents=True, exist_ok=True)
    path = arguments.resume or arguments.output / f"{arguments.command}.json"
    console = Console()
    results = None
    adopt_orphans()
    try:
        with interruptible():
            stages = experiment.make_stages(arguments)
            new = start(arguments, storage, stages)
            results = choose(arguments, new, path, experiment.goes_on)
            Runner(stages, results, path, storage, console).run()
    except Interrupted:
        if results is None:
            print("\nEnded. Nothing was measured.")
            return 130
        needs = "" if experiment.goes_on or arguments.resume else f" with --resume {path}"
        print(f"\nEnded. What was measured is in {path}. The same command{needs} goes on.")
        print(f"The page of what there is: run.sh report {path}")
        return 130
    finally:
        end_children()
    pages = write_report(results, path.parent, path.stem, answer)
    print(f"\n{pages[0].read_text('utf-8')}\nWritten: {path}, {', '.join(map(str, pages))}")
    failures = [
        f"{results.name_cell(cell)}: {cell.failure}" for cell in results.cells if cell.failure
    ]
    return "\n".join(failures) or None


def answer(results: Results, charts: Charts) -> list[str]:
    experiment = EXPERIMENTS.get(results.experiment)
    return experiment.answer(results, charts) if experiment else []


def make_report(path: Path, folder: Path) -> list[Path]:
    if path.suffix == ".md":
        return fill(path, answer)
    return write_report(Results.read(path), folder, path.stem, answer)


def main() -> None:
    arguments = parse_arguments(sys.argv[1:])
    forget_switches()
    try:
        if arguments.command == "report":
            path = arguments.results
            print(*make_report(path, arguments.output or path.parent), sep="\n")
        elif arguments.command == "keep":
            keep(arguments.results, arguments.target)
        elif arguments.command == "compare":
            print(compare.compare(Results.read(arguments.a), Results.read(arguments.b)))
        else:
            if EXPERIMENTS[arguments.command].is_local:
                arguments.plugin = arguments.plugin.resolve(strict=True)
            sys.exit(run(arguments))
    except (ResultError, ClientError) as error:
        sys.exit(f"lab: {error}")


if __name__ == "__main__":
    main()
