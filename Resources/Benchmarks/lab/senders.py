# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to send a series: other people's programs, an HTTP client, and Orthanc itself.

Each sends all images and returns the seconds that it took; it raises ClientError if one is lost.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.certificates import Certificate
from harness.clients import upload
from harness.images import Image
from harness.orthanc import OrthancServer
from lab.options import ROOT
from lab.processes import CLIENT_SECONDS, ClientError, run_clients

# Not by the PATH: pynetdicom brings programs of the same names
STORESCU = "/usr/bin/storescu"
MOVESCU = "/usr/bin/movescu"
DCMSEND = "/usr/bin/dcmsend"
DICOM_RS = ROOT / "build" / "dicom-rs" / "bin"

GZIP = {"Accept-Encoding": "gzip, deflate"}  # as python-requests, report 002's client, has it
GZIP_START = b"\x1f\x8b"  # RFC 1952, section 2.3.1

Send = Callable[[], float]


@dataclass(frozen=True)
class Target:
    port: int
    images: list[Image]
    certificate: Certificate | None = None

    def share(self, start: Sequence[str], senders: int) -> list[list[str]]:
        shares = [self.images[share::senders] for share in range(senders)]
        return [[*start, *(str(image.path) for image in share)] for share in shares]


def get_limit(images: list[Image]) -> int:
    """The seconds that sending them may take: some, and then five images in each."""
    return CLIENT_SECONDS + len(images) // 5


def run_senders(
    commands: Sequence[Sequence[str]],
    images: list[Image],
    **options: Any,  # noqa: ANN401
) -> tuple[float, list[str]]:
    return run_clients(commands, seconds=get_limit(images), **options)


def share_images(
    target: Target,
    start: list[str],
    senders: int,
    **options: Any,  # noqa: ANN401
) -> Send:
    """A program for each sender, with its share of the images; `options` of run_clients."""
    commands = target.share(start, senders)
    return lambda: run_senders(commands, target.images, **options)[0]


def post_all(
    server: OrthancServer, contents: Iterable[bytes], clients: int = 1, accepts_gzip: bool = False
) -> float:
    """POST /instances, over connections that are kept; who accepts gzip has to get it."""
    begin = time.monotonic()
    answers = upload(server, contents, clients, GZIP if accepts_gzip else None)
    duration = time.monotonic() - begin
    start = GZIP_START if accepts_gzip else b""
    if refused := [it for it in answers if it[0] != 200 or not it[1].startswith(start)]:
        raise ClientError(f"Orthanc answered {refused[0]}")
    return duration


def use_http(
    server: OrthancServer, images: list[Image], clients: int, accepts_gzip: bool = False
) -> Send:
    contents = [image.read_bytes() for image in images]
    return partial(post_all, server, contents, clients, accepts_gzip)


def use_storescu(
    target: Target, senders: int = 1, environment: dict[str, str] | None = None
) -> Send:
    """DCMTK's storescu as it comes, each sender with its share of the images."""
    start = [STORESCU, "-aec", "ORTHANC"]
    if target.certificate is not None:
        start += target.certificate.get_dcmtk_arguments()
    start += ["127.0.0.1", str(target.port)]
    return share_images(target, start, senders, environment=environment)


def use_dcmsend(target: Target, senders: int = 1) -> Send:
    start = [DCMSEND, "-aec", "ORTHANC", "127.0.0.1", str(target.port)]
    return share_images(target, start, senders)


def use_gdcmscu(target: Target, senders: int = 1) -> Send:
    """GDCM's, which may abort when all has been answered, at the release (3.0.21)."""
    start = ["gdcmscu", "--store", "--call", "ORTHANC", "127.0.0.1", str(target.port)]
    return share_images(target, start, senders, codes=(0, -signal.SIGABRT))


def use_pynetdicom(target: Target, senders: int = 1) -> Send:
    """pynetdicom by its own clock; several begin together."""
    start = [sys.executable, "-m", "lab.pynetdicom_sender"]
    if target.certificate is not None:
        start += ["--certificate", str(target.certificate.certificate)]

    def send() -> float:
        with TemporaryDirectory() as folder:
            commands = target.share([*start, str(senders), folder, str(target.port)], senders)
            _, said = run_senders(commands, target.images)
        return max(float(text.splitlines()[-1]) for text in said)

    return send


def find_dicom_rs_obstacle() -> str | None:
    if (DICOM_RS / "dicom-storescu").exists():
        return None
    return "there is no dicom-storescu: Resources/Benchmarks/install-dicom-rs.sh builds it"


def use_dicom_rs(target: Target, senders: int = 1) -> Send:
    """dicom-rs's dicom-storescu, without TLS."""
    start = [str(DICOM_RS / "dicom-storescu"), "--called-ae-title", "ORTHANC", "--fail-first"]
    return share_images(target, [*start, f"127.0.0.1:{target.port}"], senders)


def write_uploads(url: str, images: list[Image], configuration: Path, *more: str) -> list[str]:
    """The command of a curl that sends them one after the other; `more` are lines for each."""
    lines = [f'url = "{url}/instances"', "fail", 'noproxy = "*"', 'output = "/dev/null"', *more]
    requests = ["\n".join([*lines, f'data-binary = "@{image.path}"']) for image in images]
    configuration.write_text("\nnext\n".join(requests), "utf-8")
    return ["curl", "--disable", "--silent", "--show-error", "--config", str(configuration)]


def use_curl(server: OrthancServer, images: list[Image], clients: int, folder: Path) -> Send:
    """POST /instances by curl, each with its share of the images over one connection."""
    commands = [
        write_uploads(server.url, images[client::clients], folder / f"{client}.curl")
        for client in range(clients)
    ]
    return lambda: run_senders(commands, images)[0]


def use_movescu(
    sender: OrthancServer, title: str, destination: str, images: list[Image], clients: int
) -> Send:
    """Each client, of this title, has an Orthanc send its share of a study to the destination.

    One DICOM thread answers a client's release only when it has served all others: movescu's own
    30 s (-ta) do not suffice for that.
    """
    patience = str(get_limit(images))
    start = [MOVESCU, "-S", "-ta", patience, "-aet", title, "-aec", "ORTHANC", "-aem", destination]
    start += ["127.0.0.1", str(sender.dicom_port), "-k", "QueryRetrieveLevel=IMAGE", "-k"]
    shares = [images[client::clients] for client in range(clients)]
    commands = [
        [*start, "SOPInstanceUID=" + "\\".join(image.sop_instance_uid for image in share)]
        for share in shares
    ]
    return lambda: run_senders(commands, images)[0]


def use_orthanc(sender: OrthancServer, modality: str, images: int) -> Send:
    def send() -> float:
        order = {"Resources": sender.get_json("/patients"), "Synchronous": True}
        begin = time.monotonic()
        answer = sender.request("POST", f"/modalities/{modality}/store", json=order)
        duration = time.monotonic() - begin
        answer.raise_for_status()
        result = answer.json()
        if result["InstancesCount"] != images or result["FailedInstancesCount"] != 0:
            raise ClientError(f"Orthanc sent other than {images} images: {result}")
        return duration

    return send
