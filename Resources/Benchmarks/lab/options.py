# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of experiments, and where the project keeps what several of them need."""

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.images import Image, make_ct_series

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Option:
    """Of the default's type, with as many values; `quick` is the default of the short form.

    `flags`: its names. `kind`, `nargs`, `action`: as of argparse, where the default does not tell.
    """

    flags: str
    default: Any
    help: str = ""
    quick: Any = None
    choices: Collection[str] | None = None
    kind: Callable[[str], Any] | None = None
    nargs: str | None = None
    metavar: str | None = None
    action: str = "store"

    def add_to(self, command: argparse.ArgumentParser, is_quick: bool) -> None:
        flags, text = self.flags.split(), self.help
        if isinstance(self.default, bool):
            command.add_argument(*flags, action="store_true", help=text)
            return
        is_list = isinstance(self.default, list)
        first = self.default[0] if is_list else self.default
        default = self.default if self.quick is None or not is_quick else self.quick
        command.add_argument(
            *flags,
            type=self.kind or (str if first is None else type(first)),
            nargs=self.nargs or ("+" if is_list else None),
            choices=self.choices,
            default=default,
            metavar=self.metavar,
            action=self.action,
            help=text,
        )


def make_plan(
    turns: int, seconds: float, quick: tuple[int, float], alias: str = "--pairs"
) -> list[Option]:
    """How much each cell gets; the alias is what the experiment calls its turns."""
    return [
        Option(f"--turns {alias}", turns, "of all contestants, in each round", quick[0]),
        Option("--seconds", seconds, "at most, for each cell", quick[1], kind=float),
    ]


def make_series(name: str, count: int) -> list[Image]:
    """CT images of 525 kB; the files stay for the next run."""
    return make_ct_series(ROOT / "build" / "images", name, count)
