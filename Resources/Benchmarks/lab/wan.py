# SPDX-License-Identifier: GPL-3.0-or-later
"""CT images over a wide area network, by each protocol: report 004 again, on lines made here.

A base line, and others that differ from it in one thing: lines with loss alone have each congestion
control, too, and jumbo frames go over the nearest line as well, which is of a LAN, with a rate of
its own. "Compressed on ingest" is what the report's archive does: an Orthanc at the far end
compresses what its modalities send, with the plugin, as it stores it, and forwards that. "As
received" is the same Orthanc without. Speeds are those of the images as they were made: what is not
sent counts.
"""

import argparse
import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median

from harness.distance import VDE_MTU, find_obstacle, find_path_obstacle, has_netem
from lab import wan_report
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Rounds, Stage, Turn
from lab.charts import Charts
from lab.compare import LEVEL, adjust
from lab.curves import Curves, draw_curves
from lab.line import AUTO, Line, find_rate, list_congestion_controls, make_usual
from lab.machine import describe_packages
from lab.options import add_plan
from lab.published import DISTANCES, REPORT_004
from lab.ratios import Comparison
from lab.report import format_number, format_parts, format_table, format_values
from lab.results import Cell, Results
from lab.wan_report import Speeds, name_trip
from lab.wan_site import (
    COMPRESSED,
    DICOM,
    FILES,
    FORWARD,
    FTP,
    HTTP,
    HTTPS,
    PLAIN,
    PROTOCOLS,
    RECEIVED,
    SENDERS,
    SEVERAL,
    STOCK,
    TUNED,
    Findings,
    Site,
)

NEAREST = 0.1  # ms
REPORTED = [DICOM, HTTPS, FTP, FILES]  # protocols that report 004 has at each distance
FEW = [DICOM, HTTP, FTP]  # of lines that are other than in distance
KEPT = [DICOM, HTTP]  # of these, whose connections live long enough for congestion control
FARTHEST = {SEVERAL: 0.2, FORWARD: 0.1}  # seconds: on lines that are longer, they take long
FAR_TURNS = 2  # beyond the base
STEPS = 100  # of a curve
CLOSE = 0.25  # of the advisor's figure
NOISE = 0.05  # of a ratio: what is less is no difference that anybody would notice
FIRST_TURNS, MOST_TURNS = 3, 12  # of a cell whose first ones all say that tuned is worse

# Report 004's rows; of HTTP it had a file server
PUBLISHED = {
    DICOM: DISTANCES["DICOM"],
    HTTPS: DISTANCES["HTTPS"],
    FTP: DISTANCES["FTP"],
    FILES: DISTANCES["HTTP"],
}


def is_tuned(name: str, other: str) -> bool:
    """Whether they are the two presets of the same."""
    return name != other and name.replace(STOCK, TUNED) == other


def find_line_obstacle(line: Line) -> str | None:
    known = list_congestion_controls()
    if line.congestion not in known:
        return f"this kernel has {', '.join(known)}"
    return find_obstacle() or find_path_obstacle(line.round_trip, line.loss, line.mtu)


@contextmanager
def open_site(
    arguments: argparse.Namespace, line: Line, findings: Findings, folder: Path, _: int
) -> Iterator[Bench]:
    obstacle = find_line_obstacle(line)
    if obstacle:
        yield lambda factors: Entry([], {factors["Protocol"]: obstacle})
        return
    with ExitStack() as stack:
        yield Site(stack, arguments, line, findings, folder).enter


def list_lines(arguments: argparse.Namespace) -> list[Line]:
    options = vars(arguments)
    base = make_usual(options, arguments.base / 1000)
    trips = [make_usual(options, trip / 1000) for trip in arguments.round_trips]
    losses = [
        replace(base, loss=loss / 100, congestion=name)
        for loss in arguments.losses
        for name in arguments.congestion
    ]
    mtus = [
        replace(line, mtu=mtu)
        for mtu in arguments.mtus
        for line in (base, make_usual(options, NEAREST / 1000))
        if mtu != VDE_MTU
    ]
    sizes = [None if size == AUTO else int(size) for size in arguments.buffers]
    buffers = [replace(base, buffer=size) for size in sizes]
    controls = [replace(base, congestion=name) for name in arguments.congestion[1:]]
    return list(dict.fromkeys([*trips, *controls, *losses, *mtus, *buffers]))


