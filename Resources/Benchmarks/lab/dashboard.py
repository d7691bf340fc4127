# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dashboard costs: its visitor, who waits for the first paint, and Orthanc."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any, Self

from harness.clients import Uploader
from harness.images import Image, make_ct_series
from harness.orthanc import OrthancServer
from lab.processes import ClientError, ProcessorClock
from lab.ratios import Comparison, alternate
from lab.report import Report

VISITS = Path(__file__).with_name("visits.mjs")
SETTLING_SECONDS = 3.0  # after the page is opened or closed: its first requests fetch the history


@dataclass(frozen=True)
class Plan:
    """How often, how long, and how much comes in meanwhile."""

    visits: int
    pairs: int
    phase_seconds: float
    instances_per_second: float
    images: int
    seconds: float


class Browser:
    """Chromium, driven by visits.mjs, as a context manager."""

    def __init__(self, web_app: Path, url: str) -> None:
        self._command = ["node", VISITS, web_app, url]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = self._read()["Version"]
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def ask(self, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(command, file=self._process.stdin, flush=True)
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ClientError("the browser ended")
        return json.loads(line)


class PacedUploader:
    """Uploads the same images again and again, so many a second, from a thread of its own."""

    def __init__(self, server: OrthancServer, images: list[Image], rate: float) -> None:
        self._server = server
        self._contents = [image.read_bytes() for image in images]
        self._rate = rate
        self._stop = threading.Event()
        self.sent = 0

    @contextmanager
    def run(self) -> Iterator[None]:
        thread = threading.Thread(target=self._upload)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _upload(self) -> None:
        uploader = Uploader(self._server)
        due = time.monotonic()
        for content in cycle(self._contents):
            if self._stop.wait(max(0.0, due - time.monotonic())):
                break
            status, _ = uploader.upload(content)
            self.sent += status == 200
            # What a slow second lost is not made up for by a burst
            due = max(due + 1 / self._rate, time.monotonic())
        uploader.close()


@dataclass(frozen=True)
class Phase:
    """Orthanc over some seconds."""

    core_share: float
    instances_per_second: float


def measure(server: OrthancServer, load: PacedUploader, seconds: float) -> Phase:
    clock = ProcessorClock(server.pid)
    time.sleep(SETTLING_SECONDS)
    begin, used, sent = time.monotonic(), clock.read(), load.sent
    time.sleep(seconds)
    elapsed = time.monotonic() - begin
    return Phase((clock.read() - used) / elapsed, (load.sent - sent) / elapsed)


def make_phases(
    server: OrthancServer, browser: Browser, load: PacedUploader, seconds: float
) -> tuple[Callable[[], Phase], Callable[[], Phase]]:
    def measure_closed() -> Phase:
        browser.ask("close")
        return measure(server, load, seconds)

    def measure_open() -> Phase:
        browser.ask("open")
        phase = measure(server, load, seconds)
        browser.ask("close")
        return phase

    return measure_closed, measure_open


def describe(name: str, values: list[float], unit: str, factor: float = 1) -> str:
    low, middle, high = (factor * pick(values) for pick in (min, median, max))
    return f"{name}: {middle:.3g} {unit} ({low:.3g} to {high:.3g})"


def report_visits(report: Report, browser: Browser, count: int) -> None:
    browser.ask("visit")  # for the disk's cache, not the browser's
    visits = [browser.ask("visit") for _ in range(count)]

    def pick(key: str) -> list[float]:
        return [visit[key] for visit in visits]

    report.remark(f"Visits with an empty cache: {count}, Chromium {browser.version}")
    report.remark(describe("First paint", pick("FirstPaint"), "ms", 1e3))
    report.remark(describe("First figures shown", pick("FiguresShown"), "ms", 1e3))
    report.remark(describe("JavaScript, compressed", pick("ScriptBytes"), "kB", 1e-3))
    report.remark(describe("All files of the page", pick("PageBytes"), "kB", 1e-3))
    report.remark(describe("Layout shift (CLS)", pick("LayoutShift"), ""))


def report_cost(
    report: Report, server: OrthancServer, browser: Browser, images: list[Image], plan: Plan
) -> None:
    load = PacedUploader(server, images, plan.instances_per_second)
    with load.run():
        closed, opened = make_phases(server, browser, load, plan.phase_seconds)
        pairs = alternate(closed, opened, plan.pairs, plan.seconds, warm_up=False)

    differences = [100 * (b.core_share - a.core_share) for a, b in pairs]
    rates = [phase.instances_per_second for pair in pairs for phase in pair]
    shares = [(a.core_share, b.core_share) for a, b in pairs]
    names = ("the page closed", "the page open")
    scenario = f"{plan.instances_per_second:g} instances a second"
    cost = Comparison(scenario, "processor time", "of a core", *names, [shares])
    report.add([cost])
    report.remark(describe("Instances a second", rates, ""))
    report.remark(describe("An open page costs Orthanc", differences, "% of a core"))


def run(
    report: Report, plugin: Path, web_app: Path, images_folder: Path, folder: Path, plan: Plan
) -> None:
    images = make_ct_series(images_folder, "dashboard", plan.images)
    # The images come again and again: as new ones, and the store does not grow
    options = {"OverwriteInstances": True}
    tested = folder / "tested"
    tested.mkdir()
    with (
        OrthancServer(tested, plugins=[plugin], options=options) as server,
        Browser(web_app, server.url) as browser,
    ):
        report_visits(report, browser, plan.visits)
        report_cost(report, server, browser, images, plan)
