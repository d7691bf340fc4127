#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes dashboard.png anew: storescu sends over stock sockets, until the finding is applied.

    build/venv/bin/python Resources/Documentation/make-picture.py

needs the plugin to be built, and Chromium. Takes about a minute and a half.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

DOCUMENTATION = Path(__file__).resolve().parent
ROOT = DOCUMENTATION.parents[1]
sys.path.insert(0, str(ROOT / "Resources" / "IntegrationTests"))

from harness import clients  # noqa: E402
from harness.images import Image, make_ct_series  # noqa: E402
from harness.orthanc import OrthancServer  # noqa: E402

IN_MEMORY = Path("/dev/shm")
SECONDS = 240


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", type=Path, default=ROOT / "build" / "libOrthancPerf.so")
    parser.add_argument("--output", type=Path, default=DOCUMENTATION / "dashboard.png")
    return parser.parse_args()


def keep_storing(server: OrthancServer, images: list[Image], stop: threading.Event) -> None:
    # With new identifiers each time: images that are there already are not stored again
    arguments = ["--repeat", "5", "--invent-instance"]
    while not stop.is_set():
        clients.store(server, images, "CT_ROOM_1", arguments)


def main() -> None:
    arguments = parse_arguments()
    images = make_ct_series(ROOT / "build" / "images", "picture", 60)
    perf = {"Tuning": {"DicomSockets": {"Preset": "stock"}}}
    stop = threading.Event()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        plugins = [arguments.plugin.resolve(strict=True)]
        with OrthancServer(Path(folder), plugins=plugins, perf=perf) as server:
            thread = threading.Thread(target=keep_storing, args=(server, images, stop))
            thread.start()
            command = ["node", DOCUMENTATION / "picture.mjs", ROOT / "WebApp", server.url]
            try:
                subprocess.run([*command, arguments.output], check=True, timeout=SECONDS)
            finally:
                stop.set()
                thread.join()


if __name__ == "__main__":
    main()
