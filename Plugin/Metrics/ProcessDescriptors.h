// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // The file descriptors of this process. Plain functions, for any thread; they take no lock.

  // How many are open; nothing: /proc does not tell. From Linux 6.2 on it knows without looking at
  // each of them, also where none is free.
  std::optional<std::uint64_t> CountOpenDescriptors();

  // The same by their names in the folder (proc(5), /proc/PID/fd), less the one that this takes
  std::optional<std::uint64_t> ListOpenDescriptors(const std::string& folder);

  // How many there may be (getrlimit(2), RLIMIT_NOFILE); nothing: as many as the kernel has
  std::optional<std::uint64_t> GetMaximumDescriptors();
}
