# SPDX-License-Identifier: GPL-3.0-or-later
"""Real receivers that Orthanc sends to, and Orthanc's side of sending."""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import requests
from pynetdicom import AE, evt
from pynetdicom.sop_class import CTImageStorage

from harness import clients
from harness.images import Image
from harness.metrics import wait_until
from harness.orthanc import OrthancServer

START_SECONDS = 10
SUCCESS = 0x0000  # DICOM PS3.4 annex B.2.3


class Receiver:
    """A program that listens on a port, as a context manager; nobody reads what it says."""

    def __init__(
        self, port: int, command: Sequence[str | Path], environment: dict[str, str] | None = None
    ) -> None:
        self.port = port
        self._command = command
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environment,
        )
        try:
            asked = ["ss", "-tlnH", f"sport = :{self.port}"]
            listens = wait_until(lambda: clients.get_output(asked).strip() != "", START_SECONDS)
            assert listens, f"{self._command[0]} does not listen"
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _end(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


class StoreScp(Receiver):
    """DCMTK's storescp, untouched; it looks at each image and forgets it."""

    def __init__(
        self, port: int, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        super().__init__(port, ["storescp", "--ignore", *arguments, str(port)], environment)


class SlowReceiver:
    """A receiver of pynetdicom's that takes its time, for an association and for each image."""

    def __init__(self, port: int, association_seconds: float = 0, image_seconds: float = 0) -> None:
        self.port = port
        self._association_seconds = association_seconds
        self._image_seconds = image_seconds
        self._hurry = threading.Event()
        self._entity = AE("SLOW")
        self._entity.add_supported_context(CTImageStorage)
        self._server: Any = None

    def __enter__(self) -> Self:
        handlers = [
            (evt.EVT_REQUESTED, lambda _: time.sleep(self._association_seconds)),
            (evt.EVT_C_STORE, self._on_image),
        ]
        address = ("127.0.0.1", self.port)
        self._server = self._entity.start_server(address, block=False, evt_handlers=handlers)
        return self

    def __exit__(self, *_: object) -> None:
        self.hurry()
        self._server.shutdown()

    def hurry(self) -> None:
        """No pauses from now on."""
        self._hurry.set()

    def _on_image(self, _: evt.Event) -> int:
        self._hurry.wait(self._image_seconds)
        return SUCCESS


def describe_modality(port: int, title: str = "STORESCP", tls: bool = False) -> dict[str, Any]:
    """A modality of Orthanc's configuration: a receiver on this port."""
    return {"AET": title, "Host": "127.0.0.1", "Port": port, "UseDicomTls": tls, "Timeout": 60}


def send(server: OrthancServer, modality: str, identifiers: Sequence[str]) -> requests.Response:
    """Lets Orthanc send stored instances over one association, and waits for the end."""
    body = {"Resources": list(identifiers), "Synchronous": True}
    response = server.request("POST", f"/modalities/{modality}/store", json=body)
    response.raise_for_status()
    return response


class Sending:
    """Orthanc sends stored instances while the body of a with statement runs."""

    def __init__(self, server: OrthancServer, modality: str, identifiers: Sequence[str]) -> None:
        self._server = server
        body = {"Resources": list(identifiers), "Asynchronous": True}
        response = server.request("POST", f"/modalities/{modality}/store", json=body)
        response.raise_for_status()
        self._job = response.json()["ID"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        is_over = wait_until(lambda: self._get_state() in ("Success", "Failure"))
        if error is None:
            assert is_over and self._get_state() == "Success"

    def _get_state(self) -> str:
        with suppress(requests.ConnectionError):
            return self._server.get_json(f"/jobs/{self._job}")["State"]
        return "Unknown"


def upload_to_send(server: OrthancServer, images: Sequence[Image]) -> list[str]:
    """Stores images by HTTP and returns Orthanc's identifiers."""
    answers = clients.upload(server, [image.read_bytes() for image in images], 2)
    assert [answer for answer in answers if answer[0] != 200] == []
    return [server.find_instance(image.sop_instance_uid) for image in images]
