# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of Resources/Documentation/reports say what the results beside them say.

In the text, a **bold** figure is this project's, and an *italic* one was published. Both stand in
one of the parts that are made from a result, or were written from it by hand (of any page, in the
index), where what was published is in italics as well.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import ROOT
from lab.__main__ import answer
from lab.pages import BLOCK, CHART, fill_text, keep
from lab.results import Results

FOLDER = ROOT / "Resources" / "Documentation" / "reports"
INDEX = FOLDER / "README.md"
PAGES = sorted(FOLDER.glob("*.md"))
RESULTS = sorted(FOLDER.glob("*.json"))
LARGEST = 200_000  # bytes of a result
# The options that make a full run no other one, and no smaller one: of less time for a cell, the
# page shows the rounds that it was enough for
OPTIONS = re.compile(r"--(?:storage|disk)[ =]\S+|--databases sqlite postgresql|--seconds \d+")
OFFICIAL = [
    "stalls",
    "--orthanc",
    "FOLDER/Orthanc",
    "--scenarios",
    "storescu",
    "--senders",
    "1",
    "--turns",
    "25",
]

PARTS = {  # kept under names of their own
    "ingest-nagle": ["ingest", "--axes", "nagle", "gzip"],
    "official-disk": OFFICIAL,
    "official-memory": OFFICIAL,
    "overhead-budget": ["overhead", "--budget"],
    "overhead-disk": ["overhead"],
    "overhead-earlier": ["overhead", "--earlier", "FOLDER/libOrthancPerf.so"],
    "scale-peers": ["scale", "--axes", "peers"],
    "wan-fixed": ["wan", "--lines", "fixed"],
}

# What is measured. Round trips, sizes and the like are not, where they are in ms, KB, KiB, …
NUMBER = r"(?<![\w.,])\d[\d.,]*(?: to \d[\d.,]*)? "
UNITS = r"images/s|[GM]b/s|MB/s|times|min|s"
FIGURE = re.compile(rf"{NUMBER}(?:{UNITS})\b")
MARKED_FIGURE = re.compile(rf"{NUMBER}(?:{UNITS}|ms|[kK]B|%)(?!\w)")  # in bold or italics
LINES = {"1 Gb/s", "10 Gb/s", "155 Mb/s"}  # which have no other names
CODE = re.compile(r"^ {4}.*$|`[^`]*`|\]\([^)]*\)", re.MULTILINE)
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
ITALIC = re.compile(r"\*(.+?)\*", re.DOTALL)
BY_HAND = re.compile(
    r"^<!-- by hand: (?P<source>[\w.-]+) -->\n.*?^<!-- by hand: end -->$", re.MULTILINE | re.DOTALL
)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
every_result = pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)


def take_made(text: str) -> str:
    """What a page has from results."""
    return " ".join(part.group() for kind in (BLOCK, BY_HAND) for part in kind.finditer(text))


def list_faults(text: str, of_others: str = "") -> Iterator[str]:
    """The figures of a page that nothing stands behind."""
    made = f"{take_made(text)} {of_others}"
    published = " | ".join(ITALIC.findall(BOLD.sub("", made)))
    left = CODE.sub("", BY_HAND.sub("", BLOCK.sub("", text)))
    for mark, source, name in ((BOLD, made, "measured"), (ITALIC, published, "published")):
        for span in mark.finditer(left):
            for figure in MARKED_FIGURE.findall(span[1]):
                # Of a span such as "25.9 … 37.5 s", the first has no unit
                wanted = figure if mark is BOLD else figure.split()[0]
                if not re.search(rf"(?<![\w.,]){re.escape(wanted)}(?!\w)", source):
                    yield f"{figure} was not {name}"
        left = mark.sub("", left)
    yield from (f"{figure} is nobody's" for figure in FIGURE.findall(left) if figure not in LINES)


@every_page
def test_what_is_made_from_a_result_is_what_it_says_now(page: Path) -> None:
    text = page.read_text("utf-8")
    assert fill_text(text, FOLDER, answer)[0] == text


@every_page
def test_each_figure_in_the_text_was_measured_or_published(page: Path) -> None:
    of_others = " ".join(take_made(other.read_text("utf-8")) for other in PAGES)
    faults = list_faults(page.read_text("utf-8"), of_others if page == INDEX else "")
    assert list(faults) == []


@every_page
def test_each_chart_is_there_and_of_the_run_that_the_page_is_of(page: Path) -> None:
    for block in BLOCK.finditer(page.read_text("utf-8")):
        date = Results.read(FOLDER / block["source"]).date
        for chart in CHART.findall(block.group()):
            path = FOLDER / chart
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
            assert date in path.read_text("utf-8")


def test_nothing_is_kept_that_no_page_shows() -> None:
    shown = {
        name
        for page in PAGES
        for block in BLOCK.finditer(page.read_text("utf-8"))
        for name in (block["source"], *CHART.findall(block.group()))
    }
    kept = {path.name for path in FOLDER.iterdir() if path.suffix in (".svg", ".json")}
    assert kept == shown


@every_result
def test_a_result_is_of_a_full_run_and_as_small_as_it_can_be(path: Path, tmp_path: Path) -> None:
    results = Results.read(path)
    experiment, *axes = PARTS.get(path.stem, [path.stem])
    assert results.experiment == experiment
    assert results.is_complete() and not any(cell.failure for cell in results.cells)
    words = OPTIONS.sub("", results.command).split()
    assert words == ["Resources/Benchmarks/run.sh", experiment, *axes]
    again = tmp_path / path.name
    keep(path, again)
    assert again.read_bytes() == path.read_bytes()
    assert path.stat().st_size < LARGEST
