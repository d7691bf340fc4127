// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // Where messages wait for IngestBudget, on the threads of Orthanc that read them. Nothing here
  // but OnServed is to be called while the budget is idle, though it may; each looks its connection
  // up as the hooks do (HookActions.h), and lets everything on where the probe is not installed.
  // They keep errno, but where a read is to fail. Those who wait look every 10 ms, whatever else
  // they may miss.

  // The thread is about to read on. False: the read is to fail, with the errno that is set, as if
  // the sender had broken the connection off: Orthanc stops, or the sender is gone. May be
  // cancelled while it waits, as a read may; does not throw.
  bool MayRead(int fd);

  // An HTTP request is about to be served on the thread that has this connection: by the first
  // filter that it comes to, whether or not there is a budget
  void OnServed(int fd) noexcept;

  // Orthanc has let this upload in and is about to read its body, of this length; without one, the
  // body comes in chunks, each of which may wait. False: the same, and the connection is shut down.
  bool MayUpload(int fd, std::optional<std::uint64_t> length) noexcept;

  // The thread that has this connection has an instance of it in memory, of this size, and has
  // stored it. Orthanc keeps the former parts of a chunked body no longer (STOW-RS).
  void OnInstanceReceived(int fd, std::uint64_t size) noexcept;
  void OnInstanceStored(int fd) noexcept;
}
