# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches files by FTP over one control connection; the seconds that it took are its last line.

    python -m lab.ftp_receiver ftp://127.0.0.1:2121 FOLDER NAME…

What it asks for is what curl asks for, in the same order. But curl 7.88 may wait for a second
where a file's connection is there at once, which is what a short line would be measured by.
"""

import sys
import time
from ftplib import FTP
from pathlib import Path
from urllib.parse import urlsplit

BLOCK = 2**18  # bytes


def fetch(connection: FTP, name: str, folder: Path) -> None:
    connection.size(name)
    with connection.transfercmd(f"RETR {name}") as data, (folder / name).open("wb") as file:
        while block := data.recv(BLOCK):
            file.write(block)
    connection.voidresp()


def main() -> None:
    url, folder, *names = sys.argv[1:]
    address = urlsplit(url)
    begin = time.monotonic()
    with FTP() as connection:
        connection.connect(address.hostname, address.port)
        connection.login()
        connection.voidcmd("TYPE I")
        for name in names:
            fetch(connection, name, Path(folder))
    print(time.monotonic() - begin)


if __name__ == "__main__":
    main()
