# SPDX-License-Identifier: GPL-3.0-or-later
"""What a distant database costs, as tests kept it, and the table of it in measurements.md.

Where PERF_DATABASE_RESULTS names a folder, each run of test_database.py leaves a file there.
"""

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.orthanc import OrthancServer
from harness.tables import fill_table


@dataclass(frozen=True)
class Measured:
    """Of the instances of one load, in seconds: medians, and means of what the finding says."""

    round_trip: float  # what the way to the database and back takes longer
    duration: float
    database: float
    queued: float
    mean_duration: float
    mean_way: float  # round trips x the shortest one
    finding: float  # the same by the finding `database-latency`; 0: there was none


@dataclass(frozen=True)
class Try:
    """The same images with a database nearby and with a distant one."""

    near: Measured
    far: Measured

    @property
    def database(self) -> float:
        """The part of the loss that `database` explains."""
        loss = self.far.duration - self.near.duration
        return (self.far.database - self.near.database) / loss

    @property
    def finding(self) -> float:
        """The part that the finding explains; there is none for the database nearby."""
        loss = self.far.mean_duration - self.near.mean_duration
        return (self.far.finding - self.near.mean_way) / loss if self.far.finding else 0

    def describe(self) -> str:
        return (
            f"{1000 * self.far.round_trip:.0f} ms: from {self.near} to {self.far}, "
            f"explained {self.database:.1%}, by the finding {self.finding:.1%}"
        )


def keep_tries(tries: Iterable[Try], server: OrthancServer, is_encrypted: bool) -> None:
    folder = os.environ.get("PERF_DATABASE_RESULTS")
    if folder:
        run = {
            "date": datetime.now(UTC).date().isoformat(),
            "orthanc": server.get_json("/system")["Version"],
            "plugin": server.get_json("/plugins/postgresql-index")["Version"],
            "encrypted": is_encrypted,
            "tries": [asdict(tried) for tried in tries],
        }
        path = Path(folder) / f"{time.time_ns()}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(run, indent=1) + "\n", "utf-8")


def _say_range(values: Sequence[float], unit: str, digits: int = 0) -> str:
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _make_row(way: str, round_trip: float, tries: Sequence[Try]) -> str:
    loads = [tried.far if round_trip else tried.near for tried in tries]
    cells = [
        way,
        f"{1000 * round_trip:.0f} ms",
        str(len(tries)),
        _say_range([1000 * load.duration for load in loads], "ms"),
        _say_range([1000 * load.database for load in loads], "ms"),
        _say_range([1000 * load.queued for load in loads], "ms", 1),
        _say_range([100 * tried.database for tried in tries], "%") if round_trip else "",
        _say_range([100 * tried.finding for tried in tries], "%") if round_trip else "no finding",
    ]
    return f"| {' | '.join(cells)} |"


def make_table(runs: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        "| way | round trip | tries | an instance takes | of that, `database` | `Queued` "
        "| `database` explains of the loss | the finding explains |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for way, is_encrypted in (("clear", False), ("TLS", True)):
        tries = [
            Try(Measured(**tried["near"]), Measured(**tried["far"]))
            for run in runs
            if run["encrypted"] == is_encrypted
            for tried in run["tries"]
        ]
        if tries:
            lines.append(_make_row(way, 0, tries))
        for round_trip in sorted({tried.far.round_trip for tried in tries}):
            lines.append(
                _make_row(way, round_trip, [t for t in tries if t.far.round_trip == round_trip])
            )
    servers = sorted(
        {f"Orthanc {run['orthanc']} with orthanc-postgresql {run['plugin']}" for run in runs}
    )
    dates = sorted({run["date"] for run in runs})
    return [*lines, "", f"{len(runs)} runs, {' and '.join(dates)}: {', '.join(servers)}."]


def fill_page(text: str, runs: Sequence[dict[str, Any]]) -> str:
    return fill_table(text, "database", make_table(runs))
