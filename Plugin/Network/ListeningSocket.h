// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // The file descriptor of this process's TCP socket that listens on the port; nothing if there
  // is none. For options that accepted sockets inherit, where the probe is not installed. Looks
  // through /proc/self/fd; any thread.
  std::optional<int> FindListeningSocket(std::uint16_t port);
}
