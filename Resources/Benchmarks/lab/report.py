# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as a page of Markdown with charts, made from its JSON."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from lab.cells import Answer
from lab.charts import Charts, can_be_drawn, draw
from lab.ratios import Comparison
from lab.results import Cell, Results

UNSURE = "too few"  # for an interval
ANSWER = "In short"
ONE_ROUND = (
    "Where there is one round, the interval is of turns with the same processes. Two servers of the"
    " same program may differ by some per cent for as long as they live, which it does not tell."
)


def format_number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def format_values(values: list[float]) -> str:
    if not values:
        return ""
    low, high = format_number(min(values)), format_number(max(values))
    middle = format_number(median(values))
    return middle if low == high else f"{middle} ({low} to {high})"


def format_table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def list_declined(cell: Cell) -> Iterable[str]:
    for who, why in cell.declined.items():
        yield f"{who}: {why}" if who in cell.list_contestants() else f"without {who}: {why}"


def list_figures(results: Results, cell: Cell, contestant: str) -> list[str]:
    return [format_values(cell.list_values(contestant, figure)) for figure in results.figures]


def describe_cell(results: Results, cell: Cell) -> Iterable[str]:
    """A cell that has just been measured, in a line for each contestant."""
    yield from list_declined(cell)
    if cell.failure:
        yield f"FAILED: {cell.failure}"
    for contestant in cell.list_contestants():
        found = zip(results.figures.items(), list_figures(results, cell, contestant), strict=True)
        texts = [f"{name} {text} {kind.unit}".strip() for (name, kind), text in found if text]
        yield f"{contestant}: {'; '.join(texts)}"


def list_figure_rows(results: Results) -> Iterable[list[str]]:
    for cell in results.cells:
        for contestant in cell.list_contestants():
            figures = list_figures(results, cell, contestant)
            yield [results.name_cell(cell), contestant, *figures]


def list_ratio_rows(comparisons: Iterable[Comparison]) -> Iterable[list[str]]:
    for comparison in comparisons:
        ratio = comparison.get_ratio()
        # An odd round may have ended sooner, or be in doubt for longer
        turns = {len(pairs) for pairs in comparison.rounds}
        most = f" to {max(turns)}" if len(turns) > 1 else ""
        yield [
            comparison.scenario,
            f"{comparison.b} / {comparison.a}",
            f"**{ratio.median:.3f}**",
            UNSURE if ratio.low is None else f"{ratio.low:.3f} to {ratio.high:.3f}",
            f"{ratio.minimum:.3f} to {ratio.maximum:.3f}",
            f"{len(comparison.rounds)} x {min(turns)}{most}",
        ]


def list_ratios(results: Results) -> Iterable[str]:
    head = ["cell", "ratio", "median", "95 % of the median", "range", "rounds x turns"]
    comparisons = results.list_comparisons()
    for figure in results.figures:
        rows = list(list_ratio_rows(found for found in comparisons if found.figure == figure))
        if rows:
            yield from [f"### Ratios: {figure}", "", *format_table(head, rows)]
    if any(len(comparison.rounds) == 1 for comparison in comparisons):
        yield from [ONE_ROUND, ""]


def list_remarks(results: Results) -> Iterable[str]:
    for cell in results.cells:
        name = results.name_cell(cell)
        if cell.note:
            yield f"- {name}: {cell.note}."
        if cell.failure:
            yield f"- **{name}: failed: {cell.failure}**"
        elif not cell.is_complete:
            yield f"- {name}: not complete."
        yield from (f"- {name}: {remark}." for remark in list_declined(cell))


def describe_circumstances(results: Results) -> list[str]:
    loads = [cell.load for cell in results.cells if cell.rounds] or [0]
    facts = ", ".join(f"{key}: {value}" for key, value in results.machine.items())
    lines = [f"{name}: {value}." for name, value in results.get_constants().items()]
    lines += [f"Measured {results.date}. {facts}."]
    lines += [f"Load average, all users: {min(loads)} to {max(loads)}.", ""]
    lines += ["Made by", "", f"    {results.command}", ""]
    return lines


def format_report(results: Results, charts: dict[str, str], answer: Sequence[str] = ()) -> str:
    """The charts are files, by their figures; the answer comes first. Each part has a heading."""
    lines = [f"## {results.experiment}", "", *describe_circumstances(results)]
    if answer and not answer[0].startswith("### "):
        lines += [f"### {ANSWER}", ""]
    lines += answer
    for figure, file in charts.items():
        lines += [f"### Chart: {figure}", "", f"![{figure}]({file})", ""]
    head = ["cell", "contestant"]
    head += [
        f"{name}, {kind.unit}" if kind.unit else name for name, kind in results.figures.items()
    ]
    lines += ["### Figures: median (range)", "", *format_table(head, list_figure_rows(results))]
    lines += list_ratios(results)
    lines += ["### Remarks", "", *(list(list_remarks(results)) or ["All was measured."])]
    return "\n".join(lines).rstrip() + "\n"


def list_charts(results: Results, charts: Charts) -> dict[str, str]:
    return {
        figure: charts.add(
            figure.replace(" ", "-").replace("/", "-"), partial(draw, results, figure)
        )
        for figure, kind in results.figures.items()
        if kind.is_compared and kind.is_drawn and can_be_drawn(results, figure)
    }


def make_report(results: Results, name: str, answer: Answer = lambda *_: []) -> tuple[str, Charts]:
    charts = Charts(name)
    by_figure = list_charts(results, charts)
    return format_report(results, by_figure, answer(results, charts)), charts


def write_report(
    results: Results, folder: Path, name: str, answer: Answer = lambda *_: []
) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    text, charts = make_report(results, name, answer)
    page = folder / f"{name}.md"
    page.write_text(text, "utf-8")
    return [page, *charts.write(folder)]
