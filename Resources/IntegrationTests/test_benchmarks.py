# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of Resources/Benchmarks works; what it measures is no test's affair."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.orthanc import ORTHANC
from lab.ratios import Comparison, Spread, alternate, find_rank

BENCHMARKS = Path(__file__).resolve().parents[1] / "Benchmarks"


def run_lab(plugin: Path, output: Path, *arguments: str) -> dict[str, Any]:
    """A benchmark's JSON."""
    folders = [str(BENCHMARKS), str(Path(__file__).parent)]
    subprocess.run(
        [sys.executable, "-m", "lab", "--plugin", plugin, "--output", output, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        check=True,
        timeout=300,
    )
    assert (output / f"{arguments[0]}.md").read_text("utf-8").startswith(f"## {arguments[0]}")
    return json.loads((output / f"{arguments[0]}.json").read_text("utf-8"))


def list_scenarios(report: dict[str, Any]) -> list[str]:
    return [comparison["Scenario"] for comparison in report["Comparisons"]]


def test_the_order_alternates() -> None:
    order: list[str] = []

    def measure(name: str) -> int:
        order.append(name)
        return len(order)

    pairs = alternate(lambda: measure("A"), lambda: measure("B"), 3, 60)
    assert "".join(order) == "AB" + "AB" + "BA" + "AB"
    assert pairs == [(3, 4), (6, 5), (7, 8)]


def test_no_pair_begins_when_time_is_up() -> None:
    assert len(alternate(lambda: 1, lambda: 2, 10, 0)) == 1


# As tabulated for the sign test, at 95 % (5 values do not suffice)
@pytest.mark.parametrize(("count", "rank"), [(1, None), (5, None), (6, 1), (9, 2), (20, 6)])
def test_the_median_is_enclosed_by_order_statistics(count: int, rank: int | None) -> None:
    assert find_rank(count) == rank


def test_the_ratio_is_taken_pair_by_pair() -> None:
    comparison = Comparison("", "", "", "", "", [[(1, 2), (2, 4), (10, 10)]])
    assert comparison.get_ratio() == Spread(2, 1, 2, None, None)


def test_rounds_tell_how_sure_a_ratio_is() -> None:
    rounds = [[(1, value), (1, value), (1, 9)] for value in (1, 2, 3, 4, 5, 6)]
    assert Comparison("", "", "", "", "", rounds).get_ratio() == Spread(3.5, 1, 9, 1, 6)


def test_overhead_measures_each_load(plugin: Path, tmp_path: Path) -> None:
    arguments = ["--images", "4", "--pairs", "1", "--rounds", "2"]
    report = run_lab(plugin, tmp_path, "overhead", *arguments)
    assert len(set(list_scenarios(report))) == 3
    assert all(len(comparison["Rounds"]) == 2 for comparison in report["Comparisons"])


@pytest.mark.parametrize("options", [[], ["--tls"]], ids=["plain", "tls"])
def test_stalls_measures_each_scenario(plugin: Path, tmp_path: Path, options: list[str]) -> None:
    arguments = ["--images", "4", "--pairs", "1", "--senders", "1", "2", *options]
    report = run_lab(plugin, tmp_path, "stalls", *arguments)
    assert len(list_scenarios(report)) + len(report["Skipped"]) == 6


def test_stalls_names_the_kind_of_each_orthanc(plugin: Path, tmp_path: Path) -> None:
    arguments = ["--images", "2", "--pairs", "1", "--scenarios", "storescu", "--senders", "1"]
    report = run_lab(plugin, tmp_path, "stalls", *arguments, *["--orthanc", str(ORTHANC)] * 2)
    assert list_scenarios(report) == ["1 storescu → Orthanc"] * 2
    for comparison in report["Comparisons"]:
        assert re.match(
            r"Orthanc \S+ \(DCMTK is .*; Nagle's algorithm is (on|off) as it comes\), preset stock",
            comparison["A"],
        )
    assert report["Machine"]["Storage"]


def test_transcoding_measures_each_engine(plugin: Path, tmp_path: Path) -> None:
    target = "JPEGProcess14SV1"
    arguments = ["--images", "4", "--rounds", "1", "--senders", "1", "2", "--targets", target]
    report = run_lab(plugin, tmp_path, "transcoding", *arguments)
    engines = ["native", "dcmtk", "gdcm", "auto", "Orthanc's own"]
    names = [f"{senders} storescu, {target}, {engine}" for senders in (1, 2) for engine in engines]
    assert sorted(set(list_scenarios(report))) == sorted(names)
    assert len(report["Comparisons"]) == 2 * len(names)


def test_dashboard_measures_visits_and_cost(plugin: Path, tmp_path: Path) -> None:
    arguments = ["--visits", "2", "--pairs", "1", "--phase-seconds", "3", "--images", "5"]
    report = run_lab(plugin, tmp_path, "dashboard", *arguments)
    assert list_scenarios(report) == ["50 instances a second"]
    text = "\n".join(report["Remarks"])
    for figure in ("First paint", "JavaScript", "Layout shift", "An open page costs Orthanc"):
        assert figure in text
