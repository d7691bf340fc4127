# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab measures: the cells of a grid, in each of which contestants take turns."""

import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lab.options import Option

Entered = TypeVar("Entered")

# What tells a cell from the others of its experiment, such as {"Sender": "storescu"}
Factors = dict[str, str]

# What one contestant showed in one turn, by the names of its experiment's figures
Figures = dict[str, float]

# All contestants of a cell, one after the other
Turn = dict[str, Figures]

# Between rounds, all processes are started anew
Rounds = list[list[Turn]]


@dataclass(frozen=True)
class Figure:
    """`is_compared`: relative to the first contestant, too. `is_drawn`: in a chart of all cells."""

    unit: str
    is_compared: bool = True
    is_drawn: bool = True


# Those who are measured, by their names; each raises ClientError where anything is lost
Contestants = dict[str, Callable[[], Figures]]


@dataclass(frozen=True)
class Entry:
    """Who takes part in a cell; the others are relative to the first. And who does not, and why."""

    contestants: Contestants
    declined: dict[str, str] = field(default_factory=dict)


# Makes all ready for a cell, and warms up what needs it: none of that is measured
Bench = Callable[[Factors], Entry]


# What is computed over all cells, as lines of Markdown: of the Results, and the Charts of the page,
# which get those of its own
Answer = Callable[[Any, Any], list[str]]


@dataclass(frozen=True)
class Room:
    """For the processes of one round, by its number: a folder, and a stack that ends them."""

    folder: Path
    number: int
    stack: ExitStack

    def enter(self, manager: AbstractContextManager[Entered]) -> Entered:
        return self.stack.enter_context(manager)


@dataclass(frozen=True)
class Stage:
    """Cells that share their processes, which `open` starts anew for each round.

    Each cell gets so many rounds of so many turns, and no turn begins after so many seconds, but
    one there is. A round goes on as long as its turns are in doubt, for as many as `most_turns`.
    `note` says in words what a cell's figures tell.
    """

    cells: list[Factors]
    open: Callable[[Room], Bench]
    turns: int
    seconds: float
    rounds: int = 1
    note: Callable[[Factors, Rounds], str] = lambda *_: ""
    is_in_doubt: Callable[[list[Turn]], bool] = lambda _: False
    most_turns: int = 0


@dataclass(frozen=True)
class Experiment:
    """One question that the lab answers.

    `facts` are versions and the like of what takes part beside Orthanc, the plugin and DCMTK. Where
    not `is_local`, neither a plugin nor a storage of here is measured. An incomplete run that
    `goes_on` does so by itself, others by --resume only.
    """

    question: str
    options: list[Option]
    make_stages: Callable[[Namespace], list[Stage]]
    figures: dict[str, Figure]
    storage: Path | None = None  # other than in memory
    answer: Answer = lambda *_: []
    is_local: bool = True
    goes_on: bool = True
    facts: Callable[[Namespace], dict[str, str]] = lambda _: {}


def take_turns(
    contestants: Contestants, stage: Stage, seconds: float, number: int = 0
) -> list[Turn]:
    """A B C, C B A, A B C, …, in odd rounds the other way round: drift cancels out."""
    deadline = time.monotonic() + seconds
    found: list[Turn] = []
    while len(found) < stage.turns or (len(found) < stage.most_turns and stage.is_in_doubt(found)):
        if found and time.monotonic() >= deadline:
            break
        names = list(contestants)
        order = names if (number + len(found)) % 2 == 0 else names[::-1]
        measured = {name: contestants[name]() for name in order}
        found.append({name: measured[name] for name in names})
    return found
