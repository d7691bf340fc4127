# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a page of the documentation that is made from what tests have kept."""

import re

TABLE = re.compile(r"(?<=^<!-- table -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def fill_table(text: str, lines: list[str]) -> str:
    """The page with these lines between its two marks."""
    table = "\n".join(["", *lines, "", ""])
    filled, count = TABLE.subn(lambda _: table, text)
    if count != 1:
        raise ValueError("the page has no table between <!-- table --> and <!-- end -->")
    return filled
