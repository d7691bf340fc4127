#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the table of a distant database in how-it-works.md from what tests have kept in a folder.

    PERF_DATABASE_RESULTS=build/database build/venv/bin/pytest \\
        Resources/IntegrationTests/test_database.py -k distant_server
    build/venv/bin/python Resources/Documentation/make-database.py build/database

All runs of the folder replace those of database.json; without a folder the table is made anew from
database.json.
"""

import argparse
import json
import sys
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCUMENTATION.parent / "IntegrationTests"))

from harness.database_page import fill_page  # noqa: E402

PAGE = DOCUMENTATION / "how-it-works.md"
KEPT = DOCUMENTATION / "database.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    arguments = parser.parse_args()

    if arguments.folder:
        runs = [json.loads(path.read_text("utf-8")) for path in arguments.folder.glob("*.json")]
        runs.sort(key=lambda run: run["encrypted"])
        KEPT.write_text(json.dumps(runs, indent=1) + "\n", "utf-8")
    text = PAGE.read_text("utf-8")
    PAGE.write_text(fill_page(text, json.loads(KEPT.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
