# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run found stands beside what was published; made runs, as no speed is a test's affair."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab import dcmtk_sockets, ingest, ingest_report, retrieve, wan
from lab.cells import Figures
from lab.charts import Charts
from lab.dcmtk_sockets_page import (
    AWAY,
    FROM_ARCHIVE,
    IPERF,
    ITSELF,
    LOOPBACK,
    MOVE,
    NAGLE_OFF,
    NAGLE_ON,
    NO_DELAY,
    NONE,
    OTHER,
    PAIR,
    SERVERS,
    STORE,
    TO_ORTHANC,
    answer,
)
from lab.dcmtk_sockets_page import GDCM as GDCMSCU
from lab.ingest_page import (
    BASE,
    DCMTK,
    GDCM,
    HTTP,
    HTTP_GZIP,
    NATIVE,
    SLOW,
    STORESCU,
    name_senders,
)
from lab.ingest_page import MOVE as ORTHANC_MOVE
from lab.line import Line, make_usual
from lab.published import (
    AFTER,
    BEFORE,
    FIXED_BUFFER,
    REPORT_002,
    UPLOADS,
    Claim,
    Found,
    Report,
    find_ends,
    list_figures,
)
from lab.results import Cell, Results
from lab.stalls import STOCK, TUNED

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


UPLOADED = (
    (BASE, STORESCU, (1, 2, 16)),
    (BASE, ORTHANC_MOVE, (1, 8, 16)),  # the report has none of 16
    ("DicomThreadsCount 1", STORESCU, (4, 16)),
    (GDCM, STORESCU, (1, 4)),  # nor of 4
    (DCMTK, HTTP, (1, 4)),
    (SLOW, STORESCU, (3,)),  # nor of 3
)


def make_uploads(**options: bool) -> Results:
    """37.3 images a second with stock sockets, whoever sends, and ten times as many with tuned."""
    figures = {STOCK: {"throughput": 37.3}, TUNED: {"throughput": 373}}
    cells = [
        Cell({"Server": server, "Senders": name_senders(count, sender)}, [[figures] * 3])
        for server, sender, counts in UPLOADED
        for count in counts
    ]
    machine, shown = {}, ingest.EXPERIMENT.figures
    return Results("ingest", "2026-01-01", "run.sh", options, machine, shown, cells)


def test_uploads_stand_beside_those_of_as_many_senders() -> None:
    text = "\n".join(ingest_report.tell_report(make_uploads()))
    engine = "; by the plugin's engine of that name, not by Orthanc's own transcoder |"
    for row in (
        "| `storescu`, one DICOM thread | *26.8 … 60.4 s by 4 and 16 in parallel* | stock 40 … 160"
        " s; tuned 4 … 16 s | 4 and 16 x storescu; DicomThreadsCount 1 |",
        "| `storescu`, four DICOM threads | *25.9 … 37.5 s by 1 and 16 in parallel* |",
        "| *28.8 s by 1 in parallel* | stock 10 s; tuned 1 s" + engine,
        "| *9.6 … 12.0 s by 1 and 4 in parallel* | stock 10 … 40 s; tuned 1 … 4 s" + engine,
        "| C-MOVE, DICOM threads 4 / 4 | *4.3 … 14.5 s by 1 and 8 in parallel* |",
        # What was not measured has all that was published
        "| HTTP clients | *6.8 … 38.4 s by 1 and 16 in parallel* | not measured in this run |  |",
        "| slow disk, `storescu`, four DICOM threads | *91.5 … 261.7 s by 1 and 4 in parallel* |"
        " no disk on USB: one that the kernel throttles, and that has no seek time |  |",
    ):
        assert row in text
    assert "of which each sender sent its share" in text
    assert "The slow disk got a quarter of the series" in text
    whole = "\n".join(ingest_report.tell_report(make_uploads(whole=True, full=True)))
    assert "its share" not in whole and "a quarter" not in whole


