# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a document and the answers that it shows, to be held against a server's."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
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


TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{}:,…]|[^\s\[\]{}:,…"]+)')
MORE = {"[": f'"{ELLIPSIS}"', "{": f'"{ELLIPSIS}": 0'}
CLOSING = {"[": "]", "{": "}"}


def read_shown(text: str) -> Any:  # noqa: ANN401
    """What the document shows of a JSON answer.

    Where an ellipsis or the end of the text stands for more, a list has an element "…", and an
    object such a member.
    """
    written, parts = "", []

    def write(token: str) -> None:
        nonlocal written
        is_next = written and written[-1] not in "[{:" and token not in "]}:"
        written += f",{token}" if is_next else token

    for token in TOKEN.findall(text):
        if token != ",":
            write(MORE[parts[-1]] if token == ELLIPSIS else token)
        if token in CLOSING:
            parts.append(token)
        elif token in CLOSING.values():
            parts.pop()
    for part in reversed(parts):
        write(MORE[part])
        write(CLOSING[part])
    return json.loads(written)


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
    if isinstance(shown, list | dict):
        if type(shown) is not type(real):
            return [f"{path}: the server has {real!r}"]
        find = _find_differences_of_list if isinstance(shown, list) else _find_differences_of_object
        return find(shown, real, path, key)
    if isinstance(shown, bool) or isinstance(real, bool) or shown is None or real is None:
        is_same = shown is real
    elif isinstance(shown, str) and isinstance(real, str):
        is_same = _is_same_text(shown, real, key)
    else:
        is_same = isinstance(shown, int | float) and isinstance(real, int | float)
    return [] if is_same else [f"{path}: the document has {shown!r}, the server {real!r}"]


def _find_differences_of_list(shown: list[Any], real: list[Any], path: str, key: str) -> list[str]:
    differences = [] if shown or not real else [f"{path} is not empty"]
    for number, element in enumerate(shown):
        if element != ELLIPSIS:
            found = [find_differences(element, one, f"{path}[{number}]", key) for one in real]
            differences += min(found, key=len, default=[f"{path} is empty"])
    return differences


def _find_differences_of_object(
    shown: dict[str, Any], real: dict[str, Any], path: str, _: str
) -> list[str]:
    missing = [] if ELLIPSIS in shown else sorted(real.keys() - shown.keys())
    differences = [f"{path}: the document has no {name}" for name in missing]
    for name, member in shown.items():
        if name in real:
            differences += find_differences(member, real[name], f"{path}.{name}", name)
        elif name != ELLIPSIS:
            differences.append(f"{path}: the server has no {name}")
    return differences


def find_missing_series(shown: str, real: str) -> list[str]:
    """The series of Prometheus' text format that are shown and that the server does not have."""

    def list_series(text: str) -> set[str]:
        lines = [line.rpartition(" ")[0] for line in text.splitlines() if line != ELLIPSIS]
        return {line for line in lines if not line.startswith("#")}

    return sorted(list_series(shown) - list_series(real))
