# SPDX-License-Identifier: GPL-3.0-or-later
"""DICOM on the wire (PS3.8 section 9.3, PS3.7 section 9.3), byte by byte.

Well-behaved clients are DCMTK's; this is for the peers that no toolkit lets one be: those that fall
silent, vanish, or call themselves what no application entity may be called.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from harness.orthanc import OrthancServer

APPLICATION_CONTEXT = "1.2.840.10008.3.1.1.1"
VERIFICATION = "1.2.840.10008.1.1"
CT_IMAGE_STORAGE = "1.2.840.10008.5.1.4.1.1.2"
IMPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2"

ASSOCIATE_ACCEPT, ASSOCIATE_REJECT = 2, 3
CONTEXT = 1
IS_LAST, IS_COMMAND = 2, 1
NO_DATA_SET, HAS_DATA_SET = 0x0101, 0x0000
C_STORE, C_ECHO = 0x0001, 0x0030

RELEASE_REQUEST = struct.pack(">BxI4x", 5, 4)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


@contextmanager
def full_queue() -> Iterator[int]:
    """The port of one whom nobody reaches: Linux drops what asks for a connection while as many
    wait as were asked for (listen(2))."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as stack:
        port = listener.getsockname()[1]
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        yield port


def reset(connection: socket.socket) -> None:
    """Closes with a RST, as the kernel of a machine that has lost the connection would."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def make_item(kind: int, value: bytes) -> bytes:
    return struct.pack(">BxH", kind, len(value)) + value


def make_context(number: int, sop_class: str = VERIFICATION) -> bytes:
    context = struct.pack(">Bxxx", number)
    context += make_item(0x30, sop_class.encode())
    return make_item(0x20, context + make_item(0x40, IMPLICIT_LITTLE_ENDIAN.encode()))


def make_associate_request(
    calling: bytes,
    sop_class: str = VERIFICATION,
    implementation: bytes = b"",
    called: bytes = b"ORTHANC",
    contexts: bytes = b"",
) -> bytes:
    user = make_item(0x51, struct.pack(">I", 16384)) + make_item(0x52, b"1.2.3.4")
    user += make_item(0x55, implementation) if implementation else b""
    body = struct.pack(">Hxx16s16s32x", 1, called.ljust(16), calling.ljust(16))
    body += make_item(0x10, APPLICATION_CONTEXT.encode())
    body += contexts or make_context(CONTEXT, sop_class)
    body += make_item(0x50, user)
    return struct.pack(">BxI", 1, len(body)) + body


def make_element(element: int, value: bytes) -> bytes:
    value += b"\0" * (len(value) % 2)
    return struct.pack("<HHI", 0, element, len(value)) + value


def make_command(field: int, sop_class: str, data_set: int, instance: str = "") -> bytes:
    """The P-DATA-TF of a request."""
    body = make_element(0x0002, sop_class.encode())
    body += make_element(0x0100, struct.pack("<H", field))
    body += make_element(0x0110, struct.pack("<H", 1))
    body += make_element(0x0700, struct.pack("<H", 0)) if instance else b""
    body += make_element(0x0800, struct.pack("<H", data_set))
    body += make_element(0x1000, instance.encode()) if instance else b""
    body = make_element(0x0000, struct.pack("<I", len(body))) + body
    return make_data(body, IS_COMMAND | IS_LAST)


def make_data(value: bytes, control: int) -> bytes:
    return struct.pack(">BxIIBB", 4, len(value) + 6, len(value) + 2, CONTEXT, control) + value


def receive_pdu(connection: socket.socket) -> tuple[int, bytes]:
    """The type of the next PDU, and what follows its header."""
    kind, size = struct.unpack(">BxI", receive_exactly(connection, 6))
    return kind, receive_exactly(connection, size)


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise ConnectionError("the connection was closed within a PDU")
        received += piece
    return received


def associate(
    server: OrthancServer, calling: bytes = b"WIRE", sop_class: str = VERIFICATION
) -> socket.socket:
    """An accepted association."""
    connection = connect(server.dicom_port)
    connection.sendall(make_associate_request(calling, sop_class))
    kind, _ = receive_pdu(connection)
    assert kind == ASSOCIATE_ACCEPT, f"Orthanc answered with a PDU of type {kind}"
    return connection


def echo(connection: socket.socket) -> None:
    connection.sendall(make_command(C_ECHO, VERIFICATION, NO_DATA_SET))
    kind, _ = receive_pdu(connection)
    assert kind == 4, f"Orthanc answered with a PDU of type {kind}"


def release(connection: socket.socket) -> None:
    connection.sendall(RELEASE_REQUEST)
    receive_pdu(connection)
    connection.close()


def store(connection: socket.socket, instance: str, data_set: bytes) -> int:
    """The status of a C-STORE of a CT image, Implicit VR Little Endian, that fits into one PDU."""
    request = make_command(C_STORE, CT_IMAGE_STORAGE, HAS_DATA_SET, instance)
    connection.sendall(request + make_data(data_set, IS_LAST))
    _, response = receive_pdu(connection)
    return find_status(response)


def make_small_data_set(instance: str) -> bytes:
    """What Orthanc needs to store an instance, Implicit VR Little Endian."""
    tags = {(0x08, 0x16): CT_IMAGE_STORAGE, (0x08, 0x18): instance, (0x10, 0x20): "P"}
    tags |= {(0x20, 0x0D): "1.2.3", (0x20, 0x0E): "1.2.3.4"}
    elements = [(tag, value.encode() + b"\0" * (len(value) % 2)) for tag, value in tags.items()]
    return b"".join(struct.pack("<HHI", *tag, len(value)) + value for tag, value in elements)


def find_status(response: bytes) -> int:
    """That of a response, as receive_pdu() returns it."""
    _, found, value = response.partition(struct.pack("<HHI", 0, 0x0900, 2))
    assert found, f"Orthanc's response has no status: {response!r}"
    return int.from_bytes(value[:2], "little")


def store_half(connection: socket.socket, instance: str) -> None:
    """A C-STORE-RQ, and of its data set the first PDUs."""
    connection.sendall(make_command(C_STORE, CT_IMAGE_STORAGE, HAS_DATA_SET, instance))
    for _ in range(4):
        connection.sendall(make_data(b"\0" * 16000, 0))
