# SPDX-License-Identifier: GPL-3.0-or-later
"""What codec libraries make of codestreams that hold all that their standards allow: the samples
that are in there, or nothing."""

import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from harness.codestreams import Stream, make_rle_streams
from harness.transcoding import EXPLICIT, JPEG_LOSSLESS_SV1, JPEG_LS, decode, read

ENGINES = ["dcmtk", "gdcm", "native", "auto"]


def ingest(
    plugin: Path, folder: Path, engine: str, target: str, streams: Iterable[Stream]
) -> dict[str, tuple[str, np.ndarray | None]]:
    """What became of each on its way into the store, without Verify: the outcome, and the samples
    that are stored unless it is as received."""
    results = folder / f"{engine}-{target}"
    results.mkdir()
    names = {}
    for number, stream in enumerate(streams):
        path = folder / f"{number}.dcm"
        path.write_bytes(stream.make_file())
        names[path] = stream.name
    finished = subprocess.run(
        [plugin.parent / "TranscodeFiles", "--ingest", engine, "0", results],
        input="".join(f"{target}\t{path}\n" for path in names),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    outcomes = [line.split("\t", 1)[1] for line in finished.stdout.splitlines()]
    found = {}
    for (path, name), outcome in zip(names.items(), outcomes, strict=True):
        stored = results / path.name
        found[name] = (outcome, decode(read(stored)) if stored.exists() else None)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_no_operations_of_rle_are_no_runs(plugin: Path, tmp_path: Path, engine: str) -> None:
    streams = list(make_rle_streams(random.Random(1)))
    targets = [JPEG_LOSSLESS_SV1] if engine == "native" else [EXPLICIT, JPEG_LOSSLESS_SV1, JPEG_LS]
    for target in targets:
        found = ingest(plugin, tmp_path, engine, target, streams)
        for stream in streams:
            outcome, samples = found[stream.name]
            if samples is not None:
                same = np.array_equal(samples.reshape(stream.samples.shape), stream.samples)
                assert same, f"{stream.name} to {target}: {outcome}"
            assert samples is not None or target != EXPLICIT, f"{stream.name}: {outcome}"
        assert any(samples is not None for _, samples in found.values()), target
