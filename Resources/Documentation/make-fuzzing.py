#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds runs of fuzz targets to fuzzing.tsv, and makes the table of testing.md from all of them.

    PERF_FUZZ_SECONDS=3600 Resources/run-tests.sh fuzz
    build/venv/bin/python Resources/Documentation/make-fuzzing.py build/test-run/fuzz

A run that is there already is not counted twice; without a file the table is made anew.
"""

import argparse
import sys
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCUMENTATION.parent / "IntegrationTests"))

from harness.fuzzing import fill_page, read_runs, write_runs  # noqa: E402

PAGE = DOCUMENTATION / "testing.md"
KEPT = DOCUMENTATION / "fuzzing.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="*", type=Path)
    arguments = parser.parse_args()

    runs = read_runs(KEPT) if KEPT.exists() else set()
    runs.update(run for file in arguments.file for run in read_runs(file))
    write_runs(KEPT, runs)
    PAGE.write_text(fill_page(PAGE.read_text("utf-8"), runs), "utf-8")


if __name__ == "__main__":
    main()
