# SPDX-License-Identifier: GPL-3.0-or-later
"""Real files that lie about themselves, through each engine: each is transcoded to what it showed,
to every frame and sample, or left as it was received."""

import os
import random
from pathlib import Path

import pytest

from harness.judge import judge
from harness.mutations import make_mutants
from harness.transcoding import JPEG_LS_LOSSY, LOSSLESS, LOSSY, UID, ingest

# 10,000 before a release; the first ones of them otherwise
MUTANTS = int(os.environ.get("PERF_MUTANTS", "300"))

# Of those transcoded, the share that the independent reader can read in the first place
SMALLEST_JUDGED_SHARE = 0.8

WRITTEN = {
    "native": [UID("1.2.840.10008.1.2.4.70")],
    "dcmtk": [
        s for s in [*LOSSLESS, *LOSSY] if s != JPEG_LS_LOSSY and not s.name.startswith("JPEG 2000")
    ],
    "gdcm": [*LOSSLESS, *LOSSY],
    "auto": [*LOSSLESS, *LOSSY],
}


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    folder = tmp_path_factory.mktemp("mutants")
    files = {}
    for number, (name, content) in enumerate(make_mutants(MUTANTS)):
        path = folder / f"{number}.dcm"
        path.write_bytes(content)
        files[path] = name
    return files


@pytest.mark.parametrize("verify", [False, True], ids=["unverified", "verified"])
@pytest.mark.parametrize("engine", list(WRITTEN))
def test_no_frame_and_no_sample_is_lost(
    plugin: Path, tmp_path: Path, mutants: dict[Path, str], engine: str, verify: bool
) -> None:
    targets = {
        path: random.Random(f"{engine}/{path.name}").choice(WRITTEN[engine]) for path in mutants
    }
    ingest(plugin, engine, tmp_path, targets, verify)

    wrong = []
    transcoded = unreadable = 0
    for path, name in mutants.items():
        stored = tmp_path / path.name
        if stored.exists():
            transcoded += 1
            is_damaged = "change_codestream" in name or "mutate_bytes" in name
            verdict = judge(path.read_bytes(), stored.read_bytes(), targets[path], is_damaged)
            unreadable += not verdict.is_judged
            if verdict.problem:
                wrong.append(f"{name} as {targets[path].name}: {verdict.problem}")
    print(f"{engine}: {transcoded} of {len(mutants)} transcoded, {unreadable} of them not readable")
    assert not wrong, "\n".join([f"{len(wrong)} of {transcoded}", *wrong])
    assert transcoded > 0
    assert transcoded - unreadable >= SMALLEST_JUDGED_SHARE * transcoded
