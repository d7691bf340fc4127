# SPDX-License-Identifier: GPL-3.0-or-later
"""A reverse proxy in front of Orthanc, as hospitals have it: nginx with a path prefix."""

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
    location {prefix}/ {{
      proxy_pass {target}/;
    }}
  }}
}}
"""


@contextmanager
def serve_below(server: OrthancServer, prefix: str, folder: Path) -> Iterator[str]:
    """The address of the server behind a proxy that knows it by a prefix, "/pacs/orthanc"."""
    folder.mkdir(parents=True, exist_ok=True)
    port = find_free_port()
    path = folder / "nginx.conf"
    path.write_text(
        CONFIGURATION.format(folder=folder, port=port, prefix=prefix, target=server.url), "utf-8"
    )
    process = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", path, "-e", "stderr"])
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}{prefix}"
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