def add_cell(
    results: Results, server: str, sender: str, count: int, speed: float, **phases: float
) -> None:
    """As fast with stock sockets as with tuned ones."""
    figures = {"throughput": speed, "an instance": 1000 * count / speed}
    figures |= {f"phase {phase}": time for phase, time in phases.items()}
    turns = [{preset: figures for preset in (STOCK, TUNED)}] * 3
    factors = {"Server": server, "Senders": name_senders(count, sender)}
    results.cells.append(Cell(factors, [turns]))


def test_the_most_is_that_of_what_the_report_measured_by_c_move_as_its_own() -> None:
    results = make_uploads()
    add_cell(results, NATIVE, HTTP, 4, 900)  # no setting of the report
    add_cell(results, BASE, ORTHANC_MOVE, 4, 400)
    add_cell(results, BASE, ORTHANC_MOVE, 32, 800)  # nor so many
    add_cell(results, BASE, HTTP, 8, 600)
    assert (
        "| the most images in each second | *213 images/s, by C-MOVE* | by C-MOVE stock 400"
        " images/s; tuned 400 images/s; by any sender stock 600 images/s; tuned 600 images/s |"
        " by C-MOVE stock 4 x C-MOVE from Orthanc; base; tuned 4 x C-MOVE from Orthanc; base; by"
        " any sender stock 8 x HTTP client; base; tuned 8 x HTTP client; base |"
    ) in "\n".join(ingest_report.tell_report(results))


def test_a_slow_disk_is_said_to_be_another_than_the_reports() -> None:
    results = make_uploads()
    add_cell(results, SLOW, STORESCU, 1, 373 / 30.5)
    add_cell(results, SLOW, STORESCU, 4, 4 * 373 / 261.7)
    assert (
        "tuned 30.5 … 262 s; 3.0 and 1.0 times as fast as on the report's; no disk on USB: one"
    ) in "\n".join(ingest_report.tell_report(results))


def test_only_a_client_that_accepts_gzip_tells_what_compressing_an_answer_costs() -> None:
    results = make_uploads()
    row = "| from compressing the answer until the next request, HTTP client, by hand from the log"
    row += " | *7 ms to compress the answer* | "
    reason = "no client of this run accepts gzip: `ingest --axes gzip` has one"
    add_cell(results, GDCM, HTTP, 1, 60, Respond=0.7, Idle=0.1)
    assert f"{row}{reason} |  |" in "\n".join(ingest_report.tell_report(results))
    add_cell(results, GDCM, HTTP_GZIP, 1, 50, Respond=0.9, Idle=0.2)
    text = "\n".join(ingest_report.tell_report(results))
    assert f"{row}stock 0.9 ms respond, 0.2 ms idle; tuned 0.9 ms respond, 0.2 ms idle |" in text
    assert reason not in text


def test_storescu_stands_beside_pynetdicom_where_both_have_most_turns() -> None:
    results = make_uploads()
    add_cell(results, BASE, "pynetdicom", 1, 37.3 / 1.5)
    results.cells[-1].rounds[0][1:] = []
    add_cell(results, BASE, "pynetdicom", 2, 37.3 / 1.2)
    assert (
        "stock 1.20 (1.20 to 1.20) times as fast; tuned 12.00 (12.00 to 12.00) times as fast;"
        " 3 and 3 turns | 2 x storescu and pynetdicom; base |"
    ) in "\n".join(ingest_report.tell_report(results))


def test_the_published_uploads_are_those_of_the_report() -> None:
    assert find_ends("storescu, GDCM", (1, 4)) == [1]
    assert find_ends("C-MOVE, 16 / 1", (4, 1, 2)) == [1, 4]
    assert find_ends("HTTP", (3,)) == []
    assert {key for key in UPLOADS if key not in REPORT_002.claims} == set()
    assert "25.9 s" in list_figures(REPORT_002)


