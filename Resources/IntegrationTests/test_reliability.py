# SPDX-License-Identifier: GPL-3.0-or-later
"""tables/reliability.md says what was counted, failures included."""

from pathlib import Path

import pytest

from conftest import ROOT
from harness.reliability import Row, fill_page, read_rows, write_rows

PAGE = ROOT / "Resources" / "Documentation" / "tables" / "reliability.md"


def try_times(times: int) -> Row:
    row = Row("a server", "nothing is lost")
    for _ in range(times):
        with row.attempt():
            row.count("instances", 7)
    return row


def test_the_page_is_made_from_what_is_kept_beside_it() -> None:
    text = PAGE.read_text("utf-8")
    assert fill_page(text, read_rows([PAGE.with_suffix(".json")])) == text


def test_attempts_of_several_runs_add_up(tmp_path: Path) -> None:
    paths = [tmp_path / "1.json", tmp_path / "2.json"]
    for times, path in enumerate(paths, 1):
        write_rows(path, [try_times(times)])
    (row,) = read_rows(paths).values()
    assert (row.tried, row.failed, row.counts) == (3, 0, {"instances": 21})


def test_a_failed_attempt_is_told() -> None:
    row = try_times(1)
    with pytest.raises(AssertionError), row.attempt():
        raise AssertionError("two | lost")
    assert (row.tried, row.failed) == (2, 1)
    assert r"**1 of 2 failed**, the last with: AssertionError: two \| lost" in row.format()
