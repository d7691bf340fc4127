# SPDX-License-Identifier: GPL-3.0-or-later
"""The web service that Orthanc's authorization plugin asks what the bearer of a token may do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def serve_profiles(permissions: dict[str, list[str]]) -> Iterator[str]:
    """The address of one that gives the bearers of these tokens these permissions, others none."""

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            token = json.loads(self._read()).get("token-value", "")
            profile = {
                "name": token or "anonymous",
                "authorized-labels": ["*"],
                "permissions": permissions.get(token, []),
                "validity": 60,
            }
            body = json.dumps(profile).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _read(self) -> bytes:
            """In chunks (RFC 9112, section 7.1), as the plugin sends it, or in one piece."""
            if length := self.headers["Content-Length"]:
                return self.rfile.read(int(length))
            content = b""
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return content

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/user/get-profile"
        finally:
            server.shutdown()
            thread.join()
