// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace OrthancPerf
{
  // What this process may have of main memory, in bytes: that of the machine, or less where a
  // control group says so (cgroups(7); a container, "MemoryMax" or "MemoryHigh" of systemd). 0: not
  // known. Reads files.
  std::uint64_t ReadMemoryLimit(const std::string& proc = "/proc",
                                const std::string& controlGroups = "/sys/fs/cgroup");
}
