# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of "dcmtk-sockets" says, beside reports 000 and 001."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import median

from lab.bars import Groups, draw_bars
from lab.cells import Figures
from lab.charts import Charts
from lab.curves import Curves, draw_curves
from lab.line import Line
from lab.published import (
    AFTER,
    BEFORE,
    FIXED_BUFFER,
    FIXED_RATE,
    FREE_RATE,
    GAIN,
    IPERF_RATE,
    MOVE_SECONDS,
    NAGLE_OFF_SECONDS,
    NAGLE_ON_SECONDS,
    REPORT_000,
    REPORT_001,
    STORE_SECONDS,
    WAIT,
    Found,
)
from lab.report import format_number, format_parts, format_table, format_values
from lab.results import Results

NONE = "none"

# The last one is slower than 10 Gb/s, and further away: as much is under way
LOOPBACK, PAIR, AWAY = "loopback", "veth, between two network namespaces", "5 ms away"
PATHS = [LOOPBACK, PAIR, AWAY]
ROUND_TRIPS = {PAIR: 0, AWAY: 0.005}

STORE, TO_ORTHANC = "storescu → storescp", "storescu → Orthanc"
FROM_ARCHIVE, MOVE = "C-MOVE from dcmqrscp", "C-MOVE from Orthanc"
TRANSFERS = [STORE, FROM_ARCHIVE, MOVE, TO_ORTHANC]

NAGLE_ON, NAGLE_OFF, IPERF = "Nagle on", "Nagle off", "iperf3"
NAGLE = (NAGLE_ON, NAGLE_OFF)

SHIPPED, TUNED = "Orthanc as shipped", "Orthanc with the plugin"
SERVERS = (SHIPPED, TUNED)
NO_DELAY = "Orthanc with TCP_NODELAY=1"
ITSELF, OTHER, GDCM = "movescu receives", "storescp receives", "gdcmscu receives"

# Who sends by C-MOVE: the transfer, and how its contestants' names begin
ARCHIVES = {f"dcmqrscp, {nagle}": (FROM_ARCHIVE, nagle) for nagle in NAGLE}
SOURCES = ARCHIVES | {name: (MOVE, name) for name in (*SERVERS, NO_DELAY)}
ARCHIVE_ON, ARCHIVE_OFF = ARCHIVES

MANY = 1000  # images, as report 000 had
SECONDS_FOR_MANY = "seconds for many"
JUMP = 2  # a factor that is one

AS_THEN = "with DCMTK's settings of then (no Nagle, 64 KiB)"


def compute_pace(figures: Figures) -> float:
    """Seconds for each image by C-MOVE, of which only the first one waits."""
    images, first = figures["images"], figures["first image"]
    return max(0, images / figures["throughput"] - first) / max(1, images - 1)


def compute_seconds(figures: Figures) -> float:
    """For as many images as published."""
    if "first image" in figures:
        return figures["first image"] + (MANY - 1) * compute_pace(figures)
    return MANY / figures["throughput"]


