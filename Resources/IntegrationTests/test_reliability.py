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


def test_a_row_says_of_which_source_the_last_run_was(tmp_path: Path) -> None:
    paths = [tmp_path / "1.json", tmp_path / "2.json"]
    for date, commit, path in zip(
        ["2026-11-27", "2026-11-25"], ["fedcba9", ""], paths, strict=True
    ):
        row = try_times(1)
        row.date, row.commit = date, commit
        write_rows(path, [row])
    (row,) = read_rows(paths).values()
    assert row.format().endswith("| 2026-11-27, fedcba9 |")
    assert Row(**read_rows(paths[1:]).popitem()[1].to_json()).format().endswith("| 2026-11-25 |")


def test_each_orthanc_has_a_row_of_its_own(tmp_path: Path) -> None:
    paths = [tmp_path / "1.json", tmp_path / "2.json"]
    for release, path in zip(["1.12.7", "1.10.1"], paths, strict=True):
        row = try_times(1)
        row.orthanc = release
        write_rows(path, [row])
    rows = read_rows(paths)
    page = fill_page("<!-- table: reliability -->\n<!-- end -->\n", rows)
    older, newer = (
        page.index(rows["a server", release].format()) for release in ["1.10.1", "1.12.7"]
    )
    assert older < newer


def test_a_failed_attempt_is_told() -> None:
    row = try_times(1)
    with pytest.raises(AssertionError), row.attempt():
        raise AssertionError("two | lost")
    assert (row.tried, row.failed) == (2, 1)
    assert r"**1 of 2 failed**, the last with: AssertionError: two \| lost" in row.format()
