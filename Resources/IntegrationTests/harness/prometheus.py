# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Prometheus server."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import requests

from harness.orthanc import OrthancServer, find_free_port

RULES = Path(__file__).parents[2] / "Prometheus"


def adapt_rules(folder: Path) -> list[Path]:
    """The project's rules as they are, but for patience."""
    paths = []
    for name in ("recording.yml", "alerting.yml"):
        text = (RULES / name).read_text("utf-8")
        text = re.sub(r"for: \d+m", "for: 1s", text).replace("interval: 15s", "interval: 1s")
        paths.append(folder / name)
        paths[-1].write_text(text, "utf-8")
    return paths


def list_jobs(target: OrthancServer) -> list[dict[str, Any]]:
    """The jobs of one Orthanc: as in a hospital, its own metrics are scraped, too."""
    return [
        {
            "job_name": job,
            "metrics_path": path,
            "static_configs": [{"targets": [f"127.0.0.1:{target.http_port}"]}],
        }
        for job, path in (
            ("orthanc", "/perf/metrics"),
            ("orthanc-own", "/tools/metrics-prometheus"),
        )
    ]


class PrometheusServer:
    """A real Prometheus that scrapes these jobs and itself every second."""

    def __init__(
        self, folder: Path, jobs: Sequence[dict[str, Any]], rules: Sequence[Path] = ()
    ) -> None:
        self.port = find_free_port()
        self.log = folder / "prometheus.log"
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(path) for path in rules],
            "scrape_configs": [
                *jobs,
                {
                    "job_name": "prometheus",
                    "static_configs": [{"targets": [f"127.0.0.1:{self.port}"]}],
                },
            ],
        }
        # JSON is YAML
        path = folder / "prometheus.yml"
        path.write_text(json.dumps(configuration), "utf-8")
        self._command = [
            "prometheus",
            f"--config.file={path}",
            f"--storage.tsdb.path={folder / 'prometheus'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]

    def __enter__(self) -> "PrometheusServer":
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def query(self, expression: str) -> list[dict[str, Any]]:
        try:
            response = requests.get(
                f"http://127.0.0.1:{self.port}/api/v1/query",
                params={"query": expression},
                timeout=10,
            )
        except requests.ConnectionError:
            return []  # not yet up
        if response.status_code == requests.codes.service_unavailable:
            return []  # not yet ready
        response.raise_for_status()
        return response.json()["data"]["result"]
