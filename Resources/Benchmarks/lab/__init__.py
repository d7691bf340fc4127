# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab: speeds of a real Orthanc with real clients, as ratios measured in one run."""
