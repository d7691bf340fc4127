# SPDX-License-Identifier: GPL-3.0-or-later
"""An Orthanc that exists already: how fast it takes images, and what its /perf says of it.

It is asked before anything is sent. What is sent has a PatientID and UIDs of its own, which nobody
else's study can have, so that what is removed can be nobody else's. After each turn it is removed
again, and also when the run is interrupted or fails; what cannot be removed is named, and what a
run that was killed has left is removed by the next one (own_sent.py). With --watch nothing is sent
at all (watch.py). No setting of the server is ever changed.
"""

import re
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from urllib.parse import urlsplit

import pydicom

from harness.images import identify
from lab import phases, remote, watch
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Rounds, Stage
from lab.charts import Charts
from lab.options import Option, make_series
from lab.own_sent import Sent, SentFile, make_names, make_uid, remove
from lab.processes import CLIENT_SECONDS, ClientError, run_clients
from lab.remote import Access, Json, Reader, StrangerError, Writer, tell
from lab.report import format_number, format_values
from lab.results import Cell, Results
from lab.runner import describe_failure
from lab.senders import STORESCU
from lab.watch import ADVICE, describe_findings, describe_obstacles, describe_server

TITLE = "PERF_LAB"  # as whom it calls
C_STORE = "C-STORE"
PERF_SECONDS = 10.0  # until /perf has the last instances
OTHERS = 1000  # instances that others send during a turn, at most, for /perf to be asked

# What others may send while a series of ours is there
SPARE_PATIENTS = 20
SPARE_MEGABYTES = 1024
SPARE_SHARE = 0.01  # of the limit, if that is more

# As storescu says that it has sent nothing of an image
NOT_BEGUN = re.compile(
    "Association Re(jected|quest Failed)|No (Acceptable Presentation|presentation context)"
)


@dataclass(frozen=True)
class Sample:
    names: Sent
    files: list[Path]
    contents: dict[str, bytes]  # by Orthanc's identifiers

    def count_bytes(self) -> int:
        return sum(map(len, self.contents.values()))


def make_sample(names: Sent, count: int, folder: Path) -> Sample:
    files = []
    contents = {}
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
        uids = (names.study_uid, names.series_uid, dataset.SOPInstanceUID)
        contents[identify(names.patient, *uids)] = files[-1].read_bytes()
    return Sample(names, files, contents)


