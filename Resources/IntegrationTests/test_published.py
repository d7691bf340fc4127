# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run found stands beside what was published; made runs, as no speed is a test's affair."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab import dcmtk_sockets
from lab.cells import Figures
from lab.charts import Charts
from lab.dcmtk_sockets_page import (
    AWAY,
    IPERF,
    ITSELF,
    LOOPBACK,
    MOVE,
    NAGLE_OFF,
    NAGLE_ON,
    NONE,
    OTHER,
    PAIR,
    SERVERS,
    STORE,
    TO_ORTHANC,
    answer,
)
from lab.published import AFTER, BEFORE, FIXED_BUFFER, Claim, Found, Report
from lab.results import Cell, Results

REPORT = Report(
    "999",
    "made",
    "here",
    {"known": Claim("A", "1 s"), "partly": Claim("B", "2 s", "no such disk")},
)


def test_each_claim_has_a_row_with_its_figure_or_the_reason() -> None:
    assert REPORT.tell({"known": Found("3 s", "x"), "partly": Found("4 s", "y")})[2:4] == [
        "| A | *1 s* | 3 s | x |",
        "| B | *2 s* | 4 s; no such disk | y |",
    ]
    assert REPORT.tell({"known": None})[2:4] == [
        "| A | *1 s* | not measured in this run |  |",
        "| B | *2 s* | no such disk |  |",
    ]
    with pytest.raises(KeyError, match="report 999 does not claim unknown"):
        REPORT.tell({"unknown": None})


def make_cell(path: str, transfer: str, buffer: object, figures: dict[str, Figures]) -> Cell:
    """Of three turns that are all alike."""
    factors = {"Path": path, "Transfer": transfer, "TCP_BUFFER_LENGTH": str(buffer)}
    return Cell(factors, [[figures] * 3])


def make_store(path: str, buffer: object, on: float, off: float, iperf: float) -> Cell:
    """Images a second, of 4 Mb each; iperf3 in Mb/s."""
    figures = {
        name: {"speed": 4 * speed, "throughput": speed, "images": 20}
        for name, speed in ((NAGLE_ON, on), (NAGLE_OFF, off))
    }
    return make_cell(path, STORE, buffer, {**figures, IPERF: {"speed": iperf}})


def make_sockets(after: float) -> Results:
    """A run in which the larger one of the two buffers gives so many images a second."""
    cells = [
        make_store(path, buffer, 20, off, 8000)
        for path in (LOOPBACK, PAIR, AWAY)
        for buffer, off in ((NONE, 500), (FIXED_BUFFER, 250), (BEFORE, 400), (AFTER, after))
    ]
    moves = {
        f"{server}, {who}": {"speed": 1, "throughput": 100 / seconds, "images": 100} | first
        for server, seconds in zip(SERVERS, (5.95, 2.98), strict=True)
        for who, first in ((ITSELF, {"first image": 1.0}), (OTHER, {"first image": 0.01}))
    }
    stores = {
        server: {"throughput": speed} for server, speed in zip(SERVERS, (20, 200), strict=True)
    }
    cells.append(make_cell(LOOPBACK, MOVE, NONE, moves))
    cells.append(make_cell(LOOPBACK, TO_ORTHANC, NONE, stores))
    figures = dcmtk_sockets.EXPERIMENT.figures
    options = {"server_buffers": [NONE]}
    return Results("dcmtk-sockets", "2026-01-01", "run.sh", options, {}, figures, cells)


def test_dcmtk_sockets_stand_beside_reports_000_and_001(tmp_path: Path) -> None:
    charts = Charts("made")
    text = "\n".join(answer(make_sockets(after=400), charts))
    for row in (
        "| 1000 CT by C-STORE, loopback | *less than 1 s* | 50 s as DCMTK comes today, 2 s without"
        " Nagle, 4 s with DCMTK's settings of then (no Nagle, 64 KiB) |",
        # The first image waits, 99 others take 0.05 s and 0.02 s each
        "| *5 min* | 51 s out of Orthanc as shipped, 21 s with the plugin |",
        "| *5 min become 1 s* | 1.00 to 1.00 times as fast, on 6 ways |",
        "| *1.5 Gb/s* | 1 Gb/s (loopback), 1 Gb/s (veth), 1 Gb/s (5 ms away); one machine has no",
        "| *1 s* | 1.00 s out of Orthanc as shipped, 1.00 s with the plugin |",
        "| *no such wait* | 0.01 s out of Orthanc as shipped, 0.01 s with the plugin |",
    ):
        assert row in text
    assert "64 KiB in each round trip is 105 Mb/s" in text
    assert text.count("The jump is no longer there.") == 6
    drawn = charts.write(tmp_path)
    assert [path.name for path in drawn] == [
        "made-seconds.svg",
        "made-fixed-buffers.svg",
        "made-speed-by-buffer.svg",
    ]
    for path in drawn:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert f"({path.name})" in text


def test_a_jump_that_is_there_is_called_so() -> None:
    text = "\n".join(answer(make_sockets(after=4000), Charts("made")))
    assert text.count("The jump is still there.") == 3  # without Nagle's algorithm
    assert "1.00 to 10.00 times as fast, on 6 ways" in text


def test_a_run_without_these_cells_claims_nothing() -> None:
    results = make_sockets(after=400)
    results.cells = results.cells[-1:]
    text = "\n".join(answer(results, Charts("made")))
    assert "storescu → Orthanc, TCP_BUFFER_LENGTH none: 20 images/s as shipped" in text
    assert "Report 00" not in text and "svg" not in text
