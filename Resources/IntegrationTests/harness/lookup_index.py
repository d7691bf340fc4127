# SPDX-License-Identifier: GPL-3.0-or-later
"""Orthanc's SQLite database, full of made instances, and the index of identifiers of 1.12.10."""

import contextlib
import sqlite3
from pathlib import Path


def fill_index(index: Path, count: int) -> None:
    """Instances of one series in Orthanc's own SQLite database, as it counts and finds them."""
    with sqlite3.connect(index) as database:
        (series,) = database.execute(
            "SELECT internalId FROM Resources WHERE resourceType = 3 LIMIT 1"
        ).fetchone()
        database.executemany(
            "INSERT INTO Resources(resourceType, publicId, parentId) VALUES (4, ?, ?)",
            ((f"made-{number}", series) for number in range(count)),
        )
        database.execute(
            "INSERT INTO DicomIdentifiers(id, tagGroup, tagElement, value) "
            "SELECT internalId, 8, 24, printf('1.2.826.0.1.3680043.8.498.1%037d', internalId) "
            "FROM Resources WHERE publicId LIKE 'made-%'"
        )
    database.close()


MAKE_LOOKUP_INDEX = (
    "CREATE INDEX DicomIdentifiersIndex3 ON DicomIdentifiers(tagGroup, tagElement, value); "
    "DROP INDEX IF EXISTS DicomIdentifiersIndex2; "
    "DROP INDEX IF EXISTS DicomIdentifiersIndexValues;"
)


def make_lookup_index(index: Path) -> None:
    with contextlib.closing(sqlite3.connect(index)) as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        if ("DicomIdentifiersIndex3",) not in names.fetchall():
            database.executescript(MAKE_LOOKUP_INDEX)
