// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <cstddef>
#include <netdb.h>
#include <optional>
#include <sys/socket.h>
#include <sys/types.h>

namespace OrthancPerf
{
  // What the hooks of the probe (WatchedFunctions.cpp) do before and after their originals. Each
  // looks its connection up in the context of the hooks and tells the tracker; nothing happens
  // where there is no context, or where it does not know the descriptor. They keep errno, take no
  // lock, allocate nothing, and never wait; but for a large message while there is a
  // limit of memory: AdmissionQueue takes its lock when that ends. Any thread.

  // What is to be seen of a call that may wait for bytes
  enum class Watch
  {
    Nothing,   // the connection is not watched
    Duration,  // HTTP: how long the call takes, without a further system call
    Wait       // DICOM: whether it has to wait, and the quick ACK before it does
  };

  // The thread is about to wait, or to read: "mustAsk" says whether MayRead (AdmissionGate.h) is to
  // be asked before it
  Watch TurnTo(int fd, bool* mustAsk = nullptr) noexcept;

  // The thread has to wait for bytes. After how much of the wait, if it lasts, to look into it;
  // zero: no need to.
  Duration BeforeWait(int fd) noexcept;

  // The thread still waits: does the kernel hold back what Orthanc has written? After how much more
  // of the wait to look again; zero: no need to.
  Duration LookIntoWait(int fd, TimePoint from) noexcept;

  void AfterWait(int fd, TimePoint from) noexcept;

  // "size" as read(2) answers; "from": when the call began to wait, as far as that is known
  void AfterRead(int fd, const void* buffer, ssize_t size,
                 const std::optional<TimePoint>& from) noexcept;

  // Whether the connection is watched; recognises an outgoing one by its first bytes
  bool BeforeWrite(int fd, const void* buffer, std::size_t size) noexcept;
  void AfterWrite(int fd, const void* buffer, std::size_t size) noexcept;

  void AfterAccept(int fd) noexcept;  // -1: there was none

  // The thread has asked for the addresses of this host, as getaddrinfo(3) has it; null: it has
  // none
  void AfterLookUp(const char* host, const char* service, const addrinfo* found) noexcept;

  void BeforeConnect(int fd, const sockaddr* address, socklen_t size) noexcept;
  void AfterConnect(int fd, int error = 0) noexcept;  // errno(3); 0: it is connected

  // The thread waits for something to read, or for room to write
  void BeforeAwaiting(int fd, bool isForReading) noexcept;

  // Whether this is an outgoing connection of which nothing was sent yet
  bool IsConnectionCandidate(int fd) noexcept;

  // False: this setsockopt(2) is not to take place, the settings in force say otherwise. What
  // Orthanc asks for is kept in mind: DCMTK of the official builds switches Nagle's algorithm off.
  bool BeforeSetOption(int fd, int level, int option, const void* value, std::size_t size) noexcept;

  // Whether the caller is this process, and no child of vfork(2), which has our memory until it
  // executes its program, and closes what it inherits (Python's subprocess, Java). A system call.
  bool IsOwnProcess() noexcept;

  // The descriptor is about to be closed, or was closed by a call that no hook saw
  void Forget(int fd) noexcept;
}
