#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the tables of advice.md from Plugin/Advisor/Findings.json."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "IntegrationTests"))

from harness.findings import PAGE, fill_page, read_findings

if __name__ == "__main__":
    PAGE.write_text(fill_page(PAGE.read_text("utf-8"), read_findings()), "utf-8")
