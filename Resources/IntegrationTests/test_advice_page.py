# SPDX-License-Identifier: GPL-3.0-or-later
"""advice.md has each finding once, as the plugin's own file says it."""

from harness.findings import PAGE, fill_page, read_findings


def test_the_tables_are_those_of_the_findings() -> None:
    page, findings = PAGE.read_text("utf-8"), read_findings()
    assert fill_page(page, findings) == page
    for name in findings:
        assert page.count(f"\n| `{name}`") == 1, name
