# SPDX-License-Identifier: GPL-3.0-or-later
"""Two results of one experiment side by side: what differs, and what is not told apart.

Compared are ratios within each run: what else the machine did then hits both contestants alike.
The test by Mann and Whitney assumes no distribution, and is exact for few values. By Holm's method,
a table of pure noise has a false row in 5 % of all cases. Rows with too few values to differ among
so many are not tested, and so take nothing from the others.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import median

from lab.ratios import Comparison
from lab.report import format_table
from lab.results import ResultError, Results

LEVEL = 0.05


@cache
def count_ways(a: int, b: int) -> list[int]:
    """In how many orders of a and b values the statistic of Mann and Whitney is 0, 1, 2, …

    They are the coefficients of the Gaussian binomial in q, the product of (1 - q^(b + i)) /
    (1 - q^i) for i from 1 to a (Andrews, The Theory of Partitions, section 3.2).
    """
    ways = [1] + [0] * (a * b)
    for number in range(1, a + 1):
        for place in range(a * b, b + number - 1, -1):
            ways[place] -= ways[place - b - number]
        for place in range(number, a * b + 1):
            ways[place] += ways[place - number]
    return ways


def find_probability(a: list[float], b: list[float]) -> float:
    """Of a difference in ranks at least as large, in either direction, if there is none.

    Ties count half; the statistic is rounded towards the middle then.
    """
    above = sum((x > y) + (x == y) / 2 for x, y in product(a, b))
    smaller = math.ceil(min(above, len(a) * len(b) - above))
    ways = sum(count_ways(len(a), len(b))[: smaller + 1])
    return min(1.0, 2 * ways / math.comb(len(a) + len(b), len(a)))


def adjust(probabilities: list[float]) -> list[float]:
    """By Holm's method (Scandinavian Journal of Statistics 6, 1979), in their order."""
    adjusted = [0.0] * len(probabilities)
    largest = 0.0
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * probabilities[place]))
        adjusted[place] = largest
    return adjusted


@dataclass(frozen=True)
class Row:
    a: Comparison
    b: Comparison

    def get_probability(self) -> float:
        return find_probability(self.a.get_units(), self.b.get_units())

    def get_least_probability(self) -> float:
        """That so many values can show, if all of one run are larger."""
        a, b = len(self.a.get_units()), len(self.b.get_units())
        return 2 / math.comb(a + b, a)

    def judge(self, adjusted: float | None) -> str:
        if adjusted is None:
            return "too few turns"
        if adjusted <= LEVEL:
            return "**differs**"
        return "perhaps" if self.get_probability() <= LEVEL else "not told apart"

    def format(self, adjusted: float | None) -> list[str]:
        a, b = self.a.get_units(), self.b.get_units()
        return [
            self.a.scenario,
            f"{self.a.figure}, {self.a.b} / {self.a.a}",
            f"{median(a):.3f} ({len(a)})",
            f"{median(b):.3f} ({len(b)})",
            # Hodges and Lehmann's estimate, of logarithms
            f"{median(y / x for x, y in product(a, b)):.3f}",
            f"{self.get_probability():.2g}",
            "" if adjusted is None else f"{adjusted:.2g}",
            self.judge(adjusted),
        ]


def find_rows(a: Results, b: Results) -> tuple[list[Row], list[str]]:
    """The ratios that both have, and the names of those that only one has."""
    varying = {*a.list_factors(), *b.list_factors()}
    found: list[dict[tuple[str, ...], Comparison]] = [{}, {}]
    for place, results in zip(found, (a, b), strict=True):
        for cell in results.cells:
            names = tuple(value for name, value in cell.factors.items() if name in varying)
            for comparison in results.compare(cell):
                place[*names, comparison.figure, comparison.a, comparison.b] = comparison
    rows = [Row(found[0][key], found[1][key]) for key in found[0] if key in found[1]]
    return rows, [", ".join(key) for key in found[0].keys() ^ found[1].keys()]


def choose_tested(rows: list[Row]) -> list[Row]:
    """Those that could differ among so many; rows alike, all or none."""
    could = [row for row in rows if row.get_least_probability() <= LEVEL]
    return [row for row in could if len(could) * row.get_least_probability() <= LEVEL]


def list_differences(a: Results, b: Results) -> list[str]:
    """What else than time lies between the two."""
    lines = [
        f"- {kind}: {name}: {before} in A, {now} in B"
        for kind, name, before, now in a.list_differences(b)
    ]
    return [*lines, ""] if lines else []


def compare(a: Results, b: Results) -> str:
    if a.experiment != b.experiment:
        raise ResultError(f"A is of {a.experiment}, B of {b.experiment}")
    rows, alone = find_rows(a, b)
    if not rows:
        raise ResultError("the two have no ratio in common")
    tested = choose_tested(rows)
    adjusted = adjust([row.get_probability() for row in tested])
    head = ["cell", "ratio", "A (values)", "B (values)", "B / A", "p", "p of all rows", "verdict"]
    lines = [f"## {a.experiment}: A of {a.date}, B of {b.date}", "", *list_differences(a, b)]
    cells = {id(row): row.format(p) for row, p in zip(tested, adjusted, strict=True)}
    lines += format_table(head, [cells.get(id(row)) or row.format(None) for row in rows])
    lines += [
        "Compared are the ratios within each run, which leave out what the machine did meanwhile,",
        "by the exact rank-sum test of Mann and Whitney: it assumes no distribution. *differs*: p,",
        f"by Holm's method for all {len(tested)} rows that have turns enough, is at most {LEVEL}.",
        f"*perhaps*: it is for this row alone; noise makes {len(tested) * LEVEL:.2g} such rows.",
        "What was measured in one round does not tell how processes of the same program differ.",
        f"{len(rows) - len(tested)} of {len(rows)} rows have too few turns (`--turns`).",
    ]
    lines += [f"- In one of them only: {name}" for name in sorted(alone)]
    return "\n".join(lines)