class Medians:
    """Each cell's figures, by its factors."""

    def __init__(self, results: Results) -> None:
        self._found: dict[tuple[str, ...], Figures] = {}
        self._seconds: dict[tuple[str, ...], list[float]] = {}  # for many, of each turn
        for cell in results.cells:
            for name in cell.list_contestants():
                figures = {
                    figure: median(values)
                    for figure in results.figures
                    if (values := cell.list_values(name, figure))
                }
                turns = [turn[name] for turns in cell.rounds for turn in turns if name in turn]
                if "throughput" in figures:
                    seconds = [compute_seconds(turn) for turn in turns]
                    figures[SECONDS_FOR_MANY] = median(seconds)
                    self._seconds[*cell.factors.values(), name] = seconds
                self._found[*cell.factors.values(), name] = figures

    def get(
        self, path: str, transfer: str, buffer: int | str, name: str, figure: str = "speed"
    ) -> float | None:
        return self._found.get((path, transfer, str(buffer), name), {}).get(figure)

    def get_seconds(self, path: str, buffer: int | str, name: str) -> float | None:
        """For as many images by C-STORE between DCMTK's programs as published."""
        return self.get(path, STORE, buffer, name, SECONDS_FOR_MANY)

    def get_move(
        self,
        source: str,
        who: str,
        buffer: int | str = NONE,
        figure: str = SECONDS_FOR_MANY,
        path: str = LOOPBACK,
    ) -> float | None:
        """Of a C-MOVE."""
        transfer, name = SOURCES[source]
        return self.get(path, transfer, buffer, f"{name}, {who}", figure)

    def list_jumps(self) -> Iterator[tuple[str, list[float], list[float]]]:
        """Seconds for many images, turn by turn, with the smaller buffer and the larger one."""
        for (path, transfer, buffer, name), before in self._seconds.items():
            after = self._seconds.get((path, transfer, str(AFTER), name))
            if buffer == str(BEFORE) and before and after:
                yield f"{path}, {transfer}, {name}", before, after

    def list_curves(self) -> Curves:
        """Speed by buffer; none is no point."""
        curves: Curves = {}
        for (path, transfer, buffer, name), figures in self._found.items():
            if transfer == STORE and buffer != NONE:
                label = f"{name}, {path.partition(',')[0]}"
                curves.setdefault(label, []).append((int(buffer), figures["speed"]))
        return {name: sorted(points) for name, points in curves.items() if len(points) > 1}

    def list_unset(self) -> dict[str, float]:
        """Speeds with buffers that the kernel sizes, by the names of the curves."""
        return {
            f"{name}, {path.partition(',')[0]}": figures["speed"]
            for (path, transfer, buffer, name), figures in self._found.items()
            if transfer == STORE and buffer == NONE
        }


def name_cell(path: str, transfer: str, *buffers: int | str) -> str:
    """Of the table of figures."""
    return f"{path.partition(',')[0]}, {transfer}, {' and '.join(map(str, buffers))}"


# In words


def tell_jump(medians: Medians) -> list[str]:
    """Way by way, and on how many of them it is there."""
    head = ["way", f"s with {BEFORE:,} bytes", f"s with {AFTER:,}", "times as fast", "turns"]
    rows, jumps = [], []
    for way, before, after in medians.list_jumps():
        ratio = median(before) / median(after)
        is_apart = max(after) < min(before) or max(before) < min(after)
        seconds = [format_values(before), format_values(after)]
        rows.append([way, *seconds, f"{ratio:.2f}", "apart" if is_apart else "overlap"])
        jumps += [way] if ratio > JUMP else []
    if not rows:
        return []
    where = f" on {len(jumps)} of these {len(rows)} ways: {'; '.join(jumps)}" if jumps else ""
    verdict = f"there{where}" if jumps else f"not there on any of these {len(rows)} ways"
    return [*format_table(head, rows), f"The jump, by a factor of more than {JUMP}, is {verdict}."]


def say_published_jump(said: list[str]) -> list[str]:
    """Beside what was said of this run."""
    published = (
        f"Published for {MANY} images by C-MOVE between DCMTK's programs, on loopback, with Nagle's"
        f" algorithm off: {MOVE_SECONDS} s with {BEFORE:,} bytes, {STORE_SECONDS} s with {AFTER:,}."
    )
    return [published, "", *said] if said else []


def say_nagle(medians: Medians) -> Iterator[str]:
    for path in PATHS:
        on, off = (medians.get(path, STORE, NONE, name, "throughput") for name in NAGLE)
        if on and off:
            yield (
                f"- {path}, {STORE}, buffers as they come: {on:.0f} images/s with Nagle's "
                f"algorithm, {off:.0f} without: {off / on:.1f} times as many."
            )