def make_stages(arguments: argparse.Namespace) -> list[Stage]:
    stages = []
    for line in list_lines(arguments):
        protocols = list_protocols(arguments, line)
        cells = [{**line.to_factors(), "Protocol": name} for name in protocols]
        findings: Findings = {}
        bench = partial(open_site, arguments, line, findings)
        note = partial(explain, findings)
        plan = (count_turns(arguments, line), arguments.seconds)
        doubt = {"is_in_doubt": seems_worse, "most_turns": MOST_TURNS}
        stages.append(Stage(cells, bench, *plan, note=note, **doubt))
    return stages


def list_protocols(arguments: argparse.Namespace, line: Line) -> list[str]:
    """Those that were asked for; or all along the round trips, but few where they take long.

    Several associations are only for lines as long as the base or longer.
    """
    usual = make_usual(vars(arguments), line.round_trip)
    base = arguments.base / 1000
    if arguments.protocols:
        return arguments.protocols
    if line.mtu != VDE_MTU:
        return [*FEW, FILES]  # of which report 004 has MTUs
    if line.loss or line.congestion != usual.congestion:
        return KEPT
    if line != usual:
        return FEW
    if line.round_trip > base:
        long = [name for name, trip in FARTHEST.items() if line.round_trip <= trip]
        return [*REPORTED, *long]
    return [name for name in PROTOCOLS if line.round_trip == base or name not in SENDERS]


def count_turns(arguments: argparse.Namespace, line: Line) -> int:
    """More where it is chance what is lost, fewer where one turn is as long as the other."""
    if line.loss:
        return arguments.loss_turns
    is_far = line.round_trip > arguments.base / 1000
    return min(arguments.turns, FAR_TURNS) if is_far else arguments.turns


def seems_worse(turns: list[Turn]) -> bool:
    """Whether tuned was worse than stock in each turn so far, as in one of eight by mere noise."""
    names = list(turns[0])
    return len(turns) >= FIRST_TURNS and any(
        all(turn[tuned]["speed"] < (1 - NOISE) * turn[stock]["speed"] for turn in turns)
        for stock in names
        for tuned in names
        if is_tuned(stock, tuned)
    )


def explain(findings: Findings, factors: Factors, _: Rounds) -> str:
    found = sorted(findings.get(factors["Protocol"], []))
    return f"the advisor finds {', '.join(found)}" if found else ""


# The answer


def list_presets(results: Results) -> Iterable[tuple[Cell, Comparison]]:
    """Tuned beside stock, wherever both were measured."""
    for cell in results.cells:
        names = cell.list_contestants()
        for stock, tuned in ((a, b) for a in names for b in names if is_tuned(a, b)):
            pairs = [
                [(turn[stock]["speed"], turn[tuned]["speed"]) for turn in turns]
                for turns in cell.rounds
            ]
            name = results.name_cell(cell)
            yield cell, Comparison(name, "speed", "Mb/s", stock, tuned, pairs)


def find_noise(comparison: Comparison) -> float:
    """The probability of so many turns in which tuned is clearly worse, if it is not.

    The sign test, in one direction (Conover, Practical Nonparametric Statistics, section 3.4).
    """
    ratios = comparison.get_units()
    better = sum(ratio >= 1 - NOISE for ratio in ratios)
    return sum(math.comb(len(ratios), count) for count in range(better + 1)) / 2 ** len(ratios)


