# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of "dcmtk-sockets" says, beside reports 000 and 001."""

from collections.abc import Iterable, Iterator
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
    NAGLE_ON_SECONDS,
    REPORT_000,
    REPORT_001,
    STORE_SECONDS,
    WAIT,
    Found,
)
from lab.report import format_number, format_parts
from lab.results import Results

NONE = "none"

# The last one is slower than 10 Gb/s, and further away: as much is under way
LOOPBACK, PAIR, AWAY = "loopback", "veth, between two network namespaces", "5 ms away"
PATHS = [LOOPBACK, PAIR, AWAY]
ROUND_TRIPS = {PAIR: 0, AWAY: 0.005}

STORE, MOVE, TO_ORTHANC = "storescu → storescp", "C-MOVE by movescu", "storescu → Orthanc"
TRANSFERS = [STORE, MOVE, TO_ORTHANC]

NAGLE_ON, NAGLE_OFF, IPERF = "Nagle on", "Nagle off", "iperf3"
NAGLE = (NAGLE_ON, NAGLE_OFF)

SHIPPED, TUNED = "Orthanc as shipped", "Orthanc with the plugin"
SERVERS = (SHIPPED, TUNED)
ITSELF, OTHER = "movescu receives", "storescp receives"

MANY = 1000  # images, as report 000 had
SECONDS_FOR_MANY = "seconds for many"
JUMP = 2  # a factor that is one


def reckon_seconds(figures: Figures) -> float:
    """For as many images by C-MOVE as published, of which only the first one waits."""
    images, first = figures["images"], figures["first image"]
    others = images / figures["throughput"] - first
    return first + (MANY - 1) * others / max(1, images - 1)


class Medians:
    """Each cell's figures, by its factors."""

    def __init__(self, results: Results) -> None:
        self._found: dict[tuple[str, ...], Figures] = {}
        for cell in results.cells:
            for name in cell.list_contestants():
                figures = {
                    figure: median(values)
                    for figure in results.figures
                    if (values := cell.list_values(name, figure))
                }
                turns = [turn[name] for turns in cell.rounds for turn in turns if name in turn]
                if "first image" in figures:
                    figures[SECONDS_FOR_MANY] = median(map(reckon_seconds, turns))
                self._found[*cell.factors.values(), name] = figures

    def get(
        self, path: str, transfer: str, buffer: int | str, name: str, figure: str = "speed"
    ) -> float | None:
        return self._found.get((path, transfer, str(buffer), name), {}).get(figure)

    def get_seconds(self, path: str, buffer: int | str, name: str) -> float | None:
        """For as many images by C-STORE between DCMTK's programs as published."""
        throughput = self.get(path, STORE, buffer, name, "throughput")
        return MANY / throughput if throughput else None

    def list_curves(self) -> Curves:
        """Speed by buffer; none is no point."""
        curves: Curves = {}
        for (path, transfer, buffer, name), figures in self._found.items():
            if transfer == STORE and buffer != NONE:
                label = f"{name}, {path.partition(',')[0]}"
                curves.setdefault(label, []).append((int(buffer), figures["speed"]))
        return {name: sorted(points) for name, points in curves.items() if len(points) > 1}


def name_cell(path: str, transfer: str, *buffers: int | str) -> str:
    """Of the table of figures."""
    return f"{path.partition(',')[0]}, {transfer}, {' and '.join(map(str, buffers))}"


# In words


def list_jumps(medians: Medians) -> Iterator[tuple[str, str, float, float]]:
    for path in PATHS:
        for name in NAGLE:
            before, after = (medians.get(path, STORE, it, name) for it in (BEFORE, AFTER))
            if before and after:
                yield path, name, before, after


def say_jump(medians: Medians) -> Iterator[str]:
    for path, name, before, after in list_jumps(medians):
        verdict = "still there" if after > JUMP * before else "no longer there"
        yield (
            f"- {path}, {name}: {BEFORE:,} bytes give {before:.0f} Mb/s, {AFTER:,} give "
            f"{after:.0f}, {after / before:.2f} times as much. Published: slow and fast. "
            f"The jump is {verdict}."
        )


