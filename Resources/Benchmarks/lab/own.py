# SPDX-License-Identifier: GPL-3.0-or-later
"""An Orthanc that exists already: how fast it takes images, and what its /perf says of it.

It is asked before anything is sent. What is sent has a PatientID and UIDs of its own, which nobody
else's study can have, so that what is removed can be nobody else's. After each turn it is removed
again, and also when the run is interrupted or fails; what cannot be removed is named. With --watch
nothing is sent at all (watch.py). No setting of the server is ever changed.
"""

import argparse
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from urllib.parse import urlsplit

import pydicom

from harness.images import identify
from lab import phases, watch
from lab.cells import Bench, Contestant, Entry, Experiment, Factors, Figure, Figures, Rounds, Stage
from lab.options import make_series
from lab.processes import CLIENT_SECONDS, ClientError, run_clients
from lab.remote import (
    Access,
    Json,
    Reader,
    Writer,
    measure_round_trip,
    read_access,
    upload_all,
)
from lab.senders import STORESCU
from lab.watch import describe_findings, describe_obstacles, describe_server

TITLE = "PERF_LAB"  # as whom it calls
QUIET_SECONDS = 2.0  # without a late image, after a sender was killed
PERF_SECONDS = 10.0  # until /perf has the last instances
OTHERS = 1000  # instances that others send during a turn, at most, for /perf to be asked


@dataclass(frozen=True)
class Sample:
    """The images of one run, under names of its own."""

    patient: str
    study_uid: str
    series_uid: str
    files: list[Path]
    contents: list[bytes]

    @property
    def study(self) -> str:
        return identify(self.patient, self.study_uid)

    @property
    def series(self) -> str:
        return identify(self.patient, self.study_uid, self.series_uid)

    def describe(self) -> str:
        return f"PatientID {self.patient}, StudyInstanceUID {self.study_uid}, /studies/{self.study}"

    def count_bytes(self) -> int:
        return sum(map(len, self.contents))


def make_uid() -> str:
    return f"2.25.{uuid.uuid4().int}"  # DICOM PS3.5, annex B.2


@dataclass(frozen=True)
class Names:
    """Names that nobody has: made once for a run, and told before it begins."""

    patient: str
    study_uid: str
    series_uid: str


def make_names() -> Names:
    return Names(f"PERF-LAB-{uuid.uuid4().hex[:12]}", make_uid(), make_uid())


def make_sample(names: Names, count: int, folder: Path) -> Sample:
    """The lab's CT series under these names."""
    files = []
    for number, image in enumerate(make_series("own", count)):
        dataset = pydicom.dcmread(image.path)
        dataset.PatientID = names.patient
        dataset.PatientName = "Performance^Lab"
        dataset.StudyInstanceUID = names.study_uid
        dataset.SeriesInstanceUID = names.series_uid
        dataset.FrameOfReferenceUID = make_uid()
        dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = make_uid()
        files.append(folder / f"{number:04}.dcm")
        dataset.save_as(files[-1], enforce_file_format=True)
    contents = [path.read_bytes() for path in files]
    return Sample(names.patient, names.study_uid, names.series_uid, files, contents)


class StrangerError(ClientError):
    """What was sent went to another server than the one that was named."""


