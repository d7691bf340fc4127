# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of "wan" says of each experiment of report 004."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from harness.distance import VDE_MTU
from lab.line import Line, make_usual
from lab.published import DISTANCES, REPORT_004, Found, tell_span
from lab.report import format_number
from lab.results import Results
from lab.wan_site import (
    CIFS,
    COMPRESSED,
    DICOM,
    FILES,
    FORWARD,
    FTP,
    HTTP,
    HTTPS,
    PLAIN,
    RECEIVED,
    STOCK,
    TUNED,
)

REGION = 25  # ms, which report 004 takes for sites within 300 to 500 miles
JUMBO = 9000  # bytes
SMALL = (16384, 65536)  # bytes, of report 004's buffers


class Speeds:
    """Medians, by line, protocol and contestant."""

    def __init__(self, results: Results) -> None:
        self._options = results.options
        self.base = self.get_line(results.options["base"])
        self._cells = {tuple(cell.factors.values()): cell for cell in results.cells}

    def get_line(self, trip: float) -> Line:
        """The one of so many ms that differs from the base in nothing else."""
        return make_usual(self._options, trip / 1000)

    def get(self, line: Line, protocol: str, name: str, figure: str = "speed") -> float | None:
        values = self.get_all(line, protocol, name, figure)
        return median(values) if values else None

    def get_all(self, line: Line, protocol: str, name: str, figure: str = "speed") -> list[float]:
        """Of each turn."""
        cell = self._cells.get((*line.to_factors().values(), protocol))
        return cell.list_values(name, figure) if cell else []

    def list_trips(self, protocol: str, name: str) -> list[Line]:
        """Lines that differ from the base in nothing else, from the nearest to the farthest."""
        lines = self.list_all_trips()
        return [line for line in lines if self.get(line, protocol, name) is not None]

    def list_all_trips(self) -> list[Line]:
        """The same, whatever was measured on lines of that length."""
        trips = {Line.from_factors(self._name(key)).round_trip for key in self._cells}
        return [make_usual(self._options, trip) for trip in sorted(trips)]

    def _name(self, key: tuple[str, ...]) -> dict[str, str]:
        return dict(zip(self.base.to_factors(), key, strict=False))


def name_trip(line: Line) -> str:
    return f"{line.round_trip * 1000:g} ms"


def name_line(line: Line) -> str:
    return f"{name_trip(line)} and {line.rate / 1e6:g} Mb/s"


def name_preset(name: str) -> str:
    return "" if name == PLAIN else f"{name.removeprefix('preset ')} "


def join(told: Iterable[str], cell: str) -> Found | None:
    """Nothing where nothing was measured."""
    text = ", ".join(told)
    return Found(text, cell) if text else None


def find_spans(speeds: Speeds, published: str, protocol: str, *names: str) -> Found | None:
    """From the nearest line to the farthest."""
    told, where = [], ""
    for name in names:
        lines = speeds.list_trips(protocol, name)
        if lines:
            ends = [format_number(speeds.get(line, protocol, name)) for line in lines]
            told.append(f"{name_preset(name)}{ends[0]} … {ends[-1]} Mb/s")
            where = f"{name_trip(lines[0])} to {name_trip(lines[-1])}, {protocol}"
            images = [speeds.get(line, protocol, name, "images") for line in (lines[0], lines[-1])]
            where += "" if None in images else f", {images[0]:.0f} … {images[1]:.0f} images"
            told += quote_ends(DISTANCES[published], lines) if name == names[-1] else []
    return join(told, where)


def quote_ends(published: dict[float, float], lines: list[Line]) -> list[str]:
    """What was published at the ends of these lines, where those are not the ends of the row."""
    ends = [float(f"{line.round_trip * 1000:g}") for line in (lines[0], lines[-1])]
    if ends == [min(published), max(published)] or any(end not in published for end in ends):
        return []
    return [f"published there: *{tell_span((published[end] for end in ends), 'Mb/s')}*"]


def find_throughput(speeds: Speeds) -> Found | None:
    line = speeds.get_line(REGION)
    found = {name: speeds.get(line, DICOM, name, "throughput") for name in (STOCK, TUNED)}
    told = (
        f"{name_preset(name)}{format_number(value)} images/s"
        for name, value in found.items()
        if value
    )
    return join(told, f"{name_trip(line)}, {DICOM}")


def find_share(speeds: Speeds, line: Line) -> Found | None:
    """How much of what the line carries was used."""
    found = {
        f"{name_preset(name)}{protocol}": speeds.get(line, protocol, name)
        for protocol, name in ((DICOM, STOCK), (DICOM, TUNED), (FILES, PLAIN))
    }
    told = (
        f"{name} {format_number(speed * 1e8 / line.rate)} %"
        for name, speed in found.items()
        if speed
    )
    return join(told, name_line(line))


