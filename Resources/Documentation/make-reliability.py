#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the table of reliability.md from what tests have kept in a folder (PERF_RELIABILITY).

    PERF_RELIABILITY=build/reliability PERF_KILLS=50 build/venv/bin/pytest \\
        Resources/IntegrationTests/test_killed.py
    build/venv/bin/python Resources/Documentation/make-reliability.py build/reliability

Several runs into one folder are added up. A row that the folder has replaces that of
reliability.json, the others stay; without a folder the page is made anew from reliability.json.
"""

import argparse
import sys
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCUMENTATION.parent / "IntegrationTests"))

from harness.reliability import fill_page, read_rows, write_rows  # noqa: E402

PAGE = DOCUMENTATION / "reliability.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="*", type=Path)
    arguments = parser.parse_args()

    kept = PAGE.with_suffix(".json")
    rows = read_rows([kept] if kept.exists() else [])
    rows.update(read_rows([path for folder in arguments.folder for path in folder.glob("*.json")]))
    write_rows(kept, list(rows.values()))
    PAGE.write_text(fill_page(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main()