def say_nagle_of_moves(medians: Medians, buffers: list[str]) -> Iterator[str]:
    for buffer in buffers:
        on, off = (medians.get_move(name, ITSELF, buffer) for name in ARCHIVES)
        if on and off:
            yield (
                f"- {FROM_ARCHIVE}, {ITSELF}, TCP_BUFFER_LENGTH {buffer}: {MANY} images take "
                f"{format_number(on)} s with Nagle's algorithm, {format_number(off)} s without."
            )


def say_fixed(medians: Medians) -> Iterator[str]:
    for path in PATHS:
        for name in (NAGLE_OFF, IPERF):
            free, fixed = (medians.get(path, STORE, it, name) for it in (NONE, FIXED_BUFFER))
            if free and fixed:
                yield (
                    f"- {path}, {name}: {fixed:.0f} Mb/s with fixed buffers of 64 KiB, {free:.0f} "
                    f"without: {free / fixed:.2f} times as much."
                )
        trip = ROUND_TRIPS.get(path)
        if trip and medians.get(path, STORE, FIXED_BUFFER, NAGLE_OFF):
            limit = Line(trip, 0, 0, FIXED_BUFFER, "").get_window_limit() / 1e6
            yield (
                f"- {path}: one window of 64 KiB in each round trip is {limit:.0f} Mb/s. That is "
                "about what such buffers allow, whatever the line carries; Linux grants somewhat "
                "more."
            )


def list_moves(
    medians: Medians, figure: str, buffers: list[str]
) -> Iterator[tuple[str, float, float | None]]:
    """By buffer and source: where movescu receives, and where a storescp does, if it did."""
    for buffer in buffers:
        for source in SOURCES:
            own, other = (medians.get_move(source, who, buffer, figure) for who in (ITSELF, OTHER))
            if own is not None:
                yield f"{buffer}, {source}", own, other


def tell_first_images(medians: Medians, buffers: list[str]) -> list[str]:
    found = [
        (name, own, other)
        for name, own, other in list_moves(medians, "first image", buffers)
        if other is not None
    ]
    if not found:
        return []
    head = ["TCP_BUFFER_LENGTH, source", "movescu receives, s", "storescp receives, s"]
    rows = [[name, f"{own:.2f}", f"{other:.2f}"] for name, own, other in found]
    waits = [name for name, own, other in found if own - other > WAIT / 2]
    where = f": {'; '.join(waits)}" if 0 < len(waits) < len(found) else ""
    return [
        *format_table(head, rows),
        f"The published wait of {WAIT} s is there in {len(waits)} of {len(found)}{where}.",
    ]


def tell_moves(medians: Medians, buffers: list[str]) -> list[str]:
    head = ["TCP_BUFFER_LENGTH, source", "movescu receives, s", "storescp receives, s"]
    rows = [
        [name, format_number(own), "" if other is None else format_number(other)]
        for name, own, other in list_moves(medians, SECONDS_FOR_MANY, buffers)
    ]
    return format_table(head, rows) if rows else []


def say_published_gain(said: list[str]) -> list[str]:
    """Beside what was said of this run."""
    published = f"Published for 10 Gb/s: {GAIN:.1f} times as much without fixed buffers."
    return [published, "", *said] if said else []


def say_published_nagle(said: list[str]) -> list[str]:
    """Beside what was said of this run's C-MOVE."""
    published = (
        f"Published for {MANY} images by C-MOVE: {NAGLE_ON_SECONDS} s with Nagle's algorithm, "
        f"{NAGLE_OFF_SECONDS} s without."
    )
    return [*said, "", published] if said else []


def say_published_moves(said: list[str]) -> list[str]:
    """Beside what was said of this run."""
    published = (
        f"Published for {MANY} images out of a server made with DCMTK: {MOVE_SECONDS} s where "
        f"movescu receives; by storescu {STORE_SECONDS} s."
    )
    return [published, "", *said] if said else []