class Site:
    """The server, and what this run has sent to it."""

    def __init__(self, arguments: argparse.Namespace, access: Access, sample: Sample) -> None:
        self._arguments = arguments
        self._access = access
        self._sample = sample
        self.writer = Writer(access)
        self._has_perf = self.writer.get("/perf/status").status_code == 200
        self._may_hold_some = False
        if self.writer.get(f"/studies/{sample.study}").status_code != 404:
            raise ClientError(f"the server should have no study {sample.study}")

    def list_ways(self) -> dict[str, Callable[[int], float]]:
        """Each sends the first images, so many, and says how long it took."""
        ways: dict[str, Callable[[int], float]] = {}
        for number in self._arguments.connections:
            name = f"POST, {number} connection{'s' if number > 1 else ''}"
            ways[name] = partial(self._post, number)
        dicom = find_dicom(self._arguments, self._access, self.writer.get_json("/system"))
        if dicom is not None:
            for number in self._arguments.connections:
                name = f"C-STORE, {number} association{'s' if number > 1 else ''}"
                ways[name] = partial(self._store, dicom, number)
        return ways

    def try_way(self, way: Callable[[int], float]) -> str:
        """Whether it works, and what it sends can be removed again, by one image: or why not.

        A stranger gets no second one.
        """
        try:
            self._send(way, 1)
        except StrangerError:
            raise
        except ClientError as error:
            self.remove(QUIET_SECONDS)
            return str(error)
        self.remove()
        return ""

    def measure(self, way: Callable[[int], float]) -> Figures:
        count = len(self._sample.files)
        known = {(seen["ID"], seen["FinishedAt"]) for seen in self._list_recent()}
        seconds, identifiers = self._send(way, count)
        figures = {
            "throughput": count / seconds,
            "speed": self._sample.count_bytes() / 1e6 / seconds,
            **self._ask_perf(identifiers, known),
        }
        self.remove()
        return figures

    def remove(self, quiet_seconds: float = 0) -> None:
        """All that was sent, also what arrives within so many seconds.

        Raises ClientError, which names it, if anything stays or may have stayed.
        """
        if not self._may_hold_some:
            return
        try:
            end = time.monotonic() + quiet_seconds
            while True:
                found = self.writer.find_studies(self._sample.study_uid) if quiet_seconds else []
                for study in {self._sample.study, *found}:
                    self.writer.delete_study(study)
                if found:
                    end = time.monotonic() + quiet_seconds
                if time.monotonic() >= end:
                    break
                time.sleep(0.2)
            if self.writer.get(f"/studies/{self._sample.study}").status_code != 404:
                raise ClientError("the study is still there after DELETE")
        except ClientError as error:
            raise ClientError(
                f"NOT REMOVED from {self._access.url}: {self._sample.describe()}: {error}"
            ) from error
        self._may_hold_some = False

    def _send(self, way: Callable[[int], float], count: int) -> tuple[float, set[str]]:
        """How long it took, and Orthanc's identifiers of what has arrived."""
        self._may_hold_some = True
        seconds = way(count)
        answer = self.writer.get(f"/series/{self._sample.series}")
        arrived = answer.json()["Instances"] if answer.status_code == 200 else []
        if len(arrived) != count:
            raise ClientError(f"{len(arrived)} of {count} images are in the series that was sent")
        return seconds, set(arrived)

    def _post(self, connections: int, count: int) -> float:
        return upload_all(self._access, self._sample.contents[:count], min(connections, count))

    def _store(self, dicom: "Dicom", associations: int, count: int) -> float:
        """Raises StrangerError if somebody else has taken them."""
        files = self._sample.files[:count]
        start = [STORESCU, "-to", "20", "-aet", TITLE, "-aec", dicom.title, dicom.host]
        start += [str(dicom.port)]
        shares = [files[share::associations] for share in range(associations)]
        commands = [[*start, *map(str, share)] for share in shares if share]
        seconds, _ = run_clients(commands, seconds=max(CLIENT_SECONDS, self._arguments.seconds))
        if self.writer.get(f"/series/{self._sample.series}").status_code == 404:
            raise StrangerError(
                f"{dicom.title} at {dicom.host}:{dicom.port} has taken an image that is NOT in"
                f" {self._access.url}: it drops it, or it is another server, from which the lab"
                f" removes nothing (--dicom-host, --dicom-port): {self._sample.describe()}"
            )
        return seconds

    def _list_recent(self) -> list[Json]:
        if not self._has_perf:
            return []
        limit = OTHERS + 2 * len(self._sample.files)
        return self.writer.get_json("/perf/instances", direction="Receive", limit=limit)

    def _ask_perf(self, identifiers: set[str], known: set[tuple[str, str]]) -> Figures:
        """What /perf says of these instances; nothing where it has none of them."""
        end = time.monotonic() + PERF_SECONDS
        while True:
            seen = [
                instance
                for instance in self._list_recent()
                if instance["ID"] in identifiers
                and (instance["ID"], instance["FinishedAt"]) not in known
            ]
            if len(seen) >= len(identifiers) or time.monotonic() > end or not self._has_perf:
                break
            time.sleep(0.2)
        if not seen:
            return {}
        figures = {
            "in Orthanc": 1000 * fmean(instance["Duration"] for instance in seen),
            **phases.average_phases(seen),
        }
        if any("Stalls" in instance for instance in seen):
            figures["stalls"] = fmean(instance.get("Stalls", 0) for instance in seen)
            figures["time in stalls"] = 1000 * fmean(
                instance.get("StallTime", 0) for instance in seen
            )
        return figures


