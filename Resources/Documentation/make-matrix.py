#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes transcoding-matrix.md anew: what each engine makes of each transfer syntax.

    build/venv/bin/python Resources/Documentation/make-matrix.py

needs the plugin to be built. Takes about a minute.
"""

import argparse
import sys
import tempfile
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
ROOT = DOCUMENTATION.parents[1]
sys.path.insert(0, str(ROOT / "Resources" / "IntegrationTests"))

from harness.matrix import format_matrix, measure  # noqa: E402
from harness.orthanc import OrthancServer  # noqa: E402
from harness.sources import make_sources  # noqa: E402


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    plugin = ROOT / "build" / "libOrthancPerf.so"
    parser.add_argument("--plugin", type=Path, default=plugin, help="libOrthancPerf.so")
    output = DOCUMENTATION / "transcoding-matrix.md"
    parser.add_argument("--output", type=Path, default=output)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = list(make_sources(folder))
        with OrthancServer(folder, plugins=[arguments.plugin.resolve(strict=True)]) as server:
            matrix = measure(server, sources)
    arguments.output.write_text(format_matrix(matrix), "utf-8")
    wrong = matrix.list_wrong()
    sys.exit(f"Other pixels than before: {wrong}" if wrong else None)


if __name__ == "__main__":
    main()
