# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients were told of each image, held against what the store has afterwards."""

import json
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from harness.clients import make_multipart
from harness.images import Image
from harness.orthanc import OrthancServer
from harness.transcoding import decode, read, read_stored

SENDERS = 8
TITLE = "LEDGER"

REFERENCED = "00081199"  # Referenced SOP Sequence
STATUS_SIZE = 3  # of HTTP

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
    """Images are sent one by one, by programs of others, in these ways by turns."""

    def __init__(self, ways: Sequence["Way"] | None = None) -> None:
        self._ways = ways or [C_STORE, UPLOAD]
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
            way = self._ways[number % len(self._ways)]
            command = way.make_command(server, images[number], place.host)
            finished = run([*place.launcher, *command], patience, is_over)
            return Answer.NONE if finished is None else way.judge(finished)

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
    return make_post_command(image.path, f"http://{host}:{server.http_port}/instances")


def make_post_command(body: Path, url: str, output: str = "/dev/null") -> list[str]:
    command = ["curl", "--silent", "--noproxy", "*", "--write-out", "%{http_code}"]
    # Without "Expect: 100-continue", for which curl would wait a second
    command += ["--output", output, "--header", "Expect:"]
    return [*command, "--data-binary", f"@{body}", url]


def make_stow_command(
    server: OrthancServer, image: Image, host: str, output: str = "-"
) -> list[str]:
    """STOW-RS of one instance; its request is kept beside the image."""
    content, headers = make_multipart([image.read_bytes()])
    body = image.path.with_suffix(".multipart")
    body.write_bytes(content)
    url = f"http://{host}:{server.http_port}/dicom-web/studies"
    command = make_post_command(body, url, output)
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    return command


def judge_upload(finished: Finished) -> Answer:
    if finished.returncode != 0:
        return Answer.NONE
    return Answer.ACKNOWLEDGED if finished.stdout == b"200" else Answer.REFUSED


def judge_stow(finished: Finished) -> Answer:
    """An instance may have failed with any status: the answer names those that are stored."""
    if finished.returncode != 0:
        return Answer.NONE
    body, status = finished.stdout[:-STATUS_SIZE], finished.stdout[-STATUS_SIZE:]
    if status not in (b"200", b"202") or not json.loads(body).get(REFERENCED, {}).get("Value"):
        return Answer.REFUSED
    return Answer.ACKNOWLEDGED


@dataclass(frozen=True)
class Way:
    """How a client sends one image, and what its end says."""

    make_command: Callable[[OrthancServer, Image, str], list[str]]
    judge: Callable[[Finished], Answer]


C_STORE = Way(make_store_command, judge_store)
UPLOAD = Way(make_upload_command, judge_upload)
STOW = Way(make_stow_command, judge_stow)


def is_stored(server: OrthancServer, uid: str, image: Image) -> bool:
    try:
        stored = read_stored(server, server.find_instance(uid))
    except (AssertionError, OSError):
        return False
    return np.array_equal(decode(stored), decode(read(image.path)))
