# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs of fuzz targets were like: a line each, by the part "fuzz" of run-tests.sh."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.tables import fill_table, make_rows

HEAD = ["target", "begin", "seconds", "processor", "runs", "coverage", "crashes", "commit"]


@dataclass(frozen=True, order=True)
class FuzzRun:
    """The begin is a time (UTC); seconds are the clock's; processor is 0 if it was not counted."""

    target: str
    begin: str
    seconds: int
    processor: int
    runs: int
    coverage: int
    crashes: int
    commit: str


def read_runs(path: Path) -> set[FuzzRun]:
    head, *lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    if head != HEAD:
        raise ValueError(f"{path} begins with other columns than {HEAD}")
    return {FuzzRun(line[0], line[1], *map(int, line[2:7]), line[7]) for line in lines}


def write_runs(path: Path, runs: Iterable[FuzzRun]) -> None:
    lines = [HEAD, *([str(getattr(run, name)) for name in HEAD] for run in sorted(runs))]
    path.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")


def format_duration(seconds: int) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"


def fill_page(text: str, runs: Iterable[FuzzRun]) -> str:
    heads = ["program", "time in all", "of a processor", "inputs tried", "coverage", "crashes"]
    by_target: dict[str, list[FuzzRun]] = {}
    for run in sorted(runs):
        by_target.setdefault(run.target, []).append(run)
    rows = [
        [
            f"`{target}`",
            format_duration(sum(run.seconds for run in all_runs)),
            format_duration(sum(run.processor for run in all_runs)),
            f"{sum(run.runs for run in all_runs):,}",
            f"{all_runs[-1].coverage:,}",
            str(sum(run.crashes for run in all_runs)),
            f"{all_runs[-1].begin[:10]}, {all_runs[-1].commit}",
        ]
        for target, all_runs in by_target.items()
    ]
    return fill_table(text, "fuzzing", make_rows([*heads, "last run"], rows))
