# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the moment in which one server of a fleet was killed, for measurements.md."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt

# The same samples make the same file; text stays text
SETTINGS = {"svg.hashsalt": "fleet", "svg.fonttype": "none", "font.size": 9}
COLOURS = ("#0072b2", "#d55e00")  # told apart by the colour-blind, on light and dark
MARGIN = 5  # s before the first and after the last acknowledgement

Samples = Sequence[tuple[float, float]]  # moment in s since 1970, value

WEB_APP = Path(__file__).resolve().parents[3] / "WebApp"
END_SECONDS = 30


class Pages:
    """Dashboards in a Chromium, each under a name, as a context manager.

    They stay open, so that a picture shows what somebody saw who had looked on all the time.
    """

    def __init__(self, credentials: tuple[str, str]) -> None:
        program = Path(__file__).with_name("fleet_pages.mjs")
        self._command = ["node", program, WEB_APP, *credentials]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def open(self, name: str, url: str) -> None:
        """Returns once it is live; one of this name that is open is closed."""
        self._ask({"Open": name, "Url": url})

    def show(self, name: str, path: Path) -> None:
        """Keeps what stands there now as a PNG."""
        self._ask({"Show": name, "File": str(path.resolve())})

    def _ask(self, command: dict[str, str]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(command), file=self._process.stdin, flush=True)
        if not self._process.stdout.readline():
            raise RuntimeError(f"the browser ended at {command}")


def count_by_second(moments: Sequence[float], begin: float, end: float) -> list[int]:
    counts = [0] * (int(end - begin) + 1)
    for moment in moments:
        counts[int(moment - begin)] += 1
    return counts


def draw(
    path: Path,
    acknowledged: Mapping[str, Sequence[float]],
    counters: Mapping[str, Samples],
    alerts: Mapping[str, Sequence[float]],
    down: tuple[float, float],
) -> None:
    """Moments of acknowledgements and samples of Prometheus by server; when alerts fired.

    `down` is the time from the kill until the server answered again.
    """
    moments = [moment for found in acknowledged.values() for moment in found]
    begin = min(moments) - MARGIN
    end = max([*moments, *(at for fired in alerts.values() for at in fired)]) + MARGIN
    with plt.rc_context(SETTINGS):
        figure, (sent, counted, fired) = plt.subplots(
            3, 1, sharex=True, figsize=(9, 6), height_ratios=(3, 3, 1), layout="constrained"
        )
        for axes in (sent, counted, fired):
            axes.axvspan(down[0] - begin, down[1] - begin, color="#80808040", lw=0)
        for colour, name in zip(COLOURS, sorted(acknowledged), strict=True):
            counts = count_by_second(acknowledged[name], begin, end)
            sent.step(range(len(counts)), counts, where="post", color=colour, label=name)
            shown = [(at - begin, value) for at, value in counters[name] if begin <= at <= end]
            counted.plot(*zip(*shown, strict=True), ".-", color=colour, label=name)
        for row, firing in enumerate(alerts.values()):
            fired.plot([at - begin for at in firing], [row] * len(firing), "s", color="#808080")
        sent.set_ylabel("acknowledged\nto senders, 1/s")
        counted.set_ylabel("stored, as\nPrometheus has it")
        fired.set_yticks(range(len(alerts)), list(alerts))
        fired.set_ylim(-0.6, len(alerts) - 0.4)
        fired.set_xlabel("s; grey: orthanc-a is dead")
        sent.legend(loc="upper right", frameon=False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
