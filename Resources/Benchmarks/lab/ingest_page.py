# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of "ingest" says: report 002's table, where an instance's time went, two charts."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from lab.charts import SETTINGS, WIDTH, Charts, list_measured
from lab.phases import INSIDE, PAUSE, PHASES, PREFIX, find_medians, separate
from lab.published import UPLOAD_IMAGES, UPLOADS
from lab.ratios import find_rank
from lab.report import UNSURE, format_number, format_table, format_values
from lab.results import Cell, Results
from lab.stalls import STOCK, TUNED

STORESCU, HTTP, MOVE = "storescu", "HTTP client", "C-MOVE from Orthanc"
HTTP_GZIP = "HTTP client that accepts gzip"
NO_NAGLE, MOVE_NO_NAGLE = f"{STORESCU} with TCP_NODELAY=1", f"{MOVE} with TCP_NODELAY=1"
BASE, DISK = "base", "disk"
NODELAY = "Orthanc with TCP_NODELAY=1"
PRESETS = (STOCK, TUNED)
NAGLE_HEADING = "Orthanc without Nagle's algorithm"
GZIP_HEADING = "Answers compressed by gzip"
ANSWERING = ("Respond", PAUSE)
DCMTK, GDCM, NATIVE = (
    f"to JPEG Lossless by {engine}" for engine in ("DCMTK", "GDCM", "the native engine")
)
SLOW, SLOW_ONE = "slow disk", "slow disk, DicomThreadsCount 1"


def name_threads(threads: int, source: int) -> str:
    return f"DICOM threads {threads} / {source} (destination / source)"


IN_MEMORY = ("tmpfs", "ramfs")

# Report 002's rows: sender and server
ROWS = {
    (STORESCU, "DicomThreadsCount 1"): "storescu, one thread",
    (STORESCU, BASE): "storescu",
    (STORESCU, DCMTK): "storescu, DCMTK",
    (STORESCU, GDCM): "storescu, GDCM",
    (HTTP, BASE): "HTTP",
    (HTTP, DCMTK): "HTTP, DCMTK",
    (HTTP, GDCM): "HTTP, GDCM",
    (MOVE, name_threads(1, 4)): "C-MOVE, 1 / 4",
    (MOVE, BASE): "C-MOVE, 4 / 4",
    (MOVE, name_threads(16, 1)): "C-MOVE, 16 / 1",
    (MOVE, name_threads(16, 16)): "C-MOVE, 16 / 16",
    (STORESCU, SLOW_ONE): "slow disk, one thread",
    (STORESCU, SLOW): "slow disk",
}
PUBLISHED = {row: UPLOADS[key] for row, key in ROWS.items()}

LEAST_TURNS = 6  # from which on the sign test can tell anything

# What no phase holds: programs that start, associations that are made
REST = "rest"
GREYS = {PAUSE: "0.8", REST: "0.92"}


def name_phase(phase: str) -> str:
    return f"{INSIDE[phase][0]}: {phase}".lower() if phase in INSIDE else phase.lower()


def name_senders(count: int, sender: str) -> str:
    """As a factor."""
    return f"{count} x {sender}"


def split_senders(name: str) -> tuple[int, str]:
    count, sender = name.split(" x ")
    return int(count), sender


def get_senders(cell: Cell) -> tuple[int, str]:
    return split_senders(cell.factors["Senders"])


def get_middle(cell: Cell, preset: str, figure: str) -> float:
    return median(cell.list_values(preset, figure) or [0])


def find_phases(cell: Cell, preset: str) -> dict[str, float]:
    """The milliseconds of an instance in each phase, none of which is inside another."""
    spent = separate(find_medians(cell, preset))
    rest = get_middle(cell, preset, "an instance") - sum(spent.values())
    return {phase: time for phase, time in {**spent, REST: rest}.items() if time > 0}


def find_cell(cells: Iterable[Cell], server: str, sender: str, count: int) -> Cell | None:
    wanted = {"Server": server, "Senders": name_senders(count, sender)}
    return next((cell for cell in cells if cell.factors == wanted), None)


