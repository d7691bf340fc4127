# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of an image goes in Orthanc, by the plugin's own account, beside each figure.

The phases of a turn stand among its figures, in ms an image; the page has a table and a chart.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from matplotlib import pyplot as plt

from lab.cells import Figures
from lab.charts import ROW, Charts, draw_chart
from lab.report import format_number, format_table
from lab.results import Cell, Results

# As /perf/instances names them, in their order
PHASES = [
    *("Idle", "Receive", "Parse", "Transcode", "Prepare"),
    *("Storage", "Sync", "Remote", "Index", "Database", "Commit", "Respond"),
]
PAUSE = "Idle"  # the sender's, before an image

# What no phase holds: programs that start, associations that are made
REST = "rest"

# "Paired" has as many as there are phases
COLOURS = {
    phase: "0.88" if phase == PAUSE else plt.get_cmap("Paired")(number)
    for number, phase in enumerate(PHASES)
} | {REST: "0.94"}

# Parts of others: of the first of these that was seen. Where storage and index cannot be told
# apart, both are "Commit"; of several instances, some may have the one and some the other.
INSIDE = {"Sync": ("Storage",), "Remote": ("Storage",), "Database": ("Index", "Commit")}
PREFIX = "phase "
HEADING = "Where the time of an instance went"

Row = tuple[Cell, str]  # and a contestant of it


def average_phases(instances: Sequence[dict[str, Any]]) -> Figures:
    """Of what /perf/instances says; a phase that none of them had is absent."""
    return {
        PREFIX + phase: 1000 * fmean(instance["Phases"].get(phase, 0) for instance in instances)
        for phase in PHASES
        if any(phase in instance["Phases"] for instance in instances)
    }


def share_phases(sums: dict[str, float], instances: int) -> Figures:
    return {PREFIX + phase: 1000 * sums[phase] / instances for phase in PHASES if phase in sums}


def find_medians(cell: Cell, contestant: str) -> dict[str, float]:
    values = {phase: cell.list_values(contestant, PREFIX + phase) for phase in PHASES}
    return {phase: median(found) for phase, found in values.items() if found}


def list_rows(cells: Iterable[Cell]) -> list[Row]:
    return [
        (cell, contestant)
        for cell in cells
        for contestant in cell.list_contestants()
        if find_medians(cell, contestant)
    ]


def separate(phases: dict[str, float]) -> dict[str, float]:
    """None is inside another: what syncing takes is not in what storing takes."""
    alone = dict(phases)
    for part, wholes in INSIDE.items():
        left = phases.get(part, 0)
        for whole in wholes:
            taken = min(left, alone.get(whole, 0))
            if taken:
                alone[whole] -= taken
                left -= taken
    return alone


def find_phases(cell: Cell, contestant: str) -> dict[str, float]:
    """Milliseconds of an instance in each phase, and in none; none is inside another."""
    spent = separate(find_medians(cell, contestant))
    rest = median(cell.list_values(contestant, "an instance") or [0]) - sum(spent.values())
    return {phase: time for phase, time in {**spent, REST: rest}.items() if time > 0}


def name_phase(phase: str) -> str:
    return f"{INSIDE[phase][0]}: {phase}".lower() if phase in INSIDE else phase.lower()


def list_table(results: Results, rows: list[Row]) -> list[str]:
    seen = [phase for phase in COLOURS if any(phase in find_phases(*row) for row in rows)]
    lines = []
    for cell, contestant in rows:
        alone = find_phases(cell, contestant)
        whole = sum(alone.values()) or 1
        spent = {**alone, **find_medians(cell, contestant)}  # with what is inside
        shares = (f"{spent[phase] / whole:.0%}" if phase in spent else "" for phase in seen)
        lines.append([results.name_cell(cell), contestant, format_number(whole), *shares])
    return format_table(["cell", "contestant", "an instance, ms", *map(name_phase, seen)], lines)


def draw(results: Results, rows: list[Row], path: Path) -> None:
    """Shares of an instance's time, and the time: no common scale shows a fast and a slow store."""
    times = [find_phases(*row) for row in rows]
    wholes = [sum(spent.values()) or 1 for spent in times]
    with draw_chart(path, 1.6 + ROW * len(rows)) as (chart, axes):
        places, left = range(len(rows)), [0.0] * len(rows)
        for phase, colour in COLOURS.items():
            widths = [
                100 * spent.get(phase, 0) / whole
                for spent, whole in zip(times, wholes, strict=True)
            ]
            if any(widths):
                axes.barh(places, widths, left=left, color=colour, label=name_phase(phase))
            left = [before + width for before, width in zip(left, widths, strict=True)]
        for place, whole in zip(places, wholes, strict=True):
            axes.text(101, place, f"{format_number(whole)} ms", va="center", fontsize=7)
        axes.set_yticks(places, [f"{results.name_cell(cell)}: {name}" for cell, name in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, 112)
        axes.set_xticks(range(0, 101, 25))
        axes.set_xlabel("% of an instance's time; its ms")
        chart.suptitle(f"{results.experiment}: where the time goes, {results.date}")
        chart.legend(loc="outside lower center", ncols=5)


def answer(
    results: Results, charts: Charts, choose: Callable[[list[Cell]], list[Cell]] = lambda it: it
) -> list[str]:
    rows = list_rows(results.cells)
    if not rows:
        return []
    file = charts.add("phases", partial(draw, results, list_rows(choose(results.cells))))
    lines = [f"### {HEADING}", "", f"![where the time of an instance went]({file})", ""]
    return [*lines, *list_table(results, rows)]
