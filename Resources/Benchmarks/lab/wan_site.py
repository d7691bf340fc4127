# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ends of a slow path, in network namespaces of their own: Orthanc, nginx, vsftpd and samba
here, their clients, and an Orthanc that forwards, at the far end."""

import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import ftp, proxy, smb
from harness.certificates import Certificate, make_certificate
from harness.distance import NEAR, Distance, private_network
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer
from harness.receivers import describe_modality, send
from harness.tuning import tune_sockets
from lab.cells import Entry, Factors, Figures, Room
from lab.line import Line
from lab.options import make_series
from lab.processes import SAME_PIXELS, ClientError, check_stored, check_syntax, run_clients
from lab.retrieve import IN_MEMORY, copy_files, count_files, read_seconds, use_curl, use_ftp
from lab.senders import STORESCU, Target, post_all, write_uploads
from lab.stalls import PRESETS
from lab.transcoding import EXPLICIT

DICOM, TLS, HTTP, HTTPS = "DICOM", "DICOM TLS", "HTTP upload", "HTTPS upload (nginx in front)"
SEVERAL = "4 x DICOM"
FTP, FILES, FORWARD = "FTP (vsftpd)", "HTTP files (nginx)", "Orthanc → Orthanc"
CIFS = "CIFS (samba)"

# How often an image waits for the other side: the answer; FTP asks for a port, connects to it, and
# asks for the size and the file; CIFS opens the file, asks what it is, reads it, and closes it
ROUND_TRIPS = {DICOM: 1, SEVERAL: 1, TLS: 1, HTTP: 1, HTTPS: 1, FTP: 4, FILES: 1, FORWARD: 1}
ROUND_TRIPS[CIFS] = 4
PROTOCOLS = list(ROUND_TRIPS)

SENDERS = {SEVERAL: 4}  # at once, each over a connection of its own; of the others, one

PLAIN = "as it is"
RECEIVED, COMPRESSED = "as received", "compressed on ingest"

SENDER = "FAR"  # the application entity at the far end
SET_UP = 3  # round trips: TCP connection, association, release

# Images: of fewer than 20, the plugin's advisor says nothing of speed (MINIMUM_INSTANCES), and of
# slow ones it forgets half after 30 (HALF_COUNT)
LEAST_ADVISED, ADVISED = 20, 28
ADVISING = (DICOM, SEVERAL, TLS, FORWARD)

# Until it has spoken: of a limit that is there, and where silence is an answer as well
LIMIT_SECONDS, ADVICE_SECONDS = 4, 2

LONGEST = 600  # seconds for a client
FEWEST = 3  # images
FEWEST_OF = {CIFS: 1}  # as in report 004, by the number of its packets

LOSSLESS = "1.2.840.10008.1.2.4.70"  # JPEG Lossless, Non-Hierarchical, First-Order Prediction

# In the namespaces nobody else is
REACHABLE = {"RemoteAccessAllowed": True, "AuthenticationEnabled": False}

# Identifiers of each turn, by the cell's protocol and the contestant
Findings = dict[str, dict[str, list[set[str]]]]


@dataclass(frozen=True)
class Way:
    """How images come here; `size` is what an image takes on the way."""

    prepare: Callable[[], object]
    send: Callable[[list[Image]], float]
    check: Callable[[int], None]
    size: float
    read_advice: Callable[[], list[Json]] | None = None


def read_advice(server: OrthancServer) -> list[Json]:
    return server.get_json("/perf/advice")


def list_limits(advice: list[Json]) -> list[float]:
    """In bytes a second, of each finding that rests on one."""
    return [
        found["Evidence"]["WindowLimit"] for found in advice if "WindowLimit" in found["Evidence"]
    ]


@dataclass
class Site:
    """All that one line needs, each server from its first cell on."""

    arguments: Namespace
    line: Line
    findings: Findings
    room: Room

    def __post_init__(self) -> None:
        line = self.line
        self._images = make_series("wan", self.arguments.images)
        self._size = sum(image.get_size() for image in self._images) / len(self._images)
        self.room.enter(private_network())
        self._distance = self.room.enter(
            Distance(line.round_trip, line.loss, line.mtu, line.rate, line.congestion)
        )
        line.write_settings()
        with self._distance.at_far_end():
            line.write_settings()

    def enter(self, factors: Factors) -> Entry:
        protocol = factors["Protocol"]
        needed = {FTP: ftp.find_obstacle, CIFS: smb.find_obstacle}.get(protocol)
        obstacle = needed() if needed else None
        if obstacle:
            return Entry({}, {protocol: obstacle})
        images = self._images[: self._count_images(protocol)]
        ways = self._list_ways(protocol)
        if self.line.round_trip * 1000 <= self.arguments.base:  # beyond, it would take long
            first = next(iter(ways.values()))  # to warm up; the others have the same programs
            first.prepare()
            first.send(images[:1])
        return Entry(
            {
                name: partial(self._measure, protocol, name, way, images)
                for name, way in ways.items()
            }
        )

    def _count_images(self, protocol: str) -> int:
        """As many as take the time of a transfer; more where those are few, or with loss."""
        arguments, line = self.arguments, self.line
        senders = SENDERS.get(protocol, 1)
        each = line.predict(self._size, 2 * ROUND_TRIPS[protocol], senders)
        if line.loss:
            least = round(arguments.loss_seconds / each)
        else:
            least = min(arguments.least_images, round(arguments.longest_seconds / each))
        if protocol in FEWEST_OF:
            least = FEWEST_OF[protocol]
        fewest = FEWEST_OF.get(protocol, FEWEST) * senders
        count = max(fewest, round(arguments.transfer_seconds / each), least)
        if line.buffer and protocol in ADVISING:
            count = max(count, ADVISED)
        return min(count, len(self._images))

    def _measure(self, protocol: str, name: str, way: Way, images: list[Image]) -> Figures:
        way.prepare()
        seconds = way.send(images)
        way.check(len(images))
        trips, senders = ROUND_TRIPS[protocol], SENDERS.get(protocol, 1)
        mathis = self.line.get_mathis_limit()
        bits = sum(image.get_size() for image in images) * 8 / 1e6
        sent = len(images) * way.size * 8 / 1e6
        waits = (len(images) / senders * trips + SET_UP) * self.line.round_trip
        each = self.line.predict(way.size, trips, senders)
        least = len(images) * way.size * 8 / self.line.rate
        return {
            "speed": bits / seconds,
            **({} if way.size == self._size else {"on the wire": sent / seconds}),
            "without waits": bits / max(seconds - waits, least),
            "throughput": len(images) / seconds,
            "images": len(images),
            "window / round trip": self.line.get_window_limit() / 1e6,
            "prediction": self._size * 8 / each / 1e6,
            **({"Mathis": mathis / 1e6} if mathis else {}),
            **self._ask_for_advice(protocol, name, way, len(images)),
        }

    def _list_ways(self, protocol: str) -> dict[str, Way]:
        if protocol in (DICOM, SEVERAL):
            return self._list_dicom_ways(protocol, self._near, [])
        if protocol == TLS:
            arguments = self._certificate.get_dcmtk_arguments()
            return self._list_dicom_ways(TLS, self._near_tls, arguments)
        if protocol == FORWARD:
            return self._list_forwarding_ways()
        makers: dict[str, Callable[[], Way]] = {
            HTTP: lambda: self._make_upload(f"http://{NEAR}:{self._near.http_port}"),
            HTTPS: self._make_https_upload,
            CIFS: self._make_share,
            FTP: lambda: self._make_download(ftp),
            FILES: lambda: self._make_download(proxy),
        }
        return {PLAIN: makers[protocol]()}

    def _list_dicom_ways(
        self, protocol: str, server: OrthancServer, arguments: list[str]
    ) -> dict[str, Way]:
        start = [STORESCU, *arguments, "-aet", SENDER, "-aec", "ORTHANC", NEAR]
        start.append(str(server.dicom_port))
        senders = SENDERS.get(protocol, 1)

        def send_images(images: list[Image]) -> float:
            target = Target(server.dicom_port, images)
            return self._run_afar(*target.share(start, min(senders, len(images))))[0]

        def prepare(preset: str) -> None:
            server.delete_all()
            self._tune(server, preset)

        return {
            name: Way(
                partial(prepare, preset),
                send_images,
                self._make_check(server, self._size),
                self._size,
                lambda: read_advice(server),
            )
            for name, preset in PRESETS.items()
        }

    @staticmethod
    def _make_check(server: OrthancServer, size: float) -> Callable[[int], None]:
        return lambda count: check_stored(server, count, round(count * size))

    def _tune(self, server: OrthancServer, preset: str) -> None:
        """Also what is in force already: a change makes the advisor forget the turn before."""
        for other in PRESETS.values():
            if other != preset:
                tune_sockets(server, Preset=other)
        buffer = {"ReceiveBuffer": self.line.buffer} if self.line.buffer else {}
        tune_sockets(server, Preset=preset, **buffer)

    def _ask_for_advice(self, protocol: str, name: str, way: Way, count: int) -> Figures:
        """What it finds in this turn, and the limit of window and round trip where it names one."""
        read = way.read_advice
        if read is None:
            return {}
        if self.line.buffer and count >= ADVISED:
            wait_until(lambda: bool(list_limits(read())), LIMIT_SECONDS)
        elif count >= LEAST_ADVISED:
            wait_until(lambda: bool(read()), ADVICE_SECONDS)
        advice = read()
        of_turns = self.findings.setdefault(protocol, {}).setdefault(name, [])
        of_turns.append({found["ID"] for found in advice})
        limits = list_limits(advice)
        return {"advisor": min(limits) * 8 / 1e6} if limits else {}

    def _list_forwarding_ways(self) -> dict[str, Way]:
        stored = {RECEIVED: self._far_images[0], COMPRESSED: self._far_images[1]}
        return {
            f"{form}, {name}": self._make_forwarding(*stored[form], preset)
            for form in stored
            for name, preset in PRESETS.items()
        }

    def _make_forwarding(self, identifiers: list[str], size: float, preset: str) -> Way:
        def prepare() -> None:
            self._near.delete_all()
            self._tune(self._near, preset)
            with self._distance.at_far_end():
                self._tune(self._far, preset)

        def send_images(images: list[Image]) -> float:
            with self._distance.at_far_end():
                begin = time.monotonic()
                send(self._far, "near", identifiers[: len(images)])
                return time.monotonic() - begin

        def read_both() -> list[Json]:
            found = read_advice(self._near)
            with self._distance.at_far_end():
                return [*found, *read_advice(self._far)]

        check = self._make_check(self._near, size)
        return Way(prepare, send_images, check, size, read_both)

    @cached_property
    def _far_images(self) -> list[tuple[list[str], float]]:
        """Two series at the far end, as received and compressed: their instances, and an image's
        size."""
        compressed = make_series("wan-compressed", self.arguments.images)
        forms = ((self._images, ""), (compressed, LOSSLESS))
        far = self._far
        with self._distance.at_far_end():
            return [self._fill(far, images, syntax) for images, syntax in forms]

    def _fill(
        self, far: OrthancServer, images: list[Image], syntax: str
    ) -> tuple[list[str], float]:
        tuning = {"IngestTranscoding": {"Engine": "native", "TransferSyntax": syntax}}
        far.tune(**tuning)
        post_all(far, map(Image.read_bytes, images))
        identifiers = [far.find_instance(image.sop_instance_uid) for image in images]
        check_syntax(far, syntax or EXPLICIT, identifiers)
        sizes = [
            int(far.get(f"/instances/{identifier}/attachments/dicom/size").text)
            for identifier in identifiers
        ]
        return identifiers, sum(sizes) / len(sizes)

    def _make_upload(self, url: str, *more: str) -> Way:
        def send_images(images: list[Image]) -> float:
            configuration = self.room.folder / "upload.curl"
            return self._run_afar(write_uploads(url, images, configuration, "silent", *more))[0]

        check = self._make_check(self._near, self._size)
        return Way(self._near.delete_all, send_images, check, self._size)

    def _make_https_upload(self) -> Way:
        certificate = self._certificate
        server = proxy.serve_tls(self._near, certificate, self.room.folder / "tls", NEAR)
        port = self.room.enter(server).rpartition(":")[2]
        arguments = [f'cacert = "{certificate.certificate}"']
        arguments += [f'connect-to = "127.0.0.1:{port}:{NEAR}:{port}"']  # as the certificate says
        return self._make_upload(f"https://127.0.0.1:{port}", *arguments)

    def _make_download(self, server: "proxy | ftp") -> Way:
        folder = self.room.folder / server.__name__.rpartition(".")[2]
        url, _ = self.room.enter(server.serve_files(self._files, folder, NEAR))

        def fetch(got: Path, names: list[str]) -> float:
            if server is ftp:  # by its own clock: starting Python does not count
                return read_seconds(self._run_afar(use_ftp(url, names, got))[1])
            return self._run_afar(use_curl([f"{url}/{name}" for name in names], 1, got))[0]

        return self._make_fetch(fetch)

    def _make_share(self) -> Way:
        """Its own clock leaves out that smbclient starts and logs in, as a mounted share has."""
        share = smb.serve_files(self._files, self.room.folder / "share", NEAR, self.line.buffer)
        start = self.room.enter(share)

        def fetch(got: Path, names: list[str]) -> float:
            _, said = self._run_afar([*start, smb.get_files(names, str(got))])
            return smb.read_seconds(said, count_files(got)[1])

        return self._make_fetch(fetch)

    def _make_fetch(self, fetch: Callable[[Path, list[str]], float]) -> Way:
        files = size = 0

        def send_images(images: list[Image]) -> float:
            nonlocal files, size
            with TemporaryDirectory(prefix="lab-got-", dir=IN_MEMORY) as name:
                got = Path(name) / "got"
                got.mkdir()
                seconds = fetch(got, [image.path.name for image in images])
                files, size = count_files(got)
            return seconds

        def check(count: int) -> None:
            if files != count or size < SAME_PIXELS * count * self._size:
                raise ClientError(f"{files} of {count} files came, {size} bytes")

        return Way(lambda: None, send_images, check, self._size)

    def _run_afar(self, *commands: Sequence[str | Path]) -> tuple[float, str]:
        """The seconds, and what the last one said."""
        with self._distance.at_far_end():
            seconds, said = run_clients(commands, seconds=LONGEST)
        return seconds, said[-1]

    @cached_property
    def _certificate(self) -> Certificate:
        return make_certificate(self.room.folder)

    @cached_property
    def _near(self) -> OrthancServer:
        return self._start("near", {})

    @cached_property
    def _near_tls(self) -> OrthancServer:
        return self._start("near-tls", self._certificate.get_dicom_options())

    @cached_property
    def _far(self) -> OrthancServer:
        modality = {**describe_modality(self._near.dicom_port, "ORTHANC"), "Host": NEAR}
        with self._distance.at_far_end():
            return self._start("far", {"DicomModalities": {"near": modality}})

    @cached_property
    def _files(self) -> Path:
        return copy_files(self._images, self.room.folder)

    def _start(self, name: str, options: dict[str, object]) -> OrthancServer:
        server = OrthancServer(
            self.room.folder / name,
            plugins=[self.arguments.plugin],
            options={**REACHABLE, **options},
        )
        return self.room.enter(server)
