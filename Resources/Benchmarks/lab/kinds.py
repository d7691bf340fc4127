# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kind of Orthanc a server is: where its DCMTK comes from, and what that does to sockets."""

import socket
import time
from pathlib import Path

from harness.orthanc import OrthancServer
from harness.sockets import read_options, show

SECONDS = 1  # until DCMTK has accepted a connection, and set its options


def has_nagle(server: OrthancServer) -> bool:
    """Whether Nagle's algorithm is on for the DICOM connections of a server without the plugin."""
    with socket.create_connection(("127.0.0.1", server.dicom_port)):
        time.sleep(SECONDS)
        shown = show(server, own_port=server.dicom_port)
        return not read_options(server, shown.fd).no_delay


def describe_kind(server: OrthancServer) -> str:
    version = server.get_json("/system")["Version"]
    maps = Path(f"/proc/{server.pid}/maps").read_text("utf-8", "replace")
    dcmtk = "a shared library" if "/libdcmnet.so" in maps else "part of it"
    nagle = "on" if has_nagle(server) else "off"
    return f"Orthanc {version} (DCMTK is {dcmtk}; Nagle's algorithm is {nagle} as it comes)"
