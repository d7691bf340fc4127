# SPDX-License-Identifier: GPL-3.0-or-later
"""How a figure grows with time, by a fit that single outliers do not move."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

QUANTILE = 1.96


@dataclass(frozen=True)
class Slope:
    """A unit a unit of time; the true one is between `low` and `high` in 95 of 100 cases."""

    value: float
    low: float
    high: float


def fit(times: Sequence[float], figures: Sequence[float]) -> Slope:
    """The median of the slopes between any two points (Theil 1950, Sen 1968), and the interval that
    Sen gives for it, of which ties and dependent points are no part."""
    count = len(times)
    if count < 3 or len(figures) != count:
        raise ValueError(f"{count} times and {len(figures)} figures make no slope")
    first, second = np.triu_indices(count, 1)
    time, figure = np.asarray(times, float), np.asarray(figures, float)
    slopes = np.sort((figure[second] - figure[first]) / (time[second] - time[first]))
    half = QUANTILE * sqrt(count * (count - 1) * (2 * count + 5) / 18) / 2
    middle = (len(slopes) - 1) / 2
    low, high = max(0, int(middle - half)), min(len(slopes) - 1, int(middle + half) + 1)
    return Slope(float(np.median(slopes)), float(slopes[low]), float(slopes[high]))
