# SPDX-License-Identifier: GPL-3.0-or-later
"""Real clients that send images to Orthanc, by every way in."""

import io
import subprocess
import zipfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import requests

from harness.images import Image
from harness.orthanc import OrthancServer

DICOM_JSON = "application/dicom+json"
BOUNDARY = "b-0ad8c1f6"


def store(server: OrthancServer, images: Sequence[Image], title: str = "STORESCU") -> None:
    """All images over one association of DCMTK's storescu."""
    command = ["storescu", "-aet", title, "-aec", "ORTHANC", "127.0.0.1", str(server.dicom_port)]
    subprocess.run([*command, *(image.path for image in images)], check=True, timeout=300)


class Uploader:
    """An HTTP client that keeps its connection, for one thread."""

    def __init__(self, server: OrthancServer) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.http_port, timeout=120)

    def upload(self, content: bytes) -> tuple[int, bytes]:
        """POST /instances: the status and the body of the answer."""
        self._connection.request("POST", "/instances", content)
        response = self._connection.getresponse()
        return response.status, response.read()

    def upload_half(self, content: bytes) -> None:
        """The announcement of an upload and half of it, without an answer."""
        self._connection.putrequest("POST", "/instances")
        self._connection.putheader("Content-Length", str(len(content)))
        self._connection.endheaders(content[: len(content) // 2])

    def close(self) -> None:
        self._connection.close()


def upload(
    server: OrthancServer, contents: Iterable[bytes], clients: int = 1
) -> list[tuple[int, bytes]]:
    """Uploads over as many connections at once, and returns the answers in order."""
    uploaders = [Uploader(server) for _ in range(clients)]
    shares: list[list[tuple[int, bytes]]] = [[] for _ in range(clients)]
    for number, content in enumerate(contents):
        shares[number % clients].append((number, content))

    def send_share(index: int) -> list[tuple[int, tuple[int, bytes]]]:
        return [(number, uploaders[index].upload(content)) for number, content in shares[index]]

    with ThreadPoolExecutor(clients) as pool:
        answers = [answer for share in pool.map(send_share, range(clients)) for answer in share]
    for uploader in uploaders:
        uploader.close()
    return [answer for _, answer in sorted(answers, key=lambda numbered: numbered[0])]


def upload_zip(server: OrthancServer, images: Sequence[Image]) -> list[dict[str, Any]]:
    """All images as one ZIP archive; Orthanc answers for each."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for image in images:
            target.write(image.path, image.path.name)
    response = server.request("POST", "/instances", data=archive.getvalue())
    response.raise_for_status()
    return response.json()


def store_over_web(server: OrthancServer, images: Sequence[Image]) -> requests.Response:
    """All images in one STOW-RS request (DICOM PS3.18, section 10.5)."""
    body = io.BytesIO()
    for image in images:
        body.write(f"--{BOUNDARY}\r\nContent-Type: application/dicom\r\n\r\n".encode())
        body.write(image.read_bytes())
        body.write(b"\r\n")
    body.write(f"--{BOUNDARY}--\r\n".encode())
    kind = f'multipart/related; type="application/dicom"; boundary={BOUNDARY}'
    response = server.request(
        "POST",
        "/dicom-web/studies",
        data=body.getvalue(),
        headers={"Content-Type": kind, "Accept": DICOM_JSON},
    )
    response.raise_for_status()
    return response


def get_output(command: Sequence[str | Path], content: str | None = None) -> str:
    """What a program says, on either stream; raises if it fails."""
    finished = subprocess.run(
        command, input=content, capture_output=True, text=True, timeout=120, check=False
    )
    said = finished.stdout + finished.stderr
    assert finished.returncode == 0, f"{command[0]} failed with {finished.returncode}: {said}"
    return said
