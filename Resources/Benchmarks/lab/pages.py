# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages written by hand that hold results: tables and charts are made from the JSON beside them.

Between the lines "<!-- lab: NAME.json -->" and "<!-- lab: end -->" of a page stands what the
report of that result says; the rest of the page is its author's.
"""

import re
from pathlib import Path

from lab.cells import Answer
from lab.report import draw_charts, format_report
from lab.results import ResultError, Results

BLOCK = re.compile(
    r"^(?P<begin><!-- lab: (?P<name>[\w.-]+)\.json -->\n)"
    r"(?P<body>.*?)"
    r"(?P<end>^<!-- lab: end -->$)",
    re.MULTILINE | re.DOTALL,
)


def fill(page: Path, answer: Answer = lambda *_: []) -> list[Path]:
    """Makes the blocks of a page anew, and their charts: all that was written."""
    charts: list[Path] = []

    def make(block: re.Match[str]) -> str:
        results = Results.read(page.with_name(f"{block['name']}.json"))
        drawn = draw_charts(results, page.parent, block["name"])
        charts.extend(drawn.values())
        report = format_report(results, drawn, answer(results, page.parent, block["name"]))
        return f"{block['begin']}\n{report}\n{block['end']}"

    text, count = BLOCK.subn(make, page.read_text("utf-8"))
    if not count:
        raise ResultError(f"{page} has no line <!-- lab: NAME.json --> with an end")
    page.write_text(text, "utf-8")
    return [page, *charts]