@dataclass(frozen=True)
class Dicom:
    """Where the DICOM server listens, and what it is called."""

    host: str
    port: int
    title: str


def find_dicom(arguments: argparse.Namespace, access: Access, system: Json) -> Dicom | None:
    """As told, or else as the server says of itself; None: it was told to leave it out."""
    host = urlsplit(access.url).hostname
    port = system.get("DicomPort") if arguments.dicom_port is None else arguments.dicom_port
    if not port or not host:
        return None
    title = arguments.called or system.get("DicomAet") or "ORTHANC"
    return Dicom(arguments.dicom_host or host, port, title)


def check_room(system: Json, statistics: Json, images: int, size: int) -> str:
    """Why it cannot be told that new images push no old ones out, or nothing.

    Raises ClientError where they would: Orthanc removes the patients that came first
    (MaximumPatientCount, MaximumStorageSize; in /system from Orthanc 1.12.4 and 1.11.3 on).
    """
    if system.get("MaximumStorageMode", "Recycle") != "Recycle":
        return ""
    storage, patients = system.get("MaximumStorageSize"), system.get("MaximumPatientCount")
    if patients and statistics["CountPatients"] + 1 > patients:
        raise ClientError(
            f"it has its MaximumPatientCount, {patients}: the oldest would be removed"
        )
    needed = int(statistics["TotalDiskSize"]) / 2**20 + 2 * size / 2**20
    if storage and needed > storage:
        raise ClientError(
            f"{images} images would fill its MaximumStorageSize, {storage} MB: the oldest patients"
            " would be removed"
        )
    unknown = [
        name
        for name, value in (("MaximumStorageSize", storage), ("MaximumPatientCount", patients))
        if value is None
    ]
    return " and ".join(unknown)


def ask(arguments: argparse.Namespace, access: Access, names: Names) -> None:
    """Says what is going to happen; raises ClientError unless somebody agrees."""
    reader = Reader(access)
    system, statistics = reader.get_json("/system"), reader.get_json("/statistics")
    dicom = find_dicom(arguments, access, system)
    size = arguments.images * 525_364
    ways = len(arguments.connections) * (1 if dicom is None else 2)
    unknown = check_room(system, statistics, arguments.images, size)
    c_store = f", and by C-STORE to {dicom.title} at {dicom.host}:{dicom.port}" if dicom else ""
    print(
        f"\n{describe_server(reader)} holds {statistics['CountInstances']} instances of"
        f" {statistics['CountPatients']} patients.\n"
        f"It is going to be sent {arguments.images} CT images ({size / 1e6:.0f} MB),"
        f" {arguments.turns} x {ways} times, by POST /instances{c_store}:\n"
        f"  PatientID {names.patient}, StudyInstanceUID {names.study_uid}\n"
        "They are removed each time. No setting is changed. Rules of its own for new images"
        " (forwarding,\nscripts, plugins) apply to these, too: what they make or send elsewhere"
        " is not taken back.",
        flush=True,
    )
    if access.user and access.url.startswith("http:"):
        print("The password goes over this connection unencrypted.", flush=True)
    if unknown:
        print(
            f"It does not say whether it has a {unknown}: with one, new images may push old ones"
            " out.",
            flush=True,
        )
        if arguments.yes and not arguments.no_limit:
            raise ClientError("with --yes, --no-limit has to say that there is no such limit")
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise ClientError("there is nobody to ask: --yes goes on without; nothing was sent")
    if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise ClientError("nothing was sent")


