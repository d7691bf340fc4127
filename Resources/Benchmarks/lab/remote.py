# SPDX-License-Identifier: GPL-3.0-or-later
"""An Orthanc that is somebody's: what can be asked of it, and the little that may be changed.

Passwords come from the environment, a file or the terminal, never from a command line, which all
users of a machine can read (ps(1)).
"""

import getpass
import ipaddress
import os
import socket
import ssl
import statistics
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from harness.orthanc import LONGEST_REST
from lab.processes import ClientError

Json = Any

USER, PASSWORD = "ORTHANC_USER", "ORTHANC_PASSWORD"  # of the environment
SYSTEM = ssl.get_default_verify_paths()  # by itself, requests trusts a list of its own
ASKING_SECONDS = 60
UPLOAD_SECONDS = 300

MEANINGS = {
    401: "it wants a user: --user, and the password in the environment variable " + PASSWORD,
    403: "this user may not do that there",
    413: "something in front of it lets no file of this size through",
}


class StrangerError(ClientError):
    """What was sent is elsewhere, or under other names, than it should be."""


@dataclass(frozen=True)
class Access:
    url: str
    user: str = ""
    password: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    certificates: Path | None = None  # whom to trust, other than the system's

    def is_exposed(self) -> bool:
        """Whether a password or a token would go over a network unencrypted."""
        parts = urlsplit(self.url)
        if parts.scheme == "https" or not (self.user or self.headers):
            return False
        try:
            return not ipaddress.ip_address(parts.hostname or "").is_loopback
        except ValueError:
            return parts.hostname != "localhost"


def read_access(arguments: Namespace) -> Access:
    """Raises ClientError for an address that is none, or holds a password or a query."""
    parts = urlsplit(arguments.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientError(f"{arguments.url} is no address like https://orthanc.example:8042")
    if parts.username is not None:
        raise ClientError("all users of this machine could read a password in the address: --user")
    if parts.query or parts.fragment:
        raise ClientError(
            f"{arguments.url} should end before its ? or #: a token goes by --headers"
        )
    user = arguments.user or os.environ.get(USER, "")
    headers = ()
    if arguments.headers is not None:
        lines = [line.partition(":") for line in arguments.headers.read_text("utf-8").splitlines()]
        headers = tuple((name.strip(), value.strip()) for name, _, value in lines if value)
    password = read_password(arguments, user) if user else ""
    return Access(arguments.url.rstrip("/"), user, password, headers, arguments.cacert)


def read_password(arguments: Namespace, user: str) -> str:
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
        if authorities := access.certificates or SYSTEM.cafile or SYSTEM.capath:
            self._session.verify = str(authorities)
        self._used = time.monotonic()

    def get(self, path: str, **parameters: object) -> requests.Response:
        """Raises ClientError if nobody answers; any status is an answer."""
        return self._ask("GET", path, ASKING_SECONDS, params=parameters)

    def get_json(self, path: str, **parameters: object) -> Json:
        """Raises ClientError for all but 200."""
        answer = self.get(path, **parameters)
        check(answer, "GET", path)
        return read_json(answer, "GET", path)

    def get_system(self) -> Json:
        """Raises ClientError if it is no Orthanc, such as the router before one that restarts."""
        system = self.get_json("/system")
        if not isinstance(system, dict) or "Version" not in system:
            raise ClientError(f"{self.access.url} is no Orthanc: /system has no Version")
        return system

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
        if time.monotonic() - self._used > LONGEST_REST:
            self._session.close()  # its connections; the next one is made by itself
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
        finally:
            self._used = time.monotonic()


class Writer(Reader):
    """Adds images, and removes a study."""

    def upload(self, content: bytes) -> requests.Response:
        return self._ask("POST", "/instances", UPLOAD_SECONDS, data=content)

    def find_studies(self, uid: str) -> list[str]:
        path = "/tools/lookup"
        answer = self._ask("POST", path, ASKING_SECONDS, data=uid)
        check(answer, "POST", path)
        found = read_json(answer, "POST", path)
        return [resource["ID"] for resource in found if resource["Type"] == "Study"]

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


def read_json(answer: requests.Response, method: str, path: str) -> Json:
    """Raises ClientError for what is none, such as the page of a proxy that wants a password."""
    try:
        return answer.json()
    except ValueError as error:
        raise ClientError(f"{method} {path} is not answered by an Orthanc: no JSON") from error


def check_upload(answer: requests.Response, identifier: str) -> None:
    """Raises ClientError unless it is stored as this instance, StrangerError if as another."""
    check(answer, "POST", "/instances")
    said = read_json(answer, "POST", "/instances")
    if said["Status"] != "Success":
        raise ClientError(f"POST /instances says {said['Status']}")
    if said["ID"] != identifier:
        raise StrangerError(
            f"POST /instances has made /instances/{said['ID']} of what should be {identifier}:"
            " something there gives images other names, from which the lab removes nothing"
        )


def tell(text: str) -> None:
    """On the terminal; where that has gone (SIGHUP), there is more to do than to tell."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def is_final(answer: requests.Response) -> bool:
    """Whether an upload is over: a proxy may have given up what Orthanc is still at."""
    if answer.status_code != 200 and answer.status_code < 500:
        return True
    with suppress(ValueError):
        said = answer.json()
        return isinstance(said, dict) and ("Status" in said or "OrthancStatus" in said)
    return False


def upload_all(
    access: Access, images: Mapping[str, bytes], connections: int, unanswered: set[str]
) -> float:
    """POST /instances over so many connections, each made anew: the seconds that it took.

    Images are named by Orthanc's identifiers. Those that were begun and of which nobody knows how
    they ended are in `unanswered`. Whatever ends it, all connections have come to rest when it
    returns: of the others, none arrives later.
    """
    is_over = threading.Event()
    names = list(images)

    def send(share: int) -> None:
        writer = Writer(access)
        try:
            for name in names[share::connections]:
                if is_over.is_set():
                    return
                unanswered.add(name)
                answer = writer.upload(images[name])
                if is_final(answer):
                    unanswered.discard(name)
                check_upload(answer, name)
        finally:
            writer.close()

    begin = time.monotonic()
    with ThreadPoolExecutor(connections) as pool:
        shares = [pool.submit(send, share) for share in range(connections)]
        try:
            wait(shares, return_when=FIRST_EXCEPTION)
        except BaseException:  # somebody wishes it to end
            tell("Waits for the answers to what is on its way, please wait.")
            raise
        finally:
            is_over.set()
    seconds = time.monotonic() - begin
    errors = [error for error in (share.exception() for share in shares) if error is not None]
    strangers = [str(error) for error in errors if isinstance(error, StrangerError)]
    if strangers:
        raise StrangerError("; ".join(strangers))
    for error in errors:
        raise error
    return seconds


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