def make_served(speeds: dict[str, float]) -> list[str]:
    figures = {name: {"speed": speed} for name, speed in speeds.items()}
    factors = {"Server": retrieve.TUNED, "Files": retrieve.CACHED}
    return retrieve.tell_report([Cell(factors, [[figures]])])


def test_a_study_is_served_by_one_request_and_by_the_fastest_way() -> None:
    speeds = {retrieve.WADO: 250, "REST, 8 connections": 500, retrieve.NGINX_FILE: 1250}
    text = "\n".join(make_served(speeds))
    assert (
        "| 250 MB/s by DICOMweb (WADO-RS), one request, 0.20 of nginx, one file; fastest: 500 MB/s"
        " by REST, 8 connections, 0.40 of nginx, one file;"
    ) in text
    assert "| *112 MB/s* | 1250 MB/s by nginx, one file |" in text
    assert "of 1,048,576 bytes: 112 of them are 117 of ours." in text
    speeds["REST, 8 connections"] = 100
    assert "of nginx, one file; fastest: the same;" in "\n".join(make_served(speeds))


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


def make_move(pace: float, first: float) -> Figures:
    """100 images by C-MOVE, the first one after so many seconds, the others at this pace."""
    throughput = 100 / (first + 99 * pace)
    return {"speed": 1, "throughput": throughput, "images": 100, "first image": first}


def make_archive(off: float) -> dict[str, Figures]:
    """What dcmqrscp sends, at such a pace without Nagle's algorithm."""
    return {
        f"{NAGLE_ON}, {ITSELF}": make_move(0.06, first=1),
        f"{NAGLE_OFF}, {ITSELF}": make_move(off, first=1),
        f"{NAGLE_ON}, {OTHER}": make_move(0.05, first=0.1),
        f"{NAGLE_OFF}, {OTHER}": make_move(0.001, first=0.01),
        f"{NAGLE_ON}, {GDCMSCU}": make_move(0.045, first=0.1),
        f"{NAGLE_OFF}, {GDCMSCU}": make_move(0.004, first=0.02),
    }


def make_sockets(after: float) -> Results:
    """A run in which the larger one of the two buffers gives so many images a second."""
    cells = [
        make_store(path, buffer, 20, off, 8000)
        for path in (LOOPBACK, PAIR, AWAY)
        for buffer, off in ((NONE, 500), (FIXED_BUFFER, 250), (BEFORE, 400), (AFTER, after))
    ]
    moves = {
        f"{server}, {who}": make_move(pace, first)
        for server, pace in zip(SERVERS, (0.051, 0.02), strict=True)
        for who, first in ((ITSELF, 1), (OTHER, 0.01))
    }
    stores = {
        server: {"throughput": speed} for server, speed in zip(SERVERS, (20, 200), strict=True)
    }
    moves[f"{NO_DELAY}, {ITSELF}"] = make_move(0.03, first=1)
    cells += [
        make_cell(path, FROM_ARCHIVE, buffer, make_archive(off))
        for path in (LOOPBACK, PAIR)
        for buffer, off in ((NONE, 0.01), (FIXED_BUFFER, 0.02), (BEFORE, 0.3), (AFTER, 0.002))
        if path == LOOPBACK or buffer in (NONE, FIXED_BUFFER)
    ]
    cells.append(make_cell(LOOPBACK, MOVE, NONE, moves))
    cells.append(make_cell(LOOPBACK, TO_ORTHANC, NONE, stores))
    figures = dcmtk_sockets.EXPERIMENT.figures
    options = {"server_buffers": [NONE]}
    return Results("dcmtk-sockets", "2026-01-01", "run.sh", options, {}, figures, cells)