def say_presets(results: Results) -> Iterable[str]:
    compared = [comparison for _, comparison in list_presets(results)]
    if not compared:
        return
    ratios = [comparison.get_ratio().median for comparison in compared]
    found: dict[bool, list[str]] = {True: [], False: []}
    probabilities = adjust([find_noise(comparison) for comparison in compared])
    for comparison, probability in zip(compared, probabilities, strict=True):
        ratio = comparison.get_ratio()
        if ratio.maximum < 1 - NOISE or probability <= LEVEL:
            text = f"{comparison.scenario}, {comparison.b}: {ratio.median:.2f}"
            found[probability <= LEVEL].append(f"{text} ({len(comparison.get_pairs())} turns)")
    worse, perhaps = (f": {'; '.join(names)}" if names else "" for names in found.values())
    text = (
        f"- Tuned / stock is {min(ratios):.2f} to {max(ratios):.2f}, median {median(ratios):.2f}, "
        f"in {len(ratios)} comparisons. Tuned is worse than stock beyond the noise in "
        f"{len(found[True])} of them{worse}."
    )
    if perhaps:
        text += (
            f" In {len(found[False])} more, each turn was below {1 - NOISE:g}, but there are too "
            f"few to tell that from noise{perhaps}."
        )
    yield text


def say_gains(results: Results) -> Iterable[str]:
    """What tuning gives, by round trip, on lines that differ from the base in nothing else."""
    gains: dict[str, list[str]] = {}
    for cell, comparison in list_presets(results):
        line = Line.from_factors(cell.factors)
        if line == make_usual(results.options, line.round_trip):
            form = comparison.a.removesuffix(STOCK).rstrip(", ")
            label = ", ".join(filter(None, (cell.factors["Protocol"], form)))
            ratio = comparison.get_ratio().median
            gains.setdefault(label, []).append(f"{ratio:.2f} at {name_trip(line)}")
    for label, told in gains.items():
        yield f"- {label}: tuned / stock is {', '.join(told)}."


def say_several(results: Results) -> Iterable[str]:
    speeds = Speeds(results)
    for line in speeds.list_trips(SEVERAL, TUNED):
        one, several = (speeds.get(line, protocol, TUNED) for protocol in (DICOM, SEVERAL))
        if one:
            yield (
                f"- {name_trip(line)}: {SENDERS[SEVERAL]} `storescu` at once bring "
                f"{several:.3g} Mb/s, one {one:.3g}, both tuned: {several / one:.2f} times as much."
            )


def say_advice(results: Results) -> Iterable[str]:
    for cell in results.cells:
        for name in cell.list_contestants():
            speeds, advised = (cell.list_values(name, figure) for figure in ("speed", "advisor"))
            is_asked = advised or cell.factors["Protocol"] == DICOM
            if not is_asked or cell.factors["Buffers"] == AUTO:
                continue
            images = median(cell.list_values(name, "images"))
            told = (
                f"- {results.name_cell(cell)}, {name}: after {images:.0f} images, the advisor names"
                f" the limit in {len(advised)} of {len(speeds)} turns"
            )
            if not advised:
                yield f"{told}."
                continue
            spoken = [
                turn[name]
                for turns in cell.rounds
                for turn in turns
                if "advisor" in turn.get(name, {})
            ]
            measured, limit = (
                median(turn[figure] for turn in spoken) for figure in ("without waits", "advisor")
            )
            verdict = "within" if abs(measured / limit - 1) <= CLOSE else "**not** within"
            yield (
                f"{told}: {limit:.3g} Mb/s by window and round trip; measured are {measured:.3g} "
                f"while data is sent, {measured / limit:.2f} of it, {verdict} {CLOSE:.0%} "
                f"({median(speeds):.3g} with the round trips in which storescu waits for answers)."
            )


def say_compression(results: Results) -> Iterable[str]:
    for cell in results.cells:
        if cell.factors["Protocol"] == FORWARD and cell.rounds:
            received, compressed = (
                median(cell.list_values(f"{form}, {TUNED}", "speed"))
                for form in (RECEIVED, COMPRESSED)
            )
            yield (
                f"- {results.name_cell(cell)}: compressed on ingest, images come "
                f"{compressed / received:.2f} times as fast as uncompressed."
            )


