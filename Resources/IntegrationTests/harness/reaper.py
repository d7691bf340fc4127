# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that stop while the next tests run, and what is said of them once they have stopped.

Orthanc takes 3.5 s to stop, with or without plugins, and computes for 0.03 s of them.
"""

import shutil
import time
from pathlib import Path

from harness.orthanc import STOP_SECONDS, OrthancServer

MOST_SERVERS = 8  # that stop at once: each holds its memory, its ports and its folder until then


class Reaper:
    """Asks servers to stop, and judges them later. Their folders stay as long as they run.

    Where a database, a mount or a control group must outlive Orthanc, `with OrthancServer(...)`
    waits for its end.
    """

    def __init__(self) -> None:
        self._stopping: list[tuple[OrthancServer, str, float]] = []
        self._folders: list[Path] = []
        self._faults: list[str] = []

    def take(self, server: OrthancServer, test: str) -> None:
        """`test` is named if the server does not end well."""
        server.session.close()
        server.ask_to_stop()
        self._stopping.append((server, test, time.monotonic() + STOP_SECONDS))
        while len(self._stopping) > MOST_SERVERS:
            self._reap()
            time.sleep(0.02)

    def remove(self, folder: Path) -> None:
        """Removes the folder once no server in it runs, or keeps it if one has not ended well."""
        self._folders.append(folder)
        self._remove_folders()

    def judge(self, *, wait: bool) -> list[str]:
        """What is wrong with servers that have ended since the last call; `wait` for all others."""
        self._reap()
        while wait and self._stopping:
            time.sleep(0.02)
            self._reap()
        faults, self._faults = self._faults, []
        return faults

    def _reap(self) -> None:
        now = time.monotonic()
        stopping = []
        for server, test, deadline in self._stopping:
            if server.is_running() and now < deadline:
                stopping.append((server, test, deadline))
            elif fault := server.find_fault():
                self._faults.append(f"{test}: {fault}")
                self._folders = [f for f in self._folders if not server.folder.is_relative_to(f)]
        self._stopping = stopping
        self._remove_folders()

    def _remove_folders(self) -> None:
        in_use = []
        for folder in self._folders:
            if any(server.folder.is_relative_to(folder) for server, _, _ in self._stopping):
                in_use.append(folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        self._folders = in_use
