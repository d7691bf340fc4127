# SPDX-License-Identifier: GPL-3.0-or-later
"""How a cost grows along an axis: exponents, their intervals, and whose grows faster.

A cost c that grows as x^k is a line of slope k in a plane of logarithms: the exponent is that of
the least squares through the medians of all places on the axis. Its interval is that of the
bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, section 13.3): pairs are drawn
again from those measured at each place. A pair is what a round showed, by its turns' medians: turns
of one round share their processes, which differ for as long as they live, and are no independent
witnesses. Where there is one round, its turns have to do.

The plugin's own cost is the difference B - A of a pair, which noise makes negative where it is
small: then it has no exponent. Whether it grows faster than Orthanc's is told without: by its
share, B / A - 1, and the slope of that over the logarithm of x. That it does not grow faster is
said only where the whole interval of that slope says so: what is too uncertain is not told.

Throughput is judged by its inverse, the time of an instance, as costs grow.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, NullLocator

from lab.charts import SETTINGS, Charts
from lab.ratios import Pair
from lab.report import format_number, format_table, format_values
from lab.results import Cell, Results

DRAWS = 2000
FEWEST = 6  # rounds at each place, for an interval
CONFIDENCE = (2.5, 97.5)  # per cent

# What the plugin's share must have grown by from end to end of an axis, of Orthanc's cost: less is
# told from nothing only because memory hardly varies from turn to turn
MATTERS = {"throughput": 0.05, "processor time": 0.02, "memory": 0.1}
RULED_OUT = 0.1  # what it must not have grown by, by its interval, to be said not to grow faster
INVERSE = "throughput"  # what falls where costs grow
COSTS = {INVERSE: "time, by the throughput"}

# What the plugin has no more of beyond a place of an axis, by the option that says which place
BOUNDS = {"peers": "maximum_peers"}

FASTER, NOT_FASTER = "**grows faster than Orthanc's**", "does not grow faster than Orthanc's"
NOT_TOLD = "not told: too uncertain"
UNSURE = f"not told: fewer than {FEWEST} rounds"

VERDICTS = ["axis", "cost", "the plugin adds, first", "last", "points for ten times as many"]
VERDICTS += ["at most, from end to end", "the plugin's own"]


Places = list[tuple[float, np.ndarray]]  # x, and pairs as rows of A and B
Middle = Callable[[np.ndarray], np.ndarray]  # of pairs (…, n, 2), the middle over n


@dataclass(frozen=True)
class Slope:
    """With its interval, where there are pairs enough for one."""

    value: float
    low: float | None
    high: float | None

    def format(self, factor: float = 1) -> str:
        text = f"{self.value * factor:.2f}"
        if self.low is None or self.high is None:
            return text
        return f"{text} ({self.low * factor:.2f} to {self.high * factor:.2f})"


def middle_of_a(pairs: np.ndarray) -> np.ndarray:
    return np.log10(np.median(pairs[..., 0], axis=-1))


def middle_of_b(pairs: np.ndarray) -> np.ndarray:
    return np.log10(np.median(pairs[..., 1], axis=-1))


def middle_of_own(pairs: np.ndarray) -> np.ndarray:
    """Not a number where the plugin's own cost is not above zero."""
    own = np.median(pairs[..., 1] - pairs[..., 0], axis=-1)
    return np.log10(np.where(own > 0, own, np.nan))


def middle_of_share(pairs: np.ndarray) -> np.ndarray:
    return np.median(pairs[..., 1] / pairs[..., 0], axis=-1) - 1


def fit(places: Places, middle: Middle) -> Slope | None:
    """The slope over log10 x; None where there is none."""
    x = np.log10(shift(places))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    value = float(weights @ np.array([middle(pairs) for _, pairs in places]))
    if math.isnan(value):
        return None
    if min(len(pairs) for _, pairs in places) < FEWEST:
        return Slope(value, None, None)
    generator = np.random.default_rng(1)  # the same page from the same figures
    drawn = np.array(
        [
            middle(pairs[generator.integers(len(pairs), size=(DRAWS, len(pairs)))])
            for _, pairs in places
        ]
    )
    slopes = weights @ drawn
    if np.isnan(slopes).any():  # it may as well be nothing at one of the places
        return Slope(value, None, None)
    low, high = np.percentile(slopes, CONFIDENCE)
    return Slope(value, float(low), float(high))


