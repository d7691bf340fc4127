# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything at once, for hours: memory flat, no descriptor lost, counters as the store has it.

PERF_SOAK says for how many seconds: "run-tests.sh --long" does it for two hours, and keeps in the
folder PERF_SOAK_RESULTS what make-page.py puts into measurements.md. By itself it takes some
seconds, in which counters and descriptors are looked at, but not memory.
"""

import json
import os
import platform
import random
import time
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conftest import ROOT, MakeSeries, StartOrthanc
from harness.metrics import INSTANCES, scrape, wait_until
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer, find_free_port, get_release
from harness.process import count_descriptors
from harness.prometheus import PrometheusServer, list_jobs
from harness.receivers import StoreScp, describe_modality
from harness.slope import fit
from harness.soak import MOVER, Sample, Soak
from harness.soak_page import fill_page, read_outcome
from lab.dashboard import Browser

SECONDS = float(os.environ.get("PERF_SOAK", "10"))
IS_LONG = SECONDS >= 1200

# Of traffic; the look at what is left takes about as long
ROUND_SECONDS = 20.0 if IS_LONG else SECONDS / 2

# Until all threads, buffers, pools and programs are there, and the heap has found its size
SETTLING_SECONDS = 600.0

# Else glibc keeps what each of its arenas ever had at once: 60 MB here, now one and then another,
# while Orthanc used no more than before. A leak would not be seen beside that for hours.
SMALL_HEAP = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

SCRAPE_INTERVAL = "5s"
KEPT_IMAGES = 5

# Orthanc's own pools open a file now and then (SQLite, the HTTP connection that asks)
TOLERATED_DESCRIPTORS = 4

PATIENCE = 60

# Bytes an hour that are no leak. Without the plugin, Orthanc takes some 2 kB a C-MOVE; the plugin's
# history takes 1.1 kB more each second of the first hour.
TOLERATED_GROWTH = {"Orthanc": 8e6, "engine program": 4e6}


def check_scrapes(prometheus: PrometheusServer, server: OrthancServer) -> None:
    """What was scraped is the whole, and never went back."""
    expected, total = scrape(server).sum(INSTANCES), f'sum({INSTANCES}{{job="orthanc"}})'
    assert wait_until(
        lambda: [float(found["value"][1]) for found in prometheus.query(total)] == [expected]
    ), expected
    (resets,) = prometheus.query(f'sum(resets({INSTANCES}{{job="orthanc"}}[1d]))')
    assert float(resets["value"][1]) == 0


def describe_growth(samples: list[Sample]) -> dict[str, Any]:
    """Bytes an hour from the samples of quiet moments, with the interval."""

    def describe(figures: list[tuple[float, float]]) -> dict[str, Any]:
        slope = fit([time / 3600 for time, _ in figures], [figure for _, figure in figures])
        return asdict(slope) | {"samples": len(figures), "last": figures[-1][1]}

    quiet = [sample for sample in samples if sample.is_quiet and sample.time >= SETTLING_SECONDS]
    programs = [
        (sample.time, sum(sample.programs) / len(sample.programs))
        for sample in quiet
        if sample.programs
    ]
    return {
        "Orthanc": describe([(sample.time, sample.resident) for sample in quiet]),
        "engine program": describe(programs),
    }


def keep(name: str, content: Any) -> None:  # noqa: ANN401
    """In the folder that PERF_SOAK_RESULTS names, if it does."""
    folder = os.environ.get("PERF_SOAK_RESULTS")
    if folder:
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def describe(
    soak: Soak, seconds: float, growth: dict[str, Any], descriptors: tuple[int, int]
) -> dict[str, Any]:
    sums = soak.sums
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "orthanc": get_release(),
        "kernel": ".".join(platform.release().split(".")[:2]),
        "seconds": round(seconds),
        "settling": SETTLING_SECONDS,
        "rounds": soak.rounds,
        "instances": {
            f"{origin} {outcome}": count for (origin, outcome), count in sums.instances.items()
        },
        "transcoded": sums.transcoded,
        "moves": sums.moves,
        "switches": sums.switches,
        "strangers": sums.strangers,
        "descriptors": {"before": descriptors[0], "after": descriptors[1]},
        "peak": max(sample.resident for sample in soak.samples),
        "growth": growth,
    }


def test_everything_at_once(
    start_orthanc: StartOrthanc, plugin: Path, other_plugin: Path, make_series: MakeSeries
) -> None:
    port = find_free_port()
    modalities = {"mover": describe_modality(port, MOVER)}
    options = {
        "DicomModalities": modalities,
        "DicomScuTimeout": PATIENCE,
        "MallocArenaMax": 1,
        "OtherPlugin": {"TrimHeap": True},
    }
    plugins = [plugin, DICOMWEB_PLUGIN, other_plugin]
    server = start_orthanc(plugins=plugins, options=options, environment=SMALL_HEAP)
    soak = Soak(server, make_series("store", KEPT_IMAGES), seed=13)
    jobs = [job | {"scrape_interval": SCRAPE_INTERVAL} for job in list_jobs(server)]
    begin = time.monotonic()
    with ExitStack() as stack:
        stack.callback(
            lambda: keep("samples.json", [asdict(sample) for sample in soak.samples])
        )  # also of one that fails
        stack.enter_context(StoreScp(port))
        prometheus = stack.enter_context(PrometheusServer(server.folder, jobs))
        browser = stack.enter_context(Browser(ROOT / "WebApp", server.url))
        browser.ask("open")  # returns once the page shows that it is live

        soak.go_on(ROUND_SECONDS)  # so that all threads and files that Orthanc opens once are there
        soak.end_programs()
        before = count_descriptors(server.pid)
        while time.monotonic() - begin < SECONDS:
            soak.go_on(ROUND_SECONDS)
        soak.end_programs()
        wait_until(lambda: count_descriptors(server.pid) <= before)
        after = count_descriptors(server.pid)

        check_scrapes(prometheus, server)
        browser.ask("close")
        browser.ask("open")
    growth = describe_growth(soak.samples) if IS_LONG else {}
    keep("soak.json", describe(soak, time.monotonic() - begin, growth, (before, after)))
    assert after <= before + TOLERATED_DESCRIPTORS
    for name, slope in growth.items():
        assert slope["low"] < TOLERATED_GROWTH[name], f"{name} grows: {slope}"


def test_the_page_is_made_from_what_is_kept_beside_it() -> None:
    page = ROOT / "Resources" / "Documentation" / "measurements.md"
    text = page.read_text("utf-8")
    assert fill_page(text, read_outcome(page.parent / "tables" / "soak.json")) == text


def test_a_slope_is_found_among_noise_and_outliers() -> None:
    dice = random.Random(1)
    times = [number / 10 for number in range(60)]
    figures = [5 * time + dice.gauss(0, 1) for time in times]
    figures[10], figures[50] = 1000, -1000
    slope = fit(times, figures)
    assert slope.low < 5 < slope.high
    assert slope.high - slope.low < 1
