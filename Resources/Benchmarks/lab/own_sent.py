# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of `own` has sent and not removed yet: its names, kept in a file, and its removal.

A run that is killed cannot say any more what it has left behind: the file does.
"""

import json
import os
import re
import time
import uuid
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

from harness.images import identify
from lab.processes import ClientError
from lab.remote import Json, Writer

LOOK_SECONDS = 1.0  # between two looks

PATIENT = "PERF-LAB-"
KEYS = ("URL", "PatientID", "StudyInstanceUID", "SeriesInstanceUID")
OWN_PATIENT = re.compile(PATIENT + "[0-9a-f]{12}")
OWN_UID = re.compile(r"2\.25\.[0-9]{1,39}")


def make_uid() -> str:
    return f"2.25.{uuid.uuid4().int}"  # DICOM PS3.5, annex B.2


@dataclass(frozen=True)
class Sent:
    """Names that nobody has, made once for a run and told before it begins; and where they go."""

    url: str
    patient: str
    study_uid: str
    series_uid: str

    @property
    def study(self) -> str:
        return identify(self.patient, self.study_uid)

    @property
    def series(self) -> str:
        return identify(self.patient, self.study_uid, self.series_uid)

    def describe_names(self) -> str:
        return f"PatientID {self.patient}, StudyInstanceUID {self.study_uid}, /studies/{self.study}"

    def describe(self) -> str:
        return f"{self.url}: {self.describe_names()}"

    def to_json(self) -> Json:
        return {**dict(zip(KEYS, astuple(self), strict=True)), "Path": f"/studies/{self.study}"}

    @classmethod
    def from_json(cls, entry: Json) -> Self:
        """Raises ValueError for names that no run makes: those are somebody's."""
        sent = cls(*(entry[key] for key in KEYS))
        if not OWN_PATIENT.fullmatch(sent.patient) or not OWN_UID.fullmatch(sent.study_uid):
            raise ValueError(f"not of the lab: {sent.describe_names()}")
        return sent


def make_names(url: str) -> Sent:
    return Sent(url, f"{PATIENT}{uuid.uuid4().hex[:12]}", make_uid(), make_uid())


class SentFile:
    """own-sent.json: there as long as an image may be anywhere that should not stay there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "own-sent.json"

    def read(self) -> list[Sent]:
        """Raises ClientError if it cannot be told what it names."""
        try:
            return [Sent.from_json(entry) for entry in json.loads(self.path.read_text("utf-8"))]
        except FileNotFoundError:
            return []
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ClientError(
                f"{self.path} names what an earlier run has sent, but not so that it can be"
                f" removed: look at it, and take it away then: {error!r}"
            ) from error

    def add(self, sent: Sent) -> None:
        if sent not in (before := self.read()):
            self._write([*before, sent])

    def forget(self, sent: Sent) -> None:
        self._write([other for other in self.read() if other != sent])

    def _write(self, all_sent: list[Sent]) -> None:
        if not all_sent:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(f".{os.getpid()}")
        partial.touch(0o600)
        partial.write_text(json.dumps([sent.to_json() for sent in all_sent], indent=1), "utf-8")
        partial.replace(self.path)


def remove(
    writer: Writer, names: Sent, seconds: float = 0, unanswered: set[str] | None = None
) -> None:
    """The study, tried for so many seconds, and watched for as long for images that are late.

    `unanswered` are the instances that may be late: those that come are taken out of it. Raises
    ClientError unless an Orthanc says in the end that it has none of the study.
    """
    late = set() if unanswered is None else unanswered
    end = time.monotonic() + seconds
    while True:
        before, problem = len(late), ""
        try:
            if seconds:
                _remove_seen(writer, names.study, late)
                for study in writer.find_studies(names.study_uid):  # under another PatientID
                    _remove_seen(writer, study, late)
            else:
                writer.delete_study(names.study)
                _check_gone(writer, names.study)
        except ClientError as error:
            problem = str(error)
        except Exception as error:  # whatever answers there may answer with anything
            problem = repr(error)
        if len(late) < before:
            end = time.monotonic() + seconds
        if (not problem and not late) or time.monotonic() >= end:
            break
        time.sleep(LOOK_SECONDS)
    if problem:
        raise ClientError(problem)


def _remove_seen(writer: Writer, study: str, late: set[str]) -> None:
    """A study that comes just now is left for the next look: what it has is to be seen."""
    answer = writer.get(f"/studies/{study}/instances")
    if answer.status_code != 404:
        # What cannot be listed is removed, too
        with suppress(KeyError, TypeError, ValueError):
            late -= {instance["ID"] for instance in answer.json()}
        writer.delete_study(study)
    _check_gone(writer, study)


def _check_gone(writer: Writer, study: str) -> None:
    """Raises ClientError unless an Orthanc says so."""
    # A router in front of an Orthanc that restarts answers 404, too: to everything
    writer.get_system()
    status = writer.get(f"/studies/{study}").status_code
    writer.get_system()
    if status != 404:
        raise ClientError(f"GET /studies/{study} is answered by {status} after DELETE")