def say_nagle(medians: Medians) -> Iterator[str]:
    for path in PATHS:
        on, off = (medians.get(path, STORE, NONE, name, "throughput") for name in NAGLE)
        if on and off:
            yield (
                f"- {path}, buffers as they come: {on:.0f} images/s with Nagle's algorithm, "
                f"{off:.0f} without: {off / on:.1f} times as many."
            )


def say_fixed(medians: Medians) -> Iterator[str]:
    for path in PATHS:
        for name in (NAGLE_OFF, IPERF):
            free, fixed = (medians.get(path, STORE, it, name) for it in (NONE, FIXED_BUFFER))
            if free and fixed:
                yield (
                    f"- {path}, {name}: {fixed:.0f} Mb/s with fixed buffers of 64 KiB, {free:.0f} "
                    f"without: {free / fixed:.2f} times as much. Published for 10 Gb/s: "
                    f"{GAIN:.1f} times."
                )
        trip = ROUND_TRIPS.get(path)
        if trip and medians.get(path, STORE, FIXED_BUFFER, NAGLE_OFF):
            limit = Line(trip, 0, 0, FIXED_BUFFER, "").get_window_limit() / 1e6
            yield (
                f"- {path}: one window of 64 KiB in each round trip is {limit:.0f} Mb/s, about the "
                "most that such buffers allow, whatever the line carries."
            )


def list_moves(
    medians: Medians, figure: str, buffers: list[str]
) -> Iterator[tuple[str, float, float]]:
    """By buffer and server: where movescu receives, and where a storescp does."""
    for buffer in buffers:
        for server in SERVERS:
            own, other = (
                medians.get(LOOPBACK, MOVE, buffer, f"{server}, {who}", figure)
                for who in (ITSELF, OTHER)
            )
            if own is not None and other is not None:
                yield f"TCP_BUFFER_LENGTH {buffer}, {server}", own, other


def say_first_images(medians: Medians, buffers: list[str]) -> Iterator[str]:
    for name, own, other in list_moves(medians, "first image", buffers):
        is_there = own - other > WAIT / 2
        yield (
            f"- {name}: the first image is there after {own:.2f} s where movescu receives, after "
            f"{other:.2f} s with a storescp: the published wait of {WAIT} s is "
            f"{'there' if is_there else 'not there'}."
        )


def say_moves(medians: Medians, buffers: list[str]) -> Iterator[str]:
    for name, own, other in list_moves(medians, SECONDS_FOR_MANY, buffers):
        yield (
            f"- {name}: {MANY} images take {own:.0f} s where movescu receives, {other:.0f} s with "
            f"a storescp (published: {MOVE_SECONDS} s, and {STORE_SECONDS} s by storescu)."
        )


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


def find_stores(medians: Medians, path: str) -> Found | None:
    on, off = (medians.get_seconds(path, NONE, name) for name in NAGLE)
    if on is None or off is None:
        return None
    figure = f"{format_number(on)} s as DCMTK comes today, {format_number(off)} s without Nagle"
    then = medians.get_seconds(path, FIXED_BUFFER, NAGLE_OFF)
    if then is not None:
        figure += f", {format_number(then)} s with DCMTK's settings of then (no Nagle, 64 KiB)"
    return Found(figure, name_cell(path, STORE, NONE, FIXED_BUFFER))


def find_moves(medians: Medians, who: str, figure: str, digits: str) -> Found | None:
    shipped, tuned = (
        medians.get(LOOPBACK, MOVE, NONE, f"{server}, {who}", figure) for server in SERVERS
    )
    if shipped is None or tuned is None:
        return None
    text = f"{shipped:{digits}} s out of Orthanc as shipped, {tuned:{digits}} s with the plugin"
    return Found(text, name_cell(LOOPBACK, MOVE, NONE))


