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
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median

from harness.distance import VDE_MTU, find_obstacle, find_path_obstacle, has_netem
from lab import wan_charts, wan_report
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Rounds, Stage, Turn
from lab.charts import Charts
from lab.compare import LEVEL, adjust
from lab.curves import Curves
from lab.line import AUTO, Line, list_congestion_controls, make_usual
from lab.machine import describe_packages
from lab.options import add_plan
from lab.published import DISTANCES, REPORT_004
from lab.ratios import Comparison
from lab.report import format_number, format_parts, format_table, format_values
from lab.results import Cell, Results
from lab.wan_report import Speeds, name_trip
from lab.wan_site import (
    ADVISING,
    CIFS,
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
REPORTED = [DICOM, HTTPS, FTP, FILES, CIFS]  # protocols that report 004 has at each distance
FEW = [DICOM, HTTP, FTP]  # of lines that are other than in distance
KEPT = [DICOM, HTTP]  # of these, whose connections live long enough for congestion control
OF_BUFFERS = [*FEW, FORWARD, CIFS]  # of which a fixed buffer is the limit
FARTHEST = {SEVERAL: 0.2, FORWARD: 0.1}  # seconds: on lines that are longer, they take long
FAR_TURNS = 2  # beyond the base
CLOSE = 0.25  # of the advisor's figure
NOISE = 0.05  # of a ratio: what is less is no difference that anybody would notice
FIRST_TURNS, MOST_TURNS = 3, 12  # of a cell whose first ones all say that tuned is worse

# What is measured: the whole plan, or what of it has a JSON of its own beside report 004's page
ALL, FIXED = "all", "fixed"

# Report 004's rows; of HTTP it had a file server
PUBLISHED = {
    DICOM: DISTANCES["DICOM"],
    HTTPS: DISTANCES["HTTPS"],
    FTP: DISTANCES["FTP"],
    FILES: DISTANCES["HTTP"],
}
CIFS_PUBLISHED = {buffers: DISTANCES[f"CIFS, {buffers}"] for buffers in ("16 KiB", "64 KiB")}


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
    known = CIFS_PUBLISHED["64 KiB"]
    far = [trip for trip in trips if float(f"{trip.round_trip * 1000:g}") in known]
    buffers += [replace(trip, buffer=size) for size in sizes for trip in far]
    controls = [replace(base, congestion=name) for name in arguments.congestion[1:]]
    return list(dict.fromkeys([*trips, *controls, *losses, *mtus, *buffers]))


def make_stages(arguments: argparse.Namespace) -> list[Stage]:
    stages = []
    for line in list_lines(arguments):
        protocols = list_protocols(arguments, line)
        if arguments.lines == FIXED:
            protocols = [name for name in protocols if is_of_fixed(line, name)]
        if not protocols:
            continue
        cells = [{**line.to_factors(), "Protocol": name} for name in protocols]
        findings: Findings = {}
        bench = partial(open_site, arguments, line, findings)
        note = partial(explain, findings)
        plan = (count_turns(arguments, line), arguments.seconds)
        doubt = {"is_in_doubt": seems_worse, "most_turns": MOST_TURNS}
        stages.append(Stage(cells, bench, *plan, note=note, **doubt))
    return stages


def is_of_fixed(line: Line, protocol: str) -> bool:
    """What a fixed buffer does to Orthanc at both ends and to CIFS; and several associations."""
    return protocol == SEVERAL or (line.buffer is not None and protocol in (FORWARD, CIFS))


def list_protocols(arguments: argparse.Namespace, line: Line) -> list[str]:
    """Those that were asked for; or all along the round trips, but few where they take long.

    Several associations are only for lines as long as the base or longer; fixed buffers on lines of
    other lengths are for CIFS only, which report 004 has there.
    """
    usual = make_usual(vars(arguments), line.round_trip)
    base = arguments.base / 1000
    if line.buffer and line.round_trip != base:
        return [name for name in arguments.protocols or [CIFS] if name == CIFS]
    if arguments.protocols:
        return arguments.protocols
    if line.mtu != VDE_MTU:
        return [*FEW, FILES]  # of which report 004 has MTUs
    if line.loss or line.congestion != usual.congestion:
        return KEPT
    if line != usual:
        return OF_BUFFERS
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
    """What the advisor finds of each contestant, and in how many of its turns."""
    told = [
        f"{name}: {count_findings(turns)}"
        for name, turns in findings.get(factors["Protocol"], {}).items()
    ]
    return f"the advisor finds with {'; '.join(told)}" if told else ""


def count_findings(turns: list[set[str]]) -> str:
    counts = Counter(name for turn in turns for name in sorted(turn))
    told = [f"{name} ({count} of {len(turns)} turns)" for name, count in counts.items()]
    return ", ".join(told) or f"nothing ({len(turns)} turns)"


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
        for name in (STOCK, TUNED):
            one, several = (speeds.get_all(line, protocol, name) for protocol in (DICOM, SEVERAL))
            if several:
                share = median(several) * 1e6 / line.rate
                yield (
                    f"- {name_trip(line)}, {name}: {SENDERS[SEVERAL]} `storescu` at once bring "
                    f"{format_values(several)} Mb/s, {share:.0%} of what the line carries"
                    + (f"; one brings {format_values(one)}: " if one else "")
                    + (f"{median(several) / median(one):.2f} times as much" if one else "")
                    + "."
                )


def say_advice(results: Results) -> Iterable[str]:
    """Of lines whose buffers are fixed, where the advisor was asked: the limit that it names."""
    for cell in results.cells:
        if cell.factors["Buffers"] == AUTO or cell.factors["Protocol"] not in ADVISING:
            continue
        for name in cell.list_contestants():
            turns = [turn[name] for turns in cell.rounds for turn in turns if name in turn]
            spoken = [turn for turn in turns if "advisor" in turn]
            images = median(turn["images"] for turn in turns)
            told = (
                f"- {results.name_cell(cell)}, {name}: after {images:.0f} images, the advisor names"
                f" the limit in {len(spoken)} of {len(turns)} turns"
            )
            yield f"{told}{compare_limit(spoken)}." if spoken else f"{told}."


def compare_limit(turns: list[Figures]) -> str:
    """The advisor's limit beside what was measured, with all waits and without them."""
    limit = median(turn["advisor"] for turn in turns)
    told = [
        f"{of} {measured:.3g} (limit / measured is {limit / measured:.2f}, "
        f"{'within' if abs(limit / measured - 1) <= CLOSE else '**not** within'} {CLOSE:.0%})"
        for of, figure in (("in all", "speed"), ("while data is sent", "without waits"))
        for measured in [median(turn[figure] * find_wire(turn) for turn in turns)]
    ]
    return f": {limit:.3g} Mb/s by window and round trip. Measured are {' and '.join(told)}"


def find_wire(turn: Figures) -> float:
    """The share of the images' bytes that was sent: less than 1 where they were compressed."""
    return turn.get("on the wire", turn["speed"]) / turn["speed"]


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


def tell_shares(results: Results) -> list[str]:
    """CIFS with fixed buffers by distance, and below it what report 004 has."""
    rows: dict[str, dict[float, str]] = {}
    for cell in results.cells:
        if cell.factors["Protocol"] == CIFS and cell.rounds and cell.factors["Buffers"] != AUTO:
            line, buffers = Line.from_factors(cell.factors), cell.factors["Buffers"]
            found = rows.setdefault(f"{CIFS}, {buffers}", {})
            trip = float(f"{line.round_trip * 1000:g}")
            found[trip] = format_values(cell.list_values(PLAIN, "speed"))
            if trip in (published := CIFS_PUBLISHED.get(buffers, {})):
                row = rows.setdefault(f"{CIFS}, {buffers}, *report 004*", {})
                row[trip] = f"*{format_number(published[trip])}*"
    trips = sorted({trip for row in rows.values() for trip in row})
    head = ["Mb/s", *(f"{trip:g} ms" for trip in trips)]
    made = [[name, *(row.get(trip, "") for trip in trips)] for name, row in rows.items()]
    return format_table(head, made) if made else []


def answer(results: Results, charts: Charts) -> list[str]:
    said = {
        "Tuned and stock": [*say_presets(results), *say_gains(results)],
        "Several associations": [*say_several(results)],
        "What the advisor computes": [*say_advice(results)],
        "Compressed on ingest": [*say_compression(results)],
        "CIFS with fixed buffers": [
            *wan_charts.show_shares(results, CIFS_PUBLISHED, charts),
            *tell_shares(results),
        ],
        "With loss": [*wan_charts.show_loss(results, charts), *say_loss(results)],
        "Congestion control": [*say_congestion(results)],
    }
    curves = list_curves(results)
    trips = sorted({trip for points in curves.values() for trip, _ in points})
    if len(trips) > 1:
        chart = wan_charts.show_trips(results, curves, PUBLISHED, charts)
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
    command.add_argument(
        "--lines",
        choices=(ALL, FIXED),
        default=ALL,
        help="fixed: of the whole plan only fixed buffers with Orthanc at both ends and with CIFS,"
        " and several associations",
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
        "--least-images", type=int, default=28, help="in each transfer, as far as the next permits"
    )
    command.add_argument(
        "--longest-seconds", type=float, default=6.5, help="as predicted, for the least images"
    )
    command.add_argument(
        "--loss-seconds", type=float, default=20, help="for each transfer with loss, as predicted"
    )
    command.add_argument("--loss-turns", type=int, default=5, help="on lines that lose packets")
    add_plan(command, 3, 150)


def describe_here(_: argparse.Namespace) -> dict[str, str]:
    packages = describe_packages("curl", "nginx", "vsftpd", "samba", "vde2")
    return {"Lines": "netem" if has_netem() else "vde2", **packages}


EXPERIMENT = Experiment(
    "CT images over a wide area network, by DICOM, HTTP and FTP, stock and tuned",
    add_options,
    make_stages,
    {
        "speed": Figure("Mb/s", is_drawn=False),
        "without waits": Figure("Mb/s", is_compared=False),
        "on the wire": Figure("Mb/s", is_compared=False),
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
