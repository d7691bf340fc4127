#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the tables of pages anew from what tests have kept, and what else is made by a run.

    make-page.py fuzzing [FILE...]        of CONTRIBUTING.md: build/test-run/fuzz
    make-page.py reliability [FOLDER...]  of tables/reliability.md: the folder of PERF_RELIABILITY
    make-page.py soak [FOLDER]            of measurements.md: the folder of PERF_SOAK_RESULTS
    make-page.py reference                of reference.md: of the code and its data files
    make-page.py matrix                   tables/transcoding.md, by a run of a minute
    make-page.py picture                  dashboard.png, by a run of two, with Chromium

For build/venv/bin/python. What is given is added to the file in tables/ that keeps it (soak:
replaces it; reliability: row by row); without, the table is made of that file alone. The
last three need the plugin or its unit tests to be built.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
TABLES = DOCUMENTATION / "tables"
ROOT = DOCUMENTATION.parents[1]
PLUGIN = ROOT / "build" / "libOrthancPerf.so"
sys.path.insert(0, str(DOCUMENTATION.parent / "IntegrationTests"))

from harness import clients, fuzzing, reference_page, reliability, soak_page  # noqa: E402
from harness.images import make_ct_series  # noqa: E402
from harness.matrix import format_matrix, measure  # noqa: E402
from harness.orthanc import OrthancServer  # noqa: E402
from harness.sources import make_sources  # noqa: E402

IN_MEMORY = Path("/dev/shm")
PICTURE_SECONDS = 240


# Each: adds what is given to what is kept in the file, and returns the text with its table filled


def fill_fuzzing(text: str, kept: Path, given: list[Path]) -> str:
    """A run that is kept already is not counted twice."""
    runs = {run for path in [kept, *given] for run in fuzzing.read_runs(path)}
    fuzzing.write_runs(kept, runs)
    return fuzzing.fill_page(text, runs)


def fill_reliability(text: str, kept: Path, given: list[Path]) -> str:
    """Several runs are added up; a row that they have replaces the kept one."""
    found = reliability.read_rows([path for folder in given for path in folder.glob("*.json")])
    rows = reliability.read_rows([kept]) | found
    reliability.write_rows(kept, list(rows.values()))
    return reliability.fill_page(text, rows)


def fill_soak(text: str, kept: Path, given: list[Path]) -> str:
    for folder in given:
        kept.write_text((folder / kept.name).read_text("utf-8"), "utf-8")
    return soak_page.fill_page(text, soak_page.read_outcome(kept))


PAGES: dict[str, tuple[str, str, Callable[[str, Path, list[Path]], str]]] = {
    "fuzzing": ("../../CONTRIBUTING.md", "fuzzing.tsv", fill_fuzzing),
    "reliability": ("tables/reliability.md", "reliability.json", fill_reliability),
    "soak": ("measurements.md", "soak.json", fill_soak),
}


def make_reference() -> None:
    page = reference_page.PAGE
    page.write_text(reference_page.fill_page(page.read_text("utf-8")), "utf-8")


def make_matrix() -> None:
    """Uploads made images under each target and engine; ends with an error if pixels differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = list(make_sources(folder))
        with OrthancServer(folder, plugins=[PLUGIN]) as server:
            matrix = measure(server, sources)
    (TABLES / "transcoding.md").write_text(format_matrix(matrix), "utf-8")
    wrong = matrix.list_wrong()
    sys.exit(f"Other pixels than before: {wrong}" if wrong else None)


def make_picture() -> None:
    """storescu sends over stock sockets, until the finding is applied."""
    images = make_ct_series(ROOT / "build" / "images", "picture", 60)
    perf = {"Tuning": {"DicomSockets": {"Preset": "stock"}}}
    stop = threading.Event()

    def keep_storing(server: OrthancServer) -> None:
        # With new identifiers each time: images that are there already are not stored again
        while not stop.is_set():
            clients.store(server, images, "CT_ROOM_1", ["--repeat", "5", "--invent-instance"])

    with (
        tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder,
        OrthancServer(Path(folder), plugins=[PLUGIN], perf=perf) as server,
    ):
        thread = threading.Thread(target=keep_storing, args=[server])
        thread.start()
        script, picture = DOCUMENTATION / "picture.mjs", DOCUMENTATION / "dashboard.png"
        command = ["node", script, ROOT / "WebApp", server.url, picture]
        try:
            subprocess.run(command, check=True, timeout=PICTURE_SECONDS)
        finally:
            stop.set()
            thread.join()


RUNS = {"reference": make_reference, "matrix": make_matrix, "picture": make_picture}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=[*PAGES, *RUNS])
    parser.add_argument("given", nargs="*", type=Path, metavar="FILE or FOLDER")
    arguments = parser.parse_args()
    if arguments.what in RUNS:
        RUNS[arguments.what]()
        return
    name, kept, fill = PAGES[arguments.what]
    page = DOCUMENTATION / name
    page.write_text(fill(page.read_text("utf-8"), TABLES / kept, arguments.given), "utf-8")


if __name__ == "__main__":
    main()
