# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx: a reverse proxy in front of Orthanc with a path prefix, files, an object storage."""

import getpass
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.certificates import Certificate
from harness.orthanc import OrthancServer, find_free_port

START_SECONDS = 20
LOCAL = "127.0.0.1"

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
    listen {address}:{port}{tls};
    client_max_body_size 0;
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
def serve_files(files: Path, folder: Path, address: str = LOCAL) -> Iterator[tuple[str, int]]:
    """The address of a folder's files, and the number of the process."""
    with _run_nginx(f"location / {{ root {files}; }}", folder, address) as running:
        yield running


@contextmanager
def serve_objects(
    objects: Path, folder: Path, certificate: Certificate | None = None
) -> Iterator[str]:
    """The address of a server that keeps what is PUT there as files of a folder, until DELETE."""
    objects.mkdir()
    location = f"location / {{ root {objects}; dav_methods PUT DELETE; }}"
    with _run_nginx(location, folder, certificate=certificate) as (url, _):
        yield url


@contextmanager
def serve_tls(
    server: OrthancServer, certificate: Certificate, folder: Path, address: str = LOCAL
) -> Iterator[str]:
    """The address of the server behind a proxy that speaks HTTPS."""
    location = f"location / {{ proxy_pass {server.url}; proxy_request_buffering off; }}"
    with _run_nginx(location, folder, address, certificate) as (url, _):
        yield url


@contextmanager
def _run_nginx(
    location: str, folder: Path, address: str = LOCAL, certificate: Certificate | None = None
) -> Iterator[tuple[str, int]]:
    folder.mkdir(parents=True, exist_ok=True)
    port = find_free_port()
    path = folder / "nginx.conf"
    tls = ""
    if certificate is not None:
        tls = f" ssl; ssl_certificate {certificate.certificate}; "
        tls += f"ssl_certificate_key {certificate.key}"
    # As root it would give up its rights, and with them those to the folder
    configuration = CONFIGURATION.format(
        user=getpass.getuser(),
        folder=folder,
        address=address,
        port=port,
        tls=tls,
        location=location,
    )
    path.write_text(configuration, "utf-8")
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", path, "-e", "stderr"])
    try:
        _wait_until_ready(process, address, port)
        yield f"{'http' if certificate is None else 'https'}://{address}:{port}", process.pid
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _wait_until_ready(process: subprocess.Popen[bytes], address: str, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"nginx ended with {process.returncode}"
        try:
            socket.create_connection((address, port), timeout=5).close()
        except ConnectionError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nginx was not ready after {START_SECONDS} s")