def list_counts(cells: Iterable[Cell]) -> list[int]:
    return sorted({get_senders(cell)[0] for cell in cells})


def get_seconds(cell: Cell, preset: str) -> float:
    """That this cell's senders take if each sends as many images as the published ones."""
    images = get_senders(cell)[0] * UPLOAD_IMAGES
    return images / get_middle(cell, preset, "throughput")


def list_kinds(cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """Sender and server, in the order of the run, those of one sender together."""
    kinds = dict.fromkeys((get_senders(cell)[1], cell.factors["Server"]) for cell in cells)
    senders = list(dict.fromkeys(sender for sender, _ in kinds))
    return sorted(kinds, key=lambda kind: senders.index(kind[0]))


def list_second_rows(cells: list[Cell], counts: list[int]) -> Iterator[list[str]]:
    for sender, server in list_kinds(cells):
        row = {count: find_cell(cells, server, sender, count) for count in counts}
        name = f"{sender}; {server}"
        for preset in PRESETS:
            yield [
                name,
                preset.removeprefix("preset "),
                *(
                    format_number(get_seconds(cell, preset)) if cell else ""
                    for cell in row.values()
                ),
            ]
        if published := PUBLISHED.get((sender, server)):
            figures = [f"*{published[count]}*" if count in published else "" for count in counts]
            yield [name, "*report 002*", *figures]


WHOLE = (
    "Seconds are as published: each of N senders in parallel sends the series, over what is stored."
)
SHARES = (
    "Seconds are as published, where N senders in parallel send N times the series. Measured was"
    " one series, of which each sender sent its share; these seconds are computed from its"
    " throughput."
)
STARTS = (
    "Programs that start are in it, as *rest*: the smaller a share, the more they count. Not"
    " pynetdicom's, which goes by its own clock from connect to release, nor the HTTP client's,"
    " which is a part of the lab: beside these two, `storescu` alone is charged for its start."
)

SLOW_PART = "The slow disk got a quarter of the series, from which the whole is computed."
IN_MEMORY_PART = (
    "The store is in memory here ({}) where the server is not *disk* or *slow disk*; report 002's"
    " was on an SSD."
)


def tell_unit(results: Results) -> str:
    """How these seconds were measured."""
    has_part = not results.options.get("full") and any(
        cell.factors["Server"] in (SLOW, SLOW_ONE) for cell in list_measured(results)
    )
    unit = WHOLE if results.options.get("whole") else SHARES
    place = results.machine.get("Storage")
    parts = [unit, STARTS]
    parts += [SLOW_PART] if has_part else []
    parts += [IN_MEMORY_PART.format(place)] if place in IN_MEMORY else []
    return " ".join(parts)


def tell_seconds(cells: list[Cell], unit: str) -> list[str]:
    counts = list_counts(cells)
    head = ["sender; server", "sockets", *(f"{count} in parallel" for count in counts)]
    return [
        f"### Seconds until each sender has sent {UPLOAD_IMAGES} images",
        "",
        f"{unit} The slow disk of report 002 was one on USB.",
        "",
        *format_table(head, list_second_rows(cells, counts)),
    ]


def list_phase_rows(cells: list[Cell], phases: list[str]) -> Iterator[list[str]]:
    for cell in cells:
        for preset in PRESETS:
            alone = find_phases(cell, preset)
            whole = sum(alone.values())
            spent = {**alone, **find_medians(cell, preset)}  # with what is inside
            yield [
                f"{cell.factors['Senders']}; {cell.factors['Server']}",
                preset.removeprefix("preset "),
                format_number(whole),
                *(f"{spent[phase] / whole:.0%}" if phase in spent else "" for phase in phases),
            ]


def list_phases(cells: list[Cell]) -> list[str]:
    """Those that any instance had."""
    seen = {phase for cell in cells for preset in PRESETS for phase in find_phases(cell, preset)}
    return [phase for phase in [*PHASES, REST] if phase in seen]


def tell_phases(cells: list[Cell]) -> list[str]:
    phases = list_phases(cells)
    head = ["senders; server", "sockets", "an instance, ms"]
    head += map(name_phase, phases)
    return [
        "### Where the time of an instance went",
        "",
        "As its sender saw it, from one instance to the next. *idle* is from Orthanc's response"
        " until the next request begins, *receive* until its last byte is there, *rest* what is in"
        " no phase: programs that start (all senders but pynetdicom and the HTTP client),"
        " associations that are made, or wait for one of Orthanc's threads, and senders that are"
        " done before the others.",
        "",
        *format_table(head, list_phase_rows(cells, phases)),
    ]


def compare_cells(cell: Cell, base: Cell, preset: str) -> str:
    """How the first one's throughput is to the second one's, and what their extremes allow."""
    values, others = (one.list_values(preset, "throughput") for one in (cell, base))
    low, high = min(values) / max(others), max(values) / min(others)
    return f"{median(values) / median(others):.2f} ({low:.2f} to {high:.2f})"


def list_effects(cells: list[Cell]) -> Iterator[list[str]]:
    """Each server beside the base, by the same senders."""
    for cell in cells:
        count, sender = get_senders(cell)
        base = find_cell(cells, BASE, sender, count)
        if base is None or base is cell or count not in (1, 4):
            continue
        row = [f"{cell.factors['Senders']}; {cell.factors['Server']}"]
        for preset in PRESETS:
            before, after = find_phases(base, preset), find_phases(cell, preset)
            change = {phase: after.get(phase, 0) - before.get(phase, 0) for phase in before | after}
            most = max(change, key=lambda phase: abs(change[phase]))
            row += [compare_cells(cell, base, preset), f"{name_phase(most)} {change[most]:+.1f} ms"]
        yield row


def tell_effects(cells: list[Cell]) -> list[str]:
    rows = list(list_effects(cells))
    if not rows:
        return []
    head = ["senders; server", "stock / base", "most in", "tuned / base", "most in"]
    return [
        "### What a setting of the server does",
        "",
        "Images a second relative to the same senders and an Orthanc with SQLite, 4 DICOM threads,"
        " no transcoding; and the phase of an instance that it changed most. They were not measured"
        " in turn: in brackets is what the extremes of both allow.",
        "",
        *format_table(head, rows),
    ]


def list_gains(cell: Cell) -> list[float]:
    """How many times as fast as stock tuned was, in each turn."""
    stock, tuned = (cell.list_values(preset, "throughput") for preset in PRESETS)
    return [new / old for old, new in zip(stock, tuned, strict=True)]


def tell_places(machine: Mapping[str, Any]) -> Iterator[str]:
    """What the names of servers stand for, that the results below begin with."""
    if "Storage" not in machine:
        return
    place = machine["Storage"]
    text = f"in memory ({place})" if place in IN_MEMORY else f"on {place}"
    disk = f"; *{DISK}* has it on {machine['Disk']}" if "Disk" in machine else ""
    yield (
        f"*{BASE}* is an Orthanc with SQLite, 4 DICOM threads, no transcoding, and its store"
        f" {text}{disk}. HTTP is the control: the plugin tunes no socket of it."
    )
    yield ""


def judge_gains(gains: list[float]) -> tuple[str, str]:
    """The interval of the median, and what it says."""
    rank = find_rank(len(gains))
    if rank is None:
        return UNSURE, "too few turns to tell"
    low, high = sorted(gains)[rank - 1], sorted(gains)[-rank]
    verdict = "slower" if high < 1 else "faster" if low > 1 else "not told apart"
    return f"{low:.3f} to {high:.3f}", verdict


def list_gain_rows(cells: Iterable[Cell]) -> Iterator[list[str]]:
    for cell in cells:
        gains = list_gains(cell)
        stock, tuned = (cell.list_values(preset, "processor time") for preset in PRESETS)
        used = [new / old for old, new in zip(stock, tuned, strict=True)]
        interval, verdict = judge_gains(gains)
        yield [
            name_row(cell),
            *(format_values(cell.list_values(preset, "throughput")) for preset in PRESETS),
            f"{median(gains):.3f} ({min(gains):.3f} to {max(gains):.3f})",
            interval,
            f"{sum(gain < 1 for gain in gains)} of {len(gains)}",
            f"{median(used):.2f}; {sum(ratio > 1 for ratio in used)} of {len(used)}",
            verdict,
        ]


def tell_gains(cells: Iterable[Cell]) -> list[str]:
    """Tuned against stock, a row for each cell."""
    head = [
        *("senders; server", "stock, images/s", "tuned, images/s", "tuned / stock"),
        *("95 % of the median", "turns below 1", "processor time, tuned / stock; turns above 1"),
        "tuned is",
    ]
    return format_table(head, list_gain_rows(cells))


def tell_nagle(cells: list[Cell]) -> list[str]:
    """Where Orthanc's DCMTK has Nagle's algorithm off."""
    found = [cell for cell in cells if cell.factors["Server"] == NODELAY]
    if not found:
        return []
    return [
        f"### {NAGLE_HEADING}",
        "",
        "Orthanc has `TCP_NODELAY=1`, as the DCMTK of its official builds has by itself. A sender"
        " that has it, too, waits for nothing with stock sockets. HTTP is the control. Of twenty"
        " rows without a difference, chance calls one faster or slower.",
        "",
        *tell_gains(found),
    ]


def list_gzip_rows(cells: list[Cell]) -> Iterator[list[str]]:
    for cell in cells:
        yield [
            name_row(cell),
            *(format_values(list_both(cell, f"{PREFIX}{phase}")) for phase in ANSWERING),
            format_values(sum_answering(cell)),
            format_values(list_both(cell, "processor time")),
            format_values(list_both(cell, "throughput")),
        ]


def list_both(cell: Cell, figure: str) -> list[float]:
    """With either preset: none concerns HTTP."""
    return [value for preset in PRESETS for value in cell.list_values(preset, figure)]


def sum_answering(cell: Cell) -> list[float]:
    return list(
        map(math.fsum, zip(*(list_both(cell, PREFIX + phase) for phase in ANSWERING), strict=True))
    )


def tell_gzip(cells: list[Cell]) -> list[str]:
    """What it costs an HTTP client to have its answers compressed."""
    found = [cell for cell in cells if get_senders(cell)[1] == HTTP_GZIP]
    if not found:
        return []
    compared = []
    for cell in found:
        count, _ = get_senders(cell)
        plain = find_cell(cells, cell.factors["Server"], HTTP, count)
        compared += [plain, cell] if plain else [cell]
    head = [
        *("senders; server", *(f"{name_phase(phase)}, ms" for phase in ANSWERING), "both, ms"),
        *("processor time, ms an image", "images/s"),
    ]
    return [
        f"### {GZIP_HEADING}",
        "",
        "Orthanc compresses each answer to a client that accepts gzip, as the report's did, however"
        " small it is (1.10.1; by itself not since 1.12.2). In the report's log, *7 ms* passed from"
        " the line that says so to the next request. *Respond* is until the answer is handed to the"
        " kernel, with the compressing; *idle* from then until the next request begins. Medians and"
        " ranges of all turns, with stock and with tuned sockets alike.",
        "",
        *format_table(head, list_gzip_rows(compared)),
    ]


def name_row(cell: Cell) -> str:
    return f"{cell.factors['Senders']}; {cell.factors['Server']}"


def list_base(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.factors["Server"] == BASE]


def draw_speeds(cells: list[Cell], title: str, path: Path) -> None:
    """Images a second by senders in parallel, a line for each kind of sender into the base."""
    base = list_base(cells)
    counts = list_counts(base)
    with mpl.rc_context(SETTINGS):
        chart, panels = plt.subplots(1, 2, figsize=(WIDTH, 4), sharey=True, layout="constrained")
        for axes, preset in zip(panels, PRESETS, strict=True):
            for sender, _ in list_kinds(base):
                found = {
                    get_senders(cell)[0]: cell for cell in base if get_senders(cell)[1] == sender
                }
                places = sorted(found)
                values = [found[count].list_values(preset, "throughput") for count in places]
                middles = [median(value) for value in values]
                axes.plot(places, middles, "o-", label=sender, ms=4)
                axes.fill_between(
                    places, list(map(min, values)), list(map(max, values)), alpha=0.15
                )
            axes.set_xscale("log", base=2)
            axes.set_xticks(counts, [str(count) for count in counts])
            axes.set_xlabel("senders in parallel")
            axes.set_title(preset)
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)
        panels[0].set_ylabel("images/s: median and range")
        chart.suptitle(title)
        handles, names = panels[0].get_legend_handles_labels()
        chart.legend(handles, names, loc="outside lower center", ncols=4)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def list_drawn(cells: list[Cell]) -> list[Cell]:
    """Single storescu, and one of each kind of sender and server: 4 in parallel, or the nearest."""
    chosen = {}
    for sender, server in list_kinds(cells):
        of_kind = [
            cell
            for cell in cells
            if get_senders(cell)[1] == sender and cell.factors["Server"] == server
        ]
        chosen[sender, server] = min(
            of_kind, key=lambda cell: abs(math.log2(get_senders(cell)[0] / 4))
        )
    found = (find_cell(cells, server, STORESCU, 1) for server in (DISK, BASE))
    single = [cell for cell in found if cell]
    return [*single, *(cell for cell in chosen.values() if cell not in single)]


