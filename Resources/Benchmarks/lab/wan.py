# SPDX-License-Identifier: GPL-3.0-or-later
"""CT images over a wide area network, by each protocol: report 004 again, on lines made here.

A base line, and others that differ from it in one thing: lines with loss alone have each congestion
control, too, and jumbo frames go over the nearest line as well, which is of a LAN, with a rate of
its own. "Compressed on ingest" is what the report's archive does: an Orthanc at the far end
compresses what its modalities send, with the plugin, as it stores it, and forwards that. "As
received" is the same Orthanc without. Speeds are those of the images as they were made: what is not
sent counts.
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness.distance import VDE_MTU, find_obstacle, find_path_obstacle, has_netem
from lab import wan_site
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Room, Rounds, Stage, Turn
from lab.line import AUTO, Line, list_congestion_controls, make_usual
from lab.machine import describe_packages
from lab.options import Option, make_plan
from lab.stalls import STOCK, TUNED
from lab.tables import Table, show
from lab.wan_site import CIFS, DICOM, FILES, FORWARD, FTP, HTTP, PLAIN, SENDERS, SEVERAL, Findings

NEAREST = 0.1  # ms
TRIPS_MS = [NEAREST, 5, 25, 50, 100, 200, 400, 800]
REPORTED = [
    DICOM,
    wan_site.HTTPS,
    FTP,
    FILES,
    CIFS,
]  # protocols that report 004 has at each distance
FEW = [DICOM, HTTP, FTP]  # of lines that are other than in distance
KEPT = [DICOM, HTTP]  # of these, whose connections live long enough for congestion control
OF_BUFFERS = [*FEW, FORWARD, CIFS]  # of which a fixed buffer is the limit
FARTHEST = {SEVERAL: 0.2, FORWARD: 0.1}  # seconds: on lines that are longer, they take long
FAR_TURNS = 2  # beyond the base
NOISE = 0.05  # of a ratio: what is less is no difference that anybody would notice
FIRST_TURNS, MOST_TURNS = 3, 12  # of a cell whose first ones all say that tuned is worse

# What is measured: the whole plan, or what of it has a JSON of its own beside report 004's page
ALL, FIXED = LINES = ("all", "fixed")

# Report 004, tables 3 and 4: Mb/s by round trip in ms, with an MTU of 1500; of HTTP it had a file
# server, of CIFS two sizes of its server's buffers
PUBLISHED = {
    DICOM: {0.1: 85.8, 25: 9.39, 50: 4.95, 100: 2.55, 200: 1.05, 400: 0.522, 800: 0.301},
    wan_site.HTTPS: {0.1: 18.9, 25: 4.05, 50: 1.79, 100: 1.34, 200: 0.733, 400: 0.358, 800: 0.173},
    FTP: {0.1: 41.0, 25: 7.51, 50: 3.95, 100: 2.02, 200: 1.05, 400: 0.539, 800: 0.279},
    FILES: {0.1: 237, 25: 9.73, 50: 7.47, 100: 4.30, 200: 2.26, 400: 1.12, 800: 0.589},
}
CIFS_PUBLISHED = {
    "16 KiB": {0.1: 263, 25: 4.04, 50: 1.90, 100: 0.893, 200: 0.477, 400: 0.227, 800: 0.122},
    "64 KiB": {0.1: 36.7, 25: 4.23, 50: 2.13, 100: 1.07, 200: 0.550, 400: 0.269, 800: 0.135},
}


def open_site(arguments: Namespace, line: Line, findings: Findings, room: Room) -> Bench:
    known = list_congestion_controls()
    obstacle = find_obstacle() or find_path_obstacle(line.round_trip, line.loss, line.mtu)
    if line.congestion not in known:
        obstacle = f"this kernel has {', '.join(known)}"
    if obstacle:
        return lambda factors: Entry({}, {factors["Protocol"]: obstacle})
    return wan_site.Site(arguments, line, findings, room).enter


def list_lines(arguments: Namespace) -> list[Line]:
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


def make_stages(arguments: Namespace) -> list[Stage]:
    stages = []
    for line in list_lines(arguments):
        protocols = list_protocols(arguments, line)
        if arguments.lines == FIXED:
            of_fixed = [SEVERAL, *([] if line.buffer is None else [FORWARD, CIFS])]
            protocols = [name for name in protocols if name in of_fixed]
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


def list_protocols(arguments: Namespace, line: Line) -> list[str]:
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
    return [name for name in wan_site.PROTOCOLS if line.round_trip == base or name not in SENDERS]


def count_turns(arguments: Namespace, line: Line) -> int:
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
        if stock != tuned and stock.replace(STOCK, TUNED) == tuned
    )


def explain(findings: Findings, factors: Factors, _: Rounds) -> str:
    """What the advisor finds of each contestant, and in how many of its turns."""
    told = []
    for name, turns in findings.get(factors["Protocol"], {}).items():
        counts = Counter(found for turn in turns for found in sorted(turn))
        seen = [f"{found} ({count} of {len(turns)} turns)" for found, count in counts.items()]
        told.append(f"{name}: {', '.join(seen) or f'nothing ({len(turns)} turns)'}")
    return f"the advisor finds with {'; '.join(told)}" if told else ""


def place_trip(options: Mapping[str, Any], factors: Factors, name: str) -> tuple[str, str] | None:
    """On lines that differ from the base in distance only."""
    line, protocol = Line.from_factors(factors), factors["Protocol"]
    if line != make_usual(options, line.round_trip):
        return None
    return protocol if name == PLAIN else f"{protocol}, {name}", factors["Round trip"]


def place_loss(options: Mapping[str, Any], factors: Factors, name: str) -> tuple[str, str] | None:
    """Each congestion control with loss and without, as far away as the base."""
    line, protocol = Line.from_factors(factors), factors["Protocol"]
    usual = make_usual(options, options["base"] / 1000)
    if replace(line, loss=0, congestion=usual.congestion) != usual or protocol not in KEPT:
        return None
    where = protocol if name == PLAIN else f"{protocol}, {name}"
    return where, f"{line.congestion}, {factors['Loss']} lost"


def in_ms(row: dict[float, float]) -> dict[str, float]:
    return {f"{trip:g} ms": speed for trip, speed in row.items()}


TRIPS = Table(
    "Speed by round trip",
    "Mb/s",
    place_trip,
    published={protocol: in_ms(row) for protocol, row in PUBLISHED.items()},
    publisher="report 004",
    chart="round trip, ms",
)
SHARES = Table(
    "CIFS with fixed buffers",
    "Mb/s",
    lambda _, factors, __: (
        (f"{CIFS}, {factors['Buffers']}", factors["Round trip"])
        if factors["Protocol"] == CIFS and factors["Buffers"] != AUTO
        else None
    ),
    published={f"{CIFS}, {buffers}": in_ms(row) for buffers, row in CIFS_PUBLISHED.items()},
    publisher="report 004",
    has_ranges=True,
    chart="round trip, ms",
)
LOSS = Table("Loss and congestion control", "Mb/s", place_loss, has_ranges=True)


def describe_here(_: Namespace) -> dict[str, str]:
    packages = describe_packages("curl", "nginx", "vsftpd", "samba", "vde2")
    return {"Lines": "netem" if has_netem() else "vde2", **packages}


EXPERIMENT = Experiment(
    "CT images over a wide area network, by DICOM, HTTP and FTP, stock and tuned",
    [
        Option("--base", 50, "round trip of the base line, ms", 10, kind=float),
        Option("--round-trips", TRIPS_MS, "ms", [NEAREST, 10], kind=float, nargs="*"),
        Option("--losses", [0.1], "per cent", [], nargs="*"),
        Option("--mtus", [VDE_MTU, 9000], "", [], nargs="*"),
        Option("--buffers", [AUTO, "16384", "65536"], "bytes, or auto", ["65536"], nargs="*"),
        Option("--congestion", ["cubic", "bbr"], "", ["cubic"]),
        Option(
            "--protocols",
            None,
            "on every line; by itself, all up to the base's length, and few on the other lines",
            [*FEW, FORWARD],
            wan_site.PROTOCOLS,
            nargs="+",
        ),
        Option("--lines", ALL, "fixed: with fixed buffers, and several associations", None, LINES),
        Option("--rate", 155, "what lines carry, Mb/s", kind=float),
        Option("--lan-rate", 1000, "the same of those below 1 ms, Mb/s", kind=float),
        Option("--images", 50, "at most, in each transfer", 30),
        Option("--transfer-seconds", 1, "for each transfer, as predicted", 0.5, kind=float),
        Option("--least-images", 28, "in each transfer, as far as the next permits"),
        Option("--longest-seconds", 6.5, "as predicted, for the least images", 0.5),
        Option("--loss-seconds", 20, "for each with loss, as predicted", kind=float),
        Option("--loss-turns", 5, "on lines that lose packets"),
        *make_plan(3, 150, (2, 3)),
    ],
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
    answer=show([TRIPS, SHARES, LOSS]),
    facts=describe_here,
)
