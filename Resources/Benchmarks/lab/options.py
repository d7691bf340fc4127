# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that several experiments have, and where the project keeps what they need."""

import argparse
from pathlib import Path

from harness.images import Image, make_ct_series

ROOT = Path(__file__).resolve().parents[3]


def add_plan(
    command: argparse.ArgumentParser, turns: int, seconds: float, alias: str = "--pairs"
) -> None:
    """How much each cell gets; the alias is what the experiment calls its turns."""
    command.add_argument(
        "--turns", alias, type=int, default=turns, help="of all contestants, in each round"
    )
    command.add_argument("--seconds", type=float, default=seconds, help="at most, for each cell")


def make_series(name: str, count: int) -> list[Image]:
    """CT images of 525 kB; the files stay for the next run."""
    return make_ct_series(ROOT / "build" / "images", name, count)