def say_receiving(medians: Medians, buffers: list[str]) -> Iterator[str]:
    for buffer in buffers:
        shipped, tuned = (
            medians.get(LOOPBACK, TO_ORTHANC, buffer, name, "throughput") for name in SERVERS
        )
        if shipped and tuned:
            yield (
                f"- {TO_ORTHANC}, TCP_BUFFER_LENGTH {buffer}: {shipped:.0f} images/s as shipped, "
                f"{tuned:.0f} with the plugin: {tuned / shipped:.1f} times as many."
            )


# Claim by claim


def tell_seconds(told: Mapping[str, float | None], cell: str, digits: str = "") -> Found | None:
    """Those that are known, each with what it is of."""
    known = [
        f"{value:{digits}} s {name}" if digits else f"{format_number(value)} s {name}"
        for name, value in told.items()
        if value is not None
    ]
    return Found(", ".join(known), cell) if known else None


def find_stores(medians: Medians) -> Found | None:
    return tell_seconds(
        {
            AS_THEN: medians.get_seconds(LOOPBACK, FIXED_BUFFER, NAGLE_OFF),
            "as DCMTK comes today": medians.get_seconds(LOOPBACK, NONE, NAGLE_ON),
            "as it comes, but without Nagle": medians.get_seconds(LOOPBACK, NONE, NAGLE_OFF),
        },
        name_cell(LOOPBACK, STORE, FIXED_BUFFER, NONE),
    )


def find_moves(
    medians: Medians, who: str, figure: str = SECONDS_FOR_MANY, digits: str = ""
) -> Found | None:
    """Out of DCMTK's server and out of Orthanc."""
    then = medians.get_move(ARCHIVE_OFF, who, FIXED_BUFFER, figure)
    now = {
        "out of dcmqrscp as it comes today": medians.get_move(ARCHIVE_ON, who, NONE, figure),
        "out of dcmqrscp without Nagle": medians.get_move(ARCHIVE_OFF, who, NONE, figure),
        "out of Orthanc as shipped": medians.get_move(SHIPPED, who, NONE, figure),
        "out of Orthanc with the plugin": medians.get_move(TUNED, who, NONE, figure),
    }
    cells = [name_cell(LOOPBACK, FROM_ARCHIVE, FIXED_BUFFER, NONE), name_cell(LOOPBACK, MOVE, NONE)]
    found = {f"out of dcmqrscp {AS_THEN}": then, **now}
    return tell_seconds(found, "; ".join(cells), digits)


def find_gdcm(medians: Medians) -> Found | None:
    return tell_seconds(
        {
            f"out of dcmqrscp {AS_THEN}": medians.get_move(ARCHIVE_OFF, GDCM, FIXED_BUFFER),
            "out of dcmqrscp as it comes today": medians.get_move(ARCHIVE_ON, GDCM),
            "out of dcmqrscp without Nagle": medians.get_move(ARCHIVE_OFF, GDCM),
        },
        name_cell(LOOPBACK, FROM_ARCHIVE, FIXED_BUFFER, NONE),
    )


def find_elsewhere(medians: Medians) -> Found | None:
    """One machine has no other host."""
    then = medians.get_move(ARCHIVE_OFF, ITSELF, FIXED_BUFFER, path=PAIR)
    now = {name: medians.get_move(name, ITSELF, path=PAIR) for name in ARCHIVES}
    found = tell_seconds(
        {
            AS_THEN: then,
            "as DCMTK comes today": now[ARCHIVE_ON],
            "as it comes, but without Nagle": now[ARCHIVE_OFF],
        },
        name_cell(PAIR, FROM_ARCHIVE, FIXED_BUFFER, NONE),
    )
    where = "between two network namespaces, as containers have"
    return replace(found, figure=f"{where}: {found.figure}") if found else None