def draw_phases(cells: list[Cell], title: str, path: Path) -> None:
    """An instance's time as shares of it, stock beside tuned, each with its milliseconds.

    From a fast store to a slow one these differ by a hundred times: no common scale shows both.
    """
    drawn = list_drawn(cells)
    with mpl.rc_context(SETTINGS):
        chart, panels = plt.subplots(
            1, 2, figsize=(WIDTH, 1.6 + 0.22 * len(drawn)), sharey=True, layout="constrained"
        )
        places, colours = range(len(drawn)), plt.get_cmap("Paired")  # without grey
        for axes, preset in zip(panels, PRESETS, strict=True):
            times = [find_phases(cell, preset) for cell in drawn]
            wholes = [sum(spent.values()) or 1 for spent in times]
            left = [0.0] * len(drawn)
            for phase in list_phases(drawn):
                widths = [
                    100 * spent.get(phase, 0) / whole
                    for spent, whole in zip(times, wholes, strict=True)
                ]
                colour = GREYS.get(phase) or colours(PHASES.index(phase))
                axes.barh(places, widths, left=left, color=colour, label=name_phase(phase))
                left = [before + width for before, width in zip(left, widths, strict=True)]
            for place, spent in zip(places, times, strict=True):
                label = f"{format_number(sum(spent.values()))} ms"
                axes.text(102, place, label, va="center", fontsize=7)
            axes.set_xlim(0, 122)
            axes.set_xticks(range(0, 101, 25))
            axes.set_title(preset)
        panels[0].set_yticks(places, map(name_row, drawn), fontsize=7)
        panels[0].set_ylim(len(drawn) - 0.4, -0.6)
        chart.suptitle(f"{title}\n% of an instance's time, as its sender saw it, and the time")
        handles, names = panels[0].get_legend_handles_labels()
        chart.legend(handles, names, loc="outside lower center", ncols=6)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def answer(results: Results, charts: Charts) -> list[str]:
    cells = list_measured(results)
    if not cells:
        return []
    counts = list_counts(cells)
    bases = [find_cell(cells, BASE, sender, counts[0]) for sender in (STORESCU, HTTP, MOVE)]
    disk = find_cell(cells, DISK, STORESCU, counts[0])
    chosen = [cell for cell in (disk, *bases) if cell]
    lines = [*tell_places(results.machine), *(tell_gains(chosen) if chosen else [])]
    if len(list_counts(list_base(cells))) > 1:
        title = f"{results.experiment}, {results.date}"
        speeds = charts.add("speeds", partial(draw_speeds, cells, title))
        lines.append(f"![images a second by senders in parallel]({speeds})\n")
    title = f"{results.experiment}: where the time goes, {results.date}"
    phases = charts.add("phases", partial(draw_phases, cells, title))
    lines.append(f"![where the time of an instance went]({phases})\n")
    seconds = tell_seconds(cells, tell_unit(results))
    parts = [tell_nagle(cells), tell_gzip(cells), tell_effects(cells), tell_phases(cells)]
    return [*lines, *seconds, *chain.from_iterable(parts)]