def find_place(cell: Cell) -> float:
    """What a cell's factor "At" begins with."""
    return float(cell.factors["At"].split()[0])


def take_witnesses(rounds: list[list[Pair]] | list[list[float]]) -> np.ndarray:
    """The medians of each round; where there is one, what each of its turns has."""
    return np.array(
        rounds[0] if len(rounds) == 1 else [np.median(turns, axis=0) for turns in rounds if turns]
    )


def take_pairs(cell: Cell, figure: str) -> np.ndarray:
    """As measured."""
    rounds = [
        [
            (a[figure], b[figure])
            for a, b in (tuple(turn.values()) for turn in turns if len(turn) == 2)
            if a.get(figure) and figure in b
        ]
        for turns in cell.rounds
    ]
    return take_witnesses(rounds)


def group_axes(results: Results) -> dict[str, list[Cell]]:
    """The cells of each axis that were measured, in the order of their places."""
    axes: dict[str, list[Cell]] = {}
    for cell in results.cells:
        if cell.rounds:
            axes.setdefault(cell.factors["Axis"], []).append(cell)
    return {axis: sorted(cells, key=find_place) for axis, cells in axes.items()}


def find_places(cells: Sequence[Cell], figure: str) -> Places:
    pairs = [(find_place(cell), take_pairs(cell, figure)) for cell in cells]
    return [(x, found) for x, found in pairs if len(found)]


def format_place(place: float) -> str:
    """300k: short enough to stand beside its neighbour."""
    return EngFormatter(sep="")(place) if place >= 1000 else f"{place:g}"


def shift(places: Places) -> np.ndarray:
    """The places as they can have logarithms: an axis that begins at 0 is shifted by one."""
    x = np.array([place for place, _ in places])
    return x + 1 if x.min() == 0 else x


@dataclass(frozen=True)
class Growth:
    """One figure along one axis, as measured.

    `bound`: the place beyond which there is no more for the plugin to keep, whatever there is for
    Orthanc. What it has up to there is a constant, and only what is beyond it can grow.
    """

    axis: str
    figure: str
    unit: str
    places: Places
    bound: float | None = None

    def get_costs(self) -> Places:
        if self.figure != INVERSE:
            return self.places
        return [(x, 1000 / pairs) for x, pairs in self.places]  # ms an instance

    def get_judged(self) -> Places:
        """Those beyond the bound, where there are two."""
        costs = self.get_costs()
        beyond = [(x, pairs) for x, pairs in costs if self.bound and x >= self.bound]
        return beyond if len(beyond) > 1 else costs

    def is_bounded(self) -> bool:
        return len(self.get_judged()) < len(self.places)

    def get_most(self) -> float | None:
        """By the interval: what the share may have grown by, from end to end."""
        share, x = self.fit_share(), np.log10(shift(self.get_judged()))
        return None if share is None or share.high is None else share.high * float(np.ptp(x))

    def fit_share(self) -> Slope | None:
        return fit(self.get_judged(), middle_of_share)

    def judge(self) -> str:
        share, most = self.fit_share(), self.get_most()
        if share is None or share.low is None or most is None:
            return UNSURE
        (_, begin), *_, (_, end) = self.get_judged()
        grown = float(middle_of_share(end) - middle_of_share(begin))
        if share.low > 0 and grown >= MATTERS[self.figure]:
            return FASTER
        return NOT_FASTER if most < RULED_OUT else NOT_TOLD

    def make_verdict_row(self) -> list[str]:
        (first, begin), *_, (last, end) = self.get_judged()
        share, most = self.fit_share(), self.get_most()
        return [
            self.axis,
            COSTS.get(self.figure, self.figure),
            *(
                f"{float(middle_of_share(pairs)):.1%} at {format_place(x)}"
                for x, pairs in ((first, begin), (last, end))
            ),
            share.format(100) if share else "",
            "" if most is None else f"{most:.1%}",
            self.judge(),
        ]

    def tell_bounded(self) -> str:
        """What the plugin's own grows by, up to the bound."""
        (first, begin), (last, end) = self.places[0], self.get_judged()[0]
        own = [format_number(float(np.median(p[:, 1] - p[:, 0]))) for p in (begin, end)]
        return (
            f"{self.axis}, {self.figure}: the plugin tells {self.bound:g} apart at most. Its own is"
            f" {own[0]} {self.unit}, at {format_place(first)}, and {own[1]} at"
            f" {format_place(last)}: that much is bounded. Judged is what lies beyond"
        )

    def make_row(self) -> list[str]:
        """Of a cost."""
        (_, begin), (_, end) = self.places[0], self.places[-1]
        orthanc, own = fit(self.places, middle_of_a), fit(self.places, middle_of_own)
        return [
            self.axis,
            f"{self.figure}, {self.unit}",
            *(format_values([float(np.median(pairs[:, 0]))]) for pairs in (begin, end)),
            orthanc.format() if orthanc else "",
            *(format_number(float(np.median(pairs[:, 1] - pairs[:, 0]))) for pairs in (begin, end)),
            own.format() if own else "no cost that can be told from none",
        ]

    def make_speed_row(self) -> list[str]:
        """Of what is no cost: both as they are."""
        (_, begin), (_, end) = self.places[0], self.places[-1]
        row = [self.axis]
        for column, middle in ((0, middle_of_a), (1, middle_of_b)):
            slope = fit(self.places, middle)
            row += [format_number(float(np.median(pairs[:, column]))) for pairs in (begin, end)]
            row.append(slope.format() if slope else "")
        return row


