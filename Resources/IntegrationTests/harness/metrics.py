# SPDX-License-Identifier: GPL-3.0-or-later
"""The plugin's metrics as a Prometheus server reads them."""

import time
from collections.abc import Callable

from prometheus_client.parser import text_string_to_metric_families

from harness.orthanc import Json, OrthancServer

PREFIX = "orthanc_perf_"
INSTANCES = PREFIX + "ingest_instances_total"
BYTES = PREFIX + "ingest_bytes_total"
STALLS = PREFIX + "stalls_total"
STALL_SECONDS = PREFIX + "stall_seconds_total"
ASSOCIATIONS = PREFIX + "associations_total"
PEER_INSTANCES = PREFIX + "peer_instances_total"
IN_FLIGHT = PREFIX + "ingest_in_flight"

# What a test waits for comes within seconds, unless the machine is busy
PATIENCE_SECONDS = 60


class Metrics:
    def __init__(self, text: str) -> None:
        self.text = text
        self.families = list(text_string_to_metric_families(text))

    def list_names(self) -> set[str]:
        return {sample.name for family in self.families for sample in family.samples}

    def sum(self, name: str, **labels: str) -> float:
        """The sum of all samples of this name that have these labels, 0 if there is none."""
        return sum(
            sample.value
            for family in self.families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def group(self, name: str, *labels: str) -> dict[tuple[str, ...], int]:
        """The non-zero samples of this name, by the values of these labels."""
        groups: dict[tuple[str, ...], int] = {}
        for family in self.families:
            for sample in family.samples:
                if sample.name == name and sample.value != 0:
                    key = tuple(sample.labels.get(label, "") for label in labels)
                    groups[key] = groups.get(key, 0) + int(sample.value)
        return groups


def scrape(server: OrthancServer) -> Metrics:
    response = server.get("/perf/metrics")
    response.raise_for_status()
    return Metrics(response.text)


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def get_peer(server: OrthancServer, name: str, direction: str = "Receive") -> Json:
    found = [peer for peer in server.get_json("/perf/peers") if peer["Name"] == name]
    assert len(found) == 1, f"{name} is there {len(found)} times"
    return found[0][direction]


def wait_for(
    server: OrthancServer, peer: str, outcome: str, direction: str = "receive", count: int = 1
) -> Json:
    """Until so many associations with this peer have ended so, and no other has; its figures."""

    def has_ended() -> bool:
        metrics = scrape(server)
        labels = {"peer": peer, "direction": direction}
        ended = metrics.sum(ASSOCIATIONS, **labels, outcome=outcome)
        return ended == metrics.sum(ASSOCIATIONS, **labels) == count

    # What is over is counted within half a second, a call that fails a second later
    assert wait_until(has_ended, 10), scrape(server).group(ASSOCIATIONS, "peer", "outcome")
    figures = get_peer(server, peer, direction.capitalize())
    assert figures["Associations"][outcome.capitalize()] == count
    assert figures["Associations"]["Open"] == 0
    return figures


def scrape_when_counted(server: OrthancServer, instances: int) -> Metrics:
    """A scrape once this many instances have an outcome, or when waiting has been in vain."""
    wait_until(lambda: scrape(server).sum(INSTANCES) >= instances)
    return scrape(server)
