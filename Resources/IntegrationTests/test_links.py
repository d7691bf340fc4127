# SPDX-License-Identifier: GPL-3.0-or-later
"""Each link of the documentation leads to a file and to a heading that exist."""

import re
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT

DOCUMENTATION = ROOT / "Resources" / "Documentation"
PAGES = [
    *ROOT.glob("*.md"),
    *DOCUMENTATION.rglob("*.md"),
    ROOT / "Resources" / "Benchmarks" / "README.md",
]
LINK = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")


def list_anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    anchors: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", page.read_text("utf-8")):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.add(f"{anchor}-{anchors[anchor]}" if anchors[anchor] else anchor)
        anchors[anchor] += 1
    return found


def find_broken(page: Path, folder: Path) -> list[str]:
    broken = []
    for link in LINK.findall(page.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = folder / path if path else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in list_anchors(target)
        ):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert find_broken(page, page.parent) == []
