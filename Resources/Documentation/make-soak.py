#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the table of soak.md from what a soak has kept in a folder (PERF_SOAK_RESULTS).

    build/venv/bin/python Resources/Documentation/make-soak.py build/test-run/soak

Without a folder the table is made anew from soak.json, which has the latest one.
"""

import argparse
import json
import sys
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCUMENTATION.parent / "IntegrationTests"))

from harness.soak_page import fill_page, read_outcome  # noqa: E402

PAGE = DOCUMENTATION / "soak.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    arguments = parser.parse_args()

    kept = PAGE.with_suffix(".json")
    outcome = read_outcome(arguments.folder / kept.name if arguments.folder else kept)
    if outcome is not None:
        kept.write_text(json.dumps(outcome, indent=2) + "\n", "utf-8")
    PAGE.write_text(fill_page(PAGE.read_text("utf-8"), outcome), "utf-8")


if __name__ == "__main__":
    main()
