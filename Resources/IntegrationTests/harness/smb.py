# SPDX-License-Identifier: GPL-3.0-or-later
"""Samba, which serves a folder by CIFS to anybody who reaches its port, and Samba's own client."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import TimeoutExpired

from harness.orthanc import find_free_port
from harness.receivers import Receiver

SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
FOLDERS = ("lock", "state", "cache", "private", "pid", "ncalrpc")
END_SECONDS = 5
SHARE = "files"

CONFIGURATION = """\
[global]
server role = standalone server
map to guest = Bad User
guest account = {user}
disable netbios = yes
smb ports = {port}
interfaces = {address}
bind interfaces only = yes
load printers = no
lock directory = {folder}/lock
state directory = {folder}/state
cache directory = {folder}/cache
private dir = {folder}/private
pid directory = {folder}/pid
ncalrpc dir = {folder}/ncalrpc
log file = {folder}/log
socket options = TCP_NODELAY{buffers}

[{share}]
path = {files}
guest ok = yes
read only = yes
"""

# One request reads a whole file, over a line of 800 ms, too: 20 by default (smbclient(1))
REQUEST_SECONDS = 300

# The last line of each file that smbclient fetches; its kilobytes are of 1024 bytes
AVERAGE = re.compile(r"\(average ([\d.]+) KiloBytes/sec\)")


def find_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "smbd becomes its clients' users, for which it needs root"
    missing = [name for name in ("smbd", "smbclient") if shutil.which(name, path=SEARCH) is None]
    return f"{' and '.join(missing)} (Samba) not installed" if missing else None


class Samba(Receiver):
    """Its processes end with the first one, if that is asked to."""

    def _end(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except TimeoutExpired:
            super()._end()


@contextmanager
def serve_files(
    files: Path, folder: Path, address: str = "127.0.0.1", buffer: int | None = None
) -> Iterator[list[str | Path]]:
    """The command that fetches from the share but for its last word; `buffer` is in bytes."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    port = find_free_port()
    path = folder / "smb.conf"
    settings = {"address": address, "port": port, "files": files, "folder": folder, "share": SHARE}
    sizes = f" SO_RCVBUF={buffer} SO_SNDBUF={buffer}" if buffer else ""
    path.write_text(CONFIGURATION.format(**settings, user="root", buffers=sizes), "utf-8")
    server = shutil.which("smbd", path=SEARCH)
    assert server is not None
    with Samba(port, [server, "--foreground", "--configfile", path]):
        client = ["smbclient", f"//{address}/{SHARE}", "--port", str(port), "--no-pass"]
        client += ["--timeout", str(REQUEST_SECONDS)]
        yield [*client, "--user", "guest%", "--configfile", path, "--command"]


def get_files(names: Sequence[str], folder: Path | str) -> str:
    """All of these, one after the other."""
    return "; ".join(["prompt", f"lcd {folder}", *(f"get {name}" for name in names)])


def read_seconds(said: str, size: int) -> float:
    """What so many bytes took, by smbclient's own clock, which starts after it has logged in."""
    return size / (1024 * float(AVERAGE.findall(said)[-1]))
