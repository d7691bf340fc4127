# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders that remember what was acknowledged to them, and the look whether the store has it.

They bear a server that vanishes: what was not answered counts as not sent, and they try anew.
"""

import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Protocol, Self

import requests
from pydicom import dcmread
from pydicom.uid import ExplicitVRLittleEndian
from pynetdicom import AE
from pynetdicom.sop_class import CTImageStorage

from harness import clients
from harness.metrics import wait_until
from harness.numbered import NumberedImages, find_number, make_pixels
from harness.orthanc import OrthancServer
from harness.senders import keep_reactor_paused
from harness.transcoding import decode, get_syntax, read_stored

DICOM_SECONDS = 20
REST_SECONDS = 0.02  # before the next attempt at a server that is not there

IMAGES_PER_REQUEST = 3  # of STOW-RS
FAILED = "00081198"  # Failed SOP Sequence
REFERENCED = "00081199"  # Referenced SOP Sequence
INSTANCE = "00081155"  # Referenced SOP Instance UID


class Reachable(Protocol):
    """An Orthanc, or what stands before some."""

    dicom_port: int
    http_port: int
    url: str


class AcknowledgedLoad:
    """Senders of numbered instances within `with`, one for each way; `ways` are its methods' names.

    `acknowledged` are the numbers that the server said it has stored, in that order, and `times`
    when it did, by time.monotonic(). `sent` are all: what is neither acknowledged nor `refused` got
    no answer, and may be stored, too.
    """

    WAYS = ("store", "upload", "store_over_web")

    def __init__(
        self,
        server: Reachable,
        images: NumberedImages,
        ways: Iterable[str] = WAYS,
        headers: Mapping[str, str] | None = None,  # of uploads
    ) -> None:
        self.acknowledged: list[int] = []
        self.refused: dict[int, str] = {}  # by numbers, with what Orthanc answered
        self.sent: set[int] = set()
        self.times: dict[int, float] = {}
        self._server = server
        self._images = images
        self._headers = headers
        self._is_over = threading.Event()
        self._may_send = threading.Event()
        self._may_send.set()
        self._served: set[int] = set()  # threads to which something was acknowledged
        self._threads = [
            threading.Thread(target=self._go_on, args=[getattr(self, f"_{way}")]) for way in ways
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """No sender begins a message; their connections stay."""
        self._may_send.clear()
        try:
            yield
        finally:
            self._may_send.set()

    def wait_for(self, count: int, seconds: float = 180) -> None:
        """Until so many more are acknowledged."""
        count += len(self.acknowledged)
        deadline = time.monotonic() + seconds
        while len(self.acknowledged) < count:
            assert time.monotonic() < deadline, f"no {count} instances within {seconds} s"
            time.sleep(0.005)

    def wait_for_each(self) -> None:
        """Until something is acknowledged to each sender."""
        assert wait_until(lambda: len(self._served) == len(self._threads))

    def _take(self) -> tuple[int, bytes]:
        self._may_send.wait()
        number, content = self._images.take()
        self.sent.add(number)
        return number, content

    def _note(self, number: int) -> None:
        self.times[number] = time.monotonic()
        self.acknowledged.append(number)
        self._served.add(threading.get_ident())

    def _go_on(self, send: Callable[[], None]) -> None:
        while not self._is_over.is_set():
            with suppress(OSError, RuntimeError, requests.RequestException):
                send()
            self._is_over.wait(REST_SECONDS)

    def _store(self) -> None:
        """C-STORE over one association, until it ends."""
        entity = AE("ACKNOWLEDGED")
        entity.acse_timeout = entity.dimse_timeout = entity.network_timeout = DICOM_SECONDS
        entity.add_requested_context(CTImageStorage, ExplicitVRLittleEndian)
        association = entity.associate("127.0.0.1", self._server.dicom_port, ae_title="ORTHANC")
        if not association.is_established:
            return
        with keep_reactor_paused(association):
            is_accepted = True
            while is_accepted and not self._is_over.is_set():
                number, content = self._take()
                status = association.send_c_store(dcmread(io.BytesIO(content)))
                code = getattr(status, "Status", None)
                is_accepted = code == 0
                if is_accepted:
                    self._note(number)
                elif code is not None:
                    self.refused[number] = str(status)
        if is_accepted:
            association.release()
        else:
            association.abort()

    def _upload(self) -> None:
        with closing(clients.Uploader(self._server, self._headers)) as uploader:
            while not self._is_over.is_set():
                number, content = self._take()
                status, body = uploader.upload(content)
                if status == 200 and json.loads(body)["Status"] == "Success":
                    self._note(number)
                else:
                    self.refused[number] = f"{status} {body!r}"

    def _store_over_web(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            while not self._is_over.is_set():
                taken = dict(self._take() for _ in range(IMAGES_PER_REQUEST))
                body, headers = clients.make_multipart(taken.values())
                url = f"{self._server.url}/dicom-web/studies"
                response = session.post(url, data=body, headers=headers, timeout=DICOM_SECONDS)
                stored: list[int] = []
                if response.status_code in (200, 202):
                    for entry in response.json().get(REFERENCED, {}).get("Value", []):
                        stored.append(find_number(entry[INSTANCE]["Value"][0]))
                for number in stored:
                    self._note(number)
                refused = taken.keys() - set(stored)
                self.refused |= dict.fromkeys(refused, f"{response.status_code} {response.text}")


class StoreCheck:
    def __init__(self, loses_database: bool = False) -> None:
        self.without_file: set[str] = set()
        self._loses_database = loses_database
        self._read: dict[str, int] = {}
        self._listed: set[str] = set()  # at the last look
        self.acknowledged: set[int] = set()
        self.compressed = 0  # of those that were read

    def check(self, server: OrthancServer, acknowledged: Iterable[int]) -> None:
        self.acknowledged.update(acknowledged)
        listed = set(server.get_json("/instances"))
        for identifier in listed - set(self._read) - self.without_file:
            # 1.12.7, not 1.10.1, removes a file whose instance may have been committed
            if self._loses_database and not server.is_older_than(1, 10, 2):
                answer = server.get(f"/instances/{identifier}/file")
                if answer.status_code == 500 and "regular file" in answer.text:
                    self.without_file.add(identifier)
                    continue
            image = read_stored(server, identifier)
            number = find_number(image.SOPInstanceUID)
            assert (decode(image) == make_pixels(number)).all(), f"{number} has other pixels"
            self.compressed += get_syntax(image).is_compressed
            self._read[identifier] = number
        self._listed = listed
        lost = self.acknowledged - self.list_numbers()
        assert not lost, f"{len(lost)} of {len(self.acknowledged)} acknowledged instances are lost"

    def find(self, number: int) -> str:
        """Orthanc's identifier of an instance that was there at the last look."""
        return next(identifier for identifier, read in self._read.items() if read == number)

    def list_numbers(self) -> set[int]:
        return {self._read[identifier] for identifier in self._listed - self.without_file}
