# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of Resources/Benchmarks works, and loses nothing; its speeds are no test's affair."""

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
from dataclasses import replace
from functools import partial
from itertools import cycle
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
from harness.images import Image, make_grey_image
from harness.large import SMALLEST_BUDGET, get_memory, tune_memory
from harness.metrics import wait_until
from harness.orthanc import OrthancServer, find_free_port
from harness.process import is_running, list_children, run
from harness.proxy import serve_locations
from harness.receivers import StoreScp, upload_to_send
from lab.__main__ import EXPERIMENTS, choose, parse_arguments
from lab.cells import Bench, Entry, Factors, Figure, Figures, Room, Stage, Turn, take_turns
from lab.charts import Charts
from lab.compare import adjust, compare, count_ways, find_probability
from lab.dcmtk_sockets import choose_images
from lab.large import THREADS, make_large, wait_beside
from lab.line import Line, make_usual
from lab.machine import fingerprint_lab, fingerprint_place, fingerprint_program
from lab.own import answer as answer_own
from lab.own import check_room, list_open
from lab.pages import fill, keep
from lab.peers import check_files
from lab.phases import find_phases, separate
from lab.places import hide_path, hide_places, hide_words
from lab.processes import ClientError, count_instances
from lab.ratios import Comparison, Spread, find_rank
from lab.remote import Access, read_access
from lab.report import format_report, write_report
from lab.results import Cell, ResultError, Results
from lab.runner import Interrupted, Runner, interruptible
from lab.tables import Table, show
from lab.wan_site import CIFS
from lab.watch import ADVICE, WHO, count_images

BENCHMARKS = Path(__file__).resolve().parents[1] / "Benchmarks"
SECONDS = 300


def make_command(plugin: Path, output: Path, *arguments: str) -> list[str | Path]:
    return [sys.executable, "-m", "lab", "--plugin", plugin, "--output", output, *arguments]


