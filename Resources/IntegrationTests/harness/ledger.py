# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients were told of each image, held against what the store has afterwards."""

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import Enum

import numpy as np

from harness.images import Image
from harness.orthanc import OrthancServer
from harness.transcoding import decode, read, read_stored

SENDERS = 8
TITLE = "LEDGER"

LOOK_SECONDS = 0.2  # between two looks whether a client is to wait on


class Answer(Enum):
    """Of C-STORE a status of success or none, of HTTP 200 or another one."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    NONE = "not answered"


@dataclass(frozen=True)
class Place:
    """A command that executes another one there, such as ip(8) netns exec, and Orthanc's address
    from there."""

    launcher: list[str]
    host: str


HERE = Place([], "127.0.0.1")


class Ledger:
    """Images are sent one by one, by turns with C-STORE and over HTTP, by programs of others."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, Image] = {}

    def send(
        self,
        server: OrthancServer,
        images: Sequence[Image],
        patience: float,
        place: Place = HERE,
        is_enough: Callable[[], bool] = lambda: False,
    ) -> Counter[Answer]:
        """Sends several at once; a client waits for its answer until its patience has ended, or all
        have waited enough."""
        is_over = threading.Event()

        def send_one(number: int) -> Answer:
            make = make_store_command if number % 2 == 0 else make_upload_command
            command = make(server, images[number], place.host)
            finished = run([*place.launcher, *command], patience, is_over)
            if finished is None:
                return Answer.NONE
            return judge_store(finished) if number % 2 == 0 else judge_upload(finished)

        with ThreadPoolExecutor(SENDERS) as pool:
            sending = [pool.submit(send_one, number) for number in range(len(images))]
            while wait(sending, LOOK_SECONDS).not_done:
                if is_enough():
                    is_over.set()
            answers = [future.result() for future in sending]
        for image, answer in zip(images, answers, strict=True):
            if answer is Answer.ACKNOWLEDGED:
                self.acknowledged[image.sop_instance_uid] = image
        return Counter(answers)

    def find_lost(self, server: OrthancServer) -> list[str]:
        """What was acknowledged and is not there, or not with the same pixels."""
        return [
            uid for uid, image in self.acknowledged.items() if not is_stored(server, uid, image)
        ]


Finished = subprocess.CompletedProcess[bytes]


def run(command: Sequence[str], patience: float, is_over: threading.Event) -> Finished | None:
    """None: it was ended, as it was still at work after so many seconds, or when it was over."""
    deadline = time.monotonic() + patience
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                if is_over.is_set() or time.monotonic() > deadline:
                    process.kill()
                    return None
            else:
                return Finished(command, process.returncode, output, errors)


def make_store_command(server: OrthancServer, image: Image, host: str) -> list[str]:
    command = ["storescu", "-v", "-aet", TITLE, "-aec", "ORTHANC", host, str(server.dicom_port)]
    return [*command, str(image.path)]


def judge_store(finished: Finished) -> Answer:
    if finished.returncode == 0:
        return Answer.ACKNOWLEDGED
    has_answer = b"Received Store Response" in finished.stdout + finished.stderr
    return Answer.REFUSED if has_answer else Answer.NONE


def make_upload_command(server: OrthancServer, image: Image, host: str) -> list[str]:
    command = ["curl", "--silent", "--noproxy", "*", "--write-out", "%{http_code}"]
    # Without "Expect: 100-continue", for which curl would wait a second
    command += ["--output", "/dev/null", "--header", "Expect:"]
    url = f"http://{host}:{server.http_port}/instances"
    return [*command, "--data-binary", f"@{image.path}", url]


def judge_upload(finished: Finished) -> Answer:
    if finished.returncode != 0:
        return Answer.NONE
    return Answer.ACKNOWLEDGED if finished.stdout == b"200" else Answer.REFUSED


def is_stored(server: OrthancServer, uid: str, image: Image) -> bool:
    try:
        stored = read_stored(server, server.find_instance(uid))
    except (AssertionError, OSError):
        return False
    return np.array_equal(decode(stored), decode(read(image.path)))
