# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests stand on: a real Orthanc, real clients, and images made for the purpose."""
