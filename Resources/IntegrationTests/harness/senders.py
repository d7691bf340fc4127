# SPDX-License-Identifier: GPL-3.0-or-later
"""Associations of pynetdicom's with Orthanc, under a test's own hand."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle

from pydicom import dcmread
from pydicom.uid import ExplicitVRLittleEndian
from pynetdicom import AE
from pynetdicom.association import Association
from pynetdicom.sop_class import CTImageStorage

from harness.images import Image
from harness.orthanc import OrthancServer


def associate(
    server: OrthancServer, title: str = "PYNETDICOM", called: str = "ORTHANC"
) -> Association:
    """An association for CT images; it may have been refused."""
    entity = AE(title)
    entity.add_requested_context(CTImageStorage, ExplicitVRLittleEndian)
    return entity.associate("127.0.0.1", server.dicom_port, ae_title=called)


@contextmanager
def keep_reactor_paused(association: Association) -> Iterator[None]:
    """Keeps pynetdicom's own thread from the responses of a series.

    Between two requests that thread goes on for a moment. On a busy machine it may still be about
    to when the next request is sent: it takes the response off the queue as nobody's ("Received
    unexpected C-STORE service message"), and the request waits for its time-out.
    """
    checkpoint = association._reactor_checkpoint
    checkpoint.clear()
    time.sleep(0.1)  # what it was about to do
    while not association._is_paused:
        time.sleep(0.001)
    association._reactor_checkpoint = threading.Event()  # which each request sets, and nobody heeds
    try:
        yield
    finally:
        association._reactor_checkpoint = checkpoint
        checkpoint.set()


def store_timed(server: OrthancServer, images: Sequence[Image], title: str) -> float:
    """All images over one association: seconds from the first request to the last response."""
    contents = [dcmread(image.path) for image in images]
    association = associate(server, title)
    assert association.is_established
    with keep_reactor_paused(association):
        begin = time.perf_counter()
        statuses = [association.send_c_store(content).Status for content in contents]
        elapsed = time.perf_counter() - begin
    association.release()
    assert not any(statuses)
    return elapsed


@contextmanager
def transfer(server: OrthancServer, images: Sequence[Image], title: str) -> Iterator[None]:
    """Sends images again and again over one association while the body runs."""
    contents = [dcmread(image.path) for image in images]
    stop = threading.Event()
    failures: list[object] = []
    association = associate(server, title)
    assert association.is_established

    def send_on() -> None:
        with keep_reactor_paused(association):
            for content in cycle(contents):
                status = association.send_c_store(content)
                if getattr(status, "Status", None) != 0:
                    failures.append(status)
                if stop.is_set() or failures:
                    return

    thread = threading.Thread(target=send_on)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
        association.release()
    assert not failures, f"an image was not accepted during the transfer: {failures}"
