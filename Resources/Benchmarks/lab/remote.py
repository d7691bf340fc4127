# SPDX-License-Identifier: GPL-3.0-or-later
"""An Orthanc that is somebody's: what can be asked of it, and the little that may be changed.

Passwords come from the environment, a file or the terminal, never from a command line, which all
users of a machine can read (ps(1)).
"""

import argparse
import getpass
import os
import socket
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from lab.processes import ClientError

Json = Any

USER, PASSWORD = "ORTHANC_USER", "ORTHANC_PASSWORD"  # of the environment
ASKING_SECONDS = 60
UPLOAD_SECONDS = 300

MEANINGS = {
    401: "it wants a user: --user, and the password in the environment variable " + PASSWORD,
    403: "this user may not do that there",
    413: "something in front of it lets no file of this size through",
}


@dataclass(frozen=True)
class Access:
    """How a server is reached."""

    url: str
    user: str = ""
    password: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    certificates: Path | None = None  # whom to trust, other than the system's


def read_access(arguments: argparse.Namespace) -> Access:
    """Raises ClientError for an address that is none, or holds a password."""
    parts = urlsplit(arguments.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientError(f"{arguments.url} is no address like https://orthanc.example:8042")
    if parts.username is not None:
        raise ClientError("all users of this machine could read a password in the address: --user")
    user = arguments.user or os.environ.get(USER, "")
    headers = ()
    if arguments.headers is not None:
        lines = [line.partition(":") for line in arguments.headers.read_text("utf-8").splitlines()]
        headers = tuple((name.strip(), value.strip()) for name, _, value in lines if value)
    password = read_password(arguments, user) if user else ""
    return Access(arguments.url.rstrip("/"), user, password, headers, arguments.cacert)


def read_password(arguments: argparse.Namespace, user: str) -> str:
    if arguments.password_file is not None:
        return arguments.password_file.read_text("utf-8").rstrip("\r\n")
    if PASSWORD in os.environ:
        return os.environ[PASSWORD]
    if sys.stdin.isatty():
        return getpass.getpass(f"Password of {user}: ")
    raise ClientError(f"there is no password of {user}: {PASSWORD}, or --password-file")


class Reader:
    """Asks the server by GET, and by nothing else; for one thread."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._session = requests.Session()
        self._session.trust_env = False  # neither proxies nor the passwords of ~/.netrc
        if access.user:
            self._session.auth = (access.user, access.password)
        self._session.headers.update(access.headers)
        # Or else Orthanc compresses what it answers with
        self._session.headers["Accept-Encoding"] = "identity"
        if access.certificates is not None:
            self._session.verify = str(access.certificates)

    def get(self, path: str, **parameters: object) -> requests.Response:
        """Raises ClientError if nobody answers; any status is an answer."""
        return self._ask("GET", path, ASKING_SECONDS, params=parameters)

    def get_json(self, path: str, **parameters: object) -> Json:
        """Raises ClientError for all but 200."""
        answer = self.get(path, **parameters)
        check(answer, "GET", path)
        try:
            return answer.json()
        except ValueError as error:
            raise ClientError(f"GET {path} is not answered by an Orthanc: no JSON") from error

    def close(self) -> None:
        self._session.close()

    def _ask(
        self,
        method: str,
        path: str,
        seconds: float,
        **arguments: Any,  # noqa: ANN401
    ) -> requests.Response:
        url = self.access.url + path
        try:
            # Where a redirection leads to, nobody was asked about
            return self._session.request(
                method, url, timeout=seconds, allow_redirects=False, **arguments
            )
        except requests.exceptions.SSLError as error:
            raise ClientError(
                f"its certificate is not trusted here (--cacert FILE): {error}"
            ) from error
        except requests.RequestException as error:
            raise ClientError(f"{method} {url}: {error}") from error


class Writer(Reader):
    """Adds images, and removes a study."""

    def upload(self, content: bytes) -> None:
        check(self._ask("POST", "/instances", UPLOAD_SECONDS, data=content), "POST", "/instances")

    def find_studies(self, uid: str) -> list[str]:
        """Orthanc's identifiers of the studies with this StudyInstanceUID."""
        answer = self._ask("POST", "/tools/lookup", ASKING_SECONDS, data=uid)
        check(answer, "POST", "/tools/lookup")
        return [found["ID"] for found in answer.json() if found["Type"] == "Study"]

    def delete_study(self, identifier: str) -> None:
        """Raises ClientError unless it is gone then, or was not there."""
        path = f"/studies/{identifier}"
        answer = self._ask("DELETE", path, UPLOAD_SECONDS)
        if answer.status_code != 404:
            check(answer, "DELETE", path)


def check(answer: requests.Response, method: str, path: str) -> None:
    if answer.status_code == 200:
        return
    meaning = MEANINGS.get(answer.status_code, "")
    if answer.is_redirect:
        meaning = f"it leads to {answer.headers['Location']}: name that address"
    said = f"{method} {path} is answered by {answer.status_code}"
    raise ClientError(f"{said}: {meaning}" if meaning else said)


def upload_all(access: Access, contents: Sequence[bytes], connections: int) -> float:
    """POST /instances over so many connections, each made anew: the seconds that it took.

    Whatever ends it, all connections have come to rest when it returns: nothing arrives later.
    """
    is_over = threading.Event()

    def send(share: int) -> None:
        writer = Writer(access)
        try:
            for content in contents[share::connections]:
                if is_over.is_set():
                    return
                writer.upload(content)
        finally:
            writer.close()

    begin = time.monotonic()
    with ThreadPoolExecutor(connections) as pool:
        try:
            for sent in [pool.submit(send, share) for share in range(connections)]:
                sent.result()
        finally:
            is_over.set()
    return time.monotonic() - begin


def measure_round_trip(access: Access) -> float:
    """The seconds of a TCP handshake, the median of five; raises ClientError."""
    parts = urlsplit(access.url)
    assert parts.hostname is not None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    seconds = []
    try:
        for _ in range(5):
            begin = time.monotonic()
            with socket.create_connection((parts.hostname, port), timeout=10):
                seconds.append(time.monotonic() - begin)
    except (OSError, ssl.SSLError) as error:
        raise ClientError(f"{parts.hostname}:{port}: {error}") from error
    return statistics.median(seconds)
