#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries the portable plugin in each Orthanc that is named, and fills the table of install.md anew.

    build/venv/bin/python Resources/Documentation/make-compatibility.py \\
        "Debian 12's package" "Debian 13's package=/srv/trixie" \\
        "static, like the official builds=/:$PWD/build/static-orthanc/Orthanc"

Each is a name, the root file system that it is in if that is not this machine's, and the program
if it is not /usr/sbin/Orthanc. A root for arm64 is that of PERF_ARM64_ROOT, and emulated. What was
seen is kept in compatibility.json; of those that are not named this time the page has what was seen
before, with its date. With no name, the table is made anew of what is kept. Half a minute for each.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOCUMENTATION = Path(__file__).resolve().parent
ROOT = DOCUMENTATION.parents[1]
sys.path.insert(0, str(ROOT / "Resources" / "IntegrationTests"))

from harness.certificates import make_certificate  # noqa: E402
from harness.compatibility import COLUMNS, Trial, try_all  # noqa: E402
from harness.images import make_ct_series  # noqa: E402
from harness.orthanc import ORTHANC  # noqa: E402
from harness.portable import enter, find_archive, find_machine, unpack  # noqa: E402
from harness.tables import fill_table  # noqa: E402

COUNT = 10


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orthanc", nargs="*", metavar="NAME[=ROOT[:PROGRAM]]")
    return parser.parse_args()


@dataclass(frozen=True)
class Candidate:
    """One of the command line's."""

    name: str
    root: str
    program: Path

    @staticmethod
    def read(text: str) -> "Candidate":
        name, _, place = text.partition("=")
        root, _, program = place.partition(":")
        return Candidate(name, root or "/", Path(program) if program else ORTHANC)

    def find_machine(self) -> str:
        return find_machine(Path(self.root) / self.program.relative_to("/"))


def attempt(candidate: Candidate) -> dict[str, Any]:
    """The row of the candidate."""
    machine = candidate.find_machine()
    archive = find_archive(machine)
    if archive is None:
        sys.exit(f"There is no archive: Resources/build-portable.sh {machine} makes it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = unpack(archive, machine, folder) / "libOrthancPerf.so"
        result = try_all(
            Trial(
                launcher=enter(machine, candidate.root, folder),
                program=candidate.program,
                library=library,
                folder=folder,
                images=make_ct_series(ROOT / "build" / "images", "portable", COUNT),
                certificate=make_certificate(folder),
            )
        )
        print(candidate.name, result.version, result.list_failures() or "all works", flush=True)
        return {
            "Version": result.version,
            "Plugin": result.plugin,
            "Processor": machine,
            "Library": hashlib.sha256(library.read_bytes()).hexdigest()[:12],
            "Date": datetime.now(UTC).date().isoformat(),
            "Columns": {
                column: reason and reason.replace(name, "…")
                for column, reason in result.columns.items()
            },
            "FailsWithoutPlugin": result.fails_without,
            "WorksMended": result.mended,
        }


def format_cell(row: dict[str, Any], column: str) -> str:
    if row["Columns"][column] is None:
        return "✓"
    if column not in row["FailsWithoutPlugin"]:
        return "**fails**"
    return "Orthanc's own fails" + "; mended: ✓" * (column in row.get("WorksMended", []))


def format_table(rows: dict[str, dict[str, Any]]) -> list[str]:
    heads = ["Orthanc", "kind", "processor", *COLUMNS, "plugin", "library", "seen"]
    lines = [heads, ["---"] * len(heads)]
    for name, row in sorted(rows.items(), key=lambda item: (item[1]["Version"], item[0])):
        cells = [format_cell(row, column) for column in COLUMNS]
        ends = [row["Plugin"], f"`{row['Library']}`", row["Date"]]
        lines.append([row["Version"], name, row["Processor"], *cells, *ends])
    return ["| " + " | ".join(line) + " |" for line in lines]


def format_notes(rows: dict[str, dict[str, Any]]) -> list[str]:
    notes = ["`library` is the beginning of its SHA-256."]
    for name, row in rows.items():
        for column, reason in row["Columns"].items():
            if reason is not None and column not in row["FailsWithoutPlugin"]:
                notes.append(f"{name}, {column}: {reason}")
    latest = max(row["Date"] for row in rows.values())
    older = [f"{name} ({row['Date']})" for name, row in rows.items() if row["Date"] < latest]
    if older:
        notes.append(f"Not tried again with the others: {', '.join(older)}.")
    if any(row["FailsWithoutPlugin"] for row in rows.values()):
        notes.append(
            '"Orthanc\'s own fails": the same was tried without the plugin, and failed as well. '
            '"mended": with the plugin, and with [the\nfunction that its HTTP library '
            "lacks](#by-certificates)."
        )
    return [line for note in notes for line in ("", note)]


def main() -> None:
    arguments = parse_arguments()
    kept, page = DOCUMENTATION / "tables" / "compatibility.json", DOCUMENTATION / "install.md"
    rows = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for candidate in map(Candidate.read, arguments.orthanc):
        rows[candidate.name] = attempt(candidate)
    kept.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", "utf-8")
    text = fill_table(
        page.read_text("utf-8"), "compatibility", format_table(rows) + format_notes(rows)
    )
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
