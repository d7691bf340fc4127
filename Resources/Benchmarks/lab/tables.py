# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that an experiment's page has beside those of all pages, and their charts.

    Table("Speed by distance", "Mb/s", place_trip, chart="round trip, ms")

`place` names row and column of a cell's contestant, or leaves it out. Where columns begin with
numbers, such as "50 ms", a chart can show each row as a line.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.ticker import LogLocator, NullFormatter

from lab.cells import Answer, Factors, Figures
from lab.charts import COLOURS, MARKS, Charts, draw_chart
from lab.report import format_number, format_table, format_values
from lab.results import Cell, Results

# By the run's options, the cell's factors, and the contestant
Place = Callable[[Mapping[str, Any], Factors, str], tuple[str, str] | None]

# Of each turn, by the columns of each row
Rows = dict[str, dict[str, list[float]]]

STYLES = ("-", ":", "--", "-.")
PANEL_HEIGHT = 5.0  # inches


@dataclass(frozen=True)
class Table:
    """`value` is a turn's figure; `convert` makes what is shown of the median.

    `published` rows come after those that begin with their names. `chart` names the first axis.
    """

    heading: str
    unit: str
    place: Place
    value: Callable[[Figures], float | None] = lambda figures: figures.get("speed")
    convert: Callable[[Factors, float], float] | None = None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    publisher: str = ""
    has_ranges: bool = False
    chart: str = ""

    def show(self, results: Results, charts: Charts) -> list[str]:
        rows = self._find_rows(results)
        if not rows:
            return []
        columns = list_columns(rows)
        lines = [f"### {self.heading}", ""]
        if self.chart and len(list_places(columns)) > 1:
            kind = re.sub(r"\W+", "-", self.heading.lower())
            file = charts.add(kind, partial(self._draw, rows, results))
            lines += [f"![{self.heading}]({file})", ""]
        return lines + format_table([self.unit, *columns], self._list_lines(rows, columns))

    def _find_rows(self, results: Results) -> Rows:
        """Those that begin alike together, as they were measured."""
        rows: Rows = {}
        for cell in results.cells:
            for name in cell.list_contestants():
                place = self.place(results.options, cell.factors, name)
                if place and (values := self._list_values(cell, name)):
                    rows.setdefault(place[0], {})[place[1]] = values
        groups = list(dict.fromkeys(map(name_group, rows)))
        return {
            row: rows[row] for row in sorted(rows, key=lambda row: groups.index(name_group(row)))
        }

    def _list_values(self, cell: Cell, name: str) -> list[float]:
        turns = [turn[name] for turns in cell.rounds for turn in turns if name in turn]
        values = [found for turn in turns if (found := self.value(turn)) is not None]
        return [self.convert(cell.factors, median(values))] if self.convert and values else values

    def _list_lines(self, rows: Rows, columns: Sequence[str]) -> Iterable[list[str]]:
        names = list(rows)
        for row, after in zip(names, [*names[1:], ""], strict=True):
            show = format_values if self.has_ranges else lambda found: format_number(median(found))
            found = [rows[row].get(column) for column in columns]
            yield [row, *(show(values) if values else "" for values in found)]
            for name, figures in self.published.items():
                if belongs(row, name) and not belongs(after, name):
                    texts = [f"*{figures[it]:g}*" if it in figures else "" for it in columns]
                    yield [f"{name}, *{self.publisher}*", *texts]

    def _draw(self, rows: Rows, results: Results, path: Path) -> None:
        """A colour for each group of rows, a style for each row in it; published ones are stars."""
        groups = list(dict.fromkeys(map(name_group, rows)))
        seen = dict.fromkeys(groups, 0)
        with draw_chart(path, PANEL_HEIGHT + 0.11 * len(rows)) as (chart, axes):
            for row, figures in rows.items():
                group, number = groups.index(name_group(row)), seen[name_group(row)]
                seen[name_group(row)] += 1
                points = list_places({name: median(values) for name, values in figures.items()})
                style = {"ls": STYLES[number % 4], "marker": MARKS[group // COLOURS % len(MARKS)]}
                colour = f"C{group % COLOURS}"
                if points:
                    axes.plot(*zip(*points, strict=True), color=colour, ms=4, label=row, **style)
            for name, figures in self.published.items():
                if points := list_places(figures) if name_group(name) in groups else []:
                    colour = f"C{groups.index(name_group(name)) % COLOURS}"
                    label = f"{name}, {self.publisher}"
                    axes.plot(*zip(*points, strict=True), "*", color=colour, ms=8, label=label)
            axes.set_xscale("log")
            axes.set_yscale("log")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axis.set_major_formatter("{x:,.7g}")
                axis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(self.chart)
            axes.set_ylabel(f"{self.unit}: median")
            axes.set_title(f"{results.experiment}, {results.date}")
            axes.grid(alpha=0.3)
            chart.legend(loc="outside lower center", ncols=2, fontsize=7, handlelength=4)


def name_group(row: str) -> str:
    return re.split("[,;] ", row)[0]


def belongs(row: str, name: str) -> bool:
    return row == name or row.startswith(f"{name}, ")


def read_number(column: str) -> float | None:
    try:
        return float(column.split()[0])
    except ValueError:
        return None


def list_columns(rows: Rows) -> list[str]:
    """Those that begin with numbers last, in their order."""
    columns = dict.fromkeys(column for row in rows.values() for column in row)
    return sorted(columns, key=lambda column: -1 if (it := read_number(column)) is None else it)


def list_places(columns: Iterable[str] | Mapping[str, float]) -> list[tuple[float, float]]:
    figures = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, 0.0)
    return sorted(
        (number, figure)
        for column, figure in figures.items()
        if (number := read_number(column)) is not None
    )


def show(tables: Sequence[Table]) -> Answer:
    return lambda results, charts: [line for it in tables for line in it.show(results, charts)]
