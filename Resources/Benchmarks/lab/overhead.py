# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugin costs: ingest with it and without it, and what its probe costs alone."""

from pathlib import Path

from harness.images import make_ct_series
from lab.side_by_side import (
    Contestant,
    Contestants,
    Load,
    make_http_load,
    make_storescu_load,
)

# DCMTK's own switch: 1 turns Nagle's algorithm off, so that no stall covers up what is measured
NO_DELAY = {"TCP_NODELAY": "1"}

# The same options as that environment sets, and no others
SAME_SOCKETS = {
    "Tuning": {
        "DicomSockets": {
            "TcpNoDelay": True,
            "TcpQuickAck": False,
            "KeepAliveSeconds": 0,
            "UserTimeoutSeconds": 0,
        }
    }
}


def make_overhead_contestants(plugin: Path) -> Contestants:
    """Both with the environment, so that the plugin has nothing to win."""
    return (
        Contestant("without the plugin", environment=NO_DELAY),
        Contestant("with the plugin", [plugin], SAME_SOCKETS, NO_DELAY),
    )


def make_probe_contestants(plugin: Path) -> Contestants:
    """The sockets tuned by the environment, or by the plugin's probe."""
    return (
        Contestant("TCP_NODELAY=1 in the environment, no plugin", environment=NO_DELAY),
        Contestant("no-delay set by the plugin, quick ACK off", [plugin], SAME_SOCKETS),
    )


def make_probe_only_contestants(plugin: Path) -> Contestants:
    """The plugin in both: only the probe differs."""
    without = {**SAME_SOCKETS, "SocketProbe": False}
    return (
        Contestant("the plugin without its probe", [plugin], without, NO_DELAY),
        Contestant("the plugin with its probe", [plugin], SAME_SOCKETS, NO_DELAY),
    )


def make_equal_contestants() -> Contestants:
    """Orthanc against itself: how far from 1 the noise alone takes the ratio."""
    return (
        Contestant("without the plugin", environment=NO_DELAY),
        Contestant("without the plugin, again", environment=NO_DELAY),
    )


def make_loads(images_folder: Path, instances: int, names: list[str]) -> list[Load]:
    images = make_ct_series(images_folder, "overhead", instances)
    contents = [image.read_bytes() for image in images]
    loads = {
        "http-1": make_http_load(contents, 1),
        "http-4": make_http_load(contents, 4),
        "storescu": make_storescu_load("storescu with TCP_NODELAY=1", images, NO_DELAY),
    }
    return [loads[name] for name in names]
