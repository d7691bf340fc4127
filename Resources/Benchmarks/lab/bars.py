# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of several groups as bars below each other: what was published, and what was found."""

from pathlib import Path

from lab.charts import ROW, SETTINGS, WIDTH, mpl, plt

Groups = dict[str, dict[str, float]]  # a bar's length by its name, in groups by theirs

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
