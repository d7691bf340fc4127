# SPDX-License-Identifier: GPL-3.0-or-later
"""What codec libraries make of codestreams that hold all that their standards allow: the samples
that are in there, or nothing."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.codestreams import Stream, make_damaged_streams, make_streams
from harness.transcoding import EXPLICIT, RLE, get_pixels, ingest, read

# 20,000 before a release; the first ones of them otherwise
STREAMS = int(os.environ.get("PERF_STREAMS", "300"))

Found = dict[str, tuple[str, np.ndarray | None]]


def read_rows(path: Path) -> np.ndarray:
    """All bits, each frame below the one before."""
    return np.concatenate(get_pixels(read(path)))


def find_stored(
    plugin: Path, folder: Path, engine: str, streams: list[Stream], frames: int = 1
) -> Found:
    """What became of each on its way into the store, without Verify: the outcome, and the samples
    that are stored unless it is as received. Several frames are in odd fragments."""
    results = folder / engine
    results.mkdir()
    names = {}
    for number, stream in enumerate(streams):
        path = folder / f"{number}.dcm"
        dice = random.Random(number) if frames > 1 and stream.syntax != RLE else None
        path.write_bytes(stream.make_file(frames, dice))
        names[path] = stream.name
    outcomes = ingest(plugin, engine, results, dict.fromkeys(names, EXPLICIT))
    found = {}
    for (path, name), outcome in zip(names.items(), outcomes, strict=True):
        stored = results / path.name
        found[name] = (outcome, read_rows(stored) if stored.exists() else None)
    return found


def are_alike(one: np.ndarray, other: np.ndarray, error: int) -> bool:
    return one.shape == other.shape and bool(
        np.all(np.abs(one.astype(np.int64) - other.astype(np.int64)) <= error)
    )


def find_wrong(streams: list[Stream], found: Found, engine: str) -> Iterator[str]:
    for stream in streams:
        outcome, samples = found[stream.name]
        if samples is not None and not are_alike(samples, stream.samples, stream.error):
            yield f"other samples: {stream.name}"
        elif stream.is_misread and not outcome.startswith("declined"):
            yield f"not declined, but {outcome}: {stream.name}"
        elif "Orthanc would show" in outcome:
            continue  # test_pictures.py has which
        elif engine == "auto" and not stream.is_misread and samples is None:
            yield f"{outcome}: {stream.name}"


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm", "auto"])
def test_what_a_standard_allows_is_decoded_or_left(
    plugin: Path, tmp_path: Path, engine: str
) -> None:
    """Each engine gives the samples that are in there, or none; what it would misread is declined,
    whichever engine is asked; and all the rest one of them decodes."""
    streams = make_streams(STREAMS)
    found = find_stored(plugin, tmp_path, engine, streams)
    wrong = list(find_wrong(streams, found, engine))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("engine", ["dcmtk", "gdcm"])
def test_no_frame_is_lost_in_odd_fragments(plugin: Path, tmp_path: Path, engine: str) -> None:
    streams = make_streams(STREAMS // 2, "fragments")
    found = find_stored(plugin, tmp_path, engine, streams, frames=3)
    wrong = [
        stream.name
        for stream in streams
        if (samples := found[stream.name][1]) is not None
        and not are_alike(samples, np.tile(stream.samples, (3, 1, 1)), stream.error)
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(samples is not None for _, samples in found.values()) > len(streams) / 4


def test_no_two_engines_decode_a_damaged_frame_to_other_samples(
    plugin: Path, tmp_path: Path
) -> None:
    """But for lossy JPEG, whose damaged coefficients may exceed what decoders calculate with."""
    streams = make_damaged_streams(STREAMS // 2)
    of_dcmtk, of_gdcm = (
        find_stored(plugin, tmp_path, engine, streams) for engine in ("dcmtk", "gdcm")
    )
    wrong = []
    both = 0
    for stream in streams:
        one, other = of_dcmtk[stream.name][1], of_gdcm[stream.name][1]
        if one is not None and other is not None:
            both += 1
            if stream.error == 0 and not are_alike(one, other, 0):
                wrong.append(stream.name)
    assert not wrong, "\n".join(wrong)
    assert both > 0
