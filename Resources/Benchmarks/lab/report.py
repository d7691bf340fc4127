# SPDX-License-Identifier: GPL-3.0-or-later
"""Results as JSON and Markdown."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from lab.machine import describe_machine, get_load
from lab.ratios import Comparison

HEADER = "| scenario | figure | A | B | B / A | 95 % of the median | range | rounds x pairs |"
RULE = "| --- | --- | --: | --: | --: | --- | --- | --: |"


def format_number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def format_row(comparison: Comparison) -> str:
    ratio = comparison.get_ratio()
    sure = "too few" if ratio.low is None else f"{ratio.low:.3f} to {ratio.high:.3f}"
    cells = [
        comparison.scenario,
        f"{comparison.figure}, {comparison.unit}",
        format_number(comparison.get_median_a()),
        format_number(comparison.get_median_b()),
        f"**{ratio.median:.3f}**",
        sure,
        f"{ratio.minimum:.3f} to {ratio.maximum:.3f}",
        f"{len(comparison.rounds)} x {len(comparison.rounds[0])}",
    ]
    return "| " + " | ".join(cells) + " |"


@dataclass
class Report:
    """What a benchmark found, printed as it comes in."""

    benchmark: str
    options: dict[str, Any]
    comparisons: list[Comparison] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=describe_machine)
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    load: list[float] = field(default_factory=lambda: [get_load()])

    def add(self, comparisons: list[Comparison]) -> None:
        self.comparisons += comparisons
        self.load.append(get_load())
        for comparison in comparisons:
            print(format_row(comparison), comparison.note, flush=True)

    def skip(self, scenario: str, reason: str) -> None:
        self.skipped[scenario] = reason
        print(f"Left out: {scenario}: {reason}", flush=True)

    def remark(self, text: str) -> None:
        """A figure that is no comparison."""
        self.remarks.append(text)
        print(text, flush=True)

    def to_json(self) -> dict[str, Any]:
        return {
            "Benchmark": self.benchmark,
            "Date": self.date,
            "Machine": self.machine,
            "LoadAverages": self.load,
            "Options": self.options,
            "Comparisons": [comparison.to_json() for comparison in self.comparisons],
            "Skipped": self.skipped,
            "Remarks": self.remarks,
        }

    def to_markdown(self) -> str:
        lines = [f"## {self.benchmark}", ""]
        for (a, b), found in groupby(self.comparisons, lambda found: (found.a, found.b)):
            group = list(found)
            lines += [f"A: {a}. B: {b}.", "", HEADER, RULE, *map(format_row, group), ""]
            lines += [f"{entry.scenario}: {entry.note}.\n" for entry in group if entry.note]
        lines += [f"{text}.\n" for text in self.remarks]
        lines += [f"Left out: {name}: {reason}.\n" for name, reason in self.skipped.items()]
        facts = ", ".join(f"{key}: {value}" for key, value in self.machine.items())
        load = f"{min(self.load)} to {max(self.load)}"
        lines += [f"{self.date}. {facts}. Load average, all users: {load}.", ""]
        return "\n".join(lines)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_json(), indent=2) + "\n"
        (folder / f"{self.benchmark}.json").write_text(text, "utf-8")
        (folder / f"{self.benchmark}.md").write_text(self.to_markdown(), "utf-8")
        print(f"\n{self.to_markdown()}\nWritten: {folder}/{self.benchmark}.json and .md")
