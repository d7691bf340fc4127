# SPDX-License-Identifier: GPL-3.0-or-later
"""What an experiment found, as JSON: written whenever a cell has been measured."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Self

from lab.cells import Factors, Figure, Rounds
from lab.ratios import Comparison


class ResultError(ValueError):
    """A result is none, or not one that can be used here."""


CELL_KEYS = {
    "Factors": "factors",
    "Rounds": "rounds",
    "Declined": "declined",
    "Failure": "failure",
    "Note": "note",
    "Seconds": "seconds",
    "LoadAverage": "load",
    "IsComplete": "is_complete",
}
FIGURE_KEYS = ("Unit", "IsCompared", "IsDrawn")


@dataclass
class Cell:
    factors: Factors
    rounds: Rounds = field(default_factory=list)
    declined: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    note: str = ""
    seconds: float = 0  # that measuring took
    load: float = 0  # the machine's, at the end
    is_complete: bool = False

    def list_contestants(self) -> list[str]:
        """All who took part in any turn: in some they may have declined."""
        turns = [turn for turns in self.rounds for turn in turns]
        return list(dict.fromkeys(name for turn in turns for name in turn))

    def list_values(self, contestant: str, figure: str) -> list[float]:
        figures = [turn.get(contestant, {}) for turns in self.rounds for turn in turns]
        return [found[figure] for found in figures if figure in found]

    def forget(self) -> None:
        self.rounds, self.declined = [], {}
        self.failure = self.note = ""
        self.seconds, self.is_complete = 0, False

    def to_json(self) -> dict[str, Any]:
        document = {key: getattr(self, name) for key, name in CELL_KEYS.items()}
        return document | {"Seconds": round(self.seconds, 1)}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        return cls(**{name: document[key] for key, name in CELL_KEYS.items()})


@dataclass
class Results:
    """All cells of one run, where they were measured, and by which command.

    `fingerprints`: of what must be the same for a run to be gone on with, but is on no page. An
    older result has none.
    """

    experiment: str
    date: str
    command: str
    options: dict[str, Any]
    machine: dict[str, Any]
    figures: dict[str, Figure]
    cells: list[Cell] = field(default_factory=list)
    fingerprints: dict[str, str] = field(default_factory=dict)

    def find(self, factors: Factors) -> Cell:
        for cell in self.cells:
            if cell.factors == factors:
                return cell
        self.cells.append(Cell(factors))
        return self.cells[-1]

    def is_complete(self) -> bool:
        return all(cell.is_complete for cell in self.cells)

    def list_factors(self) -> list[str]:
        """Those in which cells differ."""
        names = list(dict.fromkeys(name for cell in self.cells for name in cell.factors))
        values = {name: {cell.factors.get(name) for cell in self.cells} for name in names}
        return [name for name in names if len(values[name]) > 1] or names[-1:]

    def get_constants(self) -> dict[str, str]:
        """The factors in which no cells differ."""
        factors = {name: it for cell in self.cells for name, it in cell.factors.items()}
        return {name: it for name, it in factors.items() if name not in self.list_factors()}

    def name_cell(self, cell: Cell) -> str:
        return ", ".join(cell.factors[name] for name in self.list_factors() if name in cell.factors)

    def compare(self, cell: Cell) -> Iterable[Comparison]:
        for figure, kind in self.figures.items():
            base, *others = cell.list_contestants() or [""]
            for other in others if kind.is_compared else []:
                if comparison := self.compare_two(cell, figure, base, other):
                    yield comparison

    def compare_two(self, cell: Cell, figure: str, a: str, b: str) -> Comparison | None:
        """Two contestants of a cell, or none where they have no turn in common."""
        pairs = [
            [
                (turn[a][figure], turn[b][figure])
                for turn in turns
                if turn.get(a, {}).get(figure) and figure in turn.get(b, {})
            ]
            for turns in cell.rounds
        ]
        pairs = [found for found in pairs if found]
        name, unit = self.name_cell(cell), self.figures[figure].unit
        return Comparison(name, figure, unit, a, b, pairs) if pairs else None

    def list_comparisons(self) -> list[Comparison]:
        return [found for cell in self.cells for found in self.compare(cell)]

    def list_differences(self, other: "Results") -> Iterator[tuple[str, str, object, object]]:
        """What else than time lies between two runs: its kind, its name, and both values."""
        for kind, a, b in (
            ("Option", self.options, other.options),
            ("Machine", self.machine, other.machine),
            ("Fingerprint", self.fingerprints, other.fingerprints),
            ("All cells", self.get_constants(), other.get_constants()),
        ):
            for name in a | b:
                if a.get(name) != b.get(name):
                    yield kind, name, a.get(name), b.get(name)

    def to_json(self) -> dict[str, Any]:
        return {
            "Benchmark": self.experiment,
            "Date": self.date,
            "Command": self.command,
            "Machine": self.machine,
            "Options": self.options,
            **({"Fingerprints": self.fingerprints} if self.fingerprints else {}),
            "IsComplete": self.is_complete(),
            "Figures": {
                name: dict(zip(FIGURE_KEYS, astuple(figure), strict=True))
                for name, figure in self.figures.items()
            },
            "Cells": [cell.to_json() for cell in self.cells],
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        return cls(
            document["Benchmark"],
            document["Date"],
            document["Command"],
            document["Options"],
            document["Machine"],
            {
                name: Figure(*(figure[key] for key in FIGURE_KEYS))
                for name, figure in document["Figures"].items()
            },
            [Cell.from_json(cell) for cell in document["Cells"]],
            document.get("Fingerprints", {}),
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ResultError for what this lab has not written."""
        try:
            return cls.from_json(json.loads(path.read_text("utf-8")))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ResultError(f"{path} is no result of this lab: {error!r}") from error

    def write(self, path: Path) -> None:
        """At once or not at all: whoever interrupts it finds what was there before."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
        partial.replace(path)
