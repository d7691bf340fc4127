// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/MemoryLimit.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t NO_LIMIT = std::numeric_limits<std::uint64_t>::max();

    // "max", or a file that is not there, is no limit
    std::uint64_t ReadLimit(const std::string& path)
    {
      std::ifstream file(path);
      std::uint64_t limit = 0;
      return file >> limit ? limit : NO_LIMIT;
    }

    // The least limit of a group and of all that it is in: "/a/b", "/a" and "/". In a container the
    // path may be the host's, and the container's own group is what it sees as "/".
    std::uint64_t ReadLimits(const std::string& hierarchy, std::string group, const char* name)
    {
      std::uint64_t limit = ReadLimit(hierarchy + "/" + name);

      while (group.size() > 1)
      {
        limit = std::min(limit, ReadLimit(hierarchy + group + "/" + name));
        group.erase(std::min(group.rfind('/'), group.size() - 1));
      }

      return limit;
    }

    // /proc/meminfo, proc(5): "MemTotal:       24689764 kB"
    std::uint64_t ReadMachine(const std::string& proc)
    {
      std::ifstream file(proc + "/meminfo");
      std::string key;
      std::uint64_t kibibytes = 0;
      return file >> key >> kibibytes && key == "MemTotal:" ? kibibytes * 1024 : NO_LIMIT;
    }
  }

  std::uint64_t ReadMemoryLimit(const std::string& proc, const std::string& controlGroups)
  {
    std::uint64_t limit = ReadMachine(proc);
    std::ifstream groups(proc + "/self/cgroup");

    // "hierarchy:controllers:path", where version 2 names no controllers
    for (std::string line; std::getline(groups, line);)
    {
      const std::size_t first = line.find(':');
      const std::size_t second = line.find(':', first + 1);

      if (second == std::string::npos)
      {
        continue;
      }

      const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
      const std::string path = line.substr(second + 1);

      if (controllers == ",,")
      {
        for (const char* name : {"memory.max", "memory.high"})
        {
          limit = std::min(limit, ReadLimits(controlGroups, path, name));
        }
      }
      else if (controllers.find(",memory,") != std::string::npos)
      {
        limit =
            std::min(limit, ReadLimits(controlGroups + "/memory", path, "memory.limit_in_bytes"));
      }
    }

    return limit == NO_LIMIT ? 0 : limit;
  }
}