def make_environment() -> dict[str, str]:
    folders = [str(BENCHMARKS), str(Path(__file__).parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


def run_lab(plugin: Path, output: Path, *arguments: str) -> dict[str, Any]:
    """An experiment's JSON; its page and its charts are there, too."""
    command = make_command(plugin, output, *arguments)
    subprocess.run(command, env=make_environment(), check=True, timeout=SECONDS)
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
    return report


def list_names(report: dict[str, Any], factor: str) -> list[str]:
    return [cell["Factors"][factor] for cell in report["Cells"]]


def list_contestants(cell: dict[str, Any]) -> list[str]:
    return list(cell["Rounds"][0][0])


def make_results(*cells: str) -> Results:
    figures = {"speed": Figure("MB/s"), "note": Figure("", is_compared=False)}
    made = [Cell({"Cell": name}) for name in cells]
    return Results("made", "2026-01-01", "run.sh made", {}, {}, figures, made)


def make_stage(turns: int, **plan: Any) -> Stage:  # noqa: ANN401
    return Stage([], lambda _: lambda _: Entry({}), turns, 60, **plan)


class Site:
    """Contestants whose figures are known, in cells A, B and C."""

    def __init__(self, path: Path, rounds: int = 1) -> None:
        self.path = path
        self.measured: list[str] = []
        self.results = Results.read(path) if path.exists() else make_results()
        cells = [{"Cell": name} for name in "ABC"]
        self.stages = [
            Stage(part, self._open, turns=2, seconds=60, rounds=rounds)
            for part in (cells[:1], cells[1:])
        ]

    def _open(self, room: Room) -> Bench:
        self.begin()
        room.stack.callback(lambda: self.end())
        return self._enter

    def begin(self) -> None:
        """What servers do as they start."""

    def end(self) -> None:
        """And as they end."""

    def _enter(self, factors: Factors) -> Entry:
        name = factors["Cell"]

        def measure(speed: float) -> Figures:
            self.measured.append(name)
            self.happen(name)
            return {"speed": speed, "note": 0}

        return Entry({str(speed): lambda speed=speed: measure(speed) for speed in (1, 2)})

    def happen(self, cell: str) -> None:
        """What comes between."""

    def run(self) -> Results:
        Runner(self.stages, self.results, self.path, self.path.parent, Console()).run()
        return Results.read(self.path)


def fail_if(condition: bool, error: BaseException) -> None:
    if condition:
        raise error


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
    (turn,) = take_turns(contestants, make_stage(1), 60, number=1)
    assert "".join(order) == "CBA"  # or else A would come first in each round of one turn
    assert list(turn) == ["A", "B", "C"]


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
    assert find_rank(count) == rank


@pytest.mark.parametrize(
    ("rounds", "ratio"),
    [
        ([[(1, 2), (2, 4), (10, 10)]], Spread(2, 1, 2, None, None)),
        ([[(1, n), (1, n), (1, 9)] for n in (1, 2, 3, 4, 5, 6)], Spread(3.5, 1, 9, 1, 6)),
    ],
)
def test_the_ratio_is_taken_pair_by_pair_and_rounds_tell_how_sure_it_is(
    rounds: list[list[tuple[float, float]]], ratio: Spread
) -> None:
    assert Comparison("", "", "", "", "", rounds).get_ratio() == ratio


def test_an_interrupted_run_goes_on_with_the_cells_that_are_missing(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json")
    site.happen = lambda cell: fail_if(cell == "B", Interrupted())
    with pytest.raises(Interrupted):
        site.run()
    kept = Results.read(site.path)
    assert [cell.is_complete for cell in kept.cells] == [True, False, False]

    again = Site(site.path)
    assert again.run().is_complete()
    assert again.measured == ["B"] * 4 + ["C"] * 4


def test_a_cell_that_loses_an_image_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json", rounds=2)
    error = ClientError("1 of 2 images are stored")
    site.happen = lambda cell: fail_if(cell == "B" and site.measured.count("B") < 2, error)
    results = site.run()
    assert [cell.failure for cell in results.cells] == ["", "1 of 2 images are stored", ""]
    assert [len(cell.rounds) for cell in results.cells] == [2, 0, 2]
    (page, *_) = write_report(results, tmp_path, "made")
    assert "**B: failed: 1 of 2 images are stored**" in page.read_text("utf-8")


def test_servers_that_do_not_start_cost_their_own_cells(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json")
    opened, error = [], RuntimeError("no port is free")
    site.begin = lambda: (opened.append(1), fail_if(len(opened) == 1, error))
    results = site.run()
    assert [cell.failure for cell in results.cells] == ["RuntimeError: no port is free", "", ""]
    assert Site(site.path).run().is_complete()


def test_servers_that_end_badly_have_measured_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json")
    error = RuntimeError("Orthanc ended with -11")
    site.end = lambda: fail_if(len(site.measured) == 4, error)
    results = site.run()
    assert [bool(cell.failure) for cell in results.cells] == [True, False, False]
    again = Site(site.path)
    assert again.run().is_complete()
    assert again.measured == ["A"] * 4


def test_a_signal_waits_until_all_servers_have_ended(tmp_path: Path) -> None:
    site = Site(tmp_path / "made.json")
    ended: list[bool] = []

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(True)

    site.end = interrupt
    with pytest.raises(Interrupted), interruptible():
        site.run()
    assert ended == [True]
    assert [cell.is_complete for cell in Results.read(site.path).cells] == [True, False, False]


def test_nothing_that_the_lab_has_started_outlives_it() -> None:
    orphan = "sleep 600 > /dev/null & echo $!"  # whose parent ends at once
    script = (
        "import subprocess, sys; from lab.processes import adopt_orphans, end_children;"
        "adopt_orphans(); subprocess.Popen(['sleep', '600']);"
        f"print(subprocess.check_output(['sh', '-c', {orphan!r}], text=True)); end_children()"
    )
    command = [sys.executable, "-c", script]
    said = run(command, env=make_environment(), check=True).stdout
    assert not is_running(int(said))


def test_a_result_names_no_folder_and_no_user(tmp_path: Path) -> None:
    file = tmp_path / "ct.dcm"
    file.touch()
    words = ["--output", str(tmp_path), "own", "http://pacs", "--user", "alice", "--quick"]
    assert list(hide_words(words)) == ["own", "http://pacs", "--user", "USER", "--quick"]
    words = [f"--plugin={file}", "--storage", str(tmp_path), f"--files={file}", "--turns", "3"]
    hidden = ["--storage", "FOLDER", "--files=FOLDER/ct.dcm", "--turns", "3"]
    assert list(hide_words(words)) == hidden
    assert hide_path(BENCHMARKS / "run.sh") == "Resources/Benchmarks/run.sh"
    assert hide_path(Path("/usr/lib/program")) == "/usr/lib/program"
    assert hide_places(f"{tmp_path}/x: {BENCHMARKS}", tmp_path) == "FOLDER/x: Resources/Benchmarks"


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    results = Site(tmp_path / "made.json", rounds=2).run()
    again = tmp_path / "again.json"
    results.write(again)
    assert again.read_bytes() == (tmp_path / "made.json").read_bytes()
    assert [found.get_ratio().median for found in results.list_comparisons()] == [2, 2, 2]


def test_a_page_holds_what_its_results_say_and_its_author_says_the_rest(tmp_path: Path) -> None:
    results = Site(tmp_path / "made.json", rounds=2).run()
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- lab: made.json -->\nold\n<!-- lab: end -->\nAfter\n", "utf-8")
    written = fill(page)
    assert written[0] == page and all(path.stat().st_size for path in written)
    filled = page.read_text("utf-8")
    assert filled.startswith("Before\n") and filled.endswith("\nAfter\n")
    assert format_report(results, {"speed": "made-speed.svg"}) in filled
    assert "old" not in filled
    fill(page)
    assert page.read_text("utf-8") == filled

    page.write_text("Nothing to fill", "utf-8")
    with pytest.raises(ResultError, match="has no line <!-- lab"):
        fill(page)


def test_what_is_kept_for_a_page_is_smaller_and_says_the_same(tmp_path: Path) -> None:
    made, kept = tmp_path / "made.json", tmp_path / "kept.json"
    results = Site(made, rounds=2).run()
    results.cells[0].rounds[0][0]["1"]["speed"] = 1.00000001
    results.write(made)
    keep(made, kept)
    assert kept.stat().st_size < made.stat().st_size
    results.cells[0].rounds[0][0]["1"]["speed"] = 1
    assert Results.read(kept) == results


def test_an_incomplete_result_is_gone_on_with_and_any_other_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    by_itself = argparse.Namespace(resume=None)
    new = make_results(*"ABC")
    assert choose(by_itself, new, path) is new

    old = Site(path).run()
    old.cells[-1].is_complete = False
    old.write(path)
    assert choose(by_itself, new, path) == old
    assert choose(argparse.Namespace(resume=path), new, tmp_path / "other.json") == old
    assert choose(argparse.Namespace(resume=path), new, path, goes_on=False) == old

    with pytest.raises(ResultError, match="its cells are others"):
        choose(argparse.Namespace(resume=path), make_results(*"ABD"), path)
    new.options["images"] = 3
    with pytest.raises(ResultError, match="its option images was None, and is 3 now"):
        choose(argparse.Namespace(resume=path), new, path)
    assert choose(by_itself, new, path) is new
    (aside,) = tmp_path.glob("made-*.json")
    assert Results.read(aside) == old
    assert not path.exists()

    old.options = new.options
    old.write(path)
    assert choose(by_itself, new, path, goes_on=False) is new
    assert not path.exists()


def test_what_no_version_tells_must_be_the_same_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    old = make_results("A")
    old.fingerprints = {"--storage": "0123"}
    old.write(path)
    assert Results.read(path) == old
    assert "0123" not in format_report(old, {})

    by_name = argparse.Namespace(resume=path)
    new = make_results("A")
    with pytest.raises(ResultError, match="its fingerprint --storage was 0123, and is None now"):
        choose(by_name, new, path)
    new.fingerprints = {"--storage": "4567"}
    with pytest.raises(ResultError, match="its fingerprint --storage was 0123, and is 4567 now"):
        choose(by_name, new, path)
    new.fingerprints = dict(old.fingerprints)
    assert choose(by_name, new, path) == old


def test_builds_disks_and_labs_of_one_name_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [tmp_path / "shipped", tmp_path / "static"]
    for program in programs:
        program.write_text(f"#!/bin/sh\necho 1.13.0 # {program.name}")
    assert fingerprint_program(programs[0]) != fingerprint_program(programs[1])

    (tmp_path / "folder").mkdir()
    assert fingerprint_place(tmp_path / "folder") == fingerprint_place(tmp_path)
    assert fingerprint_place(Path("/dev/shm")) != fingerprint_place(Path("/proc"))

    monkeypatch.setattr("lab.machine.__file__", str(tmp_path / "machine.py"))
    before = fingerprint_lab()
    (tmp_path / "notes.txt").touch()
    assert fingerprint_lab() == before
    (tmp_path / "peers.py").write_text("changed")
    assert fingerprint_lab() != before


# All orders of four and four values are 70, of three and three 20
@pytest.mark.parametrize(
    ("a", "b", "probability"),
    [
        ([1, 2, 3, 4], [5, 6, 7, 8], 2 / 70),
        ([1, 2, 3, 5], [4, 6, 7, 8], 4 / 70),
        ([1, 2, 3], [4, 5, 6], 2 / 20),
        ([1, 1, 1], [1, 1, 1], 1),
    ],
)
def test_the_rank_sum_is_exact(a: list[float], b: list[float], probability: float) -> None:
    assert find_probability(a, b) == pytest.approx(probability)
    assert find_probability(b, a) == pytest.approx(probability)


def test_many_values_are_ranked_as_exactly() -> None:
    assert sum(count_ways(3, 4)) == math.comb(7, 3)
    assert sum(count_ways(100, 100)) == math.comb(200, 100)


def test_many_rows_are_judged_together() -> None:
    assert adjust([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def make_run(speeds: dict[str, list[float]]) -> Results:
    results = make_results()
    for name, values in speeds.items():
        cell = results.find({"Cell": name})
        cell.rounds = [[{"stock": {"speed": 1}, "tuned": {"speed": value}} for value in values]]
    return results


def list_verdicts(page: str) -> dict[str, str]:
    return dict(re.findall(r"^\| (\w+) \| speed.*\| ([^|]+) \|$", page, re.MULTILINE))


def test_compare_tells_a_difference_from_noise() -> None:
    before = make_run({"same": [1, 2, 3, 4, 5, 6], "faster": [1, 2, 3, 4, 5, 6], "few": [1, 2]})
    after = make_run({"same": [2, 1, 4, 3, 6, 5], "faster": [7, 8, 9, 7, 8, 9], "few": [7, 8]})
    assert list_verdicts(compare(before, after)) == {
        "same": "not told apart",
        "faster": "**differs**",
        "few": "too few turns",
    }


# The least p of 4 and 4 values is 2/70, of 5 and 5 2/252, of 6 and 6 2/924
@pytest.mark.parametrize(
    ("turns", "tested"),
    [([4], 1), ([4, 4], 0), ([5] * 6, 6), ([5] * 7, 0), ([6] * 23, 23), ([6, 5, 4, 4, 4], 2)],
    ids=str,
)
def test_a_row_that_could_not_differ_among_so_many_is_not_tested(
    turns: list[int], tested: int
) -> None:
    lower = {f"row{place}": list(range(1, 1 + count)) for place, count in enumerate(turns)}
    higher = {name: [value + 100 for value in values] for name, values in lower.items()}
    page = compare(make_run(lower), make_run(higher))
    verdicts = ["**differs**"] * tested + ["too few turns"] * (len(turns) - tested)
    assert list(list_verdicts(page).values()) == verdicts
    assert f"for all {tested} rows that have turns enough" in page
    assert f"\n{len(turns) - tested} of {len(turns)} rows have too few turns" in page
    same = compare(make_run(lower), make_run(lower))
    assert list(list_verdicts(same).values())[:tested] == ["not told apart"] * tested


def long(*row: object) -> Any:  # noqa: ANN401
    return pytest.param(*row, marks=pytest.mark.long)


ENGINES = "stored as received, native, dcmtk, gdcm, auto, Orthanc's own"
PRESETS = "preset stock, preset tuned"
RATES = {"throughput", "speed", "first paint", "memory", "processor time of Orthanc"}
LINE = "--base 10 --round-trips --losses --mtus --images 3 --turns 1"
NONE_SUCH = "--round-trips 10 --congestion none-such"


# What is asked for, how many cells there are, and who is compared in the last of them
@pytest.mark.parametrize(
    ("words", "cells", "contestants"),
    [
        ("overhead --images 4 --pairs 1 --rounds 2", 3, ""),
        ("stalls --images 4 --pairs 1 --senders 1 2", 6, ""),
        ("transcoding --images 4 --rounds 1 --senders 1 2 --targets JPEGProcess14SV1", 2, ENGINES),
        ("peers --images 4 --turns 1 --storage FOLDER", 1, ""),
        (f"wan {NONE_SUCH} --losses --mtus --buffers --protocols DICOM --images 1", 1, ""),
        ("dashboard --visits 2 --pairs 1 --phase-seconds 3 --images 5", 2, ""),
        (
            "scale --stored 60 --peers 3 --idle 3 --size 1.1 --senders 2"
            " --images 3 --rounds 1 --turns 1",
            5,
            "Orthanc, Orthanc with the plugin",
        ),
        (
            f"wan {LINE} --protocols DICOM '4 x DICOM' 'HTTPS upload (nginx in front)'"
            " 'FTP (vsftpd)' 'Orthanc → Orthanc' --congestion reno --buffers 65536"
            " --transfer-seconds 0",
            5,
            ", ".join(
                f"{form}, {preset}"
                for form in ("as received", "compressed on ingest")
                for preset in ("preset stock", "preset tuned")
            ),
        ),
        (
            "ingest --axes senders nagle overwriting database storage --images 4 --parallel 2"
            " --turns 1 --senders storescu dcmsend pynetdicom gdcmscu curl 'C-MOVE from Orthanc'",
            13,
            "",
        ),
        (
            "retrieve --images 4 --turns 1 --servers 'Orthanc with the plugin' --stored 1000"
            " --files 'in the page cache' --storage FOLDER",
            3,
            "REST, 1 connection, DICOMweb (WADO-RS), image by image",
        ),
        (
            "dcmtk-sockets --images 3 --turns 1 --iperf-seconds 1 --buffers 129076"
            " --server-buffers 129075 --paths loopback '5 ms away'",
            5,
            "Orthanc as shipped, Orthanc with the plugin",
        ),
        long("overhead --images 4 --pairs 1 --rounds 1 --budget", 3, ""),
        long(
            "overhead --images 4 --pairs 1 --rounds 1 --loads http-1 --at-once",
            1,
            "files in pieces of 4 KiB, files at once",
        ),
        long(
            "overhead --images 4 --pairs 1 --rounds 1 --loads http-1 --earlier PLUGIN",
            1,
            "the earlier plugin, the plugin",
        ),
        long(
            "overhead --images 4 --pairs 1 --rounds 1 --loads http-4 --databases sqlite postgresql",
            2,
            "",
        ),
        long(
            "noise --images 2 --pairs 1 --rounds 1 --loads storescu",
            1,
            "without the plugin, without the plugin, again",
        ),
        long(
            "cost-of-probe --probe-only --images 2 --pairs 1 --rounds 1 --loads storescu",
            1,
            "the plugin without its probe, the plugin with its probe",
        ),
        long("stalls --images 4 --pairs 1 --senders 1 2 --tls", 6, ""),
        long("ingest --axes gzip --images 4 --turns 1", 2, ""),
        long("ingest --axes nagle --images 4 --parallel 1 --turns 1", 4, PRESETS),
        long(f"wan {LINE} --protocols CIFS --congestion cubic --buffers 16384", 1, ""),
    ],
)
def test_an_experiment_measures_all_its_cells(
    plugin: Path, tmp_path: Path, words: str, cells: int, contestants: str
) -> None:
    earlier = shutil.copy(plugin, tmp_path / "earlier.so")
    places = {"PLUGIN": str(earlier), "FOLDER": str(tmp_path), "CIFS": CIFS}
    report = run_lab(plugin, tmp_path, *(places.get(word, word) for word in shlex.split(words)))
    assert len(report["Cells"]) == cells
    for cell in report["Cells"]:
        assert cell["Rounds"] or cell["Declined"]
        for turn in itertools.chain(*cell["Rounds"]):
            for figures in turn.values():
                assert figures
                assert all(figures[name] > 0 for name in RATES & figures.keys())
    if contestants:
        assert ", ".join(list_contestants(cell)) == contestants


@pytest.mark.long
def test_what_waits_beside_is_told_from_what_does_not(plugin: Path, tmp_path: Path) -> None:
    images = make_large()
    perf = {"Tuning": {"Memory": {"IngestBudget": SMALLEST_BUDGET}}}
    with OrthancServer(tmp_path, [plugin], perf, THREADS) as server:
        with wait_beside(server, images):
            assert get_memory(server)["Waiting"] == len(images)
        assert get_memory(server)["InFlight"] == 0
        with pytest.raises(ClientError, match="waited on"), wait_beside(server, images):
            tune_memory(server, IngestBudget=0)
            assert wait_until(lambda: get_memory(server)["Waiting"] == 0)


@pytest.mark.long
def test_whoever_interrupts_the_lab_keeps_what_it_has_and_no_process(
    plugin: Path, tmp_path: Path
) -> None:
    arguments = ["stalls", "--images", "2", "--scenarios", "storescp", "storescu"]
    arguments += ["--turns", "1", "--senders", "1"]
    path = tmp_path / "stalls.json"
    command = make_command(plugin, tmp_path, *arguments)
    lab = subprocess.Popen(command, env=make_environment(), start_new_session=True)
    try:
        assert wait_until(lambda: path.exists() and '"IsComplete": true' in path.read_text(), 120)
        children = list_children(lab.pid)
    finally:
        os.killpg(lab.pid, signal.SIGINT)  # as Ctrl-C: to what the lab has started, too
        code = lab.wait(120)
    assert code == 130
    assert children and not any(Path(f"/proc/{child}").exists() for child in children)
    kept = json.loads(path.read_text("utf-8"))
    assert [cell["IsComplete"] for cell in kept["Cells"]] == [True, False]


def test_transcode_measures_what_engines_have_in_common_and_says_what_they_decline(
    plugin: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("CT_small.dcm", "liver_1frame.dcm", "MR_small.dcm"):
        shutil.copy(get_testdata_file(name), folder)
    (folder / "notes.txt").write_text("no image")
    targets = ["JPEGProcess14SV1", "RLELossless"]
    arguments = ["--files", str(folder), "--targets", *targets, "--turns", "1"]
    report = run_lab(plugin, tmp_path, "transcode", *arguments, "--milliseconds", "1")
    lossless, rle = report["Cells"]
    assert list_contestants(lossless) == ["dcmtk", "gdcm", "native"]
    assert list_contestants(rle) == ["dcmtk", "gdcm"]
    for figures in lossless["Rounds"][0][0].values():
        assert figures["files"] == 2
        assert figures["speed"] > 0
        assert figures["ratio"] > 1
    assert all("1 of 3: 0002-liver_1frame.dcm" in why for why in lossless["Declined"].values())
    assert "native writes JPEG Lossless only (2 of 3" in rle["Declined"]["native"]


def test_no_time_of_an_instance_is_told_twice() -> None:
    figures = {"an instance": 10, "phase Storage": 4, "phase Sync": 3, "phase Index": 2}
    cell = Cell({}, [[{"preset stock": figures}]])
    assert find_phases(cell, "preset stock") == {"Storage": 1, "Sync": 3, "Index": 2, "rest": 4}


@pytest.mark.parametrize(
    ("seen", "alone"),
    [
        ({"Index": 5, "Database": 3}, {"Index": 2, "Database": 3}),
        ({"Commit": 5, "Database": 3}, {"Commit": 2, "Database": 3}),
        ({"Index": 1, "Commit": 5, "Database": 3}, {"Index": 0, "Commit": 3, "Database": 3}),
        ({"Prepare": 5, "Sync": 3}, {"Prepare": 5, "Sync": 3}),
    ],
)
def test_the_database_is_part_of_whichever_phase_holds_it(
    seen: dict[str, float], alone: dict[str, float]
) -> None:
    assert separate(seen) == alone


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
    check_files(tmp_path, images)

    content = first.read_bytes()
    first.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

    def check_refused(whole: int, other: int) -> None:
        expected = f"{whole} of 2 images are in files as sent, {other} other"
        with pytest.raises(ClientError, match=expected):
            check_files(tmp_path, images)

    check_refused(1, 1)
    first.write_bytes(content[:-1000])
    check_refused(1, 1)
    first.unlink()
    check_refused(1, 0)
    for name in ("first", "again"):
        (folder / name).write_bytes(content)
    check_refused(2, 1)


OPTIONS = {"rate": 155, "lan_rate": 1000, "congestion": ["cubic", "bbr"]}


def test_a_lan_has_its_own_rate_and_lines_come_back_from_their_cells() -> None:
    lan, far = (make_usual(OPTIONS, trip) for trip in (0.0001, 0.05))
    assert (lan.rate, far.rate) == (1e9, 155e6)
    assert [Line.from_factors(line.to_factors()) for line in (lan, far)] == [lan, far]


def test_what_is_sent_at_once_shares_the_rate_but_not_the_waits() -> None:
    line = replace(make_usual(OPTIONS, 0.05), buffer=65536)
    one, four, many = (line.predict(500_000, 1, count) for count in (1, 4, 1000))
    assert four == pytest.approx(one / 4)
    assert many == pytest.approx(500_000 * 8 / 155e6)


def test_a_table_has_a_row_for_each_contestant_and_what_was_published_below(tmp_path: Path) -> None:
    def place(_: object, factors: Factors, name: str) -> tuple[str, str] | None:
        sender, _, distance = factors["Cell"].partition("; ")
        return (f"{sender}, {name}", distance) if distance else None

    results = make_results("A; 50 ms", "B; 5 ms", "A; 5 ms", "C")
    for number, cell in enumerate(results.cells, 1):
        cell.rounds = [[{"stock": {"speed": number}, "tuned": {"speed": 10 * number}}] * 2]
    published = {"A": {"5 ms": 0.25, "800 ms": 1}, "D": {"5 ms": 1}}
    table = Table("Made", "MB/s", place, published=published, publisher="then", chart="ms")
    charts = Charts("made")
    assert show([table])(results, charts) == [
        "### Made",
        "",
        "![Made](made-made.svg)",
        "",
        "| MB/s | 5 ms | 50 ms |",
        "| --- | --- | --- |",
        "| A, stock | 3 | 1 |",
        "| A, tuned | 30 | 10 |",
        "| A, *then* | *0.25* |  |",
        "| B, stock | 2 |  |",
        "| B, tuned | 20 |  |",
        "",
    ]
    (drawn,) = charts.write(tmp_path)
    assert ElementTree.parse(drawn).getroot().tag.endswith("svg")
    assert show([table])(make_results("C"), charts) == []


def test_as_many_images_are_sent_as_take_about_so_long() -> None:
    series = [Image(Path(), str(number)) for number in range(200)]

    def count(each: float) -> int:
        def send(images: list[Image]) -> Figures:
            return {"throughput": len(images) / (0.03 + each * len(images))}

        return len(choose_images(series, 2, send))

    assert count(0.05) == 40
    assert count(0.0001) == 200
    assert count(9.5) == 1


# It does not say of itself whether it has limits, before 1.12.4
OWN = ["--yes", "--no-limit", "--late", "9s", "--connections", "1", "2"]


def make_endless_command(server: OrthancServer, output: Path) -> list[str | Path]:
    """It has to be ended."""
    arguments = ["own", server.url, *OWN, "--images", "60", "--turns", "1000"]
    return make_command(Path("no plugin"), output, *arguments)


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
    https = f"listen 127.0.0.1:{port} ssl; {files} {location}"
    url = f"https://127.0.0.1:{port}/pacs"
    arguments = ["own", url, "--user", "alice", "--images", "3", "--turns", "2"]
    environment = {**make_environment(), "ORTHANC_PASSWORD": "secret"}
    system = {**environment, "SSL_CERT_FILE": str(certificate.certificate)}  # whom it trusts
    with serve_locations(https, tmp_path / "nginx"):
        command = make_command(Path("no plugin"), tmp_path, *arguments)
        silent = run(command, env=system, stdin=subprocess.DEVNULL)
        command += ["--cacert", str(certificate.certificate)]
        assert "there is nobody to ask" in silent.stderr
        assert server.get_json("/perf/instances?peer=PERF_LAB") == []
        subprocess.run([*command, *OWN], env=environment, check=True, timeout=SECONDS)
    assert describe_state(server) == before

    (cell,) = json.loads((tmp_path / "own.json").read_text("utf-8"))["Cells"]
    assert cell["IsComplete"] and cell["Declined"] == {}
    ways = ["POST, 1 connection", "POST, 2 connections"]
    ways += ["C-STORE, 1 association", "C-STORE, 2 associations"]
    assert list_contestants(cell) == ways
    for turn in (turn for (turn,) in cell["Rounds"]):
        assert all(turn[way]["phase Storage"] > 0 for way in ways)
        assert all("stalls" in turn[way] for way in ways)
    page = (tmp_path / "own.md").read_text("utf-8")
    assert "secret" not in page
    assert (tmp_path / "own-phases.svg").exists()


def make_own(*turns: Turn) -> Results:
    figures = EXPERIMENTS["own"].figures
    cell = Cell(
        {"Images": "20 CT"}, [[turn] for turn in turns], note=f"far away; {ADVICE}no finding"
    )
    return Results("own", "2026-01-01", "run.sh own", {"images": 20}, {}, figures, [cell])


def test_a_watch_tells_totals_and_no_median_of_intervals_in_which_nothing_came() -> None:
    looks = [count_images(*look) for look in ((0, 5, 0), (80, 5, 42), (0, 5, 0), (20, 5, 10.5))]
    results = make_own(*({WHO: look} for look in looks))
    total, busiest, *_ = said = answer_own(results, Charts("own"))
    assert total == "- **100 images, 52.5 MB in 20 s**: 5 images/s, 2.62 MB/s over the whole."
    assert busiest.startswith("- Busiest: 16 images/s, 8.4 MB/s in 5 s. Anything came in 2 of 4 ")
    assert "| 10 (4 to 16) |" in format_report(results, {}, said)

    nothing = make_own({WHO: count_images(0, 5)})
    assert answer_own(nothing, Charts("own"))[0] == "- Nothing came in, in 5 s."


@pytest.mark.long
@pytest.mark.parametrize("has_terminal", [True, False], ids=["Ctrl-C", "no terminal"])
def test_own_removes_what_it_sent_when_it_is_interrupted(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path, has_terminal: bool
) -> None:
    server = start_orthanc(plugins=[])
    upload_to_send(server, make_series("others", 1))
    before = describe_state(server)
    command = make_endless_command(server, tmp_path)
    terminal, shown = os.pipe()
    lab = subprocess.Popen(
        command, env=make_environment(), start_new_session=True, stdout=shown, stderr=shown
    )
    os.close(shown)
    try:
        assert wait_until(lambda: count_instances(server) > 20, 120)
    finally:
        if not has_terminal:
            os.close(terminal)
        os.killpg(lab.pid, signal.SIGINT if has_terminal else signal.SIGHUP)
        code = lab.wait(120)
    assert describe_state(server) == before
    if has_terminal:
        assert code == 130
        os.close(terminal)


def test_own_would_not_push_others_out() -> None:
    statistics = {"CountPatients": 10, "TotalDiskSize": str(9000 * 2**20)}
    limits = {"MaximumStorageMode": "Recycle", "MaximumStorageSize": 0, "MaximumPatientCount": 0}
    assert check_room(limits, statistics, 10, 5_000_000) == ""
    assert check_room({}, statistics, 10, 5_000_000) == "MaximumStorageSize and MaximumPatientCount"
    assert check_room({**limits, "MaximumPatientCount": 31}, statistics, 10, 5_000_000) == ""
    with pytest.raises(ClientError, match="MaximumPatientCount, 30: the oldest patients"):
        check_room({**limits, "MaximumPatientCount": 30}, statistics, 10, 5_000_000)
    assert check_room({**limits, "MaximumStorageSize": 10_100}, statistics, 10, 5_000_000) == ""
    full = {**limits, "MaximumStorageSize": 10_030}  # there is room, but not for what others send
    with pytest.raises(ClientError, match="MaximumStorageSize, 10030 MB: the oldest patients"):
        check_room(full, statistics, 10, 5_000_000)
    # What Orthanc does not understand is Recycle to it, and says what its administrator has written
    with pytest.raises(ClientError, match="the oldest patients"):
        check_room({**full, "MaximumStorageMode": "reject"}, statistics, 10, 5_000_000)
    with pytest.raises(ClientError, match="images of others would be refused"):
        check_room({**full, "MaximumStorageMode": "Reject"}, statistics, 10, 5_000_000)


def run_own(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = make_command(Path("no plugin"), folder, "own", url, *arguments)
    return run(command, env=make_environment(), stdin=subprocess.DEVNULL)


@pytest.mark.long
def test_own_looks_for_room_before_every_series(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    server = start_orthanc(plugins=[])
    before = describe_state(server)
    system = {**server.get_json("/system"), "MaximumStorageSize": 0, "MaximumPatientCount": 100}
    path = tmp_path / "statistics"

    def count_patients(count: int) -> None:
        partial = path.with_suffix(".new")
        partial.write_text(json.dumps({**server.get_json("/statistics"), "CountPatients": count}))
        partial.replace(path)

    count_patients(50)
    locations = f"location = /system {{ return 200 '{json.dumps(system)}'; }}"
    locations += f" location = /statistics {{ alias {path}; }}"
    locations += f" location / {{ proxy_pass {server.url}; }}"
    with serve_locations(locations, tmp_path / "nginx") as url:
        arguments = ["own", url, "--yes", "--connections", "1", "--turns", "1000"]
        command = make_command(Path("no plugin"), tmp_path, *arguments)
        lab = subprocess.Popen(command, env=make_environment(), stderr=subprocess.PIPE, text=True)
        assert wait_until(lambda: count_instances(server) > 1, 120)
        count_patients(80)  # others have sent meanwhile
        _, said = lab.communicate(timeout=120)
    assert lab.returncode == 1
    assert "with 80 patients, one more and 20 of others" in said
    assert describe_state(server) == before


# Lua: a file is there as soon as so many images have come in
FLAG = """
count = 0
function ReceivedInstanceFilter()
  count = count + 1
  if count == {count} then io.open('{path}', 'w'):close() end
  return true
end
"""

GONE = """
location ~ ^/(studies|system) {{ if (-f {flag}) {{ return 404; }} proxy_pass {url}; }}
location / {{ proxy_pass {url}; }}
"""
LOGIN = """
location = /instances {{ if (-f {flag}) {{ return 403; }} proxy_pass {url}; }}
location = /tools/lookup {{ return 200 "<html>Who are you?</html>"; }}
location / {{ proxy_pass {url}; }}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("locations", "count", "why"),
    [
        (GONE, 1, "GET /system is answered by 404"),
        (LOGIN, 3, "POST /tools/lookup is not answered by an Orthanc: no JSON"),
    ],
    ids=["restart", "login"],
)
def test_own_takes_no_routers_word_that_a_study_is_gone(
    start_orthanc: StartOrthanc, tmp_path: Path, locations: str, count: int, why: str
) -> None:
    flag = tmp_path / "flag"
    server = start_orthanc(plugins=[], lua=[FLAG.format(count=count, path=flag)])
    locations = locations.format(flag=flag, url=server.url)
    with serve_locations(locations, tmp_path / "nginx") as url:
        finished = run_own(url, tmp_path, *OWN, "--images", "5", "--dicom-port", "0")
    assert finished.returncode == 1
    names = r"PatientID PERF-LAB-\w+, StudyInstanceUID 2\.25\.\d+, /studies/[0-9a-f-]+"
    assert re.search(rf"NOT REMOVED from {url}: {names}.*{why}", finished.stderr)
    assert (tmp_path / "own-sent.json").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("filter_", "answer", "said", "left"),
    [
        ("method ~= 'DELETE'", "", r"NOT REMOVED .* PatientID PERF-LAB-\w+, ", 1),
        ("true", "504", r"MAY STILL ARRIVE at .*: PatientID PERF-LAB-\w+, StudyInstanceUID ", 0),
        (
            "true",
            """200 '{"ID": "0123-4567", "Status": "Success"}'""",
            "POST /instances has made /instances/0123-4567",
            0,
        ),
    ],
    ids=["not removed", "late", "made anew"],
)
def test_own_names_what_it_leaves(
    start_orthanc: StartOrthanc, tmp_path: Path, filter_: str, answer: str, said: str, left: int
) -> None:
    rule = f"function IncomingHttpRequestFilter(method) return {filter_} end"
    server = start_orthanc(plugins=[], lua=[rule])
    location = f"location = /instances {{ return {answer}; }}" if answer else ""
    location += f" location / {{ proxy_pass {server.url}; }}"
    with serve_locations(location, tmp_path / "nginx") as url:
        finished = run_own(url, tmp_path, *OWN, "--images", "3", "--turns", "1")
    assert re.search(said, finished.stderr)
    assert count_instances(server) == left  # it tries with one image first


@pytest.mark.long
def test_own_sends_a_stranger_one_image_and_says_so(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    server = start_orthanc(plugins=[])
    before = describe_state(server)
    with StoreScp(find_free_port()) as stranger:
        port = str(stranger.port)
        finished = run_own(server.url, tmp_path, *OWN, "--images", "3", "--dicom-port", port)
    assert finished.returncode == 1
    assert re.search(r"has taken an image that is NOT in .*PatientID PERF-LAB-", finished.stderr)
    assert describe_state(server) == before


@pytest.mark.long
def test_own_waits_for_what_a_proxy_has_given_up(
    start_orthanc: StartOrthanc, tmp_path: Path
) -> None:
    slow = "function ReceivedInstanceFilter() if not was then was = true; os.execute('sleep 6') end"
    server = start_orthanc(plugins=[], lua=[f"{slow} return true end"])
    before = describe_state(server)
    location = f"location / {{ proxy_pass {server.url}; proxy_read_timeout 2s; }}"
    with serve_locations(location, tmp_path / "nginx") as url:
        finished = run_own(url, tmp_path, *OWN, "--late", "30s", "--images", "3", "--turns", "1")
    assert finished.returncode == 0, finished.stderr
    assert "nobody has said whether they arrive" in finished.stderr
    assert "MAY STILL ARRIVE" not in finished.stderr
    (cell,) = json.loads((tmp_path / "own.json").read_text("utf-8"))["Cells"]
    assert cell["Declined"]["POST, 1 connection"] == "POST /instances is answered by 504"
    assert "POST, 2 connections" in list_contestants(cell)
    assert describe_state(server) == before
    assert not (tmp_path / "own-sent.json").exists()


@pytest.mark.long
def test_own_removes_what_a_run_that_was_killed_has_left(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    server = start_orthanc(plugins=[])
    upload_to_send(server, make_series("others", 1))
    before = describe_state(server)
    storage = tmp_path / "lab-storage"  # it cannot tidy up
    storage.mkdir()
    command = [*make_endless_command(server, tmp_path), "--storage", str(storage)]
    lab = subprocess.Popen(command, env=make_environment())
    try:
        assert wait_until(lambda: count_instances(server) > 20, 120)
    finally:
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
    arguments = [*arguments, "--user", "alice", "--password-file", str(password)]
    finished = run_own(url, tmp_path, *arguments)
    assert finished.returncode == 1 and "there is nobody to ask" in finished.stderr
    assert "unencrypted" in finished.stdout

    token = (("Authorization", "Bearer 1"),)
    assert Access(url, headers=token).is_exposed()
    assert Access("http://orthanc.example", user="alice").is_exposed()
    assert not Access(url).is_exposed()
    assert not Access("https://orthanc.example", user="alice", headers=token).is_exposed()
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert not Access(f"http://{host}:8042", user="alice").is_exposed()


def test_own_refuses_what_would_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["own", "http://pacs", "--us", "alice"])
    assert "unrecognized arguments: --us alice" in capsys.readouterr().err
    for url in ("http://pacs?token=1", "http://pacs/#1"):
        with pytest.raises(ClientError, match=re.escape(url)):
            read_access(parse_arguments(["own", url]))


def test_what_may_still_arrive_is_told_by_how_storescu_ended() -> None:
    begun = {Path("/a/0000.dcm"): "first", Path("/a/0001.dcm"): "second"}
    failed = "storescu failed with"
    broken = "E: Store Failed, file: /a/0001.dcm:\nE: 0006:0317 Peer aborted Association"
    assert list_open(begun, f"{failed} 10: {broken}") == {"second"}
    assert list_open(begun, f"{failed} 167: ") == set()  # Out of Resources (DICOM PS3.4, B.2.3)
    assert list_open(begun, f"{failed} 1: F: Association Rejected:") == set()
    assert list_open(begun, f"{failed} -9: ") == {"first", "second"}
    assert list_open(begun, "storescu was not done after 180 s") == {"first", "second"}


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
    images = make_series("watched", 40)
    with serve_locations(location, tmp_path / "nginx") as url, shown.open("w") as output:
        arguments = ["own", url, "--watch", "10m", "--interval", "1"]
        command = make_command(Path("no plugin"), tmp_path, *arguments)
        watch = subprocess.Popen(command, env=make_environment(), stdout=output)
        try:
            for image in cycle(images):
                assert watch.poll() is None
                if re.search(r"^(?!0 )[\d.]+ images/s", shown.read_text("utf-8"), re.MULTILINE):
                    break
                if image == images[0]:
                    server.delete_all()
                store(server, [image], "CT_ROOM_1")
        finally:
            watch.send_signal(signal.SIGINT)
            assert watch.wait(60) == 130
    requests = re.findall(r'"(\w+) (\S+) HTTP', log.read_text("utf-8"))
    assert {method for method, _ in requests} == {"GET"}
    (cell,) = json.loads((tmp_path / "own.json").read_text("utf-8"))["Cells"]
    looks = [turn["what came in"] for (turn,) in cell["Rounds"]]
    assert sum(look["images"] for look in looks) > 0
    assert all(("throughput" in look) == (look["images"] > 0) for look in looks)
    if has_plugin:
        assert max(look["phase Storage"] for look in looks if look["images"]) > 0
        assert "from CT_ROOM_1 (" in cell["Note"]
    else:
        (why,) = cell["Declined"].values()
        assert why == "the performance plugin is not loaded there (404)"
