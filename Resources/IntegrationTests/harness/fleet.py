# SPDX-License-Identifier: GPL-3.0-or-later
"""Several Orthancs side by side, and what Resources/Fleet has for them, at work."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.process import run

FLEET = Path(__file__).resolve().parents[2] / "Fleet"
PERF_FLEET = FLEET / "perf-fleet"


def write_fleet(folder: Path, servers: Mapping[str, str], user: str | None = None) -> Path:
    lines = [f"user = {json.dumps(user)}"] if user else []
    lines.append("[servers]")
    lines += [f"{json.dumps(name)} = {json.dumps(servers[name])}" for name in servers]
    path = folder / "fleet.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def run_perf_fleet(
    fleet: Path, *words: str, password: str | None = None, content: str = ""
) -> subprocess.CompletedProcess[str]:
    """A busy machine's servers may take longer to answer than a hospital's."""
    environment = {name: os.environ[name] for name in os.environ if name != "PERF_FLEET_PASSWORD"}
    if password is not None:
        environment["PERF_FLEET_PASSWORD"] = password
    command = [sys.executable, PERF_FLEET, "--fleet", fleet, "--timeout", "60", *words]
    return run(command, env=environment, input=content)
