# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts as SVG: a row for each cell, a dot for each contestant's median, a line for its range."""

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt

from lab.results import Cell, Results

# The same result makes the same file; text stays text
SETTINGS = {"svg.hashsalt": "lab", "svg.fonttype": "none", "font.size": 9}
WIDTH = 9.0  # inches
ROW = 0.22  # for each contestant
MOST_CELLS = 40  # a chart of more is not read
COLOURS = 10  # of matplotlib, before they come again: then with another mark
MARKS = "osD^v"
LOGARITHMIC_FROM = 10  # so many times the smallest value

Draw = Callable[[Path], None]
Values = dict[tuple[int, str], list[float]]  # by the number of a cell, and a contestant


class Charts:
    """The charts of a page. Drawing takes a second or so: only those are drawn that it shows."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._draw: dict[str, Draw] = {}

    def add(self, kind: str, draw: Draw) -> str:
        """The name of its file, NAME-KIND.svg, which is not there yet."""
        file = f"{self._name}-{kind}.svg"
        self._draw[file] = draw
        return file

    def write(self, folder: Path, files: Container[str] | None = None) -> list[Path]:
        paths = [folder / file for file in self._draw if files is None or file in files]
        for path in paths:
            self._draw[path.name](path)
        return paths


def list_measured(results: Results) -> list[Cell]:
    return [cell for cell in results.cells if cell.rounds]


def find_values(cells: list[Cell], figure: str) -> Values:
    return {
        (number, name): found
        for number, cell in enumerate(cells)
        for name in cell.list_contestants()
        if (found := cell.list_values(name, figure))
    }


def can_be_drawn(results: Results, figure: str) -> bool:
    cells = list_measured(results)
    return bool(find_values(cells, figure)) and len(cells) <= MOST_CELLS


@contextmanager
def draw_chart(path: Path, height: float) -> Iterator[tuple[plt.Figure, plt.Axes]]:
    with mpl.rc_context(SETTINGS):
        chart, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        yield chart, axes
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def draw(results: Results, figure: str, path: Path) -> None:
    cells = list_measured(results)
    names = list(dict.fromkeys(name for cell in cells for name in cell.list_contestants()))
    values = find_values(cells, figure)
    with draw_chart(path, 1.2 + ROW * len(cells) * (len(names) + 1)) as (chart, axes):
        for index, name in enumerate(names):
            offset = (index + 0.5) / len(names) * 0.8 - 0.4
            rows = {number: found for (number, who), found in values.items() if who == name}
            middles = [median(found) for found in rows.values()]
            spans = list(zip(middles, rows.values(), strict=True))
            low = [middle - min(found) for middle, found in spans]
            high = [max(found) - middle for middle, found in spans]
            places = [number + offset for number in rows]
            mark = MARKS[index // COLOURS % len(MARKS)]
            axes.errorbar(middles, places, xerr=(low, high), fmt=mark, label=name, capsize=2, ms=5)
        axes.set_yticks(range(len(cells)), [results.name_cell(cell) for cell in cells])
        for number in range(len(cells) - 1):
            axes.axhline(number + 0.5, color="0.9")
        axes.set_ylim(len(cells) - 0.5, -0.5)
        flat = [value for found in values.values() for value in found]
        if min(flat) > 0 and max(flat) >= LOGARITHMIC_FROM * min(flat):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        else:
            axes.set_xlim(left=0)
        axes.set_xlabel(f"{figure}, {results.figures[figure].unit}: median and range")
        axes.set_title(f"{results.experiment}, {results.date}")
        axes.grid(axis="x", alpha=0.3)
        chart.legend(loc="outside lower center", ncols=3)