@dataclass
class Site:
    """`left_open`: the kinds of ways whose first image may still arrive, and why."""

    arguments: Namespace
    access: Access
    sample: Sample
    file: SentFile
    left_open: dict[str, str]

    def __post_init__(self) -> None:
        self._sent = self.sample.names
        self.writer = Writer(self.access)
        self._has_perf = self.writer.get("/perf/status").status_code == 200
        self._may_hold_some = False
        self._unanswered: set[str] = set()  # may arrive when their sender is gone
        self._alone: dict[str, float] = {}  # the seconds of one image, by each way
        status = self.writer.get(f"/studies/{self._sent.study}").status_code
        if status != 404 and not self.left_open:
            raise ClientError(f"the server should have no study {self._sent.study}")

    def list_ways(self) -> dict[str, Callable[[int], float]]:
        """Each sends the first images, so many, and says how long it took."""
        ways: dict[str, Callable[[int], float]] = {}
        for number in self.arguments.connections:
            name = f"POST, {number} connection{'s' if number > 1 else ''}"
            ways[name] = partial(self._post, number)
        dicom = find_dicom(self.arguments, self.access, self.writer.get_system())
        if dicom is not None:
            for number in self.arguments.connections:
                name = f"{C_STORE}, {number} association{'s' if number > 1 else ''}"
                ways[name] = partial(self._store, dicom, number)
        return ways

    def try_way(self, name: str, way: Callable[[int], float]) -> str:
        """Why one image is not taken, or not removed again; a stranger gets no second one."""
        kind, _, _ = name.partition(",")
        if kind in self.left_open:
            return self.left_open[kind]
        self._check_room()
        try:
            self._alone[name], _ = self._send(way, 1)
        except StrangerError:
            raise
        except ClientError as error:
            problem = describe_failure(error, self.sample.files[0].parent)
            self._remove(self.arguments.late)
            if self._unanswered:
                self.left_open[kind] = f"{problem}; {self._describe_late()}"
                tell(f"lab: {self.left_open[kind]}")
                self._unanswered.clear()
            self._forget()
            return self.left_open.get(kind, problem)
        self._remove()
        self._forget()
        return ""

    def measure(self, name: str, way: Callable[[int], float]) -> Figures:
        count = len(self.sample.files)
        self._check_room()
        known = {(seen["ID"], seen["FinishedAt"]) for seen in self._list_recent()}
        seconds, identifiers = self._send(way, count)
        figures = {
            "throughput": count / seconds,
            "speed": self.sample.count_bytes() / 1e6 / seconds,
            "alone": 1000 * self._alone[name],
            **self._ask_perf(identifiers, known),
        }
        self._remove()
        self._forget()
        return figures

    def end(self, _: object, interruption: BaseException | None, __: object) -> None:
        try:
            self.leave()
        except Exception as error:
            # At once and in full: the page has it shortened, or not at all
            tell(f"lab: {error}")
            if interruption is None:
                raise

    def leave(self) -> None:
        """Removes what is there still, whatever has happened, also what arrives late.

        Raises ClientError, which names it, if anything stays, may have stayed, or may still come.
        """
        if not self._may_hold_some and not self.left_open:
            return
        tell("Removes what was sent, please wait.")
        try:
            self._remove(self.arguments.late)
        except ClientError as error:
            raise ClientError(
                f"NOT REMOVED from {self._sent.describe()}; {self.file.path.name} tells the next"
                f" run: {error}"
            ) from error
        if self._unanswered:
            raise ClientError(self._describe_late())
        self._forget()

    def _remove(self, seconds: float = 0) -> None:
        """All that was sent, also what comes so late: `_unanswered` has what has not come."""
        if self._unanswered and seconds:
            tell(
                f"Of {len(self._unanswered)} images, nobody has said whether they arrive: looks for"
                f" them until none has come for {seconds:.0f} s."
            )
        try:
            remove(self.writer, self._sent, seconds, self._unanswered)
        except ClientError as error:
            raise ClientError(f"it could not be removed: {error}") from error

    def _describe_late(self) -> str:
        return (
            f"MAY STILL ARRIVE at {self._sent.describe()}; {self.file.path.name} tells the next"
            f" run: {len(self._unanswered)} images, of which nobody has said whether they do"
        )

    def _forget(self) -> None:
        self._may_hold_some = False
        if not self.left_open:
            self.file.forget(self._sent)

    def _check_room(self) -> None:
        system, statistics = self.writer.get_system(), self.writer.get_json("/statistics")
        check_room(system, statistics, len(self.sample.files), self.sample.count_bytes())

    def _send(self, way: Callable[[int], float], count: int) -> tuple[float, set[str]]:
        """How long it took, and Orthanc's identifiers of what has arrived."""
        self._may_hold_some = True
        self.file.add(self._sent)
        seconds = way(count)
        answer = self.writer.get(f"/series/{self._sent.series}")
        arrived = answer.json()["Instances"] if answer.status_code == 200 else []
        if len(arrived) != count:
            self._unanswered |= self._list_first(count).difference(arrived)
            raise ClientError(f"{len(arrived)} of {count} images are in the series that was sent")
        return seconds, set(arrived)

    def _post(self, connections: int, count: int) -> float:
        images = dict(islice(self.sample.contents.items(), count))
        seconds = remote.upload_all(self.access, images, min(connections, count), self._unanswered)
        self._check_taken("POST /instances", count)
        return seconds

    def _store(self, dicom: "Dicom", associations: int, count: int) -> float:
        files = self.sample.files[:count]
        start = [STORESCU, "-to", "20", "-aet", TITLE, "-aec", dicom.title, dicom.host]
        start += [str(dicom.port)]
        shares = [files[share::associations] for share in range(associations)]
        commands = [[*start, *map(str, share)] for share in shares if share]
        begun = dict(zip(files, self.sample.contents, strict=False))
        self._unanswered |= self._list_first(count)
        try:
            limit = max(CLIENT_SECONDS, self.arguments.seconds)
            seconds, _ = run_clients(commands, seconds=limit)
        except ClientError as error:
            if len(commands) == 1:  # of several, it does not tell what all have said
                self._unanswered &= list_open(begun, str(error))
            raise
        self._unanswered.clear()
        self._check_taken(f"{dicom.title} at {dicom.host}:{dicom.port}", count)
        return seconds

    def _list_first(self, count: int) -> set[str]:
        return set(islice(self.sample.contents, count))

    def _check_taken(self, who: str, count: int) -> None:
        """Raises StrangerError if somebody else has taken them."""
        names = self._sent
        if self.writer.get(f"/series/{names.series}").status_code == 404:
            self._unanswered |= self._list_first(count)  # who has them may pass them on
            raise StrangerError(
                f"{who} has taken an image that is NOT in {self.access.url}: it drops it, gives it"
                " other names, or is another server, from which the lab removes nothing"
                f" (--dicom-host, --dicom-port): {names.describe_names()}"
            )

    def _list_recent(self) -> list[Json]:
        if not self._has_perf:
            return []
        limit = OTHERS + 2 * len(self.sample.files)
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


