# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of Resources/Benchmarks works, and loses nothing; its speeds are no test's affair.

What its pages print is held by test_reports.py.
"""

import argparse
import itertools
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pydicom import dcmread, dcmwrite
from pydicom.data import get_testdata_file
from rich.console import Console

from conftest import MakeSeries, StartOrthanc
from harness.certificates import Certificate
from harness.clients import store
from harness.images import make_grey_image
from harness.metrics import wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.process import is_running, list_children, run
from harness.proxy import serve_locations
from harness.receivers import StoreScp, upload_to_send
from lab import compare, own, peers, phases, places, ratios, remote, report
from lab.__main__ import choose, parse_arguments
from lab.cells import Bench, Entry, Factors, Figure, Figures, Room, Stage, take_turns
from lab.charts import Charts
from lab.line import make_usual
from lab.processes import ClientError, count_instances
from lab.results import Cell, ResultError, Results
from lab.runner import Interrupted, Runner, interruptible
from lab.wan_site import CIFS

BENCHMARKS = Path(__file__).resolve().parents[1] / "Benchmarks"
FOLDERS = os.pathsep.join([str(BENCHMARKS), str(Path(__file__).parent)])
ENVIRONMENT = {**os.environ, "PYTHONPATH": FOLDERS}
SECONDS = 300


def make_command(output: Path, *arguments: str, plugin: Path | None = None) -> list[str | Path]:
    places = ["--plugin", plugin or "no plugin", "--output", output]
    return [sys.executable, "-m", "lab", *places, *arguments]


def run_lab(plugin: Path, output: Path, *arguments: str) -> list[dict[str, Any]]:
    """The cells of an experiment's JSON; its page and its charts are there, too."""
    command = make_command(output, *arguments, plugin=plugin)
    subprocess.run(command, env=ENVIRONMENT, check=True, timeout=SECONDS)
    page = (output / f"{arguments[0]}.md").read_text("utf-8")
    assert page.startswith(f"## {arguments[0]}")
    # What may be published says nothing of its user's folders
    for text in (page, (output / f"{arguments[0]}.json").read_text("utf-8")):
        assert str(output) not in text and str(BENCHMARKS.parents[1]) not in text
    for chart in re.findall(r"!\[.*\]\((.*)\)", page):
        assert ElementTree.parse(output / chart).getroot().tag.endswith("svg")
    report = json.loads((output / f"{arguments[0]}.json").read_text("utf-8"))
    assert report["IsComplete"]
    assert not any(cell["Failure"] for cell in report["Cells"])
    return report["Cells"]


def list_contestants(cell: dict[str, Any]) -> list[str]:
    return list(cell["Rounds"][0][0])


def make_results(*cells: str) -> Results:
    figures = {"speed": Figure("MB/s"), "note": Figure("", is_compared=False)}
    made = [Cell({"Cell": name}) for name in cells]
    return Results("made", "2026-01-01", "run.sh made", {}, {}, figures, made)


def make_stage(turns: int, **plan: Any) -> Stage:  # noqa: ANN401
    return Stage([], lambda _: lambda _: Entry({}), turns, 60, **plan)


