# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the time of an image goes in Orthanc, by the plugin's own account, beside each figure.

The phases of a turn stand among its figures, in ms an image; the page has a table and a chart.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from matplotlib import pyplot as plt

from lab.cells import Figures
from lab.charts import ROW, SETTINGS, WIDTH, Charts
from lab.report import format_number, format_table
from lab.results import Cell, Results

# As /perf/instances names them, in their order
PHASES = [
    *("Idle", "Receive", "Parse", "Transcode", "Prepare"),
    *("Storage", "Sync", "Remote", "Index", "Database", "Commit", "Respond"),
]
PAUSE = "Idle"  # the sender's, before an image

# "Paired" has as many as there are phases
COLOURS = {
    phase: "0.88" if phase == PAUSE else plt.get_cmap("Paired")(number)
    for number, phase in enumerate(PHASES)
}

# Parts of others: of the first of these that was seen. Where storage and index cannot be told
# apart, both are "Commit"; of several instances, some may have the one and some the other.
INSIDE = {"Sync": ("Storage",), "Remote": ("Storage",), "Database": ("Index", "Commit")}
PREFIX = "phase "


def average_phases(instances: Sequence[dict[str, Any]]) -> Figures:
    """Of what /perf/instances says; a phase that none of them had is absent."""
    return {
        PREFIX + phase: 1000 * fmean(instance["Phases"].get(phase, 0) for instance in instances)
        for phase in PHASES
        if any(phase in instance["Phases"] for instance in instances)
    }


def share_phases(sums: dict[str, float], instances: int) -> Figures:
    """Of the sums, in seconds, over so many instances."""
    return {PREFIX + phase: 1000 * sums[phase] / instances for phase in PHASES if phase in sums}


def find_medians(cell: Cell, contestant: str) -> dict[str, float]:
    """The phases that were seen, in ms an image."""
    values = {phase: cell.list_values(contestant, PREFIX + phase) for phase in PHASES}
    return {phase: median(found) for phase, found in values.items() if found}


def find_work(cell: Cell, contestant: str) -> float:
    """What Orthanc took for an image, in ms: the median over turns, not a sum of medians."""
    turns = [
        {phase: figures[PREFIX + phase] for phase in PHASES if PREFIX + phase in figures}
        for turns in cell.rounds
        for turn in turns
        if (figures := turn.get(contestant))
    ]
    return median([sum_work(found) for found in turns if found] or [0])


def list_rows(results: Results) -> Iterable[tuple[Cell, str, dict[str, float]]]:
    for cell in results.cells:
        for contestant in cell.list_contestants():
            phases = find_medians(cell, contestant)
            if phases:
                yield cell, contestant, phases


def list_work(phases: dict[str, float]) -> dict[str, float]:
    """What Orthanc took, each part of it once."""
    return {phase: time for phase, time in phases.items() if phase not in (PAUSE, *INSIDE)}


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


def sum_work(phases: dict[str, float]) -> float:
    """All that Orthanc took, without the sender's pauses."""
    return sum(list_work(phases).values())


def describe_largest(phases: dict[str, float], work: float) -> str:
    """In words, what takes most of the time of an image, which is `work` in all."""
    if not work:
        return "Orthanc's work was not seen"
    parts = list_work(phases)

    def share(phase: str) -> str:
        synced = f", of which sync {phases['Sync'] / work:.0%}" if "Sync" in phases else ""
        return f"{parts[phase] / work:.0%}{synced if phase == 'Storage' else ''}"

    first, second = [*sorted(parts, key=parts.__getitem__, reverse=True), ""][:2]
    text = f"most of Orthanc's {format_number(work)} ms an image is {first.lower()}"
    text += f" ({share(first)})"
    if second:
        text += f", then {second.lower()} ({share(second)})"
    pause = phases.get(PAUSE, 0)
    if pause > work:
        text += f"; before each, the sender pauses for {format_number(pause)} ms"
    return text


def list_table(results: Results) -> list[str]:
    rows = list(list_rows(results))
    seen = [phase for phase in PHASES if any(phase in phases for *_, phases in rows)]
    lines = []
    for cell, contestant, phases in rows:
        work = find_work(cell, contestant) or 1
        texts = []
        for phase in seen:
            time = phases.get(phase)
            share = "" if phase == PAUSE or time is None else f" ({time / work:.0%})"
            texts.append("" if time is None else f"{format_number(time)}{share}")
        lines.append([results.name_cell(cell), contestant, *texts])
    return format_table(["cell", "contestant", *(phase.lower() for phase in seen)], lines)


def draw(results: Results, path: Path) -> None:
    """A bar for each contestant of each cell, made of its phases."""
    rows = list(list_rows(results))
    with plt.rc_context(SETTINGS):
        height = 1.4 + 1.6 * ROW * len(rows)
        chart, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        names = [
            f"{results.name_cell(cell)}: {contestant}" if len(results.cells) > 1 else contestant
            for cell, contestant, _ in rows
        ]
        begins = [0.0] * len(rows)
        for phase in PHASES:
            times = [separate(phases).get(phase, 0) for *_, phases in rows]
            if any(times):
                colour = COLOURS[phase]
                axes.barh(names, times, left=begins, label=phase.lower(), color=colour)
            begins = [begin + time for begin, time in zip(begins, times, strict=True)]
        axes.invert_yaxis()
        axes.set_xlabel("ms an image: medians of the turns")
        axes.set_title(f"{results.experiment}: where the time goes, {results.date}")
        axes.grid(axis="x", alpha=0.3)
        chart.legend(loc="outside lower center", ncols=5)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def answer(results: Results, charts: Charts) -> list[str]:
    """The section of an experiment whose turns have phases; nothing where none has."""
    rows = list(list_rows(results))
    if not rows:
        return []
    file = charts.add("phases", partial(draw, results))
    lines = ["### Where the time goes: ms an image (share without the sender's pauses)", ""]
    lines += [f"![phases]({file})\n"]
    for cell, contestant, phases in rows:
        who = f"{results.name_cell(cell)}, {contestant}" if len(results.cells) > 1 else contestant
        lines += [f"- {who}: {describe_largest(phases, find_work(cell, contestant))}."]
    return [*lines, "", *list_table(results)]
