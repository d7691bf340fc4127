# SPDX-License-Identifier: GPL-3.0-or-later
"""JPEG, Huffman-coded (ITU-T T.81): an encoder with all that the standard allows."""

import heapq
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

SOI = b"\xff\xd8"


@dataclass
class Oddities:
    """What a stream has that most have not. A restart interval counts MCUs."""

    dice: random.Random
    fill: bool = False  # bytes 0xff before markers, B.1.1.2
    restart: int = 0  # B.2.4.4
    no_height: bool = False  # the frame header has none, DNL follows the first scan, B.2.5
    empty_tables: bool = False  # DHT without codes, never used
    comments: bool = False  # COM and APPn, also without content
    scans: bool = False  # each component in one of its own, B.2.3
    repeated_tables: bool = False  # a DHT segment for each, twice
    identifiers: bytes = b"\1\2\3"
    sampling: int = 0x11  # of a single component it means nothing
    redefine: bool = False  # tables change between scans

    def mark(self, marker: int, content: bytes | None = None) -> bytes:
        fill = b"\xff" * self.dice.randrange(4) if self.fill else b""
        segment = fill + bytes([0xFF, marker])
        if content is not None:
            segment += (len(content) + 2).to_bytes(2, "big") + content
        return segment

    def comment(self) -> bytes:
        if not self.comments:
            return b""
        return b"".join(
            self.mark(self.dice.choice([0xFE, 0xE1, 0xE3, 0xEC]), self.dice.randbytes(size))
            for size in (0, self.dice.randrange(60), 1)
        )


Table = dict[int, str]  # codes by symbol, as bits


def make_table(symbols: Sequence[int], dice: random.Random) -> Table:
    """Any prefix code of 16 bits at most, without the code of ones only (annex C)."""
    flatness = 1.0
    while True:
        heap = [(dice.random() ** flatness, i, (s,)) for i, s in enumerate(symbols)]
        heap.append((0.0, len(symbols), (-1,)))  # for the code of ones
        heapq.heapify(heap)
        lengths: Counter[int] = Counter()
        while len(heap) > 1:
            one, two = heapq.heappop(heap), heapq.heappop(heap)
            lengths.update(one[2] + two[2])
            heapq.heappush(heap, (one[0] + two[0], one[1], one[2] + two[2]))
        if max(lengths.values()) <= 16:
            break
        flatness /= 2
    longest = lengths.pop(-1)
    assert longest == max([longest, *lengths.values()])
    code = 0
    table: Table = {}
    length = 0
    for symbol in sorted(lengths, key=lambda s: (lengths[s], symbols.index(s))):
        code <<= lengths[symbol] - length
        length = lengths[symbol]
        table[symbol] = f"{code:0{length}b}"
        code += 1
    assert not any("0" not in code for code in table.values())
    return table


def define_table(place: int, table: Table) -> bytes:
    """B.2.4.2: the class and the destination, the number of codes of each length, the symbols."""
    by_length = sorted(table, key=lambda symbol: (len(table[symbol]), table[symbol]))
    counts = Counter(len(code) for code in table.values())
    return bytes([place, *(counts[length] for length in range(1, 17)), *by_length])


