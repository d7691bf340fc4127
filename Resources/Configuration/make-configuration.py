#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the configuration with which run-orthanc.sh starts Orthanc.

Needs Python's standard library only, so that it runs before anything is installed.
"""

import argparse
import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# Where Debian's orthanc-dicomweb, which setup.sh does not install, puts its plugin
DICOMWEB = Path("/usr/share/orthanc/plugins/libOrthancDicomWeb.so")

# Debian's, for peers with https:// URLs: without a file, Orthanc 1.10.1 takes the folder of its
# configuration for one
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# A string, which is kept, or one of the comments that Orthanc allows in its configuration
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--http-port", type=int)
    parser.add_argument("--dicom-port", type=int)
    parser.add_argument("--storage", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--check", action="store_true", help="say what is wrong, write nothing")
    return parser.parse_args()


def read_configuration(path: Path) -> dict[str, Any]:
    """Reads a configuration file as Orthanc does: JSON with comments."""
    text = STRING_OR_COMMENT.sub(lambda match: match.group(1) or " ", path.read_text("utf-8"))
    try:
        configuration = json.loads(text)
    except json.JSONDecodeError as error:
        sys.exit(f"{path}: not JSON: {error}")
    if not isinstance(configuration, dict):
        sys.exit(f"{path}: a configuration is a JSON object")
    return configuration


# "AuthenticationEnabled" is left to Orthanc: off as long as only this machine has access, on where
# the user's configuration lets others in and does not say otherwise (from Orthanc 1.5.8 on)
def make_configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    configuration: dict[str, Any] = {
        "Name": "Orthanc with the performance plugin",
        "HttpPort": 8042,
        "DicomPort": 4242,
        "StorageDirectory": str(ROOT / "build" / "storage"),
        "RemoteAccessAllowed": False,
        "Plugins": [],
    }
    if CERTIFICATES.exists():
        configuration["HttpsCACertificates"] = str(CERTIFICATES)
    if arguments.config:
        configuration.update(read_configuration(arguments.config))

    if arguments.http_port:
        configuration["HttpPort"] = arguments.http_port
    if arguments.dicom_port:
        configuration["DicomPort"] = arguments.dicom_port
    if arguments.storage:
        configuration["StorageDirectory"] = str(arguments.storage)
        configuration.pop("IndexDirectory", None)

    ours = [arguments.plugin.resolve()] + ([DICOMWEB] if DICOMWEB.exists() else [])
    listed = [Path(path) for path in configuration["Plugins"]]
    added = [path for path in ours if not is_covered(path, listed)]
    configuration["Plugins"] = [str(path) for path in listed + added]
    return configuration


def is_covered(plugin: Path, listed: list[Path]) -> bool:
    """Whether the plugin, or a folder with it, is listed: Orthanc refuses to load one twice."""
    return any(path == plugin or path in plugin.parents for path in listed)


def find_taken_ports(configuration: dict[str, Any]) -> list[str]:
    """A line for each port that Orthanc will not get, with the option that names another one."""
    problems = []
    ports: list[int] = []
    for key, server in (("HttpPort", "HttpServerEnabled"), ("DicomPort", "DicomServerEnabled")):
        port = configuration[key]
        if not isinstance(port, int) or not configuration.get(server, True):
            continue
        option = "--" + key.removesuffix("Port").lower() + "-port"
        if port in ports:
            problems.append(f"{key} {port} is already the HttpPort: choose another by {option}")
        ports.append(port)
        with socket.socket() as listener:
            # As Orthanc does: a port whose last connections have just been closed is free
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("", port))
            except (OSError, OverflowError) as error:
                problems.append(
                    f"{key} {port} is not available ({error}): choose another by {option}"
                )
    return problems


def find_known_password(configuration: dict[str, Any]) -> list[str]:
    """A line if others would be let in by a password that everybody knows.

    That is the one of the default user "orthanc", which Orthanc (1.5.8 to 1.12.11) makes where none
    are configured.
    """
    if (
        configuration["RemoteAccessAllowed"]
        and configuration.get("AuthenticationEnabled", True)
        and "RegisteredUsers" not in configuration
    ):
        return ['"RemoteAccessAllowed" needs "RegisteredUsers": {"NAME": "PASSWORD"}, too']
    return []


def main() -> None:
    arguments = parse_arguments()
    configuration = make_configuration(arguments)
    if problems := find_known_password(configuration) + find_taken_ports(configuration):
        sys.exit("\n".join(problems))
    if arguments.check:
        return
    Path(configuration["StorageDirectory"]).mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(configuration, indent=2) + "\n", "utf-8")

    address = f"http://localhost:{configuration['HttpPort']}/perf"
    print(f"Dashboard  {address}")
    print(f"Metrics    {address}/metrics")
    print(f"DICOM      port {configuration['DicomPort']}", flush=True)


if __name__ == "__main__":
    main()
