# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a document and the answers that it shows, to be held against a server's."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INDENTATION = " " * 4
ELLIPSIS = "…"

# Texts that depend on the run beyond the numbers in them
VARIABLE = {"State", "Reason", "Allowed", "Kernel", "CongestionControl"}


@dataclass
class Command:
    """A curl command, and what the document shows of its answer; empty: nothing."""

    line: int
    text: str
    shown: str


@dataclass
class Part:
    """An object or an array of which the document shows a part only, or all."""

    members: dict[str, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)
    is_array: bool = False
    is_whole: bool = True


def _is_complete(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:
        return False
    return not command.endswith("\\")


def read_commands(path: Path) -> Iterator[Command]:
    """Each curl command of the document's indented blocks."""
    lines = path.read_text("utf-8").splitlines()
    number = 0
    while number < len(lines):
        begin = re.match(r"    (?:\$ )?(curl .*)", lines[number])
        number += 1
        if begin is None:
            continue
        line, text = number, begin.group(1)
        while not _is_complete(text):
            text += "\n" + lines[number]
            number += 1
        shown = []
        while number < len(lines) and re.match(r"    (?!\$ |curl )|$", lines[number]):
            shown.append(lines[number].removeprefix(INDENTATION))
            number += 1
        yield Command(line, text, "\n".join(shown).strip())


class _Reader:
    """Reads JSON in which an ellipsis may stand for members, elements, or the end of a text."""

    TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{}:,…]|[^\s\[\]{}:,…"]+)')

    def __init__(self, text: str) -> None:
        self._tokens = self.TOKEN.findall(text)

    def read(self) -> Any:  # noqa: ANN401
        token = self._tokens.pop(0)
        if token in "[{":
            return self._read_part(is_array=token == "[")
        return json.loads(token)

    def _read_part(self, *, is_array: bool) -> Part:
        part = Part(is_array=is_array)
        while True:
            token = self._tokens.pop(0) if self._tokens else ELLIPSIS
            if token in "]}":
                return part
            if token == ELLIPSIS:
                part.is_whole = False
                if not self._tokens:
                    return part
            elif token == ",":
                continue
            elif is_array:
                self._tokens.insert(0, token)
                part.elements.append(self.read())
            else:
                assert self._tokens.pop(0) == ":", f"no colon after {token}"
                part.members[json.loads(token)] = self.read()


def read_shown(text: str) -> Any:  # noqa: ANN401
    """What the document shows of a JSON answer: Part, or a plain value."""
    return _Reader(text).read()


def _make_comparable(text: str) -> str:
    text = re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}\b", "#", text)
    return re.sub(r"\d+(?:\.\d+)?", "#", text)


def _is_same_text(shown: str, real: str, key: str) -> bool:
    if key in VARIABLE:
        return True
    begin, ellipsis, _ = _make_comparable(shown).partition(ELLIPSIS)
    return _make_comparable(real).startswith(begin) if ellipsis else begin == _make_comparable(real)


def find_differences(shown: Any, real: Any, path: str = "$", key: str = "") -> list[str]:  # noqa: ANN401
    """What the document shows and the server does not answer; numbers count by their type only."""
    if isinstance(shown, Part):
        return _find_differences_of_part(shown, real, path, key)
    if isinstance(shown, bool) or isinstance(real, bool) or shown is None or real is None:
        is_same = shown is real
    elif isinstance(shown, str) and isinstance(real, str):
        is_same = _is_same_text(shown, real, key)
    else:
        is_same = isinstance(shown, int | float) and isinstance(real, int | float)
    return [] if is_same else [f"{path}: the document has {shown!r}, the server {real!r}"]


def _find_differences_of_part(shown: Part, real: Any, path: str, key: str) -> list[str]:  # noqa: ANN401
    if not isinstance(real, list if shown.is_array else dict):
        return [f"{path}: the server has {real!r}"]
    differences = []
    if shown.is_array:
        for number, element in enumerate(shown.elements):
            found = [find_differences(element, one, f"{path}[{number}]", key) for one in real]
            differences += min(found, key=len, default=[f"{path} is empty"])
        if shown.is_whole and not shown.elements and real:
            differences.append(f"{path} is not empty")
        return differences
    for name, member in shown.members.items():
        if name in real:
            differences += find_differences(member, real[name], f"{path}.{name}", name)
        else:
            differences.append(f"{path}: the server has no {name}")
    if shown.is_whole:
        missing = sorted(set(real) - set(shown.members))
        differences += [f"{path}: the document has no {name}" for name in missing]
    return differences


def find_missing_series(shown: str, real: str) -> list[str]:
    """The series of Prometheus' text format that are shown and that the server does not have."""

    def list_series(text: str) -> set[str]:
        lines = [line.rpartition(" ")[0] for line in text.splitlines() if line != ELLIPSIS]
        return {line for line in lines if not line.startswith("#")}

    return sorted(list_series(shown) - list_series(real))
