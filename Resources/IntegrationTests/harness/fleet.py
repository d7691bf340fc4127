# SPDX-License-Identifier: GPL-3.0-or-later
"""What the project has for several Orthancs side by side."""

from pathlib import Path

FLEET = Path(__file__).resolve().parents[2] / "Fleet"