def find_nagle(medians: Medians) -> Found | None:
    """From off to on, as in the report, by either transfer."""
    told = []
    for buffer, name in ((FIXED_BUFFER, "64 KiB"), (NONE, "buffers as they come")):
        moves = [medians.get_move(source, ITSELF, buffer) for source in ARCHIVES]
        stores = [medians.get_seconds(LOOPBACK, buffer, nagle) for nagle in NAGLE]
        for transfer, (on, off) in (("C-MOVE", moves), ("C-STORE", stores)):
            if on is not None and off is not None:
                change = f"{format_number(off)} s become {format_number(on)}"
                told.append(f"{change} ({transfer}, {name})")
    cells = (name_cell(LOOPBACK, it, FIXED_BUFFER, NONE) for it in (FROM_ARCHIVE, STORE))
    return Found(", ".join(told), "; ".join(cells)) if told else None


def find_jump(medians: Medians) -> Found | None:
    """Where it was seen, and on all other ways."""
    ratios = [median(before) / median(after) for _, before, after in medians.list_jumps()]
    if not ratios:
        return None
    told = [f"{min(ratios):.2f} to {max(ratios):.2f} times as fast, on {len(ratios)} ways"]
    before, after = (medians.get_move(ARCHIVE_OFF, ITSELF, it) for it in (BEFORE, AFTER))
    if before is not None and after is not None:
        change = f"{format_number(before)} s become {format_number(after)}"
        told.insert(0, f"{change} (C-MOVE from dcmqrscp, {NAGLE_OFF})")
    return Found("; ".join(told), f"each path and transfer, {BEFORE} and {AFTER}")


def format_rate(rate: float) -> str:
    """Of Mb/s."""
    return f"{format_number(rate)} Mb/s" if rate < 1000 else f"{format_number(rate / 1000)} Gb/s"


def find_rates(medians: Medians, buffer: int | str, name: str) -> Found | None:
    """On all paths."""
    rates = {path.partition(",")[0]: medians.get(path, STORE, buffer, name) for path in PATHS}
    told = [f"{format_rate(rate)} ({path})" for path, rate in rates.items() if rate]
    return Found(", ".join(told), f"each path, {STORE}, {buffer}, {name}") if told else None


def tell_loopback(medians: Medians) -> list[str]:
    stored = find_stores(medians)
    if stored is None:
        return []
    return REPORT_000.tell(
        {
            "store": stored,
            "move": find_moves(medians, ITSELF),
            "receiver": find_moves(medians, OTHER),
            "gdcmscu": find_gdcm(medians),
            "elsewhere": find_elsewhere(medians),
            "nagle": find_nagle(medians),
            "jump": find_jump(medians),
        }
    )


def tell_ten_gigabit(medians: Medians) -> list[str]:
    free = find_rates(medians, NONE, NAGLE_OFF)
    if free is None:
        return []
    return REPORT_001.tell(
        {
            "fixed": find_rates(medians, FIXED_BUFFER, NAGLE_OFF),
            "free": free,
            "iperf": find_rates(medians, NONE, IPERF),
            "wait": find_moves(medians, ITSELF, "first image", ".2f"),
            "thread": find_moves(medians, OTHER, "first image", ".2f"),
        }
    )


# Charts


def keep_known(groups: dict[str, dict[str, float | None]]) -> Groups:
    """Without what was not measured."""
    known = {
        group: {name: value for name, value in bars.items() if value is not None}
        for group, bars in groups.items()
    }
    return {group: bars for group, bars in known.items() if bars}


SETTINGS = {
    "as DCMTK comes today": (NAGLE_ON, NONE),
    f"{NAGLE_ON}, 64 KiB": (NAGLE_ON, FIXED_BUFFER),
    NAGLE_OFF: (NAGLE_OFF, NONE),
    f"{NAGLE_OFF}, 64 KiB": (NAGLE_OFF, FIXED_BUFFER),
    f"{NAGLE_OFF}, {BEFORE} bytes": (NAGLE_OFF, BEFORE),
    f"{NAGLE_OFF}, {AFTER} bytes": (NAGLE_OFF, AFTER),
}


