# SPDX-License-Identifier: GPL-3.0-or-later
"""CONTRIBUTING.md says how long each fuzz target has run, and with what outcome."""

from conftest import ROOT
from harness.fuzzing import fill_page, read_runs

PAGE = ROOT / "CONTRIBUTING.md"
KEPT = ROOT / "Resources" / "Documentation" / "tables" / "fuzzing.tsv"


def test_the_page_is_made_from_what_is_kept_beside_it() -> None:
    text = PAGE.read_text("utf-8")
    assert fill_page(text, read_runs(KEPT)) == text


def test_all_that_is_kept_is_of_targets_there_are() -> None:
    targets = {path.stem for path in (ROOT / "UnitTests" / "Fuzz").glob("Fuzz*.cpp")}
    assert {run.target for run in read_runs(KEPT)} <= targets
