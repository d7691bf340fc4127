# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx: a reverse proxy in front of Orthanc with a path prefix, as hospitals have it, or files."""

import getpass
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from harness.orthanc import OrthancServer, find_free_port

START_SECONDS = 20

CONFIGURATION = """\
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    {location}
  }}
}}
"""


@contextmanager
def serve_below(server: OrthancServer, prefix: str, folder: Path) -> Iterator[str]:
    """The address of the server behind a proxy that knows it by a prefix, "/pacs/orthanc"."""
    forward = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
    location = f"location {prefix}/ {{ proxy_pass {server.url}/; {forward} }}"
    with _run_nginx(location, folder) as (url, _):
        yield f"{url}{prefix}"


@contextmanager
def serve_locations(locations: str, folder: Path) -> Iterator[str]:
    """The address of a proxy that has these locations."""
    with _run_nginx(locations, folder) as (url, _):
        yield url


@contextmanager
def serve_files(files: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """The address of a folder's files, and the number of the process."""
    with _run_nginx(f"location / {{ root {files}; }}", folder) as running:
        yield running


@contextmanager
def _run_nginx(location: str, folder: Path) -> Iterator[tuple[str, int]]:
    folder.mkdir(parents=True, exist_ok=True)
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    path = folder / "nginx.conf"
    # As root it would give up its rights, and with them those to the folder
    configuration = CONFIGURATION.format(
        user=getpass.getuser(), folder=folder, port=port, location=location
    )
    path.write_text(configuration, "utf-8")
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", path, "-e", "stderr"])
    try:
        _wait_until_ready(process, url)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"nginx ended with {process.returncode}"
        try:
            requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nginx was not ready after {START_SECONDS} s")
