# SPDX-License-Identifier: GPL-3.0-or-later
"""Real clients that send images to Orthanc, by every way in."""

import io
import re
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import requests

from harness.images import Image
from harness.orthanc import LONGEST_REST, OrthancServer
from harness.process import run

DICOM_JSON = "application/dicom+json"
BOUNDARY = "b-0ad8c1f6"

# A Lua script that uploads what another script's job is to upload: an instance that Lua creates
STORE_A_MODIFIED_COPY = """
function OnStoredInstance(instance, tags, metadata, origin)
  if origin['RequestOrigin'] ~= 'Lua' then
    local change = '{"Replace": {"PatientName": "copy"}}'
    RestApiPost('/instances', RestApiPost('/instances/' .. instance .. '/modify', change))
  end
end
"""


def make_store_command(
    port: int, images: Sequence[Image], title: str = "STORESCU", arguments: Sequence[str] = ()
) -> list[str | Path]:
    """DCMTK's storescu, with all images over one association to this port."""
    command = ["storescu", *arguments, "-aet", title, "-aec", "ORTHANC", "127.0.0.1", str(port)]
    return [*command, *(image.path for image in images)]


def store(
    server: OrthancServer,
    images: Sequence[Image],
    title: str = "STORESCU",
    arguments: Sequence[str] = (),
) -> None:
    command = make_store_command(server.dicom_port, images, title, arguments)
    subprocess.run(command, check=True, timeout=300)


class Uploader:
    """An HTTP client that keeps its connection, for one thread, and does as little as it can."""

    def __init__(self, server: OrthancServer, headers: Mapping[str, str] | None = None) -> None:
        self._port = server.http_port
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._connect()

    def upload(self, content: bytes) -> tuple[int, bytes]:
        """POST /instances: the status and the body of the answer, as it comes."""
        if time.monotonic() - self._used > LONGEST_REST:
            self.close()
            self._connect()
        self._send(content, len(content))
        answer = self._read_answer()
        self._used = time.monotonic()
        return answer

    def upload_half(self, content: bytes) -> None:
        """The announcement of an upload and half of it, without an answer."""
        self._send(content[: len(content) // 2], len(content))

    def close(self) -> None:
        self._socket.close()

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._used = time.monotonic()

    def _send(self, content: bytes, announced: int) -> None:
        head = f"POST /instances HTTP/1.1\r\nHost: test\r\nContent-Length: {announced}\r\n"
        head += f"{self._headers}\r\n"
        self._socket.sendall(head.encode(), socket.MSG_MORE)  # leaves with the content
        self._socket.sendall(content)

    def _read_answer(self) -> tuple[int, bytes]:
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._receive()
        head, _, body = answer.partition(b"\r\n\r\n")
        (length,) = re.findall(rb"(?i)\r\ncontent-length: *(\d+)", head)
        while len(body) < int(length):
            body += self._receive()
        return int(head.split()[1]), body

    def _receive(self) -> bytes:
        received = self._socket.recv(65536)
        if not received:
            raise ConnectionError("Orthanc closed the connection before its answer was complete")
        return received


def upload(
    server: OrthancServer,
    contents: Iterable[bytes],
    clients: int = 1,
    headers: Mapping[str, str] | None = None,
) -> list[tuple[int, bytes]]:
    """Uploads over as many connections at once, and returns the answers in order."""
    numbered = list(enumerate(contents))

    def send_share(client: int) -> list[tuple[int, tuple[int, bytes]]]:
        with closing(Uploader(server, headers)) as uploader:
            share = numbered[client::clients]
            return [(number, uploader.upload(content)) for number, content in share]

    with ThreadPoolExecutor(clients) as pool:
        answers = chain.from_iterable(pool.map(send_share, range(clients)))
        return [answer for _, answer in sorted(answers)]


def upload_zip(server: OrthancServer, images: Sequence[Image]) -> list[dict[str, Any]]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for image in images:
            target.write(image.path, image.path.name)
    response = server.request("POST", "/instances", data=archive.getvalue())
    response.raise_for_status()
    return response.json()


def make_multipart(contents: Iterable[bytes]) -> tuple[bytes, dict[str, str]]:
    """The body of a STOW-RS request (DICOM PS3.18, section 10.5), and its headers."""
    body = io.BytesIO()
    for content in contents:
        body.write(f"--{BOUNDARY}\r\nContent-Type: application/dicom\r\n\r\n".encode())
        body.write(content)
        body.write(b"\r\n")
    body.write(f"--{BOUNDARY}--\r\n".encode())
    kind = f'multipart/related; type="application/dicom"; boundary={BOUNDARY}'
    return body.getvalue(), {"Content-Type": kind, "Accept": DICOM_JSON}


def store_over_web(server: OrthancServer, images: Sequence[Image]) -> requests.Response:
    """All images in one STOW-RS request."""
    body, headers = make_multipart(image.read_bytes() for image in images)
    response = server.request("POST", "/dicom-web/studies", data=body, headers=headers)
    response.raise_for_status()
    return response


def open_session(source: str) -> requests.Session:
    """Its connections come from this address of the machine."""
    session = requests.Session()
    session.trust_env = False
    adapter = requests.adapters.HTTPAdapter()
    adapter.init_poolmanager(1, 1, source_address=(source, 0))
    session.mount("http://", adapter)
    return session


def get_output(
    command: Sequence[str | Path], content: str | None = None, seconds: float = 120
) -> str:
    """What a program says, on either stream; raises if it fails, or takes longer."""
    finished = run(command, input=content, timeout=seconds)
    said = finished.stdout + finished.stderr
    assert finished.returncode == 0, f"{command[0]} failed with {finished.returncode}: {said}"
    return said