def test_dcmtk_sockets_stand_beside_reports_000_and_001(tmp_path: Path) -> None:
    charts = Charts("made")
    text = "\n".join(answer(make_sockets(after=400), charts))
    for row in (
        "| 1000 CT by C-STORE, loopback | *less than 1 s* | 4 s with DCMTK's settings of then (no"
        " Nagle, 64 KiB), 50 s as DCMTK comes today, 2 s as it comes, but without Nagle |",
        # The first image waits, the others take 0.02, 0.06, 0.01, 0.051 and 0.02 s each
        "| *5 min* | 21 s out of dcmqrscp with DCMTK's settings of then (no Nagle, 64 KiB), 60.9 s"
        " out of dcmqrscp as it comes today, 11 s out of dcmqrscp without Nagle, 51.9 s out of"
        " Orthanc as shipped, 21 s out of Orthanc with the plugin |",
        "gdcmscu receives | *“excellent”* | 4.02 s out of dcmqrscp with DCMTK's settings of then"
        " (no Nagle, 64 KiB), 45.1 s out of dcmqrscp as it comes today, 4.02 s out of dcmqrscp",
        "to a receiver in a process of its own | *“excellent”* | 1.01 s out of dcmqrscp with"
        " DCMTK's settings of then (no Nagle, 64 KiB), 50.1 s out of dcmqrscp as it comes today,",
        "| *“excellent”* | between two network namespaces, as containers have: 21 s with DCMTK's"
        " settings of then (no Nagle, 64 KiB), 60.9 s as DCMTK comes today, 11 s as it comes, but",
        "| *4 min become 1* | 21 s become 60.9 (C-MOVE, 64 KiB), 4 s become 50 (C-STORE, 64 KiB), ",
        "| *5 min become 1 s* | 301 s become 3 (C-MOVE from dcmqrscp, Nagle off); 1.00 to 100.30"
        " times as fast, on 12 ways |",
        "| *1.5 Gb/s* | 1 Gb/s (loopback), 1 Gb/s (veth), 1 Gb/s (5 ms away); one machine has no",
        "1.00 s out of Orthanc as shipped, 1.00 s out of Orthanc with the plugin |",
        "0.01 s out of Orthanc with the plugin; here a process |",
    ):
        assert row in text
    assert "64 KiB in each round trip is 105 Mb/s" in text
    move = "loopback, C-MOVE from dcmqrscp, Nagle off, movescu receives"
    assert f"The jump, by a factor of more than 2, is there on 1 of these 12 ways: {move}." in text
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
    row = "storescu → storescp, Nagle off | 2.5 | 0.25 | 10.00 | apart |"
    assert text.count(row) == 3
    assert "there on 4 of these 12 ways: " in text  # by a C-MOVE as well


def test_a_run_without_these_cells_claims_nothing() -> None:
    results = make_sockets(after=400)
    results.cells = results.cells[-1:]
    text = "\n".join(answer(results, Charts("made")))
    assert "storescu → Orthanc, TCP_BUFFER_LENGTH none: 20 images/s as shipped" in text
    assert "Report 00" not in text and "svg" not in text


WAN_OPTIONS = {"base": 50, "rate": 155, "lan_rate": 1000, "congestion": ["cubic", "bbr"]}
WAN_OPTIONS |= {"buffers": ["auto", "65536"], "round_trips": [0.1, 800]}
PLAIN = "as it is"


def make_line(trip: float) -> Line:
    return make_usual(WAN_OPTIONS, trip / 1000)


def make_wan(*cells: tuple[Line, str, dict[str, float]]) -> Results:
    """Speeds in Mb/s, by line, protocol and contestant; an image has 4 Mb."""
    made = [
        Cell(
            {**line.to_factors(), "Protocol": protocol},
            [[{name: {"speed": it, "throughput": it / 4} for name, it in speeds.items()}]],
        )
        for line, protocol, speeds in cells
    ]
    figures = wan.EXPERIMENT.figures
    return Results("wan", "2026-01-01", "run.sh", WAN_OPTIONS, {}, figures, made)