def list_growths(results: Results) -> list[Growth]:
    growths = []
    for axis, cells in group_axes(results).items():
        bound = results.options.get(BOUNDS.get(axis, ""))
        for figure in (name for name in MATTERS if name in results.figures):
            places = find_places(cells, figure)
            if len(places) > 1:
                growths.append(Growth(axis, figure, results.figures[figure].unit, places, bound))
    return growths


def sum_up(growths: list[Growth]) -> str:
    """The answer in one line."""
    verdicts = [growth.judge() for growth in growths]
    names = {
        wanted: [
            f"{g.axis} ({g.figure})" for g, v in zip(growths, verdicts, strict=True) if v == wanted
        ]
        for wanted in (FASTER, NOT_FASTER, NOT_TOLD)
    }
    told = sum(map(len, names.values()))
    if not told:
        return "There are too few rounds to tell whose cost grows faster."
    where = f"on {', '.join(names[FASTER])}" if names[FASTER] else "on no axis that this run shows"
    text = (
        f"**The plugin's own cost grows faster than Orthanc's {where}.** Of {told} costs,"
        f" {len(names[NOT_FASTER])} do not, by their whole intervals"
    )
    if names[NOT_TOLD]:
        text += f"; not told: {', '.join(names[NOT_TOLD])}"
    return f"{text}."


def draw(growths: list[Growth], results: Results, path: Path) -> None:
    """A row for each figure, a column for each axis, both logarithmic."""
    axes = list(dict.fromkeys(growth.axis for growth in growths))
    rows = list(dict.fromkeys(growth.figure for growth in growths))
    with plt.rc_context(SETTINGS):
        chart, grid = plt.subplots(
            len(rows),
            len(axes),
            figsize=(2.6 * len(axes) + 1, 2.4 * len(rows) + 0.7),
            layout="constrained",
            squeeze=False,
        )
        for growth in growths:
            plot = grid[rows.index(growth.figure)][axes.index(growth.axis)]
            draw_growth(growth, plot)
            plot.set_title(growth.axis, fontsize=9)
            if growth.axis == axes[0]:
                plot.set_ylabel(f"{growth.figure}, {growth.unit}")
        entries = {
            label: handle
            for plot in grid.flat
            for handle, label in zip(*plot.get_legend_handles_labels(), strict=True)
        }
        chart.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=4)
        chart.suptitle(f"{results.experiment}: how cost grows, {results.date}")
        chart.savefig(path, format="svg", metadata={"Date": None})
        plt.close(chart)


def draw_growth(growth: Growth, plot: plt.Axes) -> None:
    x = shift(growth.places)
    for column, name, style in ((0, "Orthanc", "o-"), (1, "Orthanc with the plugin", "s--")):
        values = [pairs[:, column] for _, pairs in growth.places]
        middles = np.array([np.median(found) for found in values])
        spread = [
            middles - [found.min() for found in values],
            [found.max() for found in values] - middles,
        ]
        plot.errorbar(x, middles, yerr=spread, fmt=style, label=name, capsize=2, ms=4)
    if growth.figure != INVERSE:
        draw_own(x, growth, plot)
    plot.set_xscale("log")
    plot.set_yscale("log")
    plot.set_xticks(x, [format_place(place) for place, _ in growth.places])
    plot.xaxis.set_minor_locator(NullLocator())
    low, high = plot.get_ylim()
    steps = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 6, 7, 8)
    plot.yaxis.set_major_locator(LogLocator(subs=steps))
    plot.yaxis.set_major_formatter("{x:g}")
    plot.yaxis.set_minor_formatter(NullFormatter())
    plot.grid(alpha=0.3)