def list_seconds(medians: Medians) -> Groups:
    """For 1000 images, by each way."""
    stores = {
        name: medians.get_seconds(LOOPBACK, buffer, nagle)
        for name, (nagle, buffer) in SETTINGS.items()
    }
    archive = {
        f"{who}, {name}": medians.get_move(f"dcmqrscp, {nagle}", who, buffer)
        for who in (ITSELF, OTHER, GDCM)
        for name, (nagle, buffer) in SETTINGS.items()
    }
    moves = {
        f"C-MOVE, {server}": {who: medians.get_move(server, who) for who in (ITSELF, OTHER)}
        for server in (*SERVERS, NO_DELAY)
    }
    return keep_known({f"C-STORE, {STORE}": stores, FROM_ARCHIVE: archive, **moves})


PUBLISHED_SECONDS = {
    "Report 000": {
        f"C-MOVE, {ITSELF}, {NAGLE_OFF}, 64 KiB": MOVE_SECONDS,
        f"C-MOVE, {ITSELF}, {NAGLE_ON}, 64 KiB": NAGLE_ON_SECONDS,
        f"C-MOVE, {ITSELF}, {NAGLE_OFF}, {AFTER} bytes": STORE_SECONDS,
        "C-STORE (at most)": STORE_SECONDS,
    }
}

PUBLISHED_RATES = {
    "Report 001": {"DCMTK, 64 KiB": FIXED_RATE, "DCMTK": FREE_RATE, "iperf": IPERF_RATE}
}


def list_rates(medians: Medians) -> Groups:
    """In Gb/s, on each path."""

    def find(path: str, buffer: int | str, name: str) -> float | None:
        rate = medians.get(path, STORE, buffer, name)
        return None if rate is None else rate / 1000

    return keep_known(
        {
            path: {
                "DCMTK, 64 KiB": find(path, FIXED_BUFFER, NAGLE_OFF),
                "DCMTK": find(path, NONE, NAGLE_OFF),
                "iperf3": find(path, NONE, IPERF),
            }
            for path in PATHS
        }
    )


def list_charts(results: Results, medians: Medians, charts: Charts) -> Iterable[tuple[str, str]]:
    """Headings and files."""
    seconds, rates, curves = list_seconds(medians), list_rates(medians), medians.list_curves()
    date = results.date
    if seconds:
        title, axis = f"{MANY} CT images, {date}", f"s for {MANY} images: median"
        draw = partial(draw_bars, title, axis, PUBLISHED_SECONDS, seconds)
        yield f"Seconds for {MANY} images", charts.add("seconds", draw)
    if rates:
        title = f"fixed buffers and none, {NAGLE_OFF}, {date}"
        draw = partial(draw_bars, title, "Gb/s: median", PUBLISHED_RATES, rates)
        yield "Fixed buffers and none", charts.add("fixed-buffers", draw)
    if curves:
        names = ("TCP_BUFFER_LENGTH, bytes", "Mb/s: median")
        unset = medians.list_unset()
        draw = partial(draw_curves, f"{STORE}, {date}", names, curves, unset, NONE)
        yield "Speed by TCP_BUFFER_LENGTH", charts.add("speed-by-buffer", draw)


def answer(results: Results, charts: Charts) -> list[str]:
    medians = Medians(results)
    buffers = [str(buffer) for buffer in results.options["server_buffers"]]
    said = {
        "Nagle's algorithm": [
            *say_nagle(medians),
            *say_receiving(medians, buffers),
            *say_published_nagle([*say_nagle_of_moves(medians, buffers)]),
        ],
        f"The jump at {AFTER:,} bytes": say_published_jump(tell_jump(medians)),
        "Buffers of 64 KiB": say_published_gain([*say_fixed(medians)]),
        "The first image of a C-MOVE": tell_first_images(medians, buffers),
        f"{MANY} images by C-MOVE": say_published_moves(tell_moves(medians, buffers)),
        REPORT_000.get_heading(): tell_loopback(medians),
        REPORT_001.get_heading(): tell_ten_gigabit(medians),
    }
    for heading, file in list_charts(results, medians, charts):
        said[heading] = [f"![{heading}]({file})"]
    return format_parts(said)