def say_loss(results: Results) -> Iterable[str]:
    for cell in results.cells:
        for name in cell.list_contestants():
            limits = cell.list_values(name, "Mathis")
            if limits and not name.startswith(COMPRESSED):  # whose speed is not the line's
                speeds, limit = cell.list_values(name, "speed"), median(limits)
                images = median(cell.list_values(name, "images"))
                yield (
                    f"- {results.name_cell(cell)}, {name}: {format_values(speeds)} Mb/s, "
                    f"{median(speeds) / limit:.2f} of what Mathis' formula leaves ({limit:.3g}), "
                    f"in {len(speeds)} turns of {images:.0f} images."
                )


def say_congestion(results: Results) -> Iterable[str]:
    """Each congestion control beside the first, on lines that differ in nothing else."""
    speeds = Speeds(results)
    usual = results.options["congestion"][0]
    for cell in results.cells:
        line, protocol = Line.from_factors(cell.factors), cell.factors["Protocol"]
        if line.congestion == usual:
            continue
        for name in cell.list_contestants():
            before = speeds.get_all(replace(line, congestion=usual), protocol, name)
            after = speeds.get_all(line, protocol, name)
            if before and after:
                yield (
                    f"- {name_trip(line)}, {line.loss * 100:g} % lost, {protocol}, {name}: "
                    f"{line.congestion} is {median(after) / median(before):.2f} times as fast as "
                    f"{usual}: {format_values(after)} and {format_values(before)} Mb/s; "
                    f"{tell_overlap(before, after)}."
                )


def tell_overlap(before: list[float], after: list[float]) -> str:
    """Whether each turn of one is faster than all of the other."""
    is_apart = min(after) > max(before) or max(after) < min(before)
    return "no turn of one is among the other's" if is_apart else "they overlap"


def list_curves(results: Results) -> Curves:
    """Speed by round trip in ms, of lines that differ from the base in nothing else."""
    curves: Curves = {}
    for cell in results.cells:
        line = Line.from_factors(cell.factors)
        if line != make_usual(results.options, line.round_trip):
            continue
        for name in cell.list_contestants():
            protocol = cell.factors["Protocol"]
            label = protocol if name == PLAIN else f"{protocol}, {name}"
            point = (line.round_trip * 1000, median(cell.list_values(name, "speed")))
            curves.setdefault(label, []).append(point)
    return {label: sorted(points) for label, points in curves.items()}


def tell_trips(curves: Curves, trips: list[float]) -> list[str]:
    """Report 004's tables: each protocol's speeds, and below them the published ones."""

    def make_row(name: str, speeds: dict[float, float], mark: str = "") -> list[str]:
        figures = {trip: f"{mark}{format_number(speed)}{mark}" for trip, speed in speeds.items()}
        return [name, *(figures.get(trip, "") for trip in trips)]

    rows = []
    for protocol, labels in groupby(curves, key=lambda label: label.partition(", ")[0]):
        rows += [make_row(label, dict(curves[label])) for label in labels]
        if protocol in PUBLISHED:
            rows.append(make_row(f"{protocol}, *report 004*", PUBLISHED[protocol], "*"))
    return format_table(["Mb/s", *(f"{trip:g} ms" for trip in trips)], rows)


def list_limits(results: Results, trips: list[float]) -> Curves:
    """A fixed window in each round trip, up to what the line carries."""
    sizes = [int(size) for size in results.options["buffers"] if size != AUTO]
    low, high = trips[0], trips[-1]
    between = [low * (high / low) ** (step / STEPS) for step in range(STEPS + 1)]
    return {
        f"{size // 1024} KiB / round trip": [
            (trip, min(find_rate(results.options, trip / 1000), size * 8 / trip / 1000))
            for trip in between
        ]
        for size in sizes
    }