def pack(bits: str) -> bytes:
    """Ones to fill the last byte, and a zero after each byte of ones (B.1.1.5)."""
    bits += "1" * (-len(bits) % 8)
    whole = int(bits, 2).to_bytes(len(bits) // 8, "big") if bits else b""
    return whole.replace(b"\xff", b"\xff\0")


def code_magnitude(table: Table, run: int, value: int) -> str:
    """F.1.2.1 and F.1.2.2: a category, and the bits that say which of it."""
    category = abs(value).bit_length()
    code = table[run << 4 | category]
    if category in (0, 16):  # H.1.2.2: 32768 has no more bits
        return code
    low = value if value > 0 else value + (1 << category) - 1
    return code + f"{low:0{category}b}"


def join_intervals(units: Sequence[str], odd: Oddities) -> bytes:
    """The MCUs of a scan, with restart markers between."""
    if not odd.restart:
        return pack("".join(units))
    parts = [units[i : i + odd.restart] for i in range(0, len(units), odd.restart)]
    data = b""
    for number, part in enumerate(parts):
        data += (odd.mark(0xD0 + (number - 1) % 8) if number else b"") + pack("".join(part))
    return data


def begin(
    odd: Oddities,
    sof: int,
    precision: int,
    shape: tuple[int, ...],
    tables: bytes = b"",
    samplings: Sequence[int] = (),
) -> bytes:
    rows, columns, components = shape
    frame = bytes([precision]) + (0 if odd.no_height else rows).to_bytes(2, "big")
    frame += columns.to_bytes(2, "big") + bytes([components])
    for i in range(components):
        sampling = samplings[i] if samplings else odd.sampling if components == 1 else 0x11
        quantization = min(i, 1) if sof != 0xC3 else 0
        frame += bytes([odd.identifiers[i], sampling, quantization])
    stream = SOI + odd.comment() + tables + odd.comment()
    stream += odd.mark(sof, frame)
    if odd.empty_tables:
        stream += odd.mark(0xC4, define_table(0x01, {}))
        stream += odd.mark(0xC4, b"")
    if odd.restart:
        stream += odd.mark(0xDD, odd.restart.to_bytes(2, "big"))
    return stream


def finish(odd: Oddities, scans: Sequence[bytes], rows: int) -> bytes:
    first, *others = scans
    height = odd.mark(0xDC, rows.to_bytes(2, "big")) if odd.no_height else b""
    return first + height + b"".join(others) + odd.mark(0xD9)


def define_tables(odd: Oddities, tables: dict[int, Table]) -> bytes:
    parts = [define_table(place, table) for place, table in tables.items()]
    if odd.repeated_tables:
        return b"".join(odd.mark(0xC4, part) for part in parts * 2)
    return odd.mark(0xC4, b"".join(parts))


def start_scan(
    odd: Oddities, components: Sequence[int], tables: Sequence[int], tail: bytes
) -> bytes:
    header = bytes([len(components)])
    for component, table in zip(components, tables, strict=True):
        header += bytes([odd.identifiers[component], table])
    return odd.mark(0xDA, header + tail)


PREDICTORS: dict[int, Callable[[int, int, int], int]] = {
    1: lambda a, b, c: a,
    2: lambda a, b, c: b,
    3: lambda a, b, c: c,
    4: lambda a, b, c: a + b - c,
    5: lambda a, b, c: a + ((b - c) >> 1),
    6: lambda a, b, c: b + ((a - c) >> 1),
    7: lambda a, b, c: (a + b) >> 1,
}


def find_differences(
    plane: np.ndarray, precision: int, predictor: int, restart_rows: int
) -> list[list[int]]:
    """Modulo 65536, of each row (H.1.2.1)."""
    samples = plane.astype(int).tolist()
    rows = []
    for y, row in enumerate(samples):
        is_first = y == 0 or (restart_rows and y % restart_rows == 0)
        differences = []
        for x, sample in enumerate(row):
            if x == 0:
                prediction = 1 << (precision - 1) if is_first else samples[y - 1][0]
            elif is_first:
                prediction = row[x - 1]
            else:
                prediction = PREDICTORS[predictor](
                    row[x - 1], samples[y - 1][x], samples[y - 1][x - 1]
                )
            difference = (sample - prediction) % 65536
            differences.append(difference if difference <= 32768 else difference - 65536)
        rows.append(differences)
    return rows


def encode_lossless(
    samples: np.ndarray,
    precision: int,
    predictor: int,
    transform: int,
    odd: Oddities,
    restart_rows: int = 0,
) -> bytes:
    """ "transform": the point transform, by which the samples are shifted down."""
    rows, columns, components = samples.shape
    odd.restart = restart_rows * columns
    shifted = samples >> transform
    planes = [
        find_differences(shifted[..., i], precision - transform, predictor, restart_rows)
        for i in range(components)
    ]
    stream = begin(odd, 0xC3, precision, samples.shape)
    groups = [[i] for i in range(components)] if odd.scans else [list(range(components))]
    scans = []
    places = [odd.dice.randrange(4) for _ in range(components)]
    tables = {place: make_table(range(17), odd.dice) for place in places}
    for number, group in enumerate(groups):
        if number and odd.redefine:
            tables = {place: make_table(range(17), odd.dice) for place in places}
        scan = define_tables(odd, tables) if number == 0 or odd.redefine else b""
        scan += start_scan(
            odd, group, [places[i] << 4 for i in group], bytes([predictor, 0, transform])
        )
        units = [
            "".join(code_magnitude(tables[places[i]], 0, planes[i][y][x]) for i in group)
            for y in range(rows)
            for x in range(columns)
        ]
        scans.append(scan + join_intervals(units, odd))
    return stream + finish(odd, scans, rows)


BASIS = np.array(
    [
        [np.sqrt((1 if u else 0.5) / 4) * np.cos((2 * x + 1) * u * np.pi / 16) for x in range(8)]
        for u in range(8)
    ]
)
ZIGZAG = sorted(
    ((y, x) for y in range(8) for x in range(8)),
    key=lambda p: (p[0] + p[1], p[(p[0] + p[1] + 1) % 2]),
)


def code_block(block: list[int], before: int, direct: Table, alternating: Table) -> str:
    """In zigzag order: F.1.2."""
    bits = code_magnitude(direct, 0, block[0] - before)
    run = 0
    last = max((i for i in range(1, 64) if block[i]), default=0)
    for value in block[1 : last + 1]:
        if value == 0:
            run += 1
            continue
        while run > 15:
            bits += alternating[0xF0]
            run -= 16
        bits += code_magnitude(alternating, run, value)
        run = 0
    return bits + (alternating[0] if last < 63 else "")


def transform_plane(
    plane: np.ndarray, precision: int, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Quantized blocks as (rows, columns, 64), and the samples that they hold."""
    rows, columns = plane.shape
    padded = np.pad(plane.astype(float), ((0, -rows % 8), (0, -columns % 8)), "edge")
    height, width = padded.shape[0] // 8, padded.shape[1] // 8
    blocks = padded.reshape(height, 8, width, 8).swapaxes(1, 2) - 2 ** (precision - 1)
    quantized = np.round((BASIS @ blocks @ BASIS.T) / steps)
    restored = BASIS.T @ (quantized * steps) @ BASIS + 2 ** (precision - 1)
    whole = restored.swapaxes(1, 2).reshape(height * 8, width * 8)
    decoded = np.clip(np.round(whole), 0, 2**precision - 1)[:rows, :columns]
    zigzag = np.stack([quantized[:, :, y, x] for y, x in ZIGZAG], axis=-1)
    return zigzag.astype(int), decoded


Planes = Sequence[np.ndarray]


def choose_steps(dice: random.Random, precision: int) -> list[np.ndarray]:
    """Two quantization tables; above 255, which only 12 bits may have, they get 16 bits."""
    largest = 255 if precision == 8 else dice.choice([100, 300])
    return [
        np.array([[dice.randrange(1, largest // 5 + 3) for _ in range(8)] for _ in range(8)])
        * (1 if largest < 256 else 4)
        for _ in range(2)
    ]


def define_steps(odd: Oddities, steps: Sequence[np.ndarray]) -> bytes:
    """B.2.4.1"""
    segments = b""
    for place, table in enumerate(steps):
        width = 2 if table.max() > 255 else 1
        values = [int(table[y, x]).to_bytes(width, "big") for y, x in ZIGZAG]
        segments += odd.mark(0xDB, bytes([(width - 1) << 4 | place]) + b"".join(values))
    return segments


def choose_codes(places: Sequence[int], precision: int, dice: random.Random) -> dict[int, Table]:
    """Of each destination, for all categories that may come (tables F.1, F.2, F.6 and F.7)."""
    categories = range(12 if precision == 8 else 16)
    sizes = range(1, 11 if precision == 8 else 15)
    runs = [0, 0xF0, *(run << 4 | size for size in sizes for run in range(16))]
    tables: dict[int, Table] = {}
    for place in places:
        tables[place] = make_table(categories, dice)
        tables[0x10 | place] = make_table(runs, dice)
    return tables


def list_units(
    planes: Planes, group: Sequence[int], factors: tuple[int, int]
) -> list[list[tuple[int, int, int]]]:
    """Of each MCU its blocks: component, row and column (A.2)."""
    horizontal, vertical = factors
    if len(group) == 1:
        height, width = planes[group[0]].shape[:2]
        return [[(group[0], y, x)] for y in range(height) for x in range(width)]
    height, width = planes[0].shape[:2]
    return [
        [
            (0, y * vertical + v, x * horizontal + h)
            for v in range(vertical)
            for h in range(horizontal)
        ]
        + [(i, y, x) for i in group[1:]]
        for y in range(-(-height // vertical))
        for x in range(-(-width // horizontal))
    ]


def code_units(
    planes: Planes,
    units: Sequence[Sequence[tuple[int, int, int]]],
    places: Sequence[int],
    tables: dict[int, Table],
    restart: int,
) -> list[str]:
    before: dict[int, int] = {}
    coded = []
    for number, unit in enumerate(units):
        if restart and number % restart == 0:
            before = {}
        bits = ""
        for i, y, x in unit:
            height, width = planes[i].shape[:2]
            block = planes[i][min(y, height - 1), min(x, width - 1)].tolist()
            if y >= height or x >= width:
                block[1:] = [0] * 63  # of no pixel
            place = places[i]
            bits += code_block(block, before.get(i, 0), tables[place], tables[0x10 | place])
            before[i] = block[0]
        coded.append(bits)
    return coded


def encode_sequential(
    samples: np.ndarray, precision: int, sof: int, odd: Oddities, factors: tuple[int, int] = (1, 1)
) -> tuple[bytes, np.ndarray]:
    """The stream, and the samples that it holds. "factors": horizontal and vertical ones of the
    first of three components; the samples of the others must be the same everywhere then."""
    rows, columns, components = samples.shape
    horizontal, vertical = factors
    steps = choose_steps(odd.dice, precision)
    planes, decoded = [], []
    for i in range(components):
        plane = samples[..., i] if i == 0 else samples[::vertical, ::horizontal, i]
        blocks, restored = transform_plane(plane, precision, steps[min(i, 1)])
        if i:
            restored = restored.repeat(vertical, 0).repeat(horizontal, 1)[:rows, :columns]
        planes.append(blocks)
        decoded.append(restored)

    samplings = [horizontal << 4 | vertical, 0x11, 0x11] if components == 3 else []
    stream = begin(odd, sof, precision, samples.shape, define_steps(odd, steps), samplings)
    places = [odd.dice.randrange(4 if sof == 0xC1 else 2) for _ in range(components)]
    tables = choose_codes(places, precision, odd.dice)
    groups = [[i] for i in range(components)] if odd.scans else [list(range(components))]
    scans = []
    for number, group in enumerate(groups):
        if number and odd.redefine:
            tables = choose_codes(places, precision, odd.dice)
        scan = define_tables(odd, tables) if number == 0 or odd.redefine else b""
        scan += start_scan(odd, group, [places[i] * 0x11 for i in group], b"\0\x3f\0")
        units = code_units(planes, list_units(planes, group, factors), places, tables, odd.restart)
        scans.append(scan + join_intervals(units, odd))
    return stream + finish(odd, scans, rows), np.stack(decoded, axis=-1).astype(samples.dtype)
