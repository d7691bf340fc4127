# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances that are told apart by their pixels: what is in each follows from its number."""

import io
import threading

import numpy as np
from pydicom.uid import UID

from harness.images import BITS, identify, make_slice

SIZE = 192
NAME = "numbered"

ROOT = "1.2.826.0.1.3680043.8.498.1."
FIRST = 10**9


def make_pixels(number: int) -> np.ndarray:
    """Noise on a slope: no two are alike, and no part of one is found in another."""
    generator = np.random.default_rng(number)
    slope = np.linspace(0, 3000, SIZE)
    return (slope + generator.integers(0, 1000, (SIZE, SIZE))).astype("<u2") % 2**BITS


def name_instance(number: int) -> UID:
    return UID(f"{ROOT}{FIRST + number}")


def identify_numbered(number: int) -> str:
    image = make_slice(NAME, 0, 1, np.zeros(0, "<u2"))
    series = (image.PatientID, image.StudyInstanceUID, image.SeriesInstanceUID)
    return identify(*series, name_instance(number))


def find_number(sop_instance_uid: str) -> int:
    return int(sop_instance_uid.removeprefix(ROOT)) - FIRST


class NumberedImages:
    """Files for whoever asks, from any thread; each number is given out once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0
        image = make_slice(NAME, 0, 1, make_pixels(0))
        image.Rows = image.Columns = SIZE
        image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = name_instance(0)
        target = io.BytesIO()
        image.save_as(target, enforce_file_format=True)
        self._template = target.getvalue()
        self._uid = name_instance(0).encode()
        self._pixels = make_pixels(0).tobytes()

    def take(self) -> tuple[int, bytes]:
        with self._lock:
            self._next += 1
            number = self._next
        content = self._template.replace(self._uid, name_instance(number).encode())
        return number, content.replace(self._pixels, make_pixels(number).tobytes())