def find_nagle(medians: Medians) -> Found | None:
    told = []
    for buffer, name in ((NONE, "buffers as they come"), (FIXED_BUFFER, "64 KiB")):
        on, off = (medians.get_seconds(LOOPBACK, buffer, it) for it in NAGLE)
        if on is not None and off is not None:
            told.append(f"{format_number(off)} s become {format_number(on)} ({name})")
    figure = f"the reverse, for {MANY} CT by C-STORE: {', '.join(told)}"
    return Found(figure, name_cell(LOOPBACK, STORE, NONE, FIXED_BUFFER)) if told else None


def find_jump(medians: Medians) -> Found | None:
    ratios = [after / before for *_, before, after in list_jumps(medians)]
    if not ratios:
        return None
    figure = f"{min(ratios):.2f} to {max(ratios):.2f} times as fast, on {len(ratios)} ways"
    return Found(figure, f"each path, {STORE}, {BEFORE} and {AFTER}")


def format_rate(rate: float) -> str:
    """Of Mb/s."""
    return f"{format_number(rate)} Mb/s" if rate < 1000 else f"{format_number(rate / 1000)} Gb/s"


def find_rates(medians: Medians, buffer: int | str, name: str) -> Found | None:
    """On all paths."""
    rates = {path.partition(",")[0]: medians.get(path, STORE, buffer, name) for path in PATHS}
    told = [f"{format_rate(rate)} ({path})" for path, rate in rates.items() if rate]
    return Found(", ".join(told), f"each path, {STORE}, {buffer}, {name}") if told else None


def tell_loopback(medians: Medians) -> list[str]:
    stored = find_stores(medians, LOOPBACK)
    if stored is None:
        return []
    return REPORT_000.tell(
        {
            "store": stored,
            "move": find_moves(medians, ITSELF, SECONDS_FOR_MANY, ".0f"),
            "receiver": find_moves(medians, OTHER, SECONDS_FOR_MANY, ".0f"),
            "elsewhere": find_stores(medians, PAIR),
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


def list_seconds(medians: Medians) -> Groups:
    """For 1000 images, by each way."""
    stores = {
        f"{STORE}, {name}": medians.get_seconds(LOOPBACK, buffer, nagle)
        for name, buffer, nagle in (
            (NAGLE_ON, NONE, NAGLE_ON),
            (NAGLE_OFF, NONE, NAGLE_OFF),
            (f"{NAGLE_OFF}, 64 KiB", FIXED_BUFFER, NAGLE_OFF),
        )
    }
    moves = {
        server: {
            f"C-MOVE, {who}": medians.get(
                LOOPBACK, MOVE, NONE, f"{server}, {who}", SECONDS_FOR_MANY
            )
            for who in (ITSELF, OTHER)
        }
        for server in SERVERS
    }
    return keep_known({"DCMTK alone": stores, **moves})


PUBLISHED_SECONDS = {
    "Report 000": {
        f"C-MOVE, {ITSELF}": MOVE_SECONDS,
        f"C-MOVE, {ITSELF}, {NAGLE_ON}": NAGLE_ON_SECONDS,
        f"C-MOVE, {ITSELF}, buffers of {AFTER} bytes": STORE_SECONDS,
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
        draw = partial(draw_curves, f"{STORE}, {date}", names, curves, {})
        yield "Speed by TCP_BUFFER_LENGTH", charts.add("speed-by-buffer", draw)


def answer(results: Results, charts: Charts) -> list[str]:
    medians = Medians(results)
    buffers = [str(buffer) for buffer in results.options["server_buffers"]]
    said = {
        "Nagle's algorithm": [*say_nagle(medians), *say_receiving(medians, buffers)],
        f"The jump at {AFTER:,} bytes": [*say_jump(medians)],
        "Buffers of 64 KiB": [*say_fixed(medians)],
        "The first image of a C-MOVE": [*say_first_images(medians, buffers)],
        f"{MANY} images by C-MOVE": [*say_moves(medians, buffers)],
        REPORT_000.get_heading(): tell_loopback(medians),
        REPORT_001.get_heading(): tell_ten_gigabit(medians),
    }
    for heading, file in list_charts(results, medians, charts):
        said[heading] = [f"![{heading}]({file})"]
    return format_parts(said)
