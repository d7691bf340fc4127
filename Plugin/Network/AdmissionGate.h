// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Connection.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace OrthancPerf
{
  // Where large messages wait for AdmissionQueue: on the threads of Orthanc that read them, which
  // ask every 10 ms, and whose senders TCP holds back meanwhile. All of this goes on at once where
  // the probe is not installed, or does not know the connection; without a limit, that takes one
  // look at an atomic. Any thread.

  // The thread is about to read on. False: the read is to fail with the errno that is set, as
  // Orthanc stops. Otherwise keeps errno. May be cancelled while it waits, as a read may.
  bool MayRead(int fd);

  // The value of this header as CivetWeb and Orthanc read it, with strtoll(3) and
  // boost::lexical_cast: RFC 9110 section 8.6 has digits only, they take a plus as well. Nothing:
  // they take none of it.
  std::optional<std::uint64_t> ParseContentLength(std::string_view text) noexcept;

  // Orthanc has let in an HTTP request on the thread that has this connection, and is about to
  // read its body. "length": of the body; nothing: it comes in chunks, each of which may wait.
  // False: nobody wants an answer, and the connection is shut down.
  bool MayUpload(int fd, std::optional<std::uint64_t> length) noexcept;

  // The thread that has this connection is about to serve an HTTP request. Called by the first
  // filter, whether or not there is a limit. "isStow", "reading": see ConnectionTracker.
  void OnServed(int fd, bool isStow,
                const std::optional<ReadingRequest>& reading = std::nullopt) noexcept;

  // An instance that came over this connection is stored. Of a request in chunks (STOW-RS),
  // Orthanc keeps what came so far no longer.
  void OnInstanceStored(int fd) noexcept;
}
