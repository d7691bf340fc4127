# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of several groups as bars below each other: what was published, and what was found."""

from pathlib import Path
from statistics import median

from lab.charts import ROW, SETTINGS, WIDTH, mpl, plt

Groups = dict[str, dict[str, float]]  # a bar's length by its name, in groups by theirs
RangeGroups = dict[str, dict[str, list[float]]]  # the same of several turns

PUBLISHED = "0.6"  # a grey


def draw_bars(title: str, axis_name: str, published: Groups, found: Groups, path: Path) -> None:
    """On a logarithmic axis, each bar with its figure; what was published is grey, and comes first.

    Such an axis has no zero: bars begin at half of the smallest.
    """
    groups = {**published, **found}
    values = [value for bars in groups.values() for value in bars.values()]
    with mpl.rc_context(SETTINGS):
        height = 1.2 + ROW * 1.3 * (len(values) + len(groups))
        chart, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        places: dict[float, str] = {}
        top = 0.0
        for number, (group, bars) in enumerate(groups.items()):
            rows = [top + 1 + index for index in range(len(bars))]
            colour = PUBLISHED if group in published else f"C{number % 10}"
            drawn = axes.barh(rows, list(bars.values()), color=colour, height=0.75)
            axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=7)
            axes.annotate(group, (0, top), xycoords=axes.get_yaxis_transform(), weight="bold")
            places |= dict(zip(rows, bars, strict=True))
            top = rows[-1] + 1.4
        axes.set_yticks(list(places), list(places.values()))
        axes.set_ylim(top - 0.6, -0.8)
        axes.set_xscale("log")
        axes.set_xlim(min(values) / 2, max(values) * 2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel(axis_name)
        axes.set_title(title)
        axes.grid(axis="x", alpha=0.3)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def draw_ranges(title: str, axis_name: str, groups: RangeGroups, path: Path) -> None:
    """Each bar is a median, with a line for its range; up to the comma, its name is its colour."""
    kinds = [name.partition(",")[0] for bars in groups.values() for name in bars]
    colours = {kind: f"C{number % 10}" for number, kind in enumerate(dict.fromkeys(kinds))}
    count = sum(len(bars) for bars in groups.values())
    with mpl.rc_context(SETTINGS):
        height = 1.2 + ROW * 1.3 * (count + len(groups))
        chart, axes = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        places: dict[float, str] = {}
        top = 0.0
        for group, bars in groups.items():
            for row, (name, values) in enumerate(bars.items(), 1):
                middle, place = median(values), top + row
                reach = ([middle - min(values)], [max(values) - middle])
                colour = colours[name.partition(",")[0]]
                axes.barh(place, middle, color=colour, height=0.75, alpha=0.7)
                axes.errorbar(middle, place, xerr=reach, color="0.2", capsize=3, lw=1)
                axes.annotate(
                    f"{middle:.3g}",
                    (max(values), place),
                    xytext=(6, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7,
                )
                places[place] = name
            axes.annotate(group, (0, top), xycoords=axes.get_yaxis_transform(), weight="bold")
            top += len(bars) + 1.4
        axes.set_yticks(list(places), list(places.values()))
        axes.set_ylim(top - 0.6, -0.8)
        axes.set_xlim(left=0)
        axes.margins(x=0.08)
        axes.set_xlabel(axis_name)
        axes.set_title(title)
        axes.grid(axis="x", alpha=0.3)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)
