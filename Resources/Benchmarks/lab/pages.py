# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages written by hand that hold results: tables and charts are made from the JSON beside them.

Between the lines "<!-- lab: NAME.json -->" and "<!-- lab: end -->" of a page stands what the
report of that result says; the rest of the page is its author's. "<!-- lab: NAME.json; machine;
In short -->" takes these sections of it only, by their headings: "machine" is what stands before
the first one.
"""

import json
import re
from functools import cache
from pathlib import Path

from lab.cells import Answer
from lab.charts import Charts
from lab.report import make_report
from lab.results import ResultError, Results

BLOCK = re.compile(
    r"^(?P<begin><!-- lab: (?P<source>[\w.-]+)(?P<sections>(?:; [^;\n]+)*) -->)\n"
    r".*?"
    r"^(?P<end><!-- lab: end -->)$",
    re.MULTILINE | re.DOTALL,
)
CHART = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.svg)\)")
MACHINE = "machine"

DIGITS = 5  # of a figure: more than anything here is sure of


def list_sections(report: str) -> dict[str, str]:
    head, *parts = re.split(r"^### ", report, flags=re.MULTILINE)
    sections = {part.partition("\n")[0]: f"### {part}".strip() for part in parts}
    return {MACHINE: head.partition("\n")[2].strip(), **sections}


def choose_sections(report: str, chosen: list[str]) -> str:
    if not chosen:
        return report
    sections = list_sections(report)
    if unknown := [name for name in chosen if name not in sections]:
        raise ResultError(f"no section {unknown[0]}; there are: {'; '.join(sections)}")
    return "\n\n".join(sections[name] for name in chosen) + "\n"


def fill_text(text: str, folder: Path, answer: Answer) -> tuple[str, list[Charts]]:
    """The text with its blocks made anew from the results in the folder, and all their charts."""
    found: list[Charts] = []

    @cache
    def report(name: str) -> str:
        made, charts = make_report(Results.read(folder / name), Path(name).stem, answer)
        found.append(charts)
        return made

    def make_block(block: re.Match[str]) -> str:
        chosen = block["sections"].split("; ")[1:]
        text = choose_sections(report(block["source"]), chosen)
        return f"{block['begin']}\n\n{text}\n{block['end']}"

    return BLOCK.sub(make_block, text), found


def fill(page: Path, answer: Answer = lambda *_: []) -> list[Path]:
    before = page.read_text("utf-8")
    if not BLOCK.search(before):
        raise ResultError(f"{page} has no line <!-- lab: NAME.json --> with an end")
    text, found = fill_text(before, page.parent, answer)
    shown = CHART.findall(text)
    drawn = [path for charts in found for path in charts.write(page.parent, shown)]
    page.write_text(text, "utf-8")
    return [page, *drawn]


def shorten(value: object) -> object:
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def keep(source: Path, target: Path) -> None:
    """A result for a page, smaller: a line a cell, no more digits than can be read."""
    document = shorten(Results.read(source).to_json())
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    target.write_text(text.replace('{"Factors":', '\n{"Factors":') + "\n", "utf-8")
