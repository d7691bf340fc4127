# SPDX-License-Identifier: GPL-3.0-or-later
"""Sockets, mostly Orthanc's, as the kernel shows them to others: ss(8), and pidfd_getfd(2)."""

import ctypes
import os
import re
import socket
from dataclasses import dataclass

from harness.clients import get_output
from harness.orthanc import OrthancServer

SYS_PIDFD_GETFD = 438  # the same number on all architectures; glibc has no function for it
SO_BUF_LOCK = 72  # Linux 5.14: 1: the send buffer is fixed, 2: the receive buffer is


@dataclass(frozen=True)
class Shown:
    """A socket of Orthanc's, by the number of its descriptor."""

    fd: int


def _find(server: OrthancServer, *conditions: str) -> Shown:
    lines = get_output(["ss", "-tpOnH", *conditions]).splitlines()
    owners = [
        found[1] for line in lines if (found := re.search(rf"pid={server.pid},fd=(\d+)", line))
    ]
    assert len(owners) == 1, f"{len(owners)} sockets of Orthanc's are {conditions}: {lines}"
    return Shown(int(owners[0]))


def show(server: OrthancServer, own_port: int | None = None, port: int | None = None) -> Shown:
    """Orthanc's one established connection on its own port, or to the port of another."""
    condition = f"sport = :{own_port}" if own_port else f"dport = :{port}"
    return _find(server, "state", "established", condition)


def show_listening(server: OrthancServer) -> Shown:
    """The socket on which Orthanc listens for DICOM."""
    return _find(server, "-l", f"sport = :{server.dicom_port}")


@dataclass(frozen=True)
class Options:
    """The options, asked of the socket itself; buffers as the kernel doubles them (socket(7)).

    Times are in seconds."""

    no_delay: bool
    receive_buffer: int
    send_buffer: int
    is_receive_buffer_fixed: bool
    is_send_buffer_fixed: bool
    keep_alive: int
    keep_alive_interval: int
    user_timeout: int
    congestion_control: str


def _duplicate(pid: int, fd: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        copy = libc.syscall(SYS_PIDFD_GETFD, process, fd, 0)
    finally:
        os.close(process)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return socket.socket(fileno=copy)


def read_user_timeouts(condition: str) -> list[float]:
    """TCP_USER_TIMEOUT in seconds of each established connection, whosever it is; 0: none."""
    command = ["ss", "-tnpH", "state", "established", condition]
    owners = re.findall(r"pid=(\d+),fd=(\d+)", get_output(command))
    timeouts = []
    for pid, fd in owners:
        with _duplicate(int(pid), int(fd)) as copy:
            timeouts.append(copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) / 1000)
    return timeouts


def read_options(server: OrthancServer, fd: int) -> Options:
    """The options of a socket of Orthanc's, by a duplicate of its descriptor."""
    with _duplicate(server.pid, fd) as copy:
        is_alive = copy.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        idle = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        locks = copy.getsockopt(socket.SOL_SOCKET, SO_BUF_LOCK)
        name = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        return Options(
            no_delay=copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0,
            receive_buffer=copy.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
            send_buffer=copy.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
            is_receive_buffer_fixed=bool(locks & 2),
            is_send_buffer_fixed=bool(locks & 1),
            keep_alive=idle if is_alive else 0,
            keep_alive_interval=copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
            user_timeout=copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) // 1000,
            congestion_control=name.partition(b"\0")[0].decode(),
        )