def test_wan_stands_beside_report_004(tmp_path: Path) -> None:
    files = "HTTP files (nginx)"
    results = make_wan(
        (make_line(0.1), "DICOM", {STOCK: 80, TUNED: 600}),
        (make_line(25), "DICOM", {STOCK: 16, TUNED: 40}),
        (make_line(50), "DICOM", {STOCK: 15.5, TUNED: 31}),
        (make_line(50), "4 x DICOM", {TUNED: 93}),
        (make_line(800), "DICOM", {STOCK: 1, TUNED: 2}),
        (make_line(0.1), files, {PLAIN: 800}),
        (make_line(200), files, {PLAIN: 10}),
        (replace(make_line(0.1), mtu=9000), files, {PLAIN: 880}),
        (replace(make_line(100), buffer=65536), "CIFS (samba)", {PLAIN: 3}),
        (replace(make_line(50), loss=0.001), "DICOM", {TUNED: 10}),
        (replace(make_line(50), loss=0.001, congestion="bbr"), "DICOM", {TUNED: 15}),
    )
    charts = Charts("made")
    text = "\n".join(wan.answer(results, charts))
    for row in (
        "| *4 images/s* | stock 4 images/s, tuned 10 images/s; how far these sites are is not said"
        " | 25 ms, DICOM |",
        "| *3 to 5 %* | stock DICOM 10 %, tuned DICOM 20 % | 50 ms and 155 Mb/s |",
        "| *more than 50 %* | stock DICOM 8 %, tuned DICOM 60 %, HTTP files (nginx) 80 % |"
        " 0.1 ms and 1000 Mb/s |",
        "| 5.2 and 19.4 times slower than 0.1 ms and 1000 Mb/s, stock and tuned: tuned is 7.5 times"
        " as fast as stock there, 2.0 times here | 50 ms, DICOM |",
        "| stock 80 … 1 Mb/s, tuned 600 … 2 Mb/s | 0.1 ms to 800 ms, DICOM |",
        "| *237 … 0.589 Mb/s* | 800 … 10 Mb/s, published there: *237 … 2.26 Mb/s* |",
        "| HTTP files (nginx) 1.10 | 0.1 ms, MTU 9000 / 1500 |",
        "- DICOM: tuned / stock is 7.50 at 0.1 ms, 2.50 at 25 ms, 2.00 at 50 ms, 2.00 at 800 ms.",
        "- 50 ms, preset tuned: 4 `storescu` at once bring 93 Mb/s, 60% of what the line carries;"
        " one brings 31: 3.00 times as much.",
        "- 50 ms, 0.1 % lost, DICOM, preset tuned: bbr is 1.50 times as fast as cubic: 15"
        " and 10 Mb/s; no turn of one is among the other's.",
        "Lines below 1 ms carry 1000 Mb/s, others 155 Mb/s.",
        "| CIFS, buffers of 64 KiB, 0.1 to 800 ms | *36.7 … 0.135 Mb/s* | 3 Mb/s; by samba's own"
        " client, as the kernel here has none",
        "| CIFS (samba), 64 KiB | 3 |\n| CIFS (samba), 64 KiB, *report 004* | *1.07* |",
        "![Loss and congestion control](made-loss-by-congestion-control.svg)",
    ):
        assert row in text
    for path in charts.write(tmp_path):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_a_lan_has_its_own_rate_and_lines_come_back_from_their_cells() -> None:
    lan, far = make_line(0.1), make_line(50)
    assert (lan.rate, far.rate) == (1e9, 155e6)
    assert [Line.from_factors(line.to_factors()) for line in (lan, far)] == [lan, far]


def test_what_is_sent_at_once_shares_the_rate_but_not_the_waits() -> None:
    line = replace(make_line(50), buffer=65536)
    one, four, many = (line.predict(500_000, 1, count) for count in (1, 4, 1000))
    assert four == pytest.approx(one / 4)
    assert many == pytest.approx(500_000 * 8 / 155e6)
