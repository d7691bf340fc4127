# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the cells that are missing, keeps each as soon as it is there, and says how long still.

Whoever interrupts it (Ctrl-C, SIGTERM, a terminal that closes) keeps what was measured: all
processes are ended, and the same command goes on.
"""

import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lab.cells import Bench, Room, Stage, take_turns
from lab.machine import get_load
from lab.places import hide_places
from lab.processes import ClientError
from lab.report import describe_cell
from lab.results import Cell, Results

A_DAY = 86_400  # seconds: all of a run tells how long the rest takes
LONGEST_FAILURE = 600  # characters: a server's log would be its whole life


class Interrupted(BaseException):
    """Somebody wishes it to end."""


class _Interruption:
    """A signal that came, and whether it has to wait."""

    is_held = False
    has_come = False


@contextmanager
def interruptible() -> Iterator[None]:
    """The first signal raises Interrupted; later ones don't disturb what ends the processes."""
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for kind in kinds:
            signal.signal(kind, signal.SIG_IGN)
        if not _Interruption.is_held:
            raise Interrupted
        _Interruption.has_come = True

    before = {kind: signal.signal(kind, interrupt) for kind in kinds}
    try:
        yield
    finally:
        _Interruption.has_come = False
        for kind, handler in before.items():
            signal.signal(kind, handler)


class Unhurried(ExitStack):
    """No signal disturbs its end: all that was started has ended then."""

    def __exit__(self, *details: Any) -> bool | None:  # noqa: ANN401
        _Interruption.is_held = True
        try:
            return super().__exit__(*details)
        finally:
            _Interruption.is_held = False
            if _Interruption.has_come:
                raise Interrupted


def describe_failure(error: Exception, storage: Path) -> str:
    """In one line, which ends with what was said last."""
    text = " ".join(str(error).split())
    if not isinstance(error, ClientError):
        text = f"{type(error).__name__}: {text}"
    text = hide_places(text, storage)
    if len(text) > LONGEST_FAILURE:
        half = LONGEST_FAILURE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text


class Runner:
    """One run of an experiment into one file; what failed in an earlier one is measured anew."""

    def __init__(
        self, stages: list[Stage], results: Results, path: Path, storage: Path, console: Console
    ) -> None:
        self._stages = stages
        self._results = results
        self._path = path
        self._storage = storage
        self._console = console
        for cell in results.cells:
            if cell.failure:
                cell.forget()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            speed_estimate_period=A_DAY,
        )
        rounds = sum(stage.rounds for stage in stages for _ in stage.cells)
        self._task = self._progress.add_task("", total=rounds, completed=self._count_done())

    def run(self) -> None:
        """All that was measured is in the file also if something, or somebody, ends it."""
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
                self._run_round(stage, number, missing)

    def _run_round(self, stage: Stage, number: int, cells: list[Cell]) -> None:
        """Whatever happens in a cell is its own failure; what servers do at their end, is all's."""
        try:
            with Unhurried() as stack:
                folder = TemporaryDirectory(prefix="lab-", dir=self._storage)
                bench = stage.open(Room(Path(stack.enter_context(folder)), number, stack))
                for cell in cells:
                    self._show(cell)
                    self._measure(stage, bench, cell, number)
                    self._keep(stage, cell)
        except Exception as error:
            for cell in cells:
                self._fail(cell, error)
                self._keep(stage, cell)

    def _measure(self, stage: Stage, bench: Bench, cell: Cell, number: int) -> None:
        begin = time.monotonic()
        try:
            entry = bench(cell.factors)
            cell.declined = entry.declined
            if entry.contestants:
                limit = stage.seconds - cell.seconds
                cell.rounds.append(take_turns(entry.contestants, stage, limit, number))
        except Exception as error:
            self._fail(cell, error)
        cell.seconds += time.monotonic() - begin

    def _fail(self, cell: Cell, error: Exception) -> None:
        failure = describe_failure(error, self._storage)
        cell.failure = f"{cell.failure}; {failure}" if cell.failure else failure
        if not isinstance(error, ClientError):
            traceback.print_exception(error)  # to be looked for in the lab, or in what it uses

    def _keep(self, stage: Stage, cell: Cell) -> None:
        is_last = len(cell.rounds) >= stage.rounds or cell.seconds >= stage.seconds
        cell.is_complete = not cell.failure and (is_last or not cell.rounds)
        cell.note = stage.note(cell.factors, cell.rounds) if cell.rounds else ""
        cell.load = get_load()
        self._results.write(self._path)
        if cell.is_complete or cell.failure:
            done = sum(cell.is_complete for cell in self._results.cells)
            name = self._results.name_cell(cell)
            head = f"[{done} of {len(self._results.cells)}] {name}:"
            for line in describe_cell(self._results, cell):
                self._console.print(head, line, markup=False, highlight=False, soft_wrap=True)
        self._show(cell)

    def _show(self, cell: Cell) -> None:
        name, done = self._results.name_cell(cell), self._count_done()
        self._progress.update(self._task, completed=done, description=name)

    def _count_done(self) -> int:
        """Rounds of all cells, also those that an ended cell does without."""
        return sum(
            stage.rounds if cell.is_complete or cell.failure else len(cell.rounds)
            for stage in self._stages
            for cell in map(self._results.find, stage.cells)
        )
