# SPDX-License-Identifier: GPL-3.0-or-later
"""What strangers do to the two ports: garbage, titles that are none, connections that end early.

Each function is one visit, whose connection has ended when it returns. None of them stays silent
from the start: Orthanc accepts DICOM connections on one thread, which waits for each request.
"""

import random
import socket
import time
from contextlib import suppress

from harness import wire
from harness.orthanc import OrthancServer

GARBAGE_SECONDS = 10

# The title takes 16 bytes; some of these can't be written in a name that is printed. None is empty:
# Orthanc 1.10.1 never answers such a request nor closes its connection (also without the plugin).
NONSENSE = [
    b'"><script>alert(',
    b'a"b\\c\n# HELP x y',
    b"peer\r\n\r\nHTTP/1.1",
    b'{a="b",}\t\x01\x02\x7f',
    "ÄÖÜ€ß日本".encode()[:16],
    b"\xff\xfe\xfd\xfc" * 4,
    b"other",
    b"../../etc/passwd",
    b"' OR 1=1; --",
    b"%s%n%x%p%d",
]


def make_garbage(number: int) -> bytes:
    generator = random.Random(number)
    return [
        generator.randbytes(generator.randrange(1, 100_000)),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        # A TLS record of a handshake, which announces a ClientHello (RFC 8446 section 5.1)
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + generator.randbytes(506),
        # PDUs that announce more than there is, or more than may be
        b"\x01\x00\xff\xff\xff\xff" + generator.randbytes(500),
        b"\x04\x00\x00\x00\x00\x00" * 20,
        wire.make_associate_request(b"FUZZ").replace(b"\x50\x00", b"\x50\xff"),
    ][number % 6]


def _send_and_drain(connection: socket.socket, content: bytes) -> None:
    """Until Orthanc closes it, which may have had enough before it has all."""
    with suppress(OSError):
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(GARBAGE_SECONDS)
        while connection.recv(65536):
            pass


def speak_garbage(server: OrthancServer, number: int) -> None:
    with wire.connect(server.dicom_port) as connection:
        _send_and_drain(connection, make_garbage(number))


def speak_garbage_when_associated(server: OrthancServer, number: int) -> None:
    with wire.associate(server, b"GARBAGE") as association:
        _send_and_drain(association, make_garbage(number))


def ask_garbage(server: OrthancServer, number: int) -> None:
    with wire.connect(server.http_port) as connection:
        _send_and_drain(connection, make_garbage(number) + b"\r\n\r\n")


def break_off_request(server: OrthancServer, number: int) -> None:
    """A part of an A-ASSOCIATE-RQ, and the end of the connection, of either kind."""
    request = wire.make_associate_request(b"HALF")
    with wire.connect(server.dicom_port) as connection:
        connection.sendall(request[: number % len(request)])
        time.sleep(0.001 * (number % 20))
        if number % 3 == 0:
            wire.reset(connection)


def reset_in_mid_message(server: OrthancServer, number: int) -> None:
    association = wire.associate(server, b"RESET", wire.CT_IMAGE_STORAGE)
    wire.store_half(association, f"1.2.3.{number}")
    wire.reset(association)


def call_itself_nonsense(server: OrthancServer, number: int) -> None:
    title = NONSENSE[number % len(NONSENSE)]
    if number >= len(NONSENSE):
        title = (str(number).encode() + title)[:16]
    with wire.connect(server.dicom_port) as connection:
        connection.sendall(wire.make_associate_request(title))
        wire.receive_pdu(connection)
