# SPDX-License-Identifier: GPL-3.0-or-later
"""JPEG-LS (ITU-T T.87): an encoder that holds all that the standard allows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.jpeg_streams import SOI, Oddities

# Of run lengths, J: section A.2.1
ORDERS = [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [4, 4, 5, 5, 6, 6, 7, 7, *range(8, 16)]

BY_PLANE, BY_LINE, BY_SAMPLE = range(3)


@dataclass
class Coding:
    """The parameters of a scan: sections A.1, A.2.1 and C.2.4.1.1."""

    precision: int
    near: int = 0
    maximum: int = 0  # 0: what the precision allows
    thresholds: tuple[int, int, int] | None = None
    reset: int = 64

    def __post_init__(self) -> None:
        self.maximum = self.maximum or 2**self.precision - 1
        if self.thresholds is None:
            self.thresholds = self.find_thresholds()
        self.range = (self.maximum + 2 * self.near) // (2 * self.near + 1) + 1
        self.range_bits = (self.range - 1).bit_length()
        bits = max(2, self.maximum.bit_length())
        self.limit = 2 * (bits + max(8, bits))

    def find_thresholds(self) -> tuple[int, int, int]:
        """C.2.4.1.1.1"""

        def clamp(value: int, low: int) -> int:
            return low if value > self.maximum or value < low else value

        near, maximum = self.near, self.maximum
        if maximum >= 128:
            factor = (min(maximum, 4095) + 128) // 256
            values = [factor * (3 - 2) + 2, factor * (7 - 3) + 3, factor * (21 - 4) + 4]
        else:
            factor = 256 // (maximum + 1)
            values = [max(2, 3 // factor), max(3, 7 // factor), max(4, 21 // factor)]
        first = clamp(values[0] + 3 * near, near + 1)
        second = clamp(values[1] + 5 * near, first)
        return first, second, clamp(values[2] + 7 * near, second)

    def is_default(self) -> bool:
        return (
            self.maximum == 2**self.precision - 1
            and self.reset == 64
            and self.thresholds == Coding(self.precision, self.near).thresholds
        )


@dataclass
class Writer:
    """A.1: a zero bit follows each byte of ones."""

    data: bytearray = field(default_factory=bytearray)
    byte: int = 0
    free: int = 8

    def put(self, value: int, count: int) -> None:
        for place in reversed(range(count)):
            self.byte = self.byte << 1 | value >> place & 1
            self.free -= 1
            if self.free == 0:
                self.data.append(self.byte)
                self.free = 7 if self.byte == 0xFF else 8
                self.byte = 0

    def finish(self) -> bytes:
        if self.free < 8:
            self.data.append(self.byte << self.free)
        return bytes(self.data)


class Contexts:
    """What is learnt, from the begin of a scan or of a restart interval on."""

    def __init__(self, coding: Coding) -> None:
        first = max(2, (coding.range + 32) // 64)
        self.a = [first] * 367
        self.b = [0] * 365
        self.c = [0] * 365
        self.n = [1] * 367
        self.negative = [0, 0]


class Scan:
    """Codes lines with what is above them; "decoded" is what a decoder sees."""

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self.contexts = Contexts(coding)
        self.writer = Writer()

    def quantize(self, gradient: int) -> int:
        sign = -1 if gradient < 0 else 1
        gradient = abs(gradient)
        if gradient <= self.coding.near:
            return 0
        assert self.coding.thresholds is not None
        return sign * (1 + sum(gradient >= threshold for threshold in self.coding.thresholds))

    def reduce(self, error: int) -> tuple[int, int]:
        """Quantized (A.4.4), and modulo the range (A.4.5)."""
        near, span = self.coding.near, self.coding.range
        step = 2 * near + 1
        quantized = (error + near) // step if error > 0 else -((near - error) // step)
        reduced = quantized
        if reduced < 0:
            reduced += span
        if reduced >= (span + 1) // 2:
            reduced -= span
        return quantized, reduced

    def restore(self, prediction: int, error: int) -> int:
        """A.4.4 and A.4.5, of a decoder."""
        near, maximum = self.coding.near, self.coding.maximum
        span = self.coding.range * (2 * near + 1)
        value = prediction + error * (2 * near + 1)
        if value < -near:
            value += span
        elif value > maximum + near:
            value -= span
        return min(max(value, 0), maximum)

    def golomb(self, value: int, order: int, limit: int) -> None:
        """A.5.3"""
        bits = self.coding.range_bits
        high = value >> order
        if high < limit - bits - 1:
            self.writer.put(1, high + 1)
            self.writer.put(value, order)
        else:
            self.writer.put(1, limit - bits)
            self.writer.put(value - 1, bits)

    def code_regular(self, index: int, sign: int, around: tuple[int, int, int], sample: int) -> int:
        state, coding = self.contexts, self.coding
        left, above, corner = around
        if corner >= max(left, above):
            prediction = min(left, above)
        elif corner <= min(left, above):
            prediction = max(left, above)
        else:
            prediction = left + above - corner
        prediction = min(max(prediction + sign * state.c[index], 0), coding.maximum)
        _, error = self.reduce(sign * (sample - prediction))
        decoded = self.restore(prediction, sign * error)

        order = 0
        while state.n[index] << order < state.a[index]:
            order += 1
        if coding.near == 0 and order == 0 and 2 * state.b[index] <= -state.n[index]:
            mapped = 2 * error + 1 if error >= 0 else -2 * (error + 1)
        else:
            mapped = 2 * error if error >= 0 else -2 * error - 1
        self.golomb(mapped, order, coding.limit)

        state.b[index] += error * (2 * coding.near + 1)
        state.a[index] += abs(error)
        if state.n[index] == coding.reset:
            state.a[index] >>= 1
            state.b[index] >>= 1
            state.n[index] >>= 1
        state.n[index] += 1
        if state.b[index] <= -state.n[index]:
            state.b[index] = max(state.b[index] + state.n[index], 1 - state.n[index])
            state.c[index] = max(state.c[index] - 1, -128)
        elif state.b[index] > 0:
            state.b[index] = min(state.b[index] - state.n[index], 0)
            state.c[index] = min(state.c[index] + 1, 127)
        return decoded

    def code_interruption(
        self, kind: int, left: int, above: int, sample: int, run_index: int
    ) -> int:
        """A.7.2; "kind" is RItype."""
        state, coding = self.contexts, self.coding
        index = 365 + kind
        prediction = left if kind else above
        sign = -1 if kind == 0 and left > above else 1
        _, error = self.reduce(sign * (sample - prediction))
        decoded = self.restore(prediction, sign * error)

        total = state.a[index] + (state.n[index] >> 1 if kind else 0)
        order = 0
        while state.n[index] << order < total:
            order += 1
        negative = state.negative[kind]
        mapping = (order == 0 and error > 0 and 2 * negative < state.n[index]) or (
            error < 0 and (2 * negative >= state.n[index] or order != 0)
        )
        mapped = 2 * abs(error) - kind - mapping
        self.golomb(mapped, order, coding.limit - ORDERS[run_index] - 1)

        state.negative[kind] += error < 0
        state.a[index] += (mapped + 1 - kind) >> 1
        if state.n[index] == coding.reset:
            state.a[index] >>= 1
            state.n[index] >>= 1
            state.negative[kind] >>= 1
        state.n[index] += 1
        return decoded

    def code_line(
        self, line: np.ndarray, above: list[list[int]], run_index: int, before: list[int]
    ) -> tuple[list[list[int]], int]:
        """A line of (columns, components); with one above, whose first sample's neighbour "before"
        was. Several components: by sample."""
        columns, components = line.shape
        decoded: list[list[int]] = []
        x = 0
        while x < columns:
            left = decoded[x - 1] if x else above[0]
            corner = above[x - 1] if x else before
            up = above[x]
            right = above[x + 1] if x + 1 < columns else above[x]
            gradients = [
                [
                    self.quantize(g)
                    for g in (right[i] - up[i], up[i] - corner[i], corner[i] - left[i])
                ]
                for i in range(components)
            ]
            if any(any(g) for g in gradients):
                sample = []
                for i in range(components):
                    one, two, three = gradients[i]
                    context = 81 * one + 9 * two + three
                    sign = -1 if context < 0 else 1
                    sample.append(
                        self.code_regular(
                            abs(context), sign, (left[i], up[i], corner[i]), int(line[x, i])
                        )
                    )
                decoded.append(sample)
                x += 1
                continue

            run = 0
            while x + run < columns and all(
                abs(int(line[x + run, i]) - left[i]) <= self.coding.near for i in range(components)
            ):
                run += 1
            decoded += [list(left)] * run
            x += run
            rest = run
            while rest >= 1 << ORDERS[run_index]:
                self.writer.put(1, 1)
                rest -= 1 << ORDERS[run_index]
                run_index = min(run_index + 1, 31)
            if x == columns:
                if rest:
                    self.writer.put(1, 1)
                break
            self.writer.put(rest, 1 + ORDERS[run_index])
            up = above[x]
            sample = []
            for i in range(components):
                kind = int(components == 1 and abs(left[i] - up[i]) <= self.coding.near)
                sample.append(
                    self.code_interruption(kind, left[i], up[i], int(line[x, i]), run_index)
                )
            decoded.append(sample)
            x += 1
            run_index = max(run_index - 1, 0)
        return decoded, run_index


def code_scan(
    samples: np.ndarray, coding: Coding, interleave: int, restart: int, odd: Oddities
) -> tuple[bytes, np.ndarray]:
    """Of (rows, columns, components); "restart" counts lines."""
    rows, columns, components = samples.shape
    decoded = np.zeros_like(samples)
    data = b""
    # By line, the components take turns, each with lines and a run index of its own
    parts = [[i] for i in range(components)] if interleave == BY_LINE else [list(range(components))]
    scan = Scan(coding)
    for y in range(rows):
        if y == 0 or (restart and y % restart == 0):
            if y:
                data += scan.writer.finish() + odd.mark(0xD0 + (y // restart - 1) % 8)
            scan = Scan(coding)
            above = [[[0] * len(part)] * columns for part in parts]
            before = [[0] * len(part) for part in parts]
            indices = [0] * len(parts)
        for number, part in enumerate(parts):
            line, indices[number] = scan.code_line(
                samples[y][:, part], above[number], indices[number], before[number]
            )
            before[number] = above[number][0]
            above[number] = line
            decoded[y][:, part] = line
    return data + scan.writer.finish(), decoded


def encode_jpeg_ls(
    samples: np.ndarray,
    coding: Coding,
    interleave: int,
    odd: Oddities,
    restart: int = 0,
    nears: Sequence[int] = (),
    write_parameters: bool = False,
) -> tuple[bytes, np.ndarray]:
    rows, columns, components = samples.shape
    frame = (
        bytes([coding.precision])
        + (0 if odd.no_height else rows).to_bytes(2, "big")
        + columns.to_bytes(2, "big")
    )
    frame += bytes([components]) + b"".join(
        bytes([odd.identifiers[i], odd.sampling if components == 1 else 0x11, 0])
        for i in range(components)
    )
    stream = SOI + odd.comment() + odd.mark(0xF7, frame) + odd.comment()
    if write_parameters or not coding.is_default():
        assert coding.thresholds is not None
        # Zeros: those of each scan's own error
        thresholds = (0, 0, 0) if nears else coding.thresholds
        values = [coding.maximum, *thresholds, coding.reset]
        stream += odd.mark(0xF8, b"\1" + b"".join(v.to_bytes(2, "big") for v in values))
    if restart:
        stream += odd.mark(0xDD, restart.to_bytes(2, "big"))
    groups = (
        [[i] for i in range(components)] if interleave == BY_PLANE else [list(range(components))]
    )
    decoded = np.zeros_like(samples)
    for number, group in enumerate(groups):
        near = nears[number] if nears else coding.near
        scan = Coding(
            coding.precision,
            near,
            coding.maximum,
            None if nears else coding.thresholds,
            coding.reset,
        )
        header = bytes([len(group)]) + b"".join(bytes([odd.identifiers[i], 0]) for i in group)
        stream += odd.mark(0xDA, header + bytes([near, interleave if len(group) > 1 else 0, 0]))
        data, decoded[..., group] = code_scan(
            samples[..., group], scan, interleave if len(group) > 1 else 0, restart, odd
        )
        stream += data
        if number == 0 and odd.no_height:
            stream += odd.mark(0xDC, rows.to_bytes(2, "big"))
    return stream + odd.mark(0xD9), decoded
