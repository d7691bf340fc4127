# SPDX-License-Identifier: GPL-3.0-or-later
"""What breaks, what was seen then, and how often that was tried: the rows of tables/reliability.md.

A test states a row and counts its attempts. Where PERF_RELIABILITY names a folder, the rows are
kept there, a file for each test, for make-page.py.
"""

import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeAlias

from harness.orthanc import get_release
from harness.tables import fill_table

LONGEST_FAILURE = 200  # characters
FOLDER = Path(__file__).resolve().parent

Key: TypeAlias = tuple[str, str]  # what breaks, and in which Orthanc


@dataclass
class Row:
    """`breaks` names it, once for each Orthanc in the table; `seen` is what each attempt checks."""

    breaks: str
    seen: str
    tried: int = 0
    failed: int = 0
    failure: str = ""  # the latest
    counts: dict[str, int] = field(default_factory=dict)
    orthanc: str = ""
    date: str = ""
    commit: str = ""  # the source at that date; rows from before this was kept have none

    @property
    def key(self) -> Key:
        return self.breaks, self.orthanc

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One more time; what is raised within is a failure, and raised on."""
        self.tried += 1
        try:
            yield
        except BaseException as error:
            self.failed += 1
            text = " ".join(f"{type(error).__name__}: {error}".split())
            self.failure = text[:LONGEST_FAILURE]
            raise

    def count(self, what: str, number: int) -> None:
        """A figure that is added up over all attempts, as "instances acknowledged"."""
        self.counts[what] = self.counts.get(what, 0) + number

    def add(self, other: Self) -> None:
        """The same, tried by another run."""
        self.seen = other.seen
        self.tried += other.tried
        self.failed += other.failed
        self.failure = other.failure or self.failure
        for what, number in other.counts.items():
            self.count(what, number)
        self.date, self.commit = max((self.date, self.commit), (other.date, other.commit))

    def format(self) -> str:
        seen = [self.seen]
        if self.counts:
            seen.append(", ".join(f"{number:,} {what}" for what, number in self.counts.items()))
        if self.failed:
            failure = self.failure.replace("|", r"\|")
            seen.append(f"**{self.failed} of {self.tried} failed**, the last with: {failure}")
        last = ", ".join(filter(None, (self.date, self.commit)))
        cells = [self.breaks, ". ".join(seen), f"{self.tried:,}", self.orthanc, last]
        return "| " + " | ".join(cells) + " |"


def read_rows(paths: list[Path]) -> dict[Key, Row]:
    """Those of the same name and the same Orthanc are added up."""
    rows: dict[Key, Row] = {}
    for path in sorted(paths):
        for row in (Row(**content) for content in json.loads(path.read_text("utf-8"))):
            if row.key in rows:
                rows[row.key].add(row)
            else:
                rows[row.key] = row
    return rows


def write_rows(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = [asdict(row) for row in sorted(rows, key=lambda row: row.key)]
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def get_commit() -> str:
    """Of the source that the tests are in; with a + if it was changed since."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    said = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    return said.stdout.strip()


def keep_rows(rows: list[Row]) -> None:
    """In the folder that PERF_RELIABILITY names, if it does."""
    folder = os.environ.get("PERF_RELIABILITY")
    tried = [row for row in rows if row.tried]
    if folder and tried:
        release = get_release()
        for row in tried:
            row.orthanc = release
            row.date = datetime.now(UTC).date().isoformat()
            row.commit = get_commit()
        write_rows(Path(folder) / f"{uuid.uuid4()}.json", tried)


def fill_page(text: str, rows: dict[Key, Row]) -> str:
    heads = ["what breaks", "what was seen each time", "tried", "Orthanc", "last"]
    lines = ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads))]
    lines += [rows[key].format() for key in sorted(rows)]
    return fill_table(text, "reliability", lines)
