#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries the portable plugin in each Orthanc that is named, and writes compatibility.md anew.

    build/venv/bin/python Resources/Documentation/make-compatibility.py \\
        "Debian 12's package" "Debian 13's package=/srv/trixie" \\
        "static, like the official builds=/:$PWD/build/static-orthanc/Orthanc"

Each is a name, the root file system that it is in if that is not this machine's, and the program
if it is not /usr/sbin/Orthanc. A root for arm64 is that of PERF_ARM64_ROOT, and emulated. What was
seen is kept in compatibility.json; of those that are not named this time the page has what was seen
before, with its date. Half a minute for each.
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

COUNT = 10

# Since then the dashboard's check asks for what a browser goes by; before, for the text alone
BROWSER_SINCE = "2026-11-25"

PAGE = """\
# Where it runs

One file for each processor, the library of the [portable build](portable-build.md), tried in each
Orthanc by [`make-compatibility.py`](make-compatibility.py):

{table}

| column | what was done |
| --- | --- |
| loads | `/plugins/perf` and `/perf/metrics` answer |
| C-STORE, upload | {count} images of `storescu`'s, and by `POST /instances`, with all phases |
| sending | to an untouched `storescp`, which does not stall |
| tuning | both presets over REST, with a transfer under each |
| native, dcmtk, gdcm | transcoded on ingest by this engine, the same pixels read back |
| dashboard | a browser gets a page: `text/html`, not its source as text |
| stop | SIGTERM; Orthanc ends with code 0 |
| DICOM TLS, HTTPS | transfers with all their phases |

{notes}

## What to take

| system | what |
| --- | --- |
| Debian 12, 13 with Debian's Orthanc | [Debian's package](debian-packages.md), or the archive |
| Debian 11, Ubuntu 22.04 | Docker, or the archive with Orthanc's official binaries; not tried |
| Ubuntu 24.04 or newer with Ubuntu's Orthanc | the archive; not tried |
| RHEL, Rocky, Alma 8 or newer | Docker, or the archive with the official binaries; not tried |
| arm64 | the archive of `build-portable.sh aarch64`; tried emulated only |
| Windows, macOS | Orthanc in a Linux machine, real or virtual |

Archive and package are made [on Debian 12 or 13, or in a container of it](portable-build.md),
whatever they are for. On RHEL 8, glibc is 2.28: the archive needs 2.17, the oldest that was tried
is 2.31. SELinux was not tried.

## What it does not run on

- **Orthanc before 1.10.1**, such as Debian 11's 1.9.1 and Ubuntu 22.04's 1.10.0: the plugin says so
  in one line of the log, and Orthanc does not start with it.
- **Windows and macOS**: the probe leads calls of libc elsewhere by changing the tables of loaded
  ELF files (GOT), reads `/proc`, and asks Linux for `TCP_INFO`. Each would need a part of its own
  in `Plugin/Redirection` (import tables on Windows, symbol pointers of Mach-O on macOS) and in
  `Plugin/Network` (`SIO_TCP_INFO`, `TCP_CONNECTION_INFO`), and the engine programs another way
  to share memory than `memfd_create`. Nothing of that is begun.
- **musl (Alpine)**: the file needs glibc. musl has `dl_iterate_phdr` and `memfd_create`, too; what
  is missing is a build for it, and tests. Orthanc's official images have glibc.
- **A real processor of arm64** was never tried: `aarch64` in the table is emulated by qemu-user on
  x86_64 ([what that leaves open](portable-build.md#arm64)).
- **Other processors than x86-64 and arm64**: the probe knows the relocations of these two.

Of a library for another processor than its own, Orthanc says `cannot open shared object file: No
such file or directory`, though the file is there, and does not start.
"""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orthanc", nargs="+", metavar="NAME[=ROOT[:PROGRAM]]")
    parser.add_argument("--output", type=Path, default=DOCUMENTATION / "compatibility.md")
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
        is_text_only = column == "dashboard" and row["Date"] < BROWSER_SINCE
        return "as text" if is_text_only else "✓"
    if column not in row["FailsWithoutPlugin"]:
        return "**fails**"
    return "Orthanc's own fails" + "; mended: ✓" * (column in row.get("WorksMended", []))


def format_table(rows: dict[str, dict[str, Any]]) -> str:
    heads = ["Orthanc", "kind", "processor", *COLUMNS, "plugin", "library", "seen"]
    lines = [heads, ["---"] * len(heads)]
    for name, row in sorted(rows.items(), key=lambda item: (item[1]["Version"], item[0])):
        cells = [format_cell(row, column) for column in COLUMNS]
        ends = [row["Plugin"], f"`{row['Library']}`", row["Date"]]
        lines.append([row["Version"], name, row["Processor"], *cells, *ends])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def format_notes(rows: dict[str, dict[str, Any]]) -> str:
    notes = ["`library` is the beginning of its SHA-256."]
    for name, row in rows.items():
        for column, reason in row["Columns"].items():
            if reason is not None and column not in row["FailsWithoutPlugin"]:
                notes.append(f"{name}, {column}: {reason}")
    latest = max(row["Date"] for row in rows.values())
    older = [f"{name} ({row['Date']})" for name, row in rows.items() if row["Date"] < latest]
    if older:
        notes.append(f"Not tried again with the others: {', '.join(older)}.")
    if any(row["Date"] < BROWSER_SINCE for row in rows.values()):
        notes.append(
            '"as text": the page was there, but it was not asked yet what a browser takes it for.'
        )
    if any(row["FailsWithoutPlugin"] for row in rows.values()):
        notes.append(
            '"Orthanc\'s own fails": the same was tried without the plugin, and failed as well. '
            '"mended": with\nthe plugin, and with [the function that its HTTP library '
            "lacks](access.md#by-certificates)."
        )
    return "\n\n".join(notes)


def main() -> None:
    arguments = parse_arguments()
    kept = DOCUMENTATION / "tables" / "compatibility.json"
    rows = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for candidate in map(Candidate.read, arguments.orthanc):
        rows[candidate.name] = attempt(candidate)
    kept.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", "utf-8")
    page = PAGE.format(table=format_table(rows), notes=format_notes(rows), count=COUNT)
    arguments.output.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