def answer(results: Results, charts: Charts) -> list[str]:
    said = {
        "Tuned and stock": [*say_presets(results), *say_gains(results)],
        "Several associations": [*say_several(results)],
        "What the advisor computes": [*say_advice(results)],
        "Compressed on ingest": [*say_compression(results)],
        "With loss": [*say_loss(results)],
        "Congestion control": [*say_congestion(results)],
    }
    curves = list_curves(results)
    trips = sorted({trip for points in curves.values() for trip, _ in points})
    if len(trips) > 1:
        limits = list_limits(results, trips)
        title = f"{results.experiment}, {results.date}"
        names = ("round trip, ms", "Mb/s: median")
        draw = partial(draw_curves, title, names, curves, limits)
        chart = [f"![Speed by round trip]({charts.add('speed-by-round-trip', draw)})", ""]
        rates = "Lines below 1 ms carry {lan_rate:g} Mb/s, others {rate:g} Mb/s."
        table = [rates.format(**results.options), "", *tell_trips(curves, trips)]
        said["Speed by round trip"] = [*chart, *table]
        said[REPORT_004.get_heading()] = wan_report.tell(results)
    return format_parts(said)


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--base", type=float, default=50, help="round trip of the base line, ms")
    trips = [NEAREST, 5, 25, 50, 100, 200, 400, 800]
    command.add_argument("--round-trips", type=float, nargs="*", default=trips, help="ms")
    command.add_argument("--losses", type=float, nargs="*", default=[0.1], help="per cent")
    command.add_argument("--mtus", type=int, nargs="*", default=[VDE_MTU, 9000])
    command.add_argument(
        "--buffers", nargs="*", default=[AUTO, "16384", "65536"], help="bytes, or auto"
    )
    command.add_argument("--congestion", nargs="+", default=["cubic", "bbr"])
    command.add_argument(
        "--protocols",
        nargs="+",
        choices=PROTOCOLS,
        help="on every line; by itself, all up to the base's length, and few on the other lines",
    )
    command.add_argument("--rate", type=float, default=155, help="what lines carry, Mb/s")
    command.add_argument(
        "--lan-rate", type=float, default=1000, help="the same of those below 1 ms, Mb/s"
    )
    command.add_argument("--images", type=int, default=50, help="at most, in each transfer")
    command.add_argument(
        "--transfer-seconds", type=float, default=1, help="for each transfer, about, as predicted"
    )
    command.add_argument(
        "--least-images", type=int, default=20, help="in each transfer, as far as the next permits"
    )
    command.add_argument(
        "--longest-seconds", type=float, default=4.5, help="as predicted, for the least images"
    )
    command.add_argument(
        "--loss-seconds", type=float, default=20, help="for each transfer with loss, as predicted"
    )
    command.add_argument("--loss-turns", type=int, default=5, help="on lines that lose packets")
    add_plan(command, 3, 150)


def describe_here(_: argparse.Namespace) -> dict[str, str]:
    packages = describe_packages("curl", "nginx", "vsftpd", "vde2")
    return {"Lines": "netem" if has_netem() else "vde2", **packages}


EXPERIMENT = Experiment(
    "CT images over a wide area network, by DICOM, HTTP and FTP, stock and tuned",
    add_options,
    make_stages,
    {
        "speed": Figure("Mb/s", is_drawn=False),
        "without waits": Figure("Mb/s", is_compared=False),
        "throughput": Figure("images/s", is_compared=False),
        "images": Figure("", is_compared=False),
        "window / round trip": Figure("Mb/s", is_compared=False),
        "prediction": Figure("Mb/s", is_compared=False),
        "Mathis": Figure("Mb/s", is_compared=False),
        "advisor": Figure("Mb/s", is_compared=False),
    },
    {
        "base": 10,
        "round_trips": [NEAREST, 10],
        "losses": [],
        "mtus": [],
        "buffers": ["65536"],
        "congestion": ["cubic"],
        "protocols": [*FEW, FORWARD],
        "transfer_seconds": 0.5,
        "longest_seconds": 0.5,
        "images": 30,
        "turns": 2,
        "seconds": 3,
    },
    answer=answer,
    facts=describe_here,
)
