# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of reference.md, made from openapi.yaml, Findings.json, perf.json and the code."""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import yaml

from harness.process import run
from harness.tables import fill_table, make_rows

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "Resources" / "Documentation" / "reference.md"
DESCRIPTION = PAGE.with_name("openapi.yaml")
FINDINGS = ROOT / "Plugin" / "Advisor" / "Findings.json"
SAMPLE = ROOT / "Resources" / "Configuration" / "perf.json"
UNIT_TESTS = ROOT / "build" / "UnitTests"

COLUMNS = {"Meaning": "what it means", "Evidence": "evidence", "Remedy": "remedy"}
PRESET = "Sets all other keys of this section at once."  # has no line in the sample


def _follow(description: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    for name in part.get("$ref", "").split("/")[1:]:
        description = description[name]
    return description if "$ref" in part else part


def make_routes() -> list[str]:
    description = yaml.safe_load(DESCRIPTION.read_text("utf-8"))
    rows = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            parameters = [_follow(description, one) for one in operation.get("parameters", [])]
            names = [f"`{one['name']}`" for one in parameters if one["in"] == "query"]
            rows.append([f"`{path}`", method.upper(), ", ".join(names), operation["summary"]])
    return make_rows(["route", "method", "arguments", "answer"], rows)


def read_findings() -> dict[str, dict[str, Any]]:
    findings: dict[str, dict[str, Any]] = json.loads(FINDINGS.read_text("utf-8"))
    return findings


def _list_rows(name: str, finding: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """First cell and others: of the finding, and of those of its variants that have a row."""
    documentation = finding["Documentation"]
    names = [name, f"{name}-sending"] if documentation.get("BothWays") else [name]
    rows = [(", ".join(f"`{one}`" for one in names), documentation)]
    for variant, texts in finding.get("Variants", {}).items():
        if "Documentation" in texts:
            rows.append((f"… `{variant}`", texts["Documentation"]))
    return rows


def make_findings(section: str) -> list[str]:
    rows = [
        row
        for name, finding in read_findings().items()
        if finding["Documentation"]["Section"] == section
        for row in _list_rows(name, finding)
    ]
    columns = [key for key in COLUMNS if any(key in row for _, row in rows)]
    return make_rows(
        ["identifier", *(COLUMNS[key] for key in columns)],
        [[identifier, *(row[key] for key in columns)] for identifier, row in rows],
    )


def read_comments() -> dict[tuple[str, str], str]:
    """By section and key, the comment of the sample before it, without its end in brackets."""
    comments, section, text = {}, "", ""
    for line in SAMPLE.read_text("utf-8").splitlines():
        key = re.match(r'\s*"(\w+)" : (.*)', line)
        if line.strip().startswith("//"):
            text += " " + line.strip(" /")
        elif key:
            comments[section, key[1]] = re.sub(r" \[[^]]*\]$", "", text.strip())
            section = key[1] if key[2] == "{" else section
        if not line.strip().startswith("//"):
            text = ""
    return comments


def make_settings(section: str, rows: list[str]) -> list[str]:
    """Of rows that end before the text."""
    comments = read_comments()
    lines = make_rows(["key", "type", "allowed", "default", "what it does"], [])
    for row in rows:
        name = row.split("`")[1]
        lines.append(f"{row}{PRESET if name == 'Preset' else comments[section, name]} |")
    return lines


def read_code() -> dict[str, list[str]]:
    """The tables that the unit tests write, by name; settings without their texts."""
    with tempfile.TemporaryDirectory() as folder:
        command = [UNIT_TESTS, "--gtest_filter=Reference.*", "--gtest_brief=1"]
        run(command, env=os.environ | {"PERF_TABLES": folder}, check=True)
        return {path.name: path.read_text("utf-8").splitlines() for path in Path(folder).iterdir()}


def fill_page(text: str) -> str:
    tables = {"routes": make_routes()}
    for section in {finding["Documentation"]["Section"] for finding in read_findings().values()}:
        tables[f"findings {section}"] = make_findings(section)
    for name, lines in read_code().items():
        tables[name] = lines if name == "metrics" else make_settings(name, lines)
    for name, lines in tables.items():
        text = fill_table(text, name, lines)
    return text
