# SPDX-License-Identifier: GPL-3.0-or-later
"""The charts of "wan": a panel for each family of protocols, and bars for what loss does."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from statistics import median

from lab.bars import RangeGroups, draw_ranges
from lab.charts import Charts
from lab.curves import Curves, Panel, Series, draw_panels
from lab.line import AUTO, Line, make_usual
from lab.results import Results
from lab.wan_report import Speeds
from lab.wan_site import (
    CIFS,
    COMPRESSED,
    DICOM,
    FILES,
    FORWARD,
    FTP,
    HTTP,
    HTTPS,
    PLAIN,
    RECEIVED,
    SEVERAL,
    STOCK,
    TLS,
    TUNED,
)

FAMILIES = {
    "DICOM": [DICOM, TLS, SEVERAL],
    "HTTP, FTP and CIFS": [HTTP, HTTPS, FILES, FTP, CIFS],
    FORWARD: [f"{FORWARD}, {RECEIVED}", f"{FORWARD}, {COMPRESSED}"],
}
STYLES = {STOCK: ":", TUNED: "-"}  # what has no preset is drawn as tuned
STEPS = 100  # of a curve
GREY, GREYS = "0.5", ("--", "-.", ":")
NOTE = """Solid: preset tuned, or without presets
Dotted: preset stock
Stars: report 004
Grey: one window in each round trip"""


def list_limits(results: Results) -> list[Series]:
    """A fixed window in each round trip, where the line carries more."""
    rate = results.options["rate"]
    found = []
    for size in [int(size) for size in results.options["buffers"] if size != AUTO]:
        first, last = size * 8 / rate / 1000, max(results.options["round_trips"] or [0])
        if first < last:
            between = (first * (last / first) ** (step / STEPS) for step in range(STEPS + 1))
            points = [(trip, size * 8 / trip / 1000) for trip in between]
            label = f"{size // 1024} KiB / round trip"
            found.append(Series(label, points, GREY, GREYS[len(found) % len(GREYS)]))
    return found


def list_buffers(results: Results) -> list[Series]:
    """What DICOM has with such buffers, at the base's distance."""
    speeds, found = Speeds(results), []
    for name, marker in ((STOCK, "D"), (TUNED, "s")):
        points = [
            (line.round_trip * 1000, value)
            for size in results.options["buffers"]
            if size != AUTO
            for line in [replace(speeds.base, buffer=int(size))]
            if (value := speeds.get(line, DICOM, name)) is not None
        ]
        if points:
            sizes = " and ".join(f"{int(it) // 1024}" for it in results.options["buffers"][1:])
            label = f"{DICOM}, {name}, {sizes} KiB"
            found.append(Series(label, points, "black", "", marker, is_hollow=name == STOCK))
    return found


def list_panels(
    results: Results, curves: Curves, published: Mapping[str, dict[float, float]]
) -> list[Panel]:
    """Colour is the protocol, or the form of the images; the line's style is the preset."""
    panels = []
    for family, names in FAMILIES.items():
        series = []
        for colour, name in enumerate(names):
            for label, points in curves.items():
                start, _, preset = label.rpartition(", ")
                if name in (label, start):
                    style = STYLES.get(preset, STYLES[TUNED])
                    short = label if family in names else label.removeprefix(f"{family}, ")
                    series.append(Series(short, points, f"C{colour}", style, "o"))
            if name in published:
                points = sorted(published[name].items())
                label = f"{name}, report 004"
                series.append(Series(label, points, f"C{colour}", "", "*", is_hollow=True))
        if family == "DICOM":
            series += [*list_buffers(results), *list_limits(results)]
        if series:
            panels.append(Panel(family, series))
    return panels


def show_trips(
    results: Results,
    curves: Curves,
    published: Mapping[str, dict[float, float]],
    charts: Charts,
) -> list[str]:
    title = f"{results.experiment}, {results.date}"
    names = ("round trip, ms", "Mb/s: median")
    panels = list_panels(results, curves, published)
    file = charts.add("speed-by-round-trip", partial(draw_panels, title, names, panels, NOTE))
    return [f"![Speed by round trip]({file})", ""]


def show_shares(
    results: Results, published: Mapping[str, dict[float, float]], charts: Charts
) -> list[str]:
    """CIFS by distance, a colour for each buffer of the server's."""
    found: Curves = {}
    for cell in results.cells:
        if cell.factors["Protocol"] == CIFS and cell.rounds:
            trip = Line.from_factors(cell.factors).round_trip * 1000
            speeds = cell.list_values(PLAIN, "speed")
            found.setdefault(cell.factors["Buffers"], []).append((trip, median(speeds)))
    found = {name: sorted(points) for name, points in found.items() if len(points) > 1}
    series = []
    for colour, (name, points) in enumerate(found.items()):
        series.append(Series(f"{CIFS}, {name}", points, f"C{colour}", "-", "o"))
        if name in published:
            stars = sorted(published[name].items())
            label = f"{CIFS}, {name}, report 004"
            series.append(Series(label, stars, f"C{colour}", "", "*", is_hollow=True))
    if not series:
        return []
    panel = Panel("CIFS", [*series, *list_limits(results)])
    title = f"{results.experiment}, {results.date}"
    names = ("round trip, ms", "Mb/s: median")
    file = charts.add("cifs-by-round-trip", partial(draw_panels, title, names, [panel], NOTE))
    return [f"![CIFS by round trip]({file})", ""]


def show_loss(results: Results, charts: Charts) -> list[str]:
    """Each congestion control with loss and without, by protocol and preset."""
    found: RangeGroups = {}
    for cell in results.cells:
        line, protocol = Line.from_factors(cell.factors), cell.factors["Protocol"]
        usual = make_usual(results.options, line.round_trip)
        if replace(line, loss=0, congestion=usual.congestion) != usual:
            continue
        for name in cell.list_contestants():
            bar = f"{line.congestion}, {line.loss * 100:g} % lost"
            group = f"{line.round_trip * 1000:g} ms, {protocol}, {name}"
            found.setdefault(group, {})[bar] = cell.list_values(name, "speed")
    groups = {
        group: bars
        for group, bars in found.items()
        if any(not bar.endswith(", 0 % lost") for bar in bars)
    }
    if not groups:
        return []
    title = f"{results.experiment}, {results.date}: loss and congestion control"
    axis = "Mb/s: median and range"
    file = charts.add("loss-by-congestion-control", partial(draw_ranges, title, axis, groups))
    return [f"![Loss and congestion control]({file})", ""]