def list_open(begun: dict[Path, str], said: str) -> set[str]:
    """What may still arrive of what one storescu was to send in order, by its failure."""
    if not re.search(r"failed with \d+: ", said):  # it was killed
        return set(begun.values())
    if NOT_BEGUN.search(said):
        return set()
    return {name for file, name in begun.items() if f"Store Failed, file: {file}" in said}


@dataclass(frozen=True)
class Dicom:
    host: str
    port: int
    title: str


def find_dicom(arguments: Namespace, access: Access, system: Json) -> Dicom | None:
    """As told, or else as the server says of itself; None: it was told to leave it out."""
    host = urlsplit(access.url).hostname
    port = system.get("DicomPort") if arguments.dicom_port is None else arguments.dicom_port
    if not port or not host:
        return None
    title = arguments.called or system.get("DicomAet") or "ORTHANC"
    return Dicom(arguments.dicom_host or host, port, title)


def check_room(system: Json, statistics: Json, images: int, size: int) -> str:
    """Why it cannot be told that there is room for new images and for those of others, or nothing.

    Raises ClientError where there is none: at its limits (MaximumPatientCount, MaximumStorageSize;
    in /system from Orthanc 1.12.4 and 1.11.3 on), Orthanc removes the patients that came first, or
    refuses whoever sends next.
    """
    refuses = system.get("MaximumStorageMode") == "Reject"  # any other word is as "Recycle" to it
    harm = "images of others would be refused" if refuses else "the oldest patients may be removed"
    storage, patients = system.get("MaximumStorageSize"), system.get("MaximumPatientCount")
    if patients and statistics["CountPatients"] + 1 + SPARE_PATIENTS > patients:
        raise ClientError(
            f"with {statistics['CountPatients']} patients, one more and {SPARE_PATIENTS} of others,"
            f" it would exceed its MaximumPatientCount, {patients}: {harm}"
        )
    spare = max(SPARE_MEGABYTES, SPARE_SHARE * (storage or 0))
    needed = (int(statistics["TotalDiskSize"]) + 2 * size) / 2**20 + spare
    if storage and needed > storage:
        raise ClientError(
            f"with {images} images and {spare:.0f} MB of others, it would exceed its"
            f" MaximumStorageSize, {storage} MB: {harm}"
        )
    unknown = [
        name
        for name, value in (("MaximumStorageSize", storage), ("MaximumPatientCount", patients))
        if value is None
    ]
    return " and ".join(unknown)


