# SPDX-License-Identifier: GPL-3.0-or-later
"""One figure as it follows another, both on logarithmic axes, with what theory says of it."""

from pathlib import Path

from matplotlib.ticker import LogLocator, NullFormatter

from lab.charts import SETTINGS, WIDTH, mpl, plt

Curves = dict[str, list[tuple[float, float]]]  # points, by their names

HEIGHT = 5.5  # inches
COLOURS = 10  # of matplotlib, before they come again


def draw_curves(
    title: str, axes_names: tuple[str, str], measured: Curves, predicted: Curves, path: Path
) -> None:
    """What is predicted is dashed."""
    with mpl.rc_context(SETTINGS):
        chart, axes = plt.subplots(figsize=(WIDTH, HEIGHT), layout="constrained")
        for number, (name, points) in enumerate(measured.items()):
            marker = "osv^D<>P*Xhd"[number % 12]
            style = ("-", "-.", ":")[number // COLOURS % 3]
            axes.plot(*zip(*points, strict=True), style, marker=marker, ms=4, lw=1, label=name)
        for name, points in predicted.items():
            axes.plot(*zip(*points, strict=True), "--", color="0.5", lw=1)
            axes.annotate(name, points[-1], ha="right", va="bottom", color="0.4", fontsize=7)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(axes_names[0])
        axes.set_ylabel(axes_names[1])
        axes.set_title(title)
        axes.grid(alpha=0.3)
        chart.legend(loc="outside lower center", ncols=2)
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)