class Site:
    """Contestants whose figures are known, in cells A, B and C of two stages.

    `happen` is called as servers start and end, and in each cell.
    """

    def __init__(self, path: Path, happen: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self.measured = ""
        self.results = Results.read(path) if path.exists() else make_results()
        self._happen = happen
        cells = [{"Cell": name} for name in "ABC"]
        self._stages = [
            Stage(part, self._open, turns=2, seconds=60, rounds=2)
            for part in (cells[:1], cells[1:])
        ]

    def _open(self, room: Room) -> Bench:
        self._happen("start")
        room.stack.callback(self._happen, "end")
        return self._enter

    def _enter(self, factors: Factors) -> Entry:
        name = factors["Cell"]
        return Entry({str(speed): partial(self._measure, name, speed) for speed in (1, 2)})

    def _measure(self, name: str, speed: float) -> Figures:
        self.measured += name
        self._happen(name)
        return {"speed": speed, "note": 0}

    def run(self) -> Results:
        Runner(self._stages, self.results, self.path, self.path.parent, Console()).run()
        return Results.read(self.path)


def fail_once(where: str, error: BaseException) -> Callable[[str], None]:
    errors = [error]

    def happen(place: str) -> None:
        if place == where and errors:
            raise errors.pop()

    return happen


def test_the_order_alternates() -> None:
    order: list[str] = []

    def measure(name: str) -> Figures:
        order.append(name)
        return {"place": len(order)}

    contestants = {name: partial(measure, name) for name in "ABC"}
    turns = take_turns(contestants, make_stage(3), 60)
    assert "".join(order) == "ABC" + "CBA" + "ABC"
    assert [turn["A"]["place"] for turn in turns] == [1, 6, 7]
    assert list(turns[1]) == ["A", "B", "C"]

    order.clear()
    take_turns(contestants, make_stage(1), 60, number=1)
    assert "".join(order) == "CBA"  # or else A would come first in each round of one turn


@pytest.mark.parametrize(
    ("turns", "doubted", "most", "seconds", "taken"),
    [(10, 0, 0, 0, 1), (2, 5, 9, 60, 5), (2, 5, 9, 0, 1), (2, 99, 4, 60, 4)],
)
def test_a_round_goes_on_as_long_as_its_turns_are_in_doubt_and_there_is_time(
    turns: int, doubted: int, most: int, seconds: int, taken: int
) -> None:
    stage = make_stage(turns, is_in_doubt=lambda found: len(found) < doubted, most_turns=most)
    assert len(take_turns({"A": dict}, stage, seconds)) == taken


# As tabulated for the sign test, at 95 % (5 values do not suffice)
@pytest.mark.parametrize(("count", "rank"), [(1, None), (5, None), (6, 1), (9, 2), (20, 6)])
def test_the_median_is_enclosed_by_order_statistics(count: int, rank: int | None) -> None:
    assert ratios.find_rank(count) == rank


def test_an_interrupted_run_goes_on_with_the_cells_that_are_missing(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json", fail_once("B", Interrupted()))
    with pytest.raises(Interrupted):
        site.run()
    kept = Results.read(site.path)
    assert [cell.is_complete for cell in kept.cells] == [True, False, False]
    again = Site(site.path)
    assert again.run().is_complete()
    assert again.measured == "BBBBCCCC" * 2


@pytest.mark.parametrize(
    ("where", "error", "cell", "why"),
    [
        ("B", ClientError("1 of 2 images are stored"), "B", "1 of 2 images are stored"),
        ("start", RuntimeError("no port is free"), "A", "RuntimeError: no port is free"),
        ("end", RuntimeError("it ended with -11"), "A", "RuntimeError: it ended with -11"),
    ],
)
def test_what_fails_costs_its_own_cells_and_is_named_and_measured_again(
    tmp_path: Path, where: str, error: Exception, cell: str, why: str
) -> None:
    results = Site(tmp_path / "made.json", fail_once(where, error)).run()
    failures = {it.factors["Cell"]: it.failure for it in results.cells if it.failure}
    assert failures == {cell: why}
    (page, *_) = report.write_report(results, tmp_path, "made")
    assert f"**{cell}: failed: {why}**" in page.read_text("utf-8")
    again = Site(tmp_path / "made.json")
    assert again.run().is_complete()
    assert again.measured == 8 * cell


def test_a_signal_waits_until_all_servers_have_ended(tmp_path: Path) -> None:
    ended: list[bool] = []

    def interrupt(place: str) -> None:
        if place == "end":
            os.kill(os.getpid(), signal.SIGINT)
            ended.append(True)

    site = Site(tmp_path / "made.json", interrupt)
    with pytest.raises(Interrupted), interruptible():
        site.run()
    assert ended == [True]
    assert site.measured == "AAAA"


def test_nothing_that_the_lab_has_started_outlives_it() -> None:
    orphan = "sleep 600 > /dev/null & echo $!"  # whose parent ends at once
    script = (
        "import subprocess, sys; from lab.processes import adopt_orphans, end_children;"
        "adopt_orphans(); subprocess.Popen(['sleep', '600']);"
        f"print(subprocess.check_output(['sh', '-c', {orphan!r}], text=True)); end_children()"
    )
    said = run([sys.executable, "-c", script], env=ENVIRONMENT, check=True).stdout
    assert not is_running(int(said))


def test_a_result_names_no_folder_and_no_user(tmp_path: Path) -> None:
    file = tmp_path / "ct.dcm"
    file.touch()
    words = ["--output", str(tmp_path), "own", "http://pacs", "--user", "alice", "--quick"]
    assert list(places.hide_words(words)) == ["own", "http://pacs", "--user", "USER", "--quick"]
    words = [f"--plugin={file}", "--storage", str(tmp_path), f"--files={file}", "--turns", "3"]
    hidden = ["--storage", "FOLDER", "--files=FOLDER/ct.dcm", "--turns", "3"]
    assert list(places.hide_words(words)) == hidden
    assert places.hide_path(BENCHMARKS / "run.sh") == "Resources/Benchmarks/run.sh"
    assert places.hide_path(Path("/usr/lib/program")) == "/usr/lib/program"
    said = places.hide_places(f"{tmp_path}/x: {BENCHMARKS}", tmp_path)
    assert said == "FOLDER/x: Resources/Benchmarks"


def test_an_incomplete_result_is_gone_on_with_and_any_other_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    by_itself, by_name = argparse.Namespace(resume=None), argparse.Namespace(resume=path)
    new = make_results(*"ABC")
    assert choose(by_itself, new, path) is new

    old = Site(path).run()
    old.cells[-1].is_complete = False
    old.write(path)
    assert choose(by_itself, new, path) == old
    assert choose(by_name, new, tmp_path / "other.json") == old
    assert choose(by_name, new, path, goes_on=False) == old

    for change, why in (
        ({"cells": make_results(*"ABD").cells}, "its cells are others"),
        ({"options": {"images": 3}}, "its option images was None, and is 3 now"),
        # What no version tells
        ({"fingerprints": {"--disk": "4567"}}, "its fingerprint --disk was None, and is 4567 now"),
    ):
        other = replace(new, **change)
        with pytest.raises(ResultError, match=why):
            choose(by_name, other, path)
    assert "4567" not in report.format_report(other, {})
    assert choose(by_itself, other, path) is other
    (aside,) = tmp_path.glob("made-*.json")
    assert Results.read(aside) == old
    assert not path.exists()

    old.write(path)
    assert choose(by_itself, new, path, goes_on=False) is new
    assert not path.exists()


def test_the_rank_sum_is_exact() -> None:
    for a, b, probability in (
        ([1, 2, 3, 4], [5, 6, 7, 8], 2 / 70),  # all orders of four and four values are 70
        ([1, 2, 3, 5], [4, 6, 7, 8], 4 / 70),
        ([1, 1, 1], [1, 1, 1], 1),
    ):
        assert compare.find_probability(a, b) == pytest.approx(probability)
        assert compare.find_probability(b, a) == pytest.approx(probability)
    assert sum(compare.count_ways(100, 100)) == math.comb(200, 100)
    assert compare.adjust([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def make_run(speeds: dict[str, list[float]]) -> Results:
    results = make_results()
    for name, values in speeds.items():
        cell = results.find({"Cell": name})
        cell.rounds = [[{"stock": {"speed": 1}, "tuned": {"speed": value}} for value in values]]
    return results


# The least p of 4 and 4 values is 2/70, of 5 and 5 2/252, of 6 and 6 2/924
@pytest.mark.parametrize(
    ("turns", "tested"),
    [([4], 1), ([4, 4], 0), ([5] * 6, 6), ([5] * 7, 0), ([6] * 23, 23), ([6, 5, 4, 4, 4], 2)],
    ids=str,
)
def test_rows_differ_or_are_not_told_apart_or_could_not_differ_among_so_many(
    turns: list[int], tested: int
) -> None:
    lower = {f"row{place}": list(range(1, 1 + count)) for place, count in enumerate(turns)}
    higher = {name: [value + 100 for value in values] for name, values in lower.items()}
    few = len(turns) - tested
    for after, verdict in ((higher, "**differs**"), (lower, "not told apart")):
        page = compare.compare(make_run(lower), make_run(after))
        verdicts = re.findall(r"^\| row\d+ \| speed.*\| ([^|]+) \|$", page, re.MULTILINE)
        assert verdicts == [verdict] * tested + ["too few turns"] * few
        assert f"for all {tested} rows that have turns enough" in page
        assert f"\n{few} of {len(turns)} rows have too few turns" in page


def long(*row: object) -> Any:  # noqa: ANN401
    return pytest.param(*row, marks=pytest.mark.long)


RATES = {"throughput", "speed", "first paint", "memory", "processor time of Orthanc"}
ONCE = "--images 4 --pairs 1 --rounds 1"
ONE_LOAD = f"{ONCE} --loads http-1"
LINE = "--base 10 --round-trips --losses --mtus --images 3 --turns 1"
LINE_OF_ALL = f"{LINE} --congestion reno --buffers 65536 --transfer-seconds 0 --protocols"
SOCKETS = "--images 3 --turns 1 --iperf-seconds 1 --buffers 129076 --server-buffers 129075"


# One smoke test an experiment: what is asked for, how many cells there are, and how many
# contestants the last of them has
@pytest.mark.parametrize(
    ("words", "cells", "contestants"),
    [
        (f"overhead {ONE_LOAD}", 1, 2),
        (f"noise {ONE_LOAD}", 1, 2),
        (f"cost-of-probe {ONE_LOAD}", 1, 2),
        ("stalls --images 4 --pairs 1 --senders 2", 5, 2),
        ("transcoding --images 4 --turns 1 --senders 2 --targets JPEGProcess14SV1", 1, 6),
        ("peers --images 4 --turns 1 --storage FOLDER", 1, 3),
        (f"wan {LINE_OF_ALL} DICOM 'FTP (vsftpd)' 'Orthanc → Orthanc'", 3, 4),
        ("dashboard --visits 1 --pairs 1 --phase-seconds 1 --images 5", 2, 2),
        (f"scale {ONCE} --stored 60 --peers 3 --idle 3 --size 1.1 --senders 2", 5, 2),
        ("ingest --axes senders overwriting --images 4 --parallel 2 --turns 1", 11, 2),
        (
            "retrieve --images 4 --turns 1 --servers 'Orthanc with the plugin' --stored 0"
            " --files 'in the page cache' --storage FOLDER",
            1,
            14,
        ),
        (f"dcmtk-sockets {SOCKETS} --paths loopback", 4, 2),
        ("transcode --files FILES --targets JPEGProcess14SV1 --turns 1 --milliseconds 1", 1, 3),
        long(f"overhead {ONCE} --budget", 3, 3),
        long(f"overhead {ONE_LOAD} --at-once", 1, 2),
        long(f"overhead {ONE_LOAD} --earlier PLUGIN", 1, 2),
        long(f"overhead {ONE_LOAD} --databases sqlite postgresql", 2, 2),
        long(f"cost-of-probe --probe-only {ONE_LOAD}", 1, 2),
        long("stalls --images 4 --pairs 1 --senders 1 2 --tls", 6, 2),
        long("ingest --axes storage gzip database nagle --images 4 --turns 1 --parallel 1", 12, 2),
        long(f"wan {LINE_OF_ALL} '4 x DICOM' 'HTTPS upload (nginx in front)'", 2, 1),
        long(f"wan {LINE} --protocols CIFS --congestion cubic --buffers 16384", 1, 1),
        long(
            f"wan {LINE} --buffers --round-trips 10 --protocols DICOM --congestion none-such", 1, 0
        ),
        long("retrieve --images 4 --turns 1 --files 'in the page cache' --stored 1000", 4, 2),
        long(f"dcmtk-sockets {SOCKETS} --paths '5 ms away'", 3, 2),
    ],
)
def test_an_experiment_measures_all_its_cells(
    plugin: Path, tmp_path: Path, words: str, cells: int, contestants: int
) -> None:
    earlier = shutil.copy(plugin, tmp_path / "earlier.so")
    (files := tmp_path / "files").mkdir()
    for name in ("CT_small.dcm", "liver_1frame.dcm"):  # no engine takes the second one
        shutil.copy(get_testdata_file(name), files)
    places = {"PLUGIN": earlier, "FOLDER": tmp_path, "FILES": files, "CIFS": CIFS}
    found = run_lab(plugin, tmp_path, *(str(places.get(it, it)) for it in shlex.split(words)))
    assert len(found) == cells
    for cell in found:
        assert cell["Rounds"] or cell["Declined"]
        for figures in (it for turn in itertools.chain(*cell["Rounds"]) for it in turn.values()):
            assert figures
            assert all(figures[name] > 0 for name in RATES & figures.keys())
    assert len(list_contestants(cell) if cell["Rounds"] else []) >= contestants


@pytest.mark.long
def test_whoever_interrupts_the_lab_keeps_what_it_has_and_no_process(
    plugin: Path, tmp_path: Path
) -> None:
    words = "stalls --images 2 --scenarios storescp storescu --turns 1 --senders 1"
    path = tmp_path / "stalls.json"
    command = make_command(tmp_path, *words.split(), plugin=plugin)
    with start_lab(command) as lab:
        assert wait_until(lambda: path.exists() and '"IsComplete": true' in path.read_text(), 120)
        children = list_children(lab.pid)
        os.killpg(lab.pid, signal.SIGINT)  # as Ctrl-C: to what the lab has started, too
        assert lab.wait(120) == 130
    assert children and not any(Path(f"/proc/{child}").exists() for child in children)
    assert [cell.is_complete for cell in Results.read(path).cells] == [True, False]


def test_no_time_of_an_instance_is_told_twice() -> None:
    for seen, alone in (
        ({"Storage": 4, "Sync": 3, "Index": 2}, {"Storage": 1, "Sync": 3, "Index": 2}),
        ({"Commit": 5, "Database": 3}, {"Commit": 2, "Database": 3}),
        ({"Index": 1, "Commit": 5, "Database": 3}, {"Index": 0, "Commit": 3, "Database": 3}),
        ({"Prepare": 5, "Sync": 3}, {"Prepare": 5, "Sync": 3}),
    ):
        assert phases.separate(seen) == alone


def test_peers_sees_what_is_missing_or_other_in_a_receivers_files(
    make_series: MakeSeries, tmp_path: Path
) -> None:
    images = make_series("kept", 2)
    folder = tmp_path / "01" / "23"  # as Orthanc has them
    folder.mkdir(parents=True)
    first, _ = (shutil.copy(image.path, folder / image.path.stem) for image in images)
    (folder / "keep").touch()
    (tmp_path / "index").write_bytes(b"SQLite format 3")
    dcmwrite(folder / "head", dcmread(first, stop_before_pixels=True))
    peers.check_files(tmp_path, images)

    content = first.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    for files, whole, other in (
        ([flipped], 1, 1),
        ([content[:-1000]], 1, 1),
        ([], 1, 0),
        ([content, content], 2, 1),
    ):
        first.unlink(missing_ok=True)
        for number, it in enumerate(files):
            (folder / f"again-{number}").write_bytes(it)
        expected = f"{whole} of 2 images are in files as sent, {other} other"
        with pytest.raises(ClientError, match=expected):
            peers.check_files(tmp_path, images)
        for path in folder.glob("again-*"):
            path.unlink()


def test_what_is_sent_at_once_shares_the_rate_but_not_the_waits() -> None:
    options = {"rate": 155, "lan_rate": 1000, "congestion": ["cubic", "bbr"]}
    line = replace(make_usual(options, 0.05), buffer=65536)
    one, four, many = (line.predict(500_000, 1, count) for count in (1, 4, 1000))
    assert four == pytest.approx(one / 4)
    assert many == pytest.approx(500_000 * 8 / 155e6)


# It does not say of itself whether it has limits, before 1.12.4
OWN = ["--yes", "--no-limit", "--late", "9s", "--connections", "1", "2"]


def run_own(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = make_command(folder, "own", url, *arguments)
    return run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL)


@contextmanager
def start_lab(command: list[str | Path], **streams: Any) -> Iterator[subprocess.Popen[str]]:  # noqa: ANN401
    """As from a terminal of its own; whatever is left of it in the end is killed."""
    lab = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True, text=True, **streams)
    try:
        yield lab
    finally:
        with suppress(ProcessLookupError):
            os.killpg(lab.pid, signal.SIGKILL)
        lab.wait(60)


def describe_state(server: OrthancServer) -> list[object]:
    """All that a visitor could have left behind."""
    paths = ["/statistics", "/instances", "/jobs"]
    if server.get("/perf/status").ok:
        paths.append("/perf/tuning?sources")
    return [server.get_json(path) for path in paths]


def test_own_asks_first_and_leaves_the_server_as_it_was(
    start_orthanc: StartOrthanc, make_series: MakeSeries, certificate: Certificate, tmp_path: Path
) -> None:
    users = {"AuthenticationEnabled": True, "RegisteredUsers": {"alice": "secret"}}
    server = start_orthanc(options=users, credentials=("alice", "secret"))
    (image,) = make_series("others", 1)
    server.upload(image.read_bytes())
    before = describe_state(server)
    port = find_free_port()
    files = f"ssl_certificate {certificate.certificate}; ssl_certificate_key {certificate.key};"
    location = f"location /pacs/ {{ proxy_pass {server.url}/; client_max_body_size 0; }}"
    url = f"https://127.0.0.1:{port}/pacs"
    command = make_command(tmp_path, *f"own {url} --user alice --images 3 --turns 2".split())
    environment = {**ENVIRONMENT, "ORTHANC_PASSWORD": "secret"}
    system = {**environment, "SSL_CERT_FILE": str(certificate.certificate)}  # whom it trusts
    with serve_locations(f"listen 127.0.0.1:{port} ssl; {files} {location}", tmp_path / "nginx"):
        silent = run(command, env=system, stdin=subprocess.DEVNULL)
        assert "there is nobody to ask" in silent.stderr
        assert server.get_json("/perf/instances?peer=PERF_LAB") == []
        command += ["--cacert", str(certificate.certificate), *OWN]
        subprocess.run(command, env=environment, check=True, timeout=SECONDS)
    assert describe_state(server) == before

    (cell,) = json.loads((tmp_path / "own.json").read_text("utf-8"))["Cells"]
    assert cell["IsComplete"] and cell["Declined"] == {}
    ways = ["POST, 1 connection", "POST, 2 connections"]
    ways += ["C-STORE, 1 association", "C-STORE, 2 associations"]
    assert list_contestants(cell) == ways
    for turn in (turn for (turn,) in cell["Rounds"]):
        assert all(turn[way]["phase Storage"] > 0 and "stalls" in turn[way] for way in ways)
    assert "secret" not in (tmp_path / "own.md").read_text("utf-8")
    assert (tmp_path / "own-phases.svg").exists()


def test_own_would_not_push_others_out() -> None:
    statistics = {"CountPatients": 10, "TotalDiskSize": str(9000 * 2**20)}
    limits = {"MaximumStorageMode": "Recycle", "MaximumStorageSize": 0, "MaximumPatientCount": 0}
    check = partial(own.check_room, statistics=statistics, images=10, size=5_000_000)
    assert check({}) == "MaximumStorageSize and MaximumPatientCount"
    for more in ({}, {"MaximumPatientCount": 31}, {"MaximumStorageSize": 10_100}):
        assert check({**limits, **more}) == ""
    full = {"MaximumStorageSize": 10_030}  # there is room, but not for what others send
    for more, why in (
        ({"MaximumPatientCount": 30}, "MaximumPatientCount, 30: the oldest patients"),
        (full, "MaximumStorageSize, 10030 MB: the oldest patients"),
        # What Orthanc does not understand is Recycle to it, and says what somebody has written
        ({**full, "MaximumStorageMode": "reject"}, "the oldest patients"),
        ({**full, "MaximumStorageMode": "Reject"}, "images of others would be refused"),
    ):
        with pytest.raises(ClientError, match=why):
            check({**limits, **more})


# Lua: a file is there as soon as the first series comes in
FLAG = """
count = 0
function ReceivedInstanceFilter()
  count = count + 1
  if count == 3 then io.open('FLAG', 'w'):close() end
  return true
end
"""
KEEP = "function IncomingHttpRequestFilter(method) return method ~= 'DELETE' end"
SLOW = """
function ReceivedInstanceFilter()
  if not was then was = true; os.execute('sleep 6') end
  return true
end
"""

# nginx, before all else goes to Orthanc
RESTART = "location ~ ^/(studies|system) { if (-f FLAG) { return 404; } proxy_pass URL; }"
LOGIN = """
location = /instances { if (-f FLAG) { return 403; } proxy_pass URL; }
location = /tools/lookup { return 200 "<html>Who are you?</html>"; }
"""
FULL = """
location = /system {
  return 200 '{"Version": "1.13.0", "MaximumStorageSize": 0, "MaximumPatientCount": 100}';
}
location = /statistics {
  if (-f FLAG) { return 200 '{"CountPatients": 80, "CountInstances": 80, "TotalDiskSize": "1"}'; }
  return 200 '{"CountPatients": 50, "CountInstances": 50, "TotalDiskSize": "1"}';
}
"""
LOST = "location = /instances { return 504; }"
ANEW = """location = /instances { return 200 '{"ID": "0123-4567", "Status": "Success"}'; }"""
GIVES_UP = "proxy_read_timeout 2s;"
PASS = "location / { proxy_pass URL; }"

NAMES = r".*PatientID PERF-LAB-\w+, StudyInstanceUID 2\.25\.\d+, /studies/[0-9a-f-]+"
NO_DICOM, STRANGER = "--dicom-port 0", "--dicom-port STRANGER"


# What comes between: in front of Orthanc, in it, at the DICOM port; how `own` ends, what it says,
# how many images stay there, and whether a file tells the next run
@pytest.mark.long
@pytest.mark.parametrize(
    "case",
    [
        (RESTART, FLAG, NO_DICOM, 1, f"NOT REMOVED{NAMES}.*answered by 404", 3, True),
        (LOGIN, FLAG, NO_DICOM, 1, f"NOT REMOVED{NAMES}.*an Orthanc: no JSON", 0, True),
        (FULL, FLAG, NO_DICOM, 1, "with 80 patients, one more and 20 of others", 0, False),
        ("", KEEP, NO_DICOM, 1, f"NOT REMOVED{NAMES}", 1, True),  # it tries with one image first
        (LOST, "", NO_DICOM, 0, f"MAY STILL ARRIVE at{NAMES}", 0, True),
        (ANEW, "", NO_DICOM, 1, "POST /instances has made /instances/0123-4567", 0, False),
        ("", "", STRANGER, 1, f"has taken an image that is NOT in{NAMES}", 0, True),
        (GIVES_UP, SLOW, f"{NO_DICOM} --late 30s", 0, "nobody has said whether they", 0, False),
    ],
    ids=["restart", "login", "full", "not removed", "lost", "made anew", "stranger", "late"],
)
def test_own_names_what_it_leaves_and_takes_no_routers_word_that_it_is_gone(
    start_orthanc: StartOrthanc, tmp_path: Path, case: tuple[str, str, str, int, str, int, bool]
) -> None:
    location, lua, words, code, said, left, is_kept = case
    flag = str(tmp_path / "flag")
    server = start_orthanc(plugins=[], lua=[lua.replace("FLAG", flag)])
    locations = (location + PASS).replace("URL", server.url).replace("FLAG", flag)
    with serve_locations(locations, tmp_path / "nginx") as url, StoreScp(find_free_port()) as scp:
        words = f"--images 3 --turns 1 {words}".replace("STRANGER", str(scp.port))
        finished = run_own(url, tmp_path, *OWN, *words.split())
    assert finished.returncode == code
    assert re.search(said, finished.stderr)
    assert count_instances(server) == left
    assert (tmp_path / "own-sent.json").exists() == is_kept


@contextmanager
def send_endlessly(
    server: OrthancServer,
    folder: Path,
    *more: str | Path,
    **streams: Any,  # noqa: ANN401
) -> Iterator[subprocess.Popen[str]]:
    """A run of `own` from when its images come in; it has to be ended."""
    words = f"own {server.url} --images 60 --turns 1000"
    with start_lab([*make_command(folder, *words.split()), *OWN, *more], **streams) as lab:
        assert wait_until(lambda: count_instances(server) > 20, 120)
        yield lab


@pytest.mark.long
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGHUP], ids=["Ctrl-C", "no terminal"])
def test_own_removes_what_it_sent_when_it_is_interrupted(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path, kind: signal.Signals
) -> None:
    server = start_orthanc(plugins=[])
    upload_to_send(server, make_series("others", 1))
    before = describe_state(server)
    terminal, shown = os.pipe()
    with send_endlessly(server, tmp_path, stdout=shown, stderr=shown) as lab:
        os.close(shown)
        if kind == signal.SIGHUP:
            os.close(terminal)
        os.killpg(lab.pid, kind)
        code = lab.wait(120)
    assert describe_state(server) == before
    if kind == signal.SIGINT:
        assert code == 130
        os.close(terminal)


@pytest.mark.long
def test_own_removes_what_a_run_that_was_killed_has_left(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    server = start_orthanc(plugins=[])
    upload_to_send(server, make_series("others", 1))
    before = describe_state(server)
    storage = tmp_path / "lab-storage"  # it cannot tidy up
    storage.mkdir()
    with send_endlessly(server, tmp_path, "--storage", storage) as lab:
        lab.kill()
        lab.wait(60)
    path = tmp_path / "own-sent.json"
    assert path.stat().st_mode & 0o777 == 0o600
    (sent,) = json.loads(path.read_text("utf-8"))
    # However it ended: one that nobody removes
    uids = (sent["StudyInstanceUID"], sent["SeriesInstanceUID"], "2.25.1")
    image = make_grey_image(sent["PatientID"], uids, 16)
    image.save_as(tmp_path / "late.dcm", enforce_file_format=True)
    server.upload((tmp_path / "late.dcm").read_bytes())

    elsewhere = {**sent, "URL": "http://198.51.100.1:8042"}
    path.write_text(json.dumps([sent, elsewhere]))
    finished = run_own(server.url, tmp_path, *OWN, "--images", "3", "--turns", "1")
    assert finished.returncode == 0, finished.stderr
    for url in (server.url, elsewhere["URL"]):
        assert f"sent to {url}: PatientID {sent['PatientID']}" in finished.stdout
    assert json.loads(path.read_text("utf-8")) == [elsewhere]
    assert describe_state(server) == before

    path.write_text(json.dumps([{**sent, "PatientID": "4711"}]))  # somebody's
    finished = run_own(server.url, tmp_path, *OWN)
    assert finished.returncode == 1 and "not of the lab: PatientID 4711" in finished.stderr


@pytest.mark.parametrize("arguments", [[], ["--watch", "1s"]], ids=["sends", "watches"])
def test_own_tells_no_password_unencrypted_before_somebody_agrees(
    tmp_path: Path, arguments: list[str]
) -> None:
    # RFC 5737: nobody is there, and whoever asked would wait for a minute
    url, password = "http://192.0.2.1:8042", tmp_path / "password"
    password.write_text("secret")
    user = ["--user", "alice", "--password-file", str(password)]
    finished = run_own(url, tmp_path, *arguments, *user)
    assert finished.returncode == 1 and "there is nobody to ask" in finished.stderr
    assert "unencrypted" in finished.stdout


def test_what_goes_over_a_network_unencrypted_is_exposed() -> None:
    token = (("Authorization", "Bearer 1"),)
    for url in ("http://192.0.2.1:8042", "http://orthanc.example"):
        assert remote.Access(url, user="alice").is_exposed()
        assert remote.Access(url, headers=token).is_exposed()
        assert not remote.Access(url).is_exposed()
    for host in ("https://orthanc.example", "http://localhost", "http://127.0.0.1", "http://[::1]"):
        assert not remote.Access(f"{host}:8042", "alice", headers=token).is_exposed()


def test_own_refuses_what_would_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["own", "http://pacs", "--us", "alice"])
    assert "unrecognized arguments: --us alice" in capsys.readouterr().err
    for url in ("http://pacs?token=1", "http://pacs/#1"):
        with pytest.raises(ClientError, match=re.escape(url)):
            remote.read_access(parse_arguments(["own", url]))


def test_what_may_still_arrive_is_told_by_how_storescu_ended() -> None:
    begun = {Path("/a/0000.dcm"): "first", Path("/a/0001.dcm"): "second"}
    failed = "storescu failed with"
    broken = "E: Store Failed, file: /a/0001.dcm:\nE: 0006:0317 Peer aborted Association"
    assert own.list_open(begun, f"{failed} 10: {broken}") == {"second"}
    assert own.list_open(begun, f"{failed} 167: ") == set()  # Out of Resources (DICOM PS3.4, B.2.3)
    assert own.list_open(begun, f"{failed} 1: F: Association Rejected:") == set()
    assert own.list_open(begun, f"{failed} -9: ") == {"first", "second"}
    assert own.list_open(begun, "storescu was not done after 180 s") == {"first", "second"}


@pytest.mark.long
@pytest.mark.parametrize("has_plugin", [True, False], ids=["with", "without"])
def test_own_watches_by_get_alone(
    start_orthanc: StartOrthanc,
    plugin: Path,
    make_series: MakeSeries,
    tmp_path: Path,
    has_plugin: bool,
) -> None:
    server = start_orthanc(plugins=[plugin] if has_plugin else [])
    log, shown = tmp_path / "access.log", tmp_path / "shown"
    location = f"access_log {log}; location / {{ proxy_pass {server.url}/; }}"
    with serve_locations(location, tmp_path / "nginx") as url, shown.open("w") as output:
        words = f"own {url} --watch 10m --interval 1"
        with start_lab(make_command(tmp_path, *words.split()), stdout=output) as watch:
            assert wait_until(lambda: shown.read_text("utf-8").startswith("Watches "))
            store(server, make_series("watched", 40), "CT_ROOM_1")
            rate = re.compile(r"^(?!0 )[\d.]+ images/s", re.MULTILINE)
            assert wait_until(lambda: rate.search(shown.read_text("utf-8")))
            watch.send_signal(signal.SIGINT)
            assert watch.wait(60) == 130
    requests = re.findall(r'"(\w+) (\S+) HTTP', log.read_text("utf-8"))
    assert {method for method, _ in requests} == {"GET"}
    (cell,) = json.loads((tmp_path / "own.json").read_text("utf-8"))["Cells"]
    looks = [turn["what came in"] for (turn,) in cell["Rounds"]]
    images = sum(look["images"] for look in looks)
    total = own.answer(Results.read(tmp_path / "own.json"), Charts("own"))[0]
    assert images > 0 and total.startswith(f"- **{images:.0f} images")
    assert all(("throughput" in look) == (look["images"] > 0) for look in looks)
    if has_plugin:
        assert max(look["phase Storage"] for look in looks if look["images"]) > 0
        assert "from CT_ROOM_1 (" in cell["Note"]
    else:
        (why,) = cell["Declined"].values()
        assert why == "the performance plugin is not loaded there (404)"
