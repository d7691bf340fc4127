# SPDX-License-Identifier: GPL-3.0-or-later
"""reference.md has what openapi.yaml, Findings.json, perf.json and the code say."""

import pytest

from harness.reference_page import PAGE, UNIT_TESTS, fill_page, read_comments, read_findings


@pytest.mark.skipif(not UNIT_TESTS.exists(), reason="the unit tests are not built")
def test_the_tables_are_those_of_their_sources() -> None:
    page = PAGE.read_text("utf-8")
    assert fill_page(page) == page
    for name in read_findings():
        assert page.count(f"\n| `{name}`") == 1, name


def test_each_setting_of_the_sample_has_a_comment() -> None:
    assert [
        key for key, comment in read_comments().items() if not comment and key[1] != "Perf"
    ] == []
