# SPDX-License-Identifier: GPL-3.0-or-later
"""A load that goes on until its end is asked for, and that takes a server's disappearance well."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import requests

from harness import clients
from harness.images import Image
from harness.metrics import INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer

CLIENTS = 2


@contextmanager
def meanwhile(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Another thread works while the body runs, until the event that it is given is set."""
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def keep_busy(server: OrthancServer, images: Sequence[Image]) -> Iterator[None]:
    """Within this, storescu and HTTP clients send, as long as the server lets them."""
    contents = [image.read_bytes() for image in images]
    is_over = threading.Event()

    def upload() -> None:
        with suppress(OSError, requests.RequestException):
            while not is_over.is_set():
                clients.upload(server, contents)

    def store() -> None:
        with suppress(subprocess.CalledProcessError):
            while not is_over.is_set():
                clients.store(server, images)

    threads = [threading.Thread(target=target) for target in [upload] * CLIENTS + [store]]
    before = scrape(server).group(INSTANCES, "origin")
    for thread in threads:
        thread.start()
    try:
        origins = [("DicomProtocol",), ("RestApi",)]
        assert wait_until(lambda: has_grown(server, before, origins))
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def has_grown(
    server: OrthancServer, before: dict[tuple[str, ...], int], origins: Sequence[tuple[str]]
) -> bool:
    now = scrape(server).group(INSTANCES, "origin")
    return all(now.get(origin, 0) > before.get(origin, 0) for origin in origins)
