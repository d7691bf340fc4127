# SPDX-License-Identifier: GPL-3.0-or-later
"""An Orthanc at work, only looked at: what others send, where the time goes, what /perf advises.

All it does is GET.
"""

import math
import time
from datetime import datetime, timedelta
from functools import partial
from statistics import fmean

from lab import phases
from lab.cells import Entry, Factors, Figures, Rounds, Stage
from lab.processes import ClientError
from lab.remote import Access, Json, Reader
from lab.report import format_number
from lab.results import Cell

MOMENT = "%Y%m%dT%H%M%S.%f"
CHANGES = 1000  # in one answer of /changes
PEERS = 5  # that are named
WHO = "what came in"
ADVICE = "/perf/advice: "  # before its findings, at the end of a note

MISSING = {
    401: "it wants a user",
    403: "this user may not read /perf there",
    404: "the performance plugin is not loaded there",
}


def describe_server(reader: Reader) -> str:
    """Its release, the plugin's, and its address; raises ClientError if it is no Orthanc."""
    system = reader.get_system()
    status = reader.get("/perf/status")
    plugin = "without the plugin"
    if status.status_code == 200:
        plugin = f"with the plugin {status.json()['Versions']['Plugin']}"
    return f"Orthanc {system['Version']} {plugin}, {reader.access.url}"


def describe_obstacles(reader: Reader) -> dict[str, str]:
    """What cannot be said of this server, and why."""
    status = reader.get("/perf/status")
    if status.status_code != 200:
        why = MISSING.get(status.status_code, "GET /perf/status fails")
        return {"phases, stalls and findings": f"{why} ({status.status_code})"}
    probe = status.json()["Probe"]
    if not probe["Installed"]:
        why = probe.get("Reason", "SocketProbe is false in its configuration")
        return {"stalls, and the phases of sockets and files": f"its probe is not at work: {why}"}
    return {}


def describe_findings(reader: Reader, peers: set[str | None] | None = None) -> list[str]:
    """What /perf/advice says of these peers (None: of the server), or of all; at least a line.

    Raises ClientError where there is no /perf.
    """
    findings = reader.get_json("/perf/advice")
    chosen = [found for found in findings if peers is None or found.get("Peer") in peers]
    lines = [describe_finding(found) for found in chosen] or ["no finding"]
    others = len(findings) - len(chosen)
    return lines + ([f"{others} more about other peers"] if others else [])


def describe_finding(finding: Json) -> str:
    peer = f" ({finding['Peer']})" if finding.get("Peer") else ""
    gain = finding["Cost"].get("EstimatedGain")
    promise = f", {gain:.2g} times as fast without" if gain else ""
    share = finding["Cost"]["ShareOfIngestTime"]
    return f"finding {finding['ID']}{peer}: {finding['Title']} ({share:.0%} of the time{promise})"


class Watch:
    """What has come in since the last look."""

    def __init__(self, access: Access) -> None:
        self.reader = Reader(access)
        self.has_perf = self.reader.get("/perf/status").status_code == 200
        self._peers = self._count_peers()
        self._since = "19700101T000000"
        self._change = 0
        if self.has_perf:
            self._read_history()
        else:
            self._change = self.reader.get_json("/changes", last="")["Last"]

    def look(self, seconds: float) -> Figures:
        begin = time.monotonic()
        time.sleep(seconds)
        if self.has_perf:
            figures = self._read_history()
        else:
            images = self._count_changes()
            figures = count_images(images, time.monotonic() - begin)
        stalls = f"; {figures['stalls']:.2g} stalls an image" if "stalls" in figures else ""
        print(describe_rate(figures) + stalls, flush=True)
        return figures

    def list_senders(self) -> list[str]:
        """Who has sent since the beginning, the most first."""
        sent = {
            name: count - self._peers.get(name, 0) for name, count in self._count_peers().items()
        }
        names = sorted((name for name in sent if sent[name] > 0), key=lambda name: -sent[name])
        return [f"{name} ({sent[name]})" for name in names]

    def _count_peers(self) -> dict[str, int]:
        if not self.has_perf:
            return {}
        peers = self.reader.get_json("/perf/peers")
        return {peer["Name"]: peer["Receive"]["Instances"] for peer in peers if "Receive" in peer}

    def _read_history(self) -> Figures:
        """The seconds that are over since the last time, by the server's own clock."""
        history = self.reader.get_json("/perf/history", resolution="second", since=self._since)
        received = history["Receive"]
        points = len(received["Instances"])
        end = datetime.strptime(history["Begin"], MOMENT)
        end += timedelta(seconds=history["Resolution"] * points)
        self._since = end.strftime(MOMENT)
        instances = sum(received["Instances"])
        length = max(1, points)
        figures: Figures = {
            **count_images(instances, length, sum(received["Bytes"]) / 1e6),
            "sent": sum(history["Send"]["Instances"]) / length,
            "associations": max(history["Associations"], default=0),
        }
        if instances:
            sums = {phase: sum(values) for phase, values in received["Phases"].items()}
            shown = phases.share_phases({k: v for k, v in sums.items() if v > 0}, instances)
            figures |= shown
            if "Stalls" in received:
                figures["stalls"] = sum(received["Stalls"]) / instances
                figures["time in stalls"] = 1000 * sum(received["StallSeconds"]) / instances
        return figures

    def _count_changes(self) -> int:
        """New instances in Orthanc's own journal."""
        count = 0
        while True:
            answer = self.reader.get_json("/changes", since=self._change, limit=CHANGES)
            changes = answer["Changes"]
            count += sum(change["ChangeType"] == "NewInstance" for change in changes)
            if changes:
                self._change = changes[-1]["Seq"]
            if answer["Done"] or not changes:
                return count


