# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dashboard costs: its visitor, who waits for the first paint, and Orthanc."""

import json
import subprocess
import threading
import time
from argparse import Namespace
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any, Self

from harness.clients import Uploader
from harness.images import Image
from harness.orthanc import OrthancServer
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Rounds, Stage
from lab.options import ROOT, Option, make_plan, make_series
from lab.processes import ClientError, ProcessorClock

PROGRAM = Path(__file__).with_name("visits.mjs")
SETTLING_SECONDS = 3.0  # after the page is opened or closed: its first requests fetch the history

VISITS = {"Load": "visits"}
PAGE = {"the page closed": False, "the page open": True}


class Browser:
    """Chromium, driven by visits.mjs, as a context manager."""

    def __init__(self, web_app: Path, url: str) -> None:
        self._command = ["node", PROGRAM, web_app, url]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self._read()  # its version
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

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


class PacedUploader(threading.Thread):
    """Uploads the same images again and again, so many a second."""

    def __init__(self, server: OrthancServer, images: list[Image], rate: float) -> None:
        super().__init__()
        self._server = server
        self._contents = [image.read_bytes() for image in images]
        self._rate = rate
        self._is_over = threading.Event()
        self.sent = 0

    def stop(self) -> None:
        self._is_over.set()
        self.join()

    def run(self) -> None:
        uploader = Uploader(self._server)
        due = time.monotonic()
        for content in cycle(self._contents):
            if self._is_over.wait(max(0.0, due - time.monotonic())):
                break
            status, _ = uploader.upload(content)
            self.sent += status == 200
            # What a slow second lost is not made up for by a burst
            due = max(due + 1 / self._rate, time.monotonic())
        uploader.close()


def visit(browser: Browser) -> Figures:
    """One visit with an empty cache."""
    found = browser.ask("visit")
    return {
        "first paint": found["FirstPaint"] * 1e3,
        "first figures shown": found["FiguresShown"] * 1e3,
        "JavaScript, compressed": found["ScriptBytes"] / 1e3,
        "all files of the page": found["PageBytes"] / 1e3,
        "layout shift (CLS)": found["LayoutShift"],
    }


def measure_cost(
    server: OrthancServer, browser: Browser, load: PacedUploader, seconds: float, is_open: bool
) -> Figures:
    browser.ask("open" if is_open else "close")
    clock = ProcessorClock(server.pid)
    time.sleep(SETTLING_SECONDS)
    begin, used, sent = time.monotonic(), clock.read(), load.sent
    time.sleep(seconds)
    elapsed = time.monotonic() - begin
    figures = {
        "processor time": (clock.read() - used) / elapsed,
        "instances": (load.sent - sent) / elapsed,
    }
    if load.sent == sent:
        raise ClientError("no image was stored meanwhile")
    if is_open:
        browser.ask("close")
    return figures


def open_bench(arguments: Namespace, room: Room) -> Bench:
    images = make_series("dashboard", arguments.images)
    # The images come again and again: as new ones, and the store does not grow
    options = {"OverwriteInstances": True}
    server = OrthancServer(room.folder / "tested", plugins=[arguments.plugin], options=options)
    room.enter(server)
    browser = room.enter(Browser(ROOT / "WebApp", server.url))

    def enter(factors: Factors) -> Entry:
        if factors == VISITS:
            browser.ask("visit")  # for the disk's cache, not the browser's
            return Entry({"an empty cache": partial(visit, browser)})
        load = PacedUploader(server, images, arguments.rate)
        load.start()
        room.stack.callback(load.stop)
        cost = partial(measure_cost, server, browser, load, arguments.phase_seconds)
        return Entry({name: partial(cost, is_open) for name, is_open in PAGE.items()})

    return enter


def explain(_: Factors, rounds: Rounds) -> str:
    closed, opened = PAGE
    costs = [
        100 * (turn[opened]["processor time"] - turn[closed]["processor time"])
        for turns in rounds
        for turn in turns
    ]
    return (
        f"an open page costs Orthanc {median(costs):.3g} % of a core"
        f" ({min(costs):.3g} to {max(costs):.3g})"
    )


def make_stages(arguments: Namespace) -> list[Stage]:
    bench = partial(open_bench, arguments)
    load = {"Load": f"{arguments.rate:g} instances a second"}
    return [
        Stage([VISITS], bench, arguments.visits, arguments.seconds),
        Stage([load], bench, arguments.turns, arguments.seconds, note=explain),
    ]


EXPERIMENT = Experiment(
    "the dashboard's first paint, and its cost",
    [
        Option("--visits", 20, "with an empty cache", 2),
        Option("--phase-seconds", 30, "of each phase", 5, kind=float),
        Option("--rate", 50, "instances a second", kind=float),
        Option("--images", 200, "different ones", 20),
        *make_plan(6, 600, (2, 40)),
    ],
    make_stages,
    {
        "processor time": Figure("of a core"),
        "instances": Figure("a second", is_compared=False),
        "first paint": Figure("ms", is_compared=False),
        "first figures shown": Figure("ms", is_compared=False),
        "JavaScript, compressed": Figure("kB", is_compared=False),
        "all files of the page": Figure("kB", is_compared=False),
        "layout shift (CLS)": Figure("", is_compared=False),
    },
)