def agree(arguments: Namespace, question: str) -> bool:
    """Raises ClientError if there is nobody to ask."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise ClientError("there is nobody to ask: --yes goes on without; nothing was sent")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def warn(arguments: Namespace, access: Access) -> None:
    """Before anything is asked of the server; raises ClientError unless somebody agrees."""
    if not access.is_exposed():
        return
    print(f"Password and headers go to {access.url} unencrypted.", flush=True)
    if not agree(arguments, "Go on?"):
        raise ClientError("nothing was sent")


def remove_earlier(arguments: Namespace, access: Access, file: SentFile) -> None:
    """What a run that was killed may have left there; where it is elsewhere, it is only named."""
    for sent in file.read():
        print(f"{file.path.name}: a run that was killed, or goes on, sent to {sent.describe()}")
        if sent.url != access.url or arguments.watch is not None:
            print("`own` with that address, without --watch, removes them.", flush=True)
        elif agree(arguments, "Remove this study first?"):
            print(f"Removes it, and looks on for {arguments.late:.0f} s.", flush=True)
            try:
                # Nobody knows what was on its way
                remove(Writer(access), sent, arguments.late, {"any"})
            except ClientError as error:
                raise ClientError(f"NOT REMOVED from {sent.describe()}: {error}") from error
            file.forget(sent)


def ask(arguments: Namespace, access: Access, names: Sent) -> None:
    """Says what is going to happen; raises ClientError unless somebody agrees."""
    reader = Reader(access)
    system, statistics = reader.get_system(), reader.get_json("/statistics")
    dicom = find_dicom(arguments, access, system)
    size = arguments.images * 525_364
    ways = len(arguments.connections) * (1 if dicom is None else 2)
    unknown = check_room(system, statistics, arguments.images, size)
    c_store = f", and by C-STORE to {dicom.title} at {dicom.host}:{dicom.port}" if dicom else ""
    print(
        f"\n{describe_server(reader)} holds {statistics['CountInstances']} instances of"
        f" {statistics['CountPatients']} patients.\n"
        f"It is going to be sent {arguments.images} CT images ({size / 1e6:.0f} MB),"
        f" {arguments.turns} x {ways} times, and as often one alone,\n"
        f"by POST /instances{c_store}:\n"
        f"  PatientID {names.patient}, StudyInstanceUID {names.study_uid}\n"
        "They are removed each time. No setting is changed. Rules of its own for new images"
        " (forwarding,\nscripts, plugins) apply to these, too: what they make or send elsewhere"
        " is not taken back.",
        flush=True,
    )
    if unknown:
        print(
            f"It does not say whether it has a {unknown}: with one, new images may push old ones"
            " out.",
            flush=True,
        )
        if arguments.yes and not arguments.no_limit:
            raise ClientError("with --yes, --no-limit has to say that there is no such limit")
    if not agree(arguments, "Go on?"):
        raise ClientError("nothing was sent")


def open_site(
    arguments: Namespace,
    access: Access,
    names: Sent,
    file: SentFile,
    left_open: dict[str, str],
    room: Room,
) -> Bench:
    sample = make_sample(names, arguments.images, room.folder)
    site = Site(arguments, access, sample, file, left_open)
    room.stack.push(site.end)

    def enter(_: Factors) -> Entry:
        contestants, declined = {}, describe_obstacles(site.writer)
        ways = site.list_ways()
        if not any(name.startswith(C_STORE) for name in ways):
            declined[C_STORE] = "no DICOM port was given, or it was told to leave it out"
        for name, way in ways.items():
            problem = site.try_way(name, way)
            if problem:
                declined[name] = problem
            else:
                contestants[name] = partial(site.measure, name, way)
        return Entry(contestants, declined)

    return enter


def explain(access: Access, _: Factors, __: Rounds) -> str:
    parts = []
    with suppress(ClientError):
        parts.append(
            f"a TCP handshake with it takes {1000 * remote.measure_round_trip(access):.2g} ms"
        )
    with suppress(ClientError):
        parts.append(ADVICE + "; ".join(describe_findings(Reader(access), {None, TITLE})))
    return "; ".join(parts)


def make_stages(arguments: Namespace) -> list[Stage]:
    access = remote.read_access(arguments)
    file = SentFile(arguments.output)
    warn(arguments, access)
    server = describe_server(Reader(access))
    remove_earlier(arguments, access, file)
    if arguments.watch is not None:
        return watch.make_stages(access, server, arguments.watch, arguments.interval)
    names = make_names(access.url)
    ask(arguments, access, names)
    cells = [{"Server": server, "Images": f"{arguments.images} CT of 525 kB"}]
    bench = partial(open_site, arguments, access, names, file, {})
    note = partial(explain, access)
    # Each turn is a round of its own: whoever interrupts it keeps those before
    return [Stage(cells, bench, 1, arguments.seconds, arguments.turns, note)]


def describe_fastest(cell: Cell) -> list[str]:
    speeds = {way: cell.list_values(way, "throughput") for way in cell.list_contestants()}
    speeds = {way: values for way, values in speeds.items() if values}
    if not speeds:
        return []
    fastest = max(speeds, key=lambda way: median(speeds[way]))
    return [
        f"- Fastest of {len(speeds)} ways: **{fastest}**, {format_values(speeds[fastest])}"
        f" images/s, {format_number(median(cell.list_values(fastest, 'speed')))} MB/s."
    ]


def answer(results: Results, charts: Charts) -> list[str]:
    lines = []
    for cell in results.cells:
        is_watched = watch.WHO in cell.list_contestants()
        lines += watch.answer(cell) if is_watched else describe_fastest(cell)
        _, is_advised, advice = cell.note.partition(ADVICE)
        if is_advised:
            lines.append(f"- `/perf/advice`: {advice}.")
    return [*lines, *([""] if lines else []), *phases.answer(results, charts)]


def parse_seconds(text: str) -> float:
    units = {"s": 1, "m": 60, "h": 3600}
    factor = units.get(text[-1:], 0)
    seconds = float(text[:-1]) * factor if factor else float(text)
    if not 1 <= seconds <= 86_400:
        raise ArgumentTypeError("1 second to 24 hours")
    return seconds


UNTIL = "without an image, until what nobody has answered is no longer waited for"
EXPERIMENT = Experiment(
    "an Orthanc that exists already: what is sent is removed; or only watched",
    [
        Option("url", None, "as https://orthanc.example/orthanc", metavar="SERVER_URL"),
        Option("--user", "", "or the environment's ORTHANC_USER"),
        Option("--password-file", None, "or ORTHANC_PASSWORD, or it is asked", kind=Path),
        Option("--headers", None, "a file of lines like Authorization: Bearer …", kind=Path),
        Option("--cacert", None, "PEM file of whom to trust for HTTPS", kind=Path),
        Option("--yes", False, "asks nothing, and goes on"),
        Option("--no-limit", False, "the server has no limit of patients or storage"),
        Option("--dicom-port", None, "0: no C-STORE; by itself as it says", kind=int),
        Option("--dicom-host", "", "if it is another than the address has"),
        Option("--called", "", "its AE title; by itself as it says"),
        Option("--images", 50, "of 525 kB, in each turn", 20),
        Option("--connections", [1, 4], "and associations, in parallel"),
        Option("--turns", 6, "of all ways", 3),
        Option("--seconds", 600, "at most, for all of it", 60, kind=float),
        Option("--late", 30.0, UNTIL, kind=parse_seconds, metavar="30s"),
        Option("--watch", None, "sends nothing, only looks", kind=parse_seconds, metavar="60s"),
        Option("--interval", 5, "seconds, of --watch", kind=float),
    ],
    make_stages,
    {
        "throughput": Figure("images/s"),
        "speed": Figure("MB/s", is_compared=False),
        "alone": Figure("ms for one image", is_compared=False),
        "in Orthanc": Figure("ms an image", is_compared=False),
        "stalls": Figure("an image", is_compared=False),
        "time in stalls": Figure("ms an image", is_compared=False),
    },
    answer=answer,
    is_local=False,
    goes_on=False,
)