def count_images(images: int, seconds: float, megabytes: float | None = None) -> Figures:
    """Of one look. Where nothing came, there is no rate: medians are of busy looks only."""
    figures: Figures = {"images": images, "seconds": seconds}
    if images:
        figures["throughput"] = images / seconds
    if megabytes is not None:
        figures["megabytes"] = megabytes
        if images:
            figures["speed"] = megabytes / seconds
    return figures


def describe_total(looks: list[Figures]) -> list[str]:
    images, seconds = (round(sum(look[key] for look in looks), 1) for key in ("images", "seconds"))
    if not images:
        return [f"- Nothing came in, in {seconds:g} s."]
    megabytes = sum(look.get("megabytes", 0) for look in looks)
    size = f", {format_number(megabytes)} MB" if megabytes else ""
    speed = f", {format_number(megabytes / seconds)} MB/s" if megabytes else ""
    busiest = max(looks, key=lambda look: look.get("throughput", 0))
    came = [look for look in looks if look["images"]]
    return [
        f"- **{images:.0f} images{size} in {seconds:g} s**: {format_number(images / seconds)}"
        f" images/s{speed} over the whole.",
        f"- Busiest: {describe_rate(busiest)} in {busiest['seconds']:.3g} s. Anything came in"
        f" {len(came)} of {len(looks)} intervals; medians and ranges below are of those alone.",
    ]


def answer(cell: Cell) -> list[str]:
    looks = [turn[WHO] for turns in cell.rounds for turn in turns if WHO in turn]
    return describe_total(looks) if looks else []


def describe_rate(figures: Figures) -> str:
    text = f"{format_number(figures.get('throughput', 0))} images/s"
    if "speed" in figures:
        text += f", {format_number(figures['speed'])} MB/s"
    return text


def explain(watch: Watch, _: Factors, rounds: Rounds) -> str:
    if not watch.has_perf:
        return ""
    try:
        senders = watch.list_senders()
        more = f" and {len(senders) - PEERS} more" if len(senders) > PEERS else ""
        text = f"from {', '.join(senders[:PEERS])}{more}" if senders else "nobody has sent"
        looks = [turn[WHO] for (turn,) in rounds]
        most = max(look["associations"] for look in looks)
        rate = fmean(look["sent"] for look in looks)
        text += f"; {format_number(most)} associations open at most"
        text += f"; Orthanc has sent {format_number(rate)} images/s to others"
        return f"{text}; {ADVICE}{'; '.join(describe_findings(watch.reader))}"
    except ClientError as error:
        return str(error)


def make_stages(access: Access, server: str, seconds: float, interval: float) -> list[Stage]:
    watch = Watch(access)
    print(f"Watches {server} for {seconds:.0f} s; sends nothing.", flush=True)
    looks = max(1, math.ceil(seconds / interval))
    cells = [{"Server": server, "Watched": f"{seconds:.0f} s"}]
    look = {WHO: partial(watch.look, min(interval, seconds))}

    def enter(_: Factors) -> Entry:
        return Entry(look, describe_obstacles(watch.reader))

    # Each look is a round of its own: whoever interrupts it keeps those before
    return [Stage(cells, lambda *_: enter, 1, math.inf, looks, partial(explain, watch))]
