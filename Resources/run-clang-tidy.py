#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""run-clang-tidy.py BUILD [FILE...]: clang-tidy on all processors, in the project's folder.

A header is looked at with a source that includes it. BUILD is a folder that Ninja has built. What
was found to be clean before, in this clone or another, is not looked at again: the same file with
the same headers, command, checks and clang-tidy. That is remembered as empty files in
~/.cache/orthanc-perf/clang-tidy, for a month since their last use.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

KEPT = 30 * 24 * 3600  # seconds
CACHE = (
    Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "orthanc-perf" / "clang-tidy"
)

# Made by the compiler of the build, which clang-tidy cannot read
PRECOMPILED = re.compile(r"-Winvalid-pch|-include \S*/cmake_pch\.hxx")

# What clang-tidy says of itself rather than of the code
NOISE = re.compile(r"^$|warnings? generated|^Suppressed|^Use -")


@cache
def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_commands(build: Path) -> dict[Path, dict[str, str]]:
    """One command for each source: several programs may be built from it."""
    commands = json.loads((build / "compile_commands.json").read_text("utf-8"))
    for command in commands:
        command["command"] = PRECOMPILED.sub("", command["command"])
    return {Path(command["file"]): command for command in commands}


def read_dependencies(build: Path) -> dict[Path, set[Path]]:
    """What each source was compiled from, as the compiler told Ninja."""
    text = subprocess.check_output(["ninja", "-C", build, "-t", "deps"], text=True)
    dependencies: dict[Path, set[Path]] = {}
    for block in text.split("\n\n"):
        paths = [(build / line.strip()).resolve() for line in block.splitlines()[1:]]
        paths = [path for path in paths if not path.name.startswith("cmake_pch.hxx")]
        if paths:
            dependencies.setdefault(paths[0], set()).update(paths)
    return dependencies


class Tidy:
    """clang-tidy on files of one build."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.root = Path.cwd()
        self.commands = read_commands(build)
        self.dependencies = read_dependencies(build)
        self.arguments = ["clang-tidy", "-quiet", "-p", str(folder)]
        database = json.dumps(list(self.commands.values()))
        (folder / "compile_commands.json").write_text(database, "utf-8")
        version = subprocess.check_output(["clang-tidy", "--version"], text=True)
        self.settings = [version, hash_file(Path(".clang-tidy"))]

    def find_stamp(self, file: Path) -> Path | None:
        """What says that it is clean; none where nobody knows what it depends on."""
        dependencies = self.dependencies.get(file)
        if dependencies is None:
            return None
        parts = [*self.settings, self.commands[file]["command"].replace(str(self.root), ".")]
        for path in sorted(dependencies):
            parts += [os.path.relpath(path, self.root), hash_file(path)]
        return CACHE / hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def check(self, file: Path) -> bool:
        stamp = self.find_stamp(file)
        if stamp is not None and stamp.exists():
            stamp.touch()
            return True
        done = subprocess.run(
            [*self.arguments, os.path.relpath(file, self.root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = [line for line in done.stdout.splitlines() if not NOISE.search(line)]
        print("".join(f"{line}\n" for line in lines), end="", flush=True)
        is_clean = done.returncode == 0
        if is_clean and not lines and stamp is not None:
            stamp.touch()
        return is_clean


def choose_sources(files: list[Path], dependencies: dict[Path, set[Path]]) -> list[Path]:
    """These sources, and for each header that none of them includes one that does."""
    sources = [file for file in files if file.suffix == ".cpp"]
    for header in (file for file in files if file.suffix != ".cpp"):
        if not any(header in dependencies.get(source, ()) for source in sources):
            users = sorted(source for source, used in dependencies.items() if header in used)
            sources += sorted(users, key=lambda user: user.stem != header.stem)[:1]
    return sources


def main() -> None:
    build, *names = sys.argv[1:]
    CACHE.mkdir(parents=True, exist_ok=True)
    for stamp in CACHE.iterdir():
        if stamp.stat().st_mtime < time.time() - KEPT:
            stamp.unlink(missing_ok=True)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        tidy = Tidy(Path(build).resolve(), Path(folder))
        files = choose_sources([Path(name).resolve() for name in names], tidy.dependencies)
        print(f"clang-tidy looks at {len(files)} files", flush=True)
        results = list(pool.map(tidy.check, files))
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