@contextmanager
def open_site(
    arguments: argparse.Namespace, access: Access, names: Names, folder: Path, _: int
) -> Iterator[Bench]:
    site = Site(arguments, access, make_sample(names, arguments.images, folder))

    def enter(_: Factors) -> Entry:
        contestants, declined = [], describe_obstacles(site.writer)
        ways = site.list_ways()
        if not any(name.startswith("C-STORE") for name in ways):
            declined["C-STORE"] = "no DICOM port was given, or it was told to leave it out"
        for name, way in ways.items():
            problem = site.try_way(way)
            if problem:
                declined[name] = problem
            else:
                contestants.append(Contestant(name, partial(site.measure, way)))
        return Entry(contestants, declined)

    try:
        yield enter
    finally:
        try:
            site.remove(QUIET_SECONDS)
        except ClientError as error:
            print(f"lab: {error}", file=sys.stderr, flush=True)


def explain(access: Access, _: Factors, __: Rounds) -> str:
    """How far away it is, and what /perf/advice says of it."""
    parts = []
    with suppress(ClientError):
        parts.append(f"a TCP handshake with it takes {1000 * measure_round_trip(access):.2g} ms")
    with suppress(ClientError):
        parts += describe_findings(Reader(access), {None, TITLE})
    return "; ".join(parts)


def make_stages(arguments: argparse.Namespace) -> list[Stage]:
    access = read_access(arguments)
    server = describe_server(Reader(access))
    if arguments.watch is not None:
        return watch.make_stages(access, server, arguments.watch, arguments.interval)
    names = make_names()
    ask(arguments, access, names)
    cells = [{"Server": server, "Images": f"{arguments.images} CT of 525 kB"}]
    bench = partial(open_site, arguments, access, names)
    note = partial(explain, access)
    # Each turn is a round of its own: whoever interrupts it keeps those before
    return [Stage(cells, bench, 1, arguments.seconds, arguments.turns, note)]


def parse_seconds(text: str) -> float:
    """90, 90s or 5m."""
    units = {"s": 1, "m": 60, "h": 3600}
    factor = units.get(text[-1:], 0)
    seconds = float(text[:-1]) * factor if factor else float(text)
    if not 1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError("1 second to 24 hours")
    return seconds


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("url", metavar="SERVER_URL", help="as https://orthanc.example/orthanc")
    command.add_argument("--user", default="", help="or the environment's ORTHANC_USER")
    command.add_argument(
        "--password-file", type=Path, help="or the environment's ORTHANC_PASSWORD, or it is asked"
    )
    command.add_argument(
        "--headers", type=Path, help="a file of lines like Authorization: Bearer …"
    )
    command.add_argument("--cacert", type=Path, help="PEM file of whom to trust for HTTPS")
    command.add_argument("--yes", action="store_true", help="does not ask before it sends")
    command.add_argument(
        "--no-limit", action="store_true", help="the server has no limit of patients or storage"
    )
    command.add_argument("--dicom-port", type=int, help="0: no C-STORE; by itself as it says")
    command.add_argument("--dicom-host", default="", help="if it is another than the address has")
    command.add_argument("--called", default="", help="its AE title; by itself as it says")
    command.add_argument("--images", type=int, default=50, help="of 525 kB, in each turn")
    command.add_argument(
        "--connections", type=int, nargs="+", default=[1, 4], help="and associations, in parallel"
    )
    command.add_argument("--turns", type=int, default=6, help="of all ways")
    command.add_argument("--seconds", type=float, default=600, help="at most, for all of it")
    command.add_argument(
        "--watch", type=parse_seconds, metavar="60s", help="sends nothing: looks at what comes in"
    )
    command.add_argument("--interval", type=float, default=5, help="seconds, of --watch")


EXPERIMENT = Experiment(
    "an Orthanc that exists already: what is sent is removed; or only watched",
    add_options,
    make_stages,
    {
        "throughput": Figure("images/s"),
        "speed": Figure("MB/s", is_compared=False),
        "in Orthanc": Figure("ms an image", is_compared=False),
        "stalls": Figure("an image", is_compared=False),
        "time in stalls": Figure("ms an image", is_compared=False),
    },
    {"images": 20, "turns": 3, "seconds": 60},
    answer=phases.answer,
    is_local=False,
)