def find_slowness(speeds: Speeds) -> Found | None:
    """How many times slower the base line is than the nearest one, and what tuned gains on each.

    The first alone would read as if tuned were worse.
    """
    lines = speeds.list_trips(DICOM, STOCK) or [speeds.base]
    near, far = (
        [speeds.get(line, DICOM, name) for name in (STOCK, TUNED)]
        for line in (lines[0], speeds.base)
    )
    if None in [*near, *far]:
        return None
    told = (
        f"{' and '.join(f'{a / b:.1f}' for a, b in zip(near, far, strict=True))} times slower than"
        f" {name_line(lines[0])}, stock and tuned: tuned is {near[1] / near[0]:.1f} times as fast"
        f" as stock there, {far[1] / far[0]:.1f} times here"
    )
    return Found(told, f"{name_trip(speeds.base)}, {DICOM}")


def find_buffers(speeds: Speeds) -> Found | None:
    told = []
    for name in (STOCK, TUNED):
        lines = [replace(speeds.base, buffer=size) for size in SMALL]
        found = [speeds.get(line, DICOM, name) for line in lines]
        if None not in found:
            told.append(f"{name_preset(name)}{' and '.join(map(format_number, found))} Mb/s")
    return join(told, f"{name_trip(speeds.base)}, 16 and 64 KiB, {DICOM}")


def find_jumbo(speeds: Speeds) -> Found | None:
    """On the nearest line that had both."""
    told, where = [], ""
    for protocol, name in ((FILES, PLAIN), (FTP, PLAIN), (HTTP, PLAIN), (DICOM, TUNED)):
        for line in speeds.list_trips(protocol, name):
            large = speeds.get(replace(line, mtu=JUMBO), protocol, name)
            if large is not None:
                ratio = large / speeds.get(line, protocol, name)
                told.append(f"{protocol} {ratio:.2f}")
                where = name_trip(line)
                break
    return join(told, f"{where}, MTU {JUMBO} / {VDE_MTU}")


def find_far_jumbo(speeds: Speeds) -> Found | None:
    """On the base line, where a kernel can make that."""
    told = []
    for protocol, name in ((FILES, PLAIN), (FTP, PLAIN), (HTTP, PLAIN), (DICOM, TUNED)):
        small = speeds.get(speeds.base, protocol, name)
        large = speeds.get(replace(speeds.base, mtu=JUMBO), protocol, name)
        if small and large:
            told.append(f"{protocol} {large / small:.2f}")
    return join(told, f"{name_trip(speeds.base)}, MTU {JUMBO} / {VDE_MTU}")


def find_shares(speeds: Speeds, size: int) -> Found | None:
    """CIFS with a buffer of so many bytes, from the nearest line to the farthest."""
    lines = [replace(line, buffer=size) for line in speeds.list_all_trips()]
    found = {line: value for line in lines if (value := speeds.get(line, CIFS, PLAIN)) is not None}
    if not found:
        return None
    ends = [format_number(value) for value in found.values()]
    told = f"{ends[0]} … {ends[-1]} Mb/s" if len(ends) > 1 else f"{ends[0]} Mb/s"
    trips = [name_trip(line) for line in found]
    where = f"{trips[0]} to {trips[-1]}" if len(trips) > 1 else trips[0]
    return Found(told, f"{where}, {size // 1024} KiB, {CIFS}")


def find_compression(speeds: Speeds) -> Found | None:
    received, compressed = (f"{form}, {TUNED}" for form in (RECEIVED, COMPRESSED))
    lines = speeds.list_trips(FORWARD, received)
    before, after = (speeds.get(speeds.base, FORWARD, name) for name in (received, compressed))
    if not (lines and before and after):
        return None
    near = speeds.get(lines[0], FORWARD, received)
    figure = (
        f"{after / before:.2f} times as fast as uncompressed, {near / after:.1f} times slower than"
        f" uncompressed over {name_line(lines[0])}"
    )
    return Found(figure, f"{name_trip(speeds.base)}, {FORWARD}, {TUNED}")


def tell(results: Results) -> list[str]:
    speeds = Speeds(results)
    return REPORT_004.tell(
        {
            "region": find_throughput(speeds),
            "share": find_share(speeds, speeds.base),
            "LAN share": find_share(speeds, speeds.get_line(min(DISTANCES["DICOM"]))),
            "LAN": find_slowness(speeds),
            "DICOM": find_spans(speeds, "DICOM", DICOM, STOCK, TUNED),
            "HTTPS": find_spans(speeds, "HTTPS", HTTPS, PLAIN),
            "FTP": find_spans(speeds, "FTP", FTP, PLAIN),
            "HTTP": find_spans(speeds, "HTTP", FILES, PLAIN),
            "buffers": find_buffers(speeds),
            "CIFS 16": find_shares(speeds, SMALL[0]),
            "CIFS 64": find_shares(speeds, SMALL[1]),
            "MTU": find_jumbo(speeds),
            "far MTU": find_far_jumbo(speeds),
            "compression": find_compression(speeds),
        }
    )
