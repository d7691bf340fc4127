# SPDX-License-Identifier: GPL-3.0-or-later
"""Several Orthancs side by side, and what Resources/Fleet has for them, at work."""

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from unittest import mock

FLEET = Path(__file__).resolve().parents[2] / "Fleet"
PERF_FLEET = FLEET / "perf-fleet"


def write_fleet(folder: Path, servers: Mapping[str, str], user: str | None = None) -> Path:
    """The file of perf-fleet with these servers."""
    lines = [f"user = {json.dumps(user)}"] if user else []
    lines += [
        "[servers]",
        *(f"{json.dumps(name)} = {json.dumps(servers[name])}" for name in servers),
    ]
    path = folder / "fleet.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def make_command(fleet: Path, *words: str) -> list[str]:
    """The command; a busy machine's servers may take longer to answer than a hospital's."""
    return [sys.executable, str(PERF_FLEET), "--fleet", str(fleet), "--timeout", "60", *words]


def run_perf_fleet(
    fleet: Path, *words: str, password: str | None = None, content: str = ""
) -> subprocess.CompletedProcess[str]:
    """In this process: a new one takes longer to import requests than to ask."""
    environment = {name: os.environ[name] for name in os.environ if name != "PERF_FLEET_PASSWORD"}
    if password is not None:
        environment["PERF_FLEET_PASSWORD"] = password
    command = make_command(fleet, *words)
    output, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch("sys.stdin", io.StringIO(content)),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            code = _load().main(command[2:])
        except SystemExit as error:
            code = int(error.code or 0)
    return subprocess.CompletedProcess(command, code, output.getvalue(), errors.getvalue())


@functools.cache
def _load() -> ModuleType:
    loader = SourceFileLoader("perf_fleet", str(PERF_FLEET))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # where its data classes look
    with mock.patch("sys.dont_write_bytecode", True):  # the folder is what packages are made of
        loader.exec_module(module)
    return module
