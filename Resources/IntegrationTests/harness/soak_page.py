# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of measurements.md, from what a soak has kept."""

import json
from pathlib import Path
from typing import Any

from harness.tables import fill_table

Outcome = dict[str, Any]


def read_outcome(path: Path) -> Outcome:
    return json.loads(path.read_text("utf-8"))


def _say_growth(growth: dict[str, float]) -> str:
    value, low, high = (growth[key] / 1e6 for key in ("value", "low", "high"))
    return (
        f"{value:+.2f} MB an hour ({low:+.2f} to {high:+.2f}), of {growth['last'] / 1e6:.0f} MB, "
        f"from {growth['samples']} samples"
    )


def list_lines(outcome: Outcome) -> list[tuple[str, str]]:
    instances = outcome["instances"]
    stored = sum(count for name, count in instances.items() if name.endswith(" stored"))
    hours = outcome["seconds"] / 3600
    descriptors = outcome["descriptors"]
    return [
        ("run", f"{outcome['date']}, Orthanc {outcome['orthanc']}, Linux {outcome['kernel']}"),
        ("time", f"{hours:.2f} h, {outcome['rounds']:,} rounds"),
        ("instances stored", f"{stored:,}, {outcome['transcoded']:,} of them transcoded"),
        ("studies moved out (C-MOVE)", f"{outcome['moves']:,}"),
        ("changes of the tuning", f"{outcome['switches']:,}"),
        ("hostile connections", f"{outcome['strangers']:,}"),
        ("file descriptors", f"{descriptors['before']} before, {descriptors['after']} after"),
        ("most memory of Orthanc's", f"{outcome['peak'] / 1e6:.0f} MB"),
        *((f"growth, {name}", _say_growth(growth)) for name, growth in outcome["growth"].items()),
    ]


def fill_page(text: str, outcome: Outcome) -> str:
    lines = [("what", "how much"), ("---", "---"), *list_lines(outcome)]
    return fill_table(text, "soak", [f"| {what} | {much} |" for what, much in lines])
