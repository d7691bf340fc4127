# SPDX-License-Identifier: GPL-3.0-or-later
"""One figure as it follows another, both on logarithmic axes, with what theory says of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from lab.charts import COLOURS, SETTINGS, WIDTH, mpl, plt

Points = list[tuple[float, float]]
Curves = dict[str, Points]  # by their names

HEIGHT = 5.5  # inches
PANEL_HEIGHT = 4.2
PANELS = 2  # side by side
UNSET_PLACE = 4  # times the largest setting
CLOSE = 1.2  # places that share a label


@dataclass(frozen=True)
class Series:
    """Points of one kind; without a style, no line connects them."""

    label: str
    points: Points
    colour: str
    style: str
    marker: str = ""
    is_hollow: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    series: list[Series]


def set_logarithmic(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)


def draw_panels(
    title: str, axes_names: tuple[str, str], panels: list[Panel], note: str, path: Path
) -> None:
    """All with the same axes, each with a legend of its own, where such curves leave room.

    The note is where there is no panel.
    """
    columns = min(PANELS, len(panels))
    rows = -(-len(panels) // columns)
    with mpl.rc_context(SETTINGS):
        chart, grid = plt.subplots(
            rows,
            columns,
            figsize=(WIDTH * columns / PANELS, PANEL_HEIGHT * rows + 0.4),
            layout="constrained",
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for place, panel in zip(grid.flat, panels, strict=False):
            for it in panel.series:
                place.plot(
                    *zip(*it.points, strict=True),
                    linestyle=it.style or "none",
                    color=it.colour,
                    marker=it.marker or None,
                    markerfacecolor="none" if it.is_hollow else it.colour,
                    ms=8 if it.marker == "*" else 4,
                    lw=1,
                    label=it.label,
                )
            set_logarithmic(place)
            place.tick_params(axis="x", labelrotation=45)
            place.tick_params(labelbottom=True, labelleft=True)
            place.set_title(panel.title)
            place.legend(loc="lower left", fontsize=7)
        for place in grid.flat[len(panels) :]:
            place.set_axis_off()
            place.text(0.05, 0.95, note, transform=place.transAxes, va="top", linespacing=1.6)
        chart.supxlabel(axes_names[0])
        chart.supylabel(axes_names[1])
        chart.suptitle(title)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def draw_curves(
    title: str,
    axes_names: tuple[str, str],
    measured: Curves,
    unset: Mapping[str, float],
    unset_name: str,
    path: Path,
) -> None:
    """`unset`: the figure of a curve without any setting of the first axis, at its right end."""
    with mpl.rc_context(SETTINGS):
        chart, axes = plt.subplots(figsize=(WIDTH, HEIGHT), layout="constrained")
        end = max(place for points in measured.values() for place, _ in points) * UNSET_PLACE
        for number, (name, points) in enumerate(measured.items()):
            marker = "osv^D<>P*Xhd"[number % 12]
            style = ("-", "-.", ":")[number // COLOURS % 3]
            (curve,) = axes.plot(
                *zip(*points, strict=True), style, marker=marker, ms=4, lw=1, label=name
            )
            if name in unset:
                last = [points[-1], (end, unset[name])]
                line = {"ls": "--", "marker": marker, "color": curve.get_color(), "ms": 4, "lw": 1}
                axes.plot(*zip(*last, strict=True), **line)
        set_logarithmic(axes)
        if unset:
            places = sorted({place for points in measured.values() for place, _ in points})
            shown = [it for it, after in pairwise([*places, end]) if after > CLOSE * it]
            axes.set_xticks([*shown, end], [*(f"{it:,.0f}" for it in shown), unset_name])
        axes.set_xlabel(axes_names[0])
        axes.set_ylabel(axes_names[1])
        axes.set_title(title)
        chart.legend(loc="outside lower center", ncols=2)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)
