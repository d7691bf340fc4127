# SPDX-License-Identifier: GPL-3.0-or-later
"""vsftpd, which serves a folder to anybody who reaches its port, and takes nothing."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.orthanc import find_free_port
from harness.receivers import Receiver

VSFTPD = "/usr/sbin/vsftpd"

# Its sandbox of system calls is older than kernels of today, which end it (500 OOPS)
CONFIGURATION = """\
listen=YES
background=NO
listen_address={address}
listen_port={port}
anonymous_enable=YES
local_enable=NO
no_anon_password=YES
anon_root={files}
secure_chroot_dir={empty}
seccomp_sandbox=NO
xferlog_enable=NO
"""


def find_obstacle() -> str | None:
    if os.geteuid() != 0:
        return "vsftpd shuts itself in the folder that it serves, for which it needs root"
    return None if shutil.which(VSFTPD) else "vsftpd is not installed"


@contextmanager
def serve_files(files: Path, folder: Path, address: str = "127.0.0.1") -> Iterator[tuple[str, int]]:
    """The address of a folder's files, and the number of the process."""
    empty = folder / "empty"
    empty.mkdir(parents=True)
    port = find_free_port()
    path = folder / "vsftpd.conf"
    settings = {"address": address, "port": port, "files": files, "empty": empty}
    path.write_text(CONFIGURATION.format(**settings), "utf-8")
    with Receiver(port, [VSFTPD, path]) as receiver:
        yield f"ftp://{address}:{port}", receiver.pid
