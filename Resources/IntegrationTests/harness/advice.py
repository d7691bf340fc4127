# SPDX-License-Identifier: GPL-3.0-or-later
"""GET /perf/advice as a test reads it."""

import time
from collections.abc import Callable, Sequence

from harness.clients import store
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer

# The plugin takes up the last instances of an association, and looks at those open, some tenths of
# a second later
SECONDS = 10

# Rules about what is open or at work at once ask for some seconds of traffic; how many images that
# takes depends on the machine
LOAD_SECONDS = 60

ATTEMPTS = 3


def list_findings(server: OrthancServer) -> list[tuple[str, str | None]]:
    return [(finding["ID"], finding.get("Peer")) for finding in server.get_json("/perf/advice")]


def list_about(server: OrthancServer, peer: str) -> list[str]:
    """The identifiers of the findings about this peer; a busy disk may have one of its own."""
    return [identifier for identifier, other in list_findings(server) if other == peer]


def list_kinds(server: OrthancServer) -> set[str]:
    return {identifier for identifier, _ in list_findings(server)}


def get_phases(server: OrthancServer) -> Json:
    return server.get_json("/perf/status")["Windows"][1]["Receive"]["Phases"]


def find(server: OrthancServer, identifier: str, peer: str | None = None) -> Json:
    """The one finding of this kind about this peer (None: the server), once it is there."""
    found: list[Json] = []

    def is_there() -> bool:
        found[:] = [
            finding
            for finding in server.get_json("/perf/advice")
            if finding["ID"] == identifier and finding.get("Peer") == peer
        ]
        return bool(found)

    assert wait_until(is_there, SECONDS), (
        f"no {identifier} of {peer}: {server.get_json('/perf/advice')}"
    )
    assert len(found) == 1
    return found[0]


def find_under_load(server: OrthancServer, identifier: str, load: Callable[[], object]) -> Json:
    """The one finding of this kind about the server, after as much of the load as it takes."""
    end = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < end and (identifier, None) not in list_findings(server):
        load()
    return find(server, identifier)


def store_anew(server: OrthancServer, images: Sequence[Image]) -> None:
    """Images that Orthanc has forgotten, until the plugin has taken up the last of them."""
    server.delete_all()
    store(server, images)
    time.sleep(1)


def ends(server: OrthancServer, identifier: str, load: Callable[[], object]) -> bool:
    """Whether this load, one of so many, leaves no finding of this kind, all else forgotten."""
    for _ in range(2 * ATTEMPTS):
        server.begin_anew()
        load()
        if goes_away(server, identifier, 0):
            return True
    return False


def goes_away(server: OrthancServer, identifier: str, seconds: float = SECONDS) -> bool:
    """Whether the server has no finding of this kind, about any peer, in time."""
    return wait_until(lambda: identifier not in list_kinds(server), seconds)


def apply(server: OrthancServer, finding: Json) -> None:
    """What the button Apply of the dashboard does."""
    assert finding["Remedy"]["Kind"] == "Tuning"
    server.tune(**finding["Remedy"]["Tuning"])


# A promise that comes true by less than this part of it is none: other things on the machine take
# their time, too
KEPT = 0.4


def check_gain(finding: Json, before: float, after: float) -> None:
    """What the finding promises against what its remedy gave, by the seconds of both."""
    promised, gain = finding["Cost"]["EstimatedGain"], before / after
    print(f"{finding['ID']}: estimated gain {promised:.2f}, measured {gain:.2f}")
    assert gain > 1
    assert gain >= KEPT * promised


def read_all(images: Sequence[Image]) -> list[bytes]:
    return [image.read_bytes() for image in images]


def configure(server: OrthancServer, finding: Json) -> None:
    """The options of the remedy, and the restart that it asks for."""
    assert finding["Remedy"]["Kind"] == "Configuration"
    server.begin_anew(**finding["Remedy"]["Configuration"])
