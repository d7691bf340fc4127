# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cells that are missing, keeps each as soon as it is there, and says how long still.

Whoever interrupts it (Ctrl-C, SIGTERM, a terminal that closes) keeps what was measured: all
processes are ended, and the same command goes on.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from lab.cells import Bench, Stage, take_turns
from lab.machine import get_load
from lab.processes import ClientError
from lab.report import describe_cell
from lab.results import Cell, Results


class Interrupted(BaseException):
    """Somebody wishes it to end."""


@contextmanager
def interruptible() -> Iterator[None]:
    """The first signal raises Interrupted; later ones don't disturb what ends the processes."""
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for kind in kinds:
            signal.signal(kind, signal.SIG_IGN)
        raise Interrupted

    before = {kind: signal.signal(kind, interrupt) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


class Clock:
    """How long the rest will take: as long for each turn as those before, within their limit."""

    def __init__(self, stages: list[Stage], results: Results) -> None:
        self._begin = time.monotonic()
        self._done = 0
        self.left = {
            id(cell): (stage.turns * (stage.rounds - len(cell.rounds)), stage.seconds)
            for stage in stages
            for cell in map(results.find, stage.cells)
            if not cell.is_complete
        }
        self.total = sum(turns for turns, _ in self.left.values())

    def count_turn(self, cell: Cell) -> None:
        self._done += 1
        turns, seconds = self.left[id(cell)]
        self.left[id(cell)] = (max(0, turns - 1), seconds)

    def finish(self, cell: Cell) -> None:
        self.left.pop(id(cell), None)

    def count_done(self) -> int:
        return self.total - sum(turns for turns, _ in self.left.values())

    def describe(self) -> str:
        if self._done == 0:
            return ""
        each = (time.monotonic() - self._begin) / self._done
        seconds = sum(min(turns * each, limit + each) for turns, limit in self.left.values())
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


class Runner:
    """One run of an experiment into one file."""

    def __init__(
        self, stages: list[Stage], results: Results, path: Path, storage: Path, console: Console
    ) -> None:
        self._stages = stages
        self._results = results
        self._path = path
        self._storage = storage
        self._console = console
        self._clock = Clock(stages, results)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=max(1, self._clock.total), left="")

    def run(self) -> None:
        """All that was measured is in the file also if something, or somebody, ends it."""
        for cell in self._results.cells:
            cell.failure = ""
        with self._progress:
            try:
                for stage in self._stages:
                    self._run_stage(stage)
            finally:
                self._results.write(self._path)

    def _run_stage(self, stage: Stage) -> None:
        for number in range(stage.rounds):
            cells = [self._results.find(factors) for factors in stage.cells]
            missing = [
                cell
                for cell in cells
                if not (cell.is_complete or cell.failure) and len(cell.rounds) <= number
            ]
            if missing:
                with (
                    TemporaryDirectory(prefix="lab-", dir=self._storage) as folder,
                    stage.open(Path(folder), number) as bench,
                ):
                    for cell in missing:
                        self._show(cell)
                        self._measure(stage, bench, cell)
                        self._keep(stage, cell)

    def _measure(self, stage: Stage, bench: Bench, cell: Cell) -> None:
        begin = time.monotonic()
        try:
            entry = bench(cell.factors)
            cell.declined = entry.declined
            if entry.contestants:
                limit = stage.seconds - cell.seconds
                cell.rounds.append(
                    take_turns(
                        entry.contestants, stage.turns, limit, partial(self._count_turn, cell)
                    )
                )
        except ClientError as error:
            cell.failure = " ".join(str(error).split())
        cell.seconds += time.monotonic() - begin

    def _keep(self, stage: Stage, cell: Cell) -> None:
        is_last = len(cell.rounds) >= stage.rounds or cell.seconds >= stage.seconds
        cell.is_complete = not cell.failure and (is_last or not cell.rounds)
        cell.note = stage.note(cell.factors, cell.rounds) if cell.rounds else ""
        cell.load = get_load()
        self._results.write(self._path)
        if cell.is_complete or cell.failure:
            self._clock.finish(cell)
            done = sum(cell.is_complete for cell in self._results.cells)
            head = f"[{done} of {len(self._results.cells)}, {self._clock.describe()}]"
            for line in describe_cell(self._results, cell):
                self._console.print(head, line, markup=False, highlight=False, soft_wrap=True)
        self._show(cell)

    def _count_turn(self, cell: Cell) -> None:
        self._clock.count_turn(cell)
        self._show(cell)

    def _show(self, cell: Cell) -> None:
        self._progress.update(
            self._task,
            completed=self._clock.count_done(),
            description=self._results.name_cell(cell),
            left=self._clock.describe(),
        )
