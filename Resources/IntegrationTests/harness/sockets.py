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
    """One line of ss: buffers are twice what was asked for, a timer that is not set is None."""

    line: str
    fd: int
    receive_buffer: int
    send_buffer: int
    keep_alive: int | None

    def has_congestion_control(self, name: str) -> bool:
        return name in self.line.split()


def _parse_seconds(text: str) -> int:
    """Whole seconds of a timer, which ss writes as 1min12sec, 59sec, 200ms, or 6.980ms for 6 s."""
    found = re.fullmatch(r"(?:(\d+)min)?(?:(\d+)sec|(\d+)\.\d+ms|\d+ms)?", text)
    assert found, text
    return int(found[1] or 0) * 60 + int(found[2] or found[3] or 0)


def _parse(line: str, pid: int) -> Shown:
    owner = re.search(rf"pid={pid},fd=(\d+)", line)
    buffers = re.search(r"skmem:\(r\d+,rb(\d+),t\d+,tb(\d+)", line)
    timer = re.search(r"timer:\(keepalive,([^,]+),", line)
    assert owner and buffers, line
    seconds = _parse_seconds(timer[1]) if timer else None
    return Shown(line, int(owner[1]), int(buffers[1]), int(buffers[2]), seconds)


def show(server: OrthancServer, own_port: int | None = None, port: int | None = None) -> Shown:
    """Orthanc's one established connection on its own port, or to the port of another."""
    conditions = f"sport = :{own_port}" if own_port else f"dport = :{port}"
    command = ["ss", "-tmipoOnH", "state", "established", conditions]
    lines = [line for line in get_output(command).splitlines() if f"pid={server.pid}," in line]
    assert len(lines) == 1, f"{len(lines)} connections of Orthanc where {conditions}: {lines}"
    return _parse(lines[0], server.pid)


def show_listening(server: OrthancServer) -> Shown:
    """The socket on which Orthanc listens for DICOM."""
    command = ["ss", "-tlmipoOnH", f"sport = :{server.dicom_port}"]
    (line,) = [line for line in get_output(command).splitlines() if f"pid={server.pid}," in line]
    return _parse(line, server.pid)


@dataclass(frozen=True)
class Options:
    """The options that ss does not show, asked of the socket itself; times in seconds."""

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
