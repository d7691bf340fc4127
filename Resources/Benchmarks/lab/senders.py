# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to send a series: other people's programs, an HTTP client, and Orthanc itself.

Each sends all images and returns the seconds that it took; it raises ClientError if one is lost.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.certificates import Certificate
from harness.clients import upload
from harness.images import Image
from harness.orthanc import OrthancServer
from lab.processes import ClientError, run_clients

# Not by the PATH: pynetdicom brings a program of the same name
STORESCU = "/usr/bin/storescu"

Send = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """Who is sent to, and how."""

    port: int
    images: list[Image]
    certificate: Certificate | None = None

    def list_files(self, share: int = 0, shares: int = 1) -> list[str]:
        return [str(image.path) for image in self.images[share::shares]]


def use_http(server: OrthancServer, images: list[Image], clients: int) -> Send:
    """POST /instances, over connections that are kept."""
    contents = [image.read_bytes() for image in images]

    def send() -> float:
        begin = time.monotonic()
        answers = upload(server, contents, clients)
        duration = time.monotonic() - begin
        refused = [answer for answer in answers if answer[0] != 200]
        if refused:
            raise ClientError(f"Orthanc answered {refused[0]}")
        return duration

    return send


def use_storescu(
    target: Target, senders: int = 1, environment: dict[str, str] | None = None
) -> Send:
    """DCMTK's storescu as it comes, each sender with its share of the images."""
    start = [STORESCU, "-aec", "ORTHANC"]
    if target.certificate is not None:
        start += target.certificate.get_dcmtk_arguments()
    start += ["127.0.0.1", str(target.port)]
    commands = [[*start, *target.list_files(share, senders)] for share in range(senders)]
    return lambda: run_clients(commands, environment)[0]


def use_pynetdicom(target: Target) -> Send:
    """pynetdicom by its own clock: reading the files, and starting Python, do not count."""
    command = [sys.executable, "-m", "lab.pynetdicom_sender"]
    if target.certificate is not None:
        command += ["--certificate", str(target.certificate.certificate)]
    command += [str(target.port), *target.list_files()]
    return lambda: float(run_clients([command])[1][0].splitlines()[-1])


def use_dicom_rs(program: Path, target: Target) -> Send:
    """dicom-rs's dicom-storescu, without TLS."""
    command = [str(program), "--called-ae-title", "ORTHANC", "--fail-first"]
    command += [f"127.0.0.1:{target.port}", *target.list_files()]
    return lambda: run_clients([command])[0]


def use_orthanc(sender: OrthancServer, modality: str, images: int) -> Send:
    """All that this Orthanc holds, to one of its modalities."""

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
