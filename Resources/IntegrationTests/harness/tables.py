# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of the documentation that are made, not written: each stands between two marks."""

import re


def fill_table(text: str, name: str, lines: list[str]) -> str:
    """The page with these lines between `<!-- table: NAME -->` and `<!-- end -->`."""
    pattern = rf"(?<=^<!-- table: {re.escape(name)} -->\n).*?(?=^<!-- end -->$)"
    table = "\n".join(["", *lines, "", ""])
    filled, count = re.subn(pattern, lambda _: table, text, flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has no table {name}")
    return filled


def make_rows(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table's lines in Markdown."""
    return ["| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows]]
