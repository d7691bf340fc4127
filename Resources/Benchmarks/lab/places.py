# SPDX-License-Identifier: GPL-3.0-or-later
"""What a result tells of its user and of the machine's folders: nothing, as it may be published."""

import getpass
import hashlib
import os
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.options import ROOT

FOLDER = "FOLDER"
EVERYWHERE = (Path("/usr"), Path("/dev"))  # where the same is on every machine

OWN_PLACES = ("--output", "--plugin", "--resume")  # where, not what: no part of a command
USER = "--user"


def hide_path(path: Path) -> str:
    """As it is from the project's folder; of what is elsewhere, a file's name only."""
    path = path.resolve()
    if path.is_relative_to(ROOT):
        return str(path.relative_to(ROOT))
    if any(path.is_relative_to(folder) for folder in EVERYWHERE):
        return str(path)
    return f"{FOLDER}/{path.name}" if path.is_file() else FOLDER


def identify_path(path: Path) -> str:
    """What tells it from others without naming it."""
    hidden = hide_path(path)
    if not hidden.startswith(FOLDER):
        return hidden
    return f"{hidden} ({hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:8]})"


def hide_words(words: Sequence[str]) -> Iterator[str]:
    """A command that whoever reads it can repeat: FOLDER and USER stand for theirs."""
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in (*OWN_PLACES, USER):
            if not equals:
                next(rest, None)
            if option == USER:
                yield from (USER, "USER")
        elif option.startswith("--") and equals:
            yield f"{option}={_hide_word(value)}"
        else:
            yield _hide_word(word)


def _hide_word(word: str) -> str:
    return hide_path(Path(word)) if word.startswith(("/", "./", "../")) else word


def hide_places(text: str, storage: Path) -> str:
    """What a program has said, without the names of folders, of this user, and of this machine."""
    folders = {ROOT: "", storage.absolute(): f"{FOLDER}/", Path.home(): f"{FOLDER}/"}
    for folder, name in folders.items():
        if len(folder.parts) > 1 and folder not in EVERYWHERE:
            text = text.replace(f"{folder}/", name).replace(str(folder), name.rstrip("/") or ".")
    for name, other in ((socket.gethostname(), "HOST"), (getpass.getuser(), "USER")):
        if name not in ("localhost", "root", "orthanc"):
            text = re.sub(rf"\b{re.escape(name)}\b", other, text)
    return text
