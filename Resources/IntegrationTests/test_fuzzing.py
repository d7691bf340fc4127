# SPDX-License-Identifier: GPL-3.0-or-later
"""CONTRIBUTING.md says how long each fuzz target has run, and with what outcome."""

from pathlib import Path

import pytest

from conftest import ROOT
from harness.fuzzing import FuzzRun, fill_page, read_runs, write_runs

PAGE = ROOT / "CONTRIBUTING.md"
KEPT = ROOT / "Resources" / "Documentation" / "tables" / "fuzzing.tsv"
EMPTY = "Before\n<!-- table: fuzzing -->\n<!-- end -->\nAfter\n"

FIRST = FuzzRun("FuzzA", "2026-11-25T06:00:00Z", 3000, 0, 1000, 40, 1, "0123abc")
SECOND = FuzzRun("FuzzA", "2026-11-26T06:00:00Z", 1500, 1440, 234, 50, 0, "4567def")


def test_the_page_is_made_from_what_is_kept_beside_it() -> None:
    text = PAGE.read_text("utf-8")
    assert fill_page(text, read_runs(KEPT)) == text


def test_all_that_is_kept_is_of_targets_there_are() -> None:
    targets = {path.stem for path in (ROOT / "UnitTests" / "Fuzz").glob("Fuzz*.cpp")}
    assert {run.target for run in read_runs(KEPT)} <= targets


def test_runs_add_up_once_each(tmp_path: Path) -> None:
    paths = [tmp_path / "1", tmp_path / "2"]
    write_runs(paths[0], [FIRST])
    write_runs(paths[1], [SECOND, FIRST])
    runs = read_runs(paths[0]) | read_runs(paths[1])
    assert runs == {FIRST, SECOND}
    row = "| `FuzzA` | 1 h 15 min | 24 min | 1,234 | 50 | 1 | 2026-11-26, 4567def |"
    assert row in fill_page(EMPTY, runs).splitlines()


def test_lines_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fuzz"
    path.write_text("target\tseconds\truns\tcoverage\tcrashes\n", "utf-8")
    with pytest.raises(ValueError, match="other columns"):
        read_runs(path)