def draw_own(x: np.ndarray, growth: Growth, plot: plt.Axes) -> None:
    """Where noise makes it negative, its size, hollow: a logarithmic axis has no place for it."""
    own = np.array([np.median(pairs[:, 1] - pairs[:, 0]) for _, pairs in growth.places])
    plot.plot(x, np.abs(own), ":", color="0.4")
    for marked, fill, label in (
        (own > 0, "0.4", "the plugin's own"),
        (own < 0, "none", "the plugin's own, below zero by noise: its size"),
    ):
        if marked.any():
            plot.plot(x[marked], np.abs(own[marked]), "^", color="0.4", mfc=fill, label=label, ms=5)


def take_own(cell: Cell, who: str, figure: str) -> np.ndarray:
    """What one contestant has."""
    rounds = [
        [turn[who][figure] for turn in turns if figure in turn.get(who, {})]
        for turns in cell.rounds
    ]
    return take_witnesses(rounds)


def describe_own(results: Results, figure: str) -> Iterator[str]:
    """What the plugin alone has, in a line for each axis."""
    for axis, cells in group_axes(results).items():
        who = cells[0].list_contestants()[-1]
        found = [(find_place(cell), take_own(cell, who, figure)) for cell in cells]
        places = [(x, np.column_stack((values, values))) for x, values in found if len(values)]
        slope = fit(places, middle_of_a) if len(places) > 1 else None
        if slope:
            (first, begin), (last, end) = places[0], places[-1]
            times = [format_number(float(np.median(values))) for values in (begin, end)]
            yield (
                f"- {axis}: a {figure} takes {times[0]} ms of processor time at {first:g},"
                f" {times[1]} ms at {last:g}; exponent {slope.format()}."
            )


def format_speeds(growths: list[Growth]) -> list[str]:
    if not growths:
        return []
    head = ["axis", f"Orthanc's throughput, {growths[0].unit}, first", "last", "exponent"]
    head += ["with the plugin, first", "last", "exponent"]
    return format_table(head, (growth.make_speed_row() for growth in growths))


def answer(results: Results, charts: Charts) -> list[str]:
    """The section of an experiment whose cells lie on axes."""
    growths = list_growths(results)
    if not growths:
        return []
    file = charts.add("growth", partial(draw, growths, results))
    head = ["axis", "cost", "Orthanc's, first", "last", "exponent"]
    head += ["the plugin's own, first", "last", "exponent"]
    costs = [growth.make_row() for growth in growths if growth.figure != INVERSE]
    speeds = [growth for growth in growths if growth.figure == INVERSE]
    return [
        "### How cost grows",
        "",
        sum_up(growths),
        "",
        f"![growth]({file})\n",
        *format_table(VERDICTS, (growth.make_verdict_row() for growth in growths)),
        *(
            f"- {growth.tell_bounded()}."
            for growth in growths
            if growth.is_bounded() and growth.figure != INVERSE
        ),
        *describe_own(results, "scrape of /perf/metrics"),
        "",
        *format_table(head, costs),
        *format_speeds(speeds),
        "Figures are medians at the first and the last place of each axis; exponents have the 95 %"
        f" interval of the bootstrap, from {FEWEST} rounds on. An axis that begins at 0 is shifted"
        f" by one. Of {len(growths)} rows, noise alone makes {len(growths) * 0.025:.2g} that seem"
        f" to grow faster. *Does not* is said where what the plugin adds cannot have risen by"
        f" {RULED_OUT:.0%} of Orthanc's cost from end to end, by the upper end of its interval"
        " (*at most*); *grows faster* where the whole interval lies above 0, and the rise is "
        + ", ".join(f"{least:.0%} of {COSTS.get(name, name)}" for name, least in MATTERS.items())
        + " or more.",
        "",
    ]
