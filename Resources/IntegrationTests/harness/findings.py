# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings.json, and the tables of advice.md that are made of it."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
FINDINGS = ROOT / "Plugin" / "Advisor" / "Findings.json"
PAGE = ROOT / "Resources" / "Documentation" / "advice.md"

TABLE = re.compile(r"(<!-- findings: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = {"Meaning": "what it means", "Evidence": "evidence", "Remedy": "remedy"}


def read_findings() -> dict[str, dict[str, Any]]:
    findings: dict[str, dict[str, Any]] = json.loads(FINDINGS.read_text("utf-8"))
    return findings


def make_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def list_rows(name: str, finding: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """First cell and others: of the finding, and of those of its variants that have a row."""
    documentation = finding["Documentation"]
    names = [name, f"{name}-sending"] if documentation.get("BothWays") else [name]
    rows = [(", ".join(f"`{one}`" for one in names), documentation)]
    for variant, texts in finding.get("Variants", {}).items():
        if "Documentation" in texts:
            rows.append((f"… `{variant}`", texts["Documentation"]))
    return rows


def make_table(section: str, findings: dict[str, dict[str, Any]]) -> str:
    rows = [
        row
        for name, finding in findings.items()
        if finding["Documentation"]["Section"] == section
        for row in list_rows(name, finding)
    ]
    columns = [key for key in COLUMNS if any(key in row for _, row in rows)]
    table = make_row(["identifier", *(COLUMNS[key] for key in columns)])
    table += make_row(["---"] * (len(columns) + 1))
    for identifier, row in rows:
        table += make_row([identifier, *(row[key] for key in columns)])
    return table


def fill_page(page: str, findings: dict[str, dict[str, Any]]) -> str:
    return TABLE.sub(
        lambda match: f"{match[1]}\n{make_table(match[2], findings)}\n{match[3]}", page
    )
