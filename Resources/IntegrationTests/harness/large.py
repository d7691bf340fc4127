# SPDX-License-Identifier: GPL-3.0-or-later
"""Large images on their way into Orthanc: one that a test sends as it likes, and those of real
clients, which can be looked at, and killed, while they wait (Memory.IngestBudget)."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Self

from pydicom.dataset import Dataset
from pydicom.filebase import DicomBytesIO
from pydicom.filewriter import write_dataset

from harness import clients, ledger, wire
from harness.images import Image
from harness.ledger import HERE, Answer
from harness.load import meanwhile
from harness.metrics import wait_until
from harness.orthanc import Json, OrthancServer

MEBIBYTE = 1 << 20

PDU_BYTES = 16000  # of pixels
LAST_BYTES = 2  # what a fragment has is even (PS3.8 section 9.3.5.1)
CLIENT_SECONDS = 300

# The least budget that there may be; and of what holds it: enough for that, as it counts three
# times, and what makes it go on for as long as a test takes
SMALLEST_BUDGET = 64 * MEBIBYTE
HELD = 24 * MEBIBYTE
HELD_SIZE = 256 * MEBIBYTE
HOLD_SECONDS = 0.5


def get_memory(server: OrthancServer) -> Json:
    return server.get_json("/perf/status")["Memory"]


def wait_for_waiting(server: OrthancServer, count: int) -> None:
    assert wait_until(lambda: get_memory(server)["Waiting"] == count), get_memory(server)


def check_all_over(server: OrthancServer) -> Json:
    """Nothing counts or waits any more; what there has been."""
    assert wait_until(lambda: get_memory(server)["InFlight"] == 0), get_memory(server)
    memory = get_memory(server)
    assert memory["Held"] == memory["Waiting"] == 0
    return memory


class LargeMessage:
    """A C-STORE of an image with `size` bytes of pixels over an association of its own, which goes
    on as far as it is told to, from one thread. Without its end, its sender vanishes."""

    def __init__(self, server: OrthancServer, number: int, size: int = HELD_SIZE) -> None:
        self.uid = f"1.2.826.0.1.3680043.8.498.2.{number}"
        self.sent = 0
        self._size = size
        self._socket = wire.associate(server, b"LARGE", wire.CT_IMAGE_STORAGE)
        command = wire.make_command(
            wire.C_STORE, wire.CT_IMAGE_STORAGE, wire.HAS_DATA_SET, self.uid
        )
        self._socket.sendall(command + wire.make_data(self._make_beginning(), 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.vanish()

    def send(self, size: int) -> None:
        """So many bytes of pixels more; the last ones only with finish()."""
        size = min(size, self._size - self.sent - LAST_BYTES)
        while size > 0:
            piece = min(size, PDU_BYTES)
            self._socket.sendall(wire.make_data(bytes(piece), 0))
            self.sent += piece
            size -= piece

    def finish(self) -> int:
        """All that is left, and the status of the answer."""
        self.send(self._size)
        self._socket.sendall(wire.make_data(bytes(self._size - self.sent), wire.IS_LAST))
        self.sent = self._size
        _, response = wire.receive_pdu(self._socket)
        return wire.find_status(response)

    def vanish(self) -> None:
        with suppress(OSError):
            wire.reset(self._socket)

    def _make_beginning(self) -> bytes:
        """All of the data set but its pixels, Implicit VR Little Endian."""
        content = Dataset()
        content.SOPClassUID = wire.CT_IMAGE_STORAGE
        content.SOPInstanceUID = self.uid
        content.PatientID = "LARGE"
        content.StudyInstanceUID = f"{self.uid}.1"
        content.SeriesInstanceUID = f"{self.uid}.2"
        target = DicomBytesIO()
        target.is_little_endian = target.is_implicit_VR = True
        write_dataset(target, content)
        return target.getvalue() + b"\xe0\x7f\x10\x00" + self._size.to_bytes(4, "little")


@contextmanager
def hold(server: OrthancServer, size: int = HELD_SIZE) -> Iterator[LargeMessage]:
    """Within this, one message takes all of a small budget, and goes on by 2 MiB a second, up to
    its size: it is the oldest, and whatever else is large waits. Afterwards it has vanished."""

    with LargeMessage(server, 1, size) as message:
        message.send(HELD)
        assert wait_until(lambda: get_memory(server)["Held"] >= SMALLEST_BUDGET), get_memory(server)

        def go_on(is_over: threading.Event) -> None:
            with suppress(OSError):  # it may vanish sooner
                while not is_over.wait(HOLD_SECONDS):
                    message.send(MEBIBYTE)

        with meanwhile(go_on):
            yield message


def _make_upload(server: OrthancServer, image: Image) -> list[str]:
    return ledger.make_upload_command(server, image, HERE.host)


def _make_stow(server: OrthancServer, image: Image) -> list[str]:
    return ledger.make_stow_command(server, image, HERE.host, "/dev/null")


CHUNKED = ["--header", "Transfer-Encoding: chunked"]

WAYS: dict[str, Callable[[OrthancServer, Image], list[str | Path]]] = {
    "C-STORE": lambda server, image: clients.make_store_command(
        server.dicom_port, [image], "LARGE", ["-R"]
    ),
    "upload": _make_upload,
    "chunked upload": lambda server, image: [*_make_upload(server, image), *CHUNKED],
    "STOW-RS": _make_stow,
    "chunked STOW-RS": lambda server, image: [*_make_stow(server, image), *CHUNKED],
}


class Sender:
    """A program that sends an image in one of the WAYS; at the end of `with` it is gone."""

    def __init__(self, server: OrthancServer, way: str, image: Image) -> None:
        self._is_store = way == "C-STORE"
        self._process = subprocess.Popen(
            WAYS[way](server, image), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def wait(self, seconds: float = CLIENT_SECONDS) -> Answer:
        """What it has been told at its end."""
        said, complained = self._process.communicate(timeout=seconds)
        code = self._process.returncode
        finished = CompletedProcess(self._process.args, code, said, complained)
        return ledger.judge_store(finished) if self._is_store else ledger.judge_upload(finished)

    def is_running(self) -> bool:
        return self._process.poll() is None
