#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds classes that are defined twice, which in one flat namespace breaks the one-definition rule.

Compiler and linker say nothing: of two destructors with one name the linker takes either. A class
in an unnamed namespace or inside of a function is its file's own business. Needs Python's standard
library only.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Comments, strings and characters, in which braces mean nothing; and lines of the preprocessor
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
BRACE_OR_END = re.compile(r"[{};]")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:]*)$")
TYPE = re.compile(
    r"^(?:template\s*<.*>\s*)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:\[\[.*?\]\]\s*|alignas\s*\([^)]*\)\s*)*(\w+(?:::\w+)*)(?:\s+final)?(?:\s*:(?!:).*)?$",
    re.DOTALL,
)


def find_types(text: str) -> Iterator[tuple[str, int]]:
    """Names of the types that are defined in named namespaces, and the lines where they begin."""
    code = NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    scopes: list[str | None] = []  # names; None: what is inside does not concern others
    begin = 0
    for found in BRACE_OR_END.finditer(code):
        statement = code[begin : found.start()].strip()
        begin = found.end()
        if found.group() == "}":
            if scopes:
                scopes.pop()
        elif found.group() == "{":
            if namespace := NAMESPACE.match(statement):
                scopes.append(namespace[1] or None)
                continue
            named = TYPE.match(statement)
            if named and None not in scopes:
                line = code.count("\n", 0, found.start()) + 1
                yield "::".join([*filter(None, scopes), named[1]]), line
            scopes.append(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    folders = [folder.resolve() for folder in parser.parse_args().folders]

    places: dict[str, list[str]] = defaultdict(list)
    for folder in folders:
        for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cpp")]):
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            for name, line in find_types(path.read_text("utf-8")):
                places[name].append(f"{shown}:{line}")

    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{where[0]}: error: {name} is defined also in {', '.join(where[1:])}")
    print(f"{len(places)} types, {len(twice)} of them defined more than once")
    sys.exit(1 if twice or not places else 0)


if __name__ == "__main__":
    main()
