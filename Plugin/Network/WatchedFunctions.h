// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/GotPatcher.h"

#include <vector>

namespace OrthancPerf
{
  // The functions of libc that the probe watches, by which Orthanc and its libraries do what
  // matters here (what they import, and what strace shows of Orthanc 1.10.1 of Debian 12):
  //
  //   accept, accept4                      DCMTK, CivetWeb: a connection is accepted
  //   getaddrinfo                          DCMTK, libcurl: which host is called
  //   connect                              DCMTK: a connection is opened
  //   poll, __poll_chk                     DCMTK, CivetWeb: the wait for bytes
  //   read, __read_chk                     DCMTK; OpenSSL's socket BIO, for TLS of both
  //   recv, __recv_chk                     CivetWeb
  //   write, send                          as read and recv
  //   select                               libpq and libcurl of official builds (their cmake files
  //                                        do not ask for poll.h)
  //   getsockopt                           DCMTK, libcurl: what became of a connection (SO_ERROR)
  //   setsockopt                           DCMTK: TCP_BUFFER_LENGTH of its environment, TCP_NODELAY
  //                                        of its environment or, in official builds, of its own
  //   close                                connections; written files
  //   open, open64                         written files: Orthanc's storage area and that of
  //                                        advanced-storage (Boost.Iostreams), Python
  //   fopen, fopen64, fclose               written files: std::ofstream, C
  //   fsync, fdatasync                     written files
  //   lseek, ftruncate, pwrite (also as    a GatheredFile: its pieces are written before the call
  //   …64), writev, dup
  //
  // connect, poll, read, recv, write, send and close show the questions to a database and to an
  // object storage, too: libpq (poll, recv, send, also below its TLS), MariaDB's connector (poll,
  // recv, send; below TLS read and write, called by OpenSSL), libcurl (poll on the connection and
  // on a descriptor to be woken up by, recv, send, also below its TLS).
  //
  // Not watched, because none of these programs uses them here: ppoll, epoll, recvfrom, recvmsg,
  // readv, sendto, sendmsg, writev to a socket, creat, openat, mkstemp, syncfs, sync_file_range;
  // nor shutdown, which a close follows.
  //
  // Each hook calls its original, keeps errno and allocates nothing. It takes no lock, but for a
  // large message while there is a limit of memory. For a
  // descriptor that it does not know, it only looks into the table of connections. On a thread that
  // stores an instance or serves a request that reads, it also reads the clock, and asks whether
  // what is written to is a socket.
  //
  // Reads of DICOM connections are tried without waiting first (recv with MSG_DONTWAIT), polls with
  // no time: this tells exactly when the thread has to wait, and only then does the quick ACK cost
  // a call. A sender that holds its last partial segment back (Nagle's algorithm, RFC 896) waits
  // for the ACK of what Orthanc has read; it matters just when Orthanc has nothing left to read.
  // Measured over loopback in DCMTK's pattern, an instance of 525 kB in PDUs of 16 kB: 1.4 calls an
  // instance with this, 69 after every read, 35 before every wait, all without a stall.
  std::vector<Redirection> GetWatchedFunctions();

  // Those of them that wait, read and write
  std::vector<Redirection> GetTransferFunctions();

  // The descriptor is about to be closed, or was closed by a call that no hook saw
  void Forget(int fd) noexcept;
}
