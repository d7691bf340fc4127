# SPDX-License-Identifier: GPL-3.0-or-later
"""Large messages that wait at their sockets for memory, beside what is measured.

One message has all of the smallest budget and goes on (`hold` of the harness); programs of others
send images of 60 MB, by C-STORE and by uploads, and are held back. What waits is looked at before
and after: nothing is measured beside messages that came in, or were broken off.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from subprocess import DEVNULL

from harness.images import Image, write_multi_frame
from harness.large import get_memory, hold
from harness.ledger import HERE, make_upload_command
from harness.metrics import wait_until
from harness.orthanc import OrthancServer
from lab.options import ROOT
from lab.processes import ClientError
from lab.senders import STORESCU

SENDERS = 6
FRAMES = 115  # of 525 kB: 60 MB

# Each association takes one, also while it waits: as many as there are, and some for small images
THREADS = {"DicomThreadsCount": 16}

# Before each block, with large messages or without: who has slept is let on sooner by the kernel
REST_SECONDS = 0.2

MOMENT_SECONDS = 3


@contextmanager
def rest(_: OrthancServer) -> Iterator[None]:
    """Nothing is beside what is measured then."""
    time.sleep(REST_SECONDS)
    yield


def make_large() -> list[Image]:
    folder = ROOT / "build" / "images" / f"large-{FRAMES}"
    folder.mkdir(parents=True, exist_ok=True)
    images = []
    for number in range(SENDERS):
        path = folder / f"{number}.dcm"
        if not path.exists():
            partial = path.with_suffix(f".{os.getpid()}")
            write_multi_frame(partial, f"lab-{number}", FRAMES).path.rename(path)
        images.append(Image(path, ""))  # only the file is asked for
    return images


def list_commands(server: OrthancServer, images: Sequence[Image]) -> Iterator[list[str]]:
    """By turns with C-STORE and as uploads."""
    for number, image in enumerate(images):
        if number % 2 == 0:
            port = str(server.dicom_port)
            yield [STORESCU, "-aec", "ORTHANC", HERE.host, port, str(image.path)]
        else:
            yield make_upload_command(server, image, HERE.host)


@contextmanager
def wait_beside(server: OrthancServer, images: Sequence[Image]) -> Iterator[None]:
    """Each image waits within this. Afterwards nothing large is there, and none was stored."""

    def count_waiting() -> int:
        return get_memory(server)["Waiting"]

    def all_wait() -> bool:
        return count_waiting() == len(images)

    with hold(server), ExitStack() as senders:
        for command in list_commands(server, images):
            process = subprocess.Popen(command, stdout=DEVNULL, stderr=DEVNULL)
            senders.enter_context(process)
            senders.callback(process.kill)
        if not wait_until(all_wait):
            raise ClientError(f"{count_waiting()} of {len(images)} large messages wait")
        time.sleep(REST_SECONDS)
        yield
        # Now and then a little is read of one that waits, which then does not for a moment
        if not wait_until(all_wait, MOMENT_SECONDS):
            raise ClientError(f"{count_waiting()} of {len(images)} large messages waited on")
    if not wait_until(lambda: get_memory(server)["InFlight"] == 0):
        raise ClientError("large messages are still in flight")
