# SPDX-License-Identifier: GPL-3.0-or-later
"""The ratio B / A of two contestants who were measured in turn, with its spread."""

import math
from dataclasses import dataclass
from statistics import median

Pair = tuple[float, float]


def find_rank(count: int, confidence: float = 0.95) -> int | None:
    """The rank, from 1, of the values that enclose the median with this confidence.

    Of values in order, the one of this rank from below and from above: the sign test's interval
    (Conover, Practical Nonparametric Statistics, section 3.2), which assumes nothing of the
    values' distribution. None: too few values.
    """
    rank, tail = 0, 1 / 2**count
    while tail <= (1 - confidence) / 2:
        rank += 1
        tail += math.comb(count, rank) / 2**count
    return rank or None


@dataclass(frozen=True)
class Spread:
    """Where ratios lie; low and high enclose the true median with 95 % confidence."""

    median: float
    minimum: float
    maximum: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Comparison:
    """One figure of A and B, pair by pair, in rounds between which both were started anew.

    Two processes of the same program differ by some per cent for as long as they live: it is the
    rounds that tell how sure a ratio is. Where there is one round, all is in one process, and
    each pair counts.
    """

    scenario: str
    figure: str
    unit: str
    a: str
    b: str
    rounds: list[list[Pair]]

    def get_pairs(self) -> list[Pair]:
        return [pair for pairs in self.rounds for pair in pairs]

    def get_units(self) -> list[float]:
        """The ratios that count as independent of each other, in order."""
        ratios = [[b / a for a, b in pairs] for pairs in self.rounds]
        return sorted(ratios[0] if len(ratios) == 1 else (median(values) for values in ratios))

    def get_ratio(self) -> Spread:
        everything = [b / a for a, b in self.get_pairs()]
        units = self.get_units()
        rank = find_rank(len(units))
        return Spread(
            median(units),
            min(everything),
            max(everything),
            None if rank is None else units[rank - 1],
            None if rank is None else units[-rank],
        )
