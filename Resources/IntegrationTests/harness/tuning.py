# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin's tuning of DICOM sockets, changed as a user changes it."""

from harness.orthanc import Json, OrthancServer


def tune_sockets(server: OrthancServer, **keys: Json) -> Json:
    """Merges keys into "DicomSockets", and returns all that are in force then."""
    return server.tune(DicomSockets=keys)["DicomSockets"]
