# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server asks of the kernel, in its order, as strace(1) sees it."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.process import run

WRITES = ("write", "pwrite64", "writev", "sendto", "sendmsg")
SYNCS = ("fsync", "fdatasync")

# Bytes of each written buffer: a C-STORE response, or the answer to an upload or to a STOW-RS
# request of some instances, is found in them
SHOWN = 4000

# As in: fdatasync(17</srv/storage/0a/0b/0a0b…>) = 0
CALL = re.compile(r"^(?P<name>\w+)\(\d+<(?P<target>[^>]*)>(?P<rest>.*)$")


def find_obstacle() -> str | None:
    if shutil.which("strace") is None:
        return "not installed: strace"
    tried = run(["strace", "-o", "/dev/null", "true"])
    return f"ptrace is forbidden: {tried.stderr.strip()}" if tried.returncode != 0 else None


@dataclass(frozen=True)
class Call:
    """One that was made, on a file's path or on a socket."""

    name: str
    target: str
    rest: str  # further arguments and the result

    def is_sync(self) -> bool:
        return self.name in SYNCS and self.rest.endswith("= 0")

    def is_write(self) -> bool:
        return self.name in WRITES

    def is_answer(self, mark: str) -> bool:
        """Whether it writes something with that mark to a socket."""
        return self.is_write() and self.target.startswith("socket:") and mark in self.rest


class Trace:
    """Calls of a process that is started by `launcher`, one after the other in each thread."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        calls = ",".join((*WRITES, *SYNCS))
        self.launcher = [
            "strace",
            "--daemonize",  # Orthanc is the process that was started, strace its child
            "--follow-forks",
            "--output-separately",
            "--decode-fds=path",
            f"--string-limit={SHOWN}",
            f"--trace={calls}",
            f"--output={folder / 'thread'}",
        ]

    def list_threads(self) -> Iterator[list[Call]]:
        for path in sorted(self._folder.iterdir()):
            with path.open(encoding="ascii", errors="replace") as lines:
                matches = map(CALL.match, lines)
                yield [Call(*match.groups()) for match in matches if match]


def find_failure(calls: list[Call], path: str, mark: str) -> str | None:
    """Why the file was not safe when that thread wrote an answer with the mark; None if it was."""
    answers = [place for place, call in enumerate(calls) if call.is_answer(mark)]
    if not answers:
        return "there is no answer"
    before = [call for call in calls[: answers[0]] if call.target == path]
    if not any(call.is_write() for call in before):
        return "it was not written before the answer"
    if any(call.is_write() and call.target == path for call in calls[answers[0] :]):
        return "it was written after the answer"
    return None if before[-1].is_sync() else "it was not synced before the answer"
