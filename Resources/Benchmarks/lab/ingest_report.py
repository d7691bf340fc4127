# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of "ingest" says of each experiment of report 002."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from lab import ingest_page
from lab.charts import Charts, list_measured
from lab.ingest_page import (
    ANSWERING,
    BASE,
    DCMTK,
    GDCM,
    HTTP,
    HTTP_GZIP,
    MOVE,
    PRESETS,
    PUBLISHED,
    ROWS,
    SLOW,
    SLOW_ONE,
    STORESCU,
    compare_cells,
    find_cell,
    find_phases,
    get_middle,
    get_seconds,
    get_senders,
    list_counts,
    list_gains,
    name_phase,
    name_row,
    tell_unit,
)
from lab.phases import PAUSE, find_medians
from lab.published import NO_GZIP, REPORT_002, Found, choose_uploads, find_ends
from lab.report import format_number
from lab.results import Cell, Results
from lab.stalls import STOCK

# The report's were Orthanc's DCMTK and its plugin GDCM, within Orthanc
ENGINE = "by the plugin's engine of that name, not by Orthanc's own transcoder"


def tell_presets(tell: Callable[[str], str]) -> str:
    """The same of stock sockets and of tuned ones."""
    return "; ".join(f"{preset.removeprefix('preset ')} {tell(preset)}" for preset in PRESETS)


def add_engine(figure: str, server: str) -> str:
    return f"{figure}; {ENGINE}" if server in (DCMTK, GDCM) else figure


def list_senders(cells: list[Cell], sender: str, server: str) -> list[int]:
    """How many of them in parallel were measured."""
    return list_counts(
        cell
        for cell in cells
        if get_senders(cell)[1] == sender and cell.factors["Server"] == server
    )


def find_uploads(
    cells: list[Cell], counts: Sequence[int], sender: str, server: str
) -> Found | None:
    """A row of the report's tables, for so many senders in parallel."""
    found = [cell for count in counts if (cell := find_cell(cells, server, sender, count))]
    if not found:
        return None

    def tell(preset: str) -> str:
        return f"{' … '.join(format_number(get_seconds(cell, preset)) for cell in found)} s"

    figure = add_engine(tell_presets(tell), server)
    if server in (SLOW, SLOW_ONE):
        figure += f"; {tell_disk(found)}"
    return Found(figure, f"{' and '.join(map(str, counts))} x {sender}; {server}")


def tell_disk(cells: list[Cell]) -> str:
    """How much faster this slow disk is than the report's, by what stock takes on it."""
    ratios = []
    for cell in cells:
        count, sender = get_senders(cell)
        published = PUBLISHED[sender, cell.factors["Server"]][count]
        ratios.append(published / get_seconds(cell, STOCK))
    return f"{' and '.join(f'{ratio:.1f}' for ratio in ratios)} times as fast as on the report's"


def is_published(cell: Cell) -> bool:
    """Whether the report has as many of these senders, into such a server."""
    count, sender = get_senders(cell)
    return count in PUBLISHED.get((sender, cell.factors["Server"]), {})


def find_best(cells: list[Cell]) -> Found | None:
    """The most of what the report measured, too: by C-MOVE, as its own most, and by any sender."""
    everything = [cell for cell in cells if is_published(cell)]
    moves = [cell for cell in everything if get_senders(cell)[1] == MOVE]
    if not moves:
        return None

    def find(chosen: list[Cell], preset: str) -> Cell:
        return max(chosen, key=lambda cell: get_middle(cell, preset, "throughput"))

    def tell(chosen: list[Cell], preset: str) -> str:
        return f"{get_middle(find(chosen, preset), preset, 'throughput'):.0f} images/s"

    def name(chosen: list[Cell], preset: str) -> str:
        return name_row(find(chosen, preset))

    def tell_both(what: Callable[[list[Cell], str], str]) -> str:
        by_move, by_any = (tell_presets(partial(what, chosen)) for chosen in (moves, everything))
        return f"by C-MOVE {by_move}; by any sender {by_any}"

    return Found(tell_both(tell), tell_both(name))


def tell_faster(one: Cell, other: Cell, preset: str) -> str:
    return f"{compare_cells(one, other, preset)} times as fast"


def find_pynetdicom(cells: list[Cell]) -> Found | None:
    """How much faster storescu is, with as many in parallel: where both have most turns."""
    pairs = [
        (count, one, other)
        for count in list_counts(cells)
        if (one := find_cell(cells, BASE, STORESCU, count))
        and (other := find_cell(cells, BASE, "pynetdicom", count))
    ]
    if not pairs:
        return None
    count, one, other = max(pairs, key=lambda pair: min(map(count_turns, pair[1:])))
    turns = f"{count_turns(one)} and {count_turns(other)} turns"
    figure = f"{tell_presets(partial(tell_faster, one, other))}; {turns}"
    return Found(figure, f"{count} x {STORESCU} and pynetdicom; {BASE}")


def count_turns(cell: Cell) -> int:
    return len(list_gains(cell))


def find_shares(cells: list[Cell], sender: str, server: str, *phases: str) -> Found | None:
    """What an image of a single sender spends in these phases; which engine, if it is in them."""
    cell = find_cell(cells, server, sender, 1)
    if cell is None:
        return None

    def tell(preset: str) -> str:
        spent = {**find_phases(cell, preset), **find_medians(cell, preset)}
        return ", ".join(f"{spent.get(phase, 0):.1f} ms {name_phase(phase)}" for phase in phases)

    figure = tell_presets(tell)
    return Found(add_engine(figure, server) if "Transcode" in phases else figure, name_row(cell))


def tell_report(results: Results) -> list[str]:
    cells = list_measured(results)
    if not cells:
        return []
    ends = {key: find_ends(key, list_senders(cells, *row)) for row, key in ROWS.items()}
    found = {key: find_uploads(cells, ends[key], *row) for row, key in ROWS.items()}
    found |= {
        "best": find_best(cells),
        "pynetdicom": find_pynetdicom(cells),
        "phases, storescu": find_shares(cells, STORESCU, BASE, PAUSE, "Receive", "Index"),
        "phases, HTTP": find_shares(cells, HTTP, GDCM, "Receive", "Transcode"),
        "gzip": find_shares(cells, HTTP_GZIP, GDCM, *ANSWERING),
    }
    report = choose_uploads(ends)
    if found["gzip"] is None:
        claim = replace(report.claims["gzip"], reason=NO_GZIP)
        report = replace(report, claims={**report.claims, "gzip": claim})
    table = report.tell(found)
    return [f"### {REPORT_002.get_heading()}", "", *table, tell_unit(results), ""]


def answer(results: Results, charts: Charts) -> list[str]:
    return [*ingest_page.answer(results, charts), *tell_report(results)]
