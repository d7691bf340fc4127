// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Evidence.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    // The number at this place in a file of numbers; 0: there is none
    std::uint64_t ReadNumber(const char* path, unsigned int place)
    {
      std::ifstream file(path);
      std::uint64_t number = 0;

      for (unsigned int i = 0; i <= place; i++)
      {
        if (!(file >> number))
        {
          return 0;
        }
      }

      return number;
    }
  }


  KernelLimits KernelLimits::Read()
  {
    KernelLimits limits;
    limits.largestReceiveBuffer = ReadNumber("/proc/sys/net/core/rmem_max", 0);
    limits.largestSendBuffer = ReadNumber("/proc/sys/net/core/wmem_max", 0);
    limits.largestAutomaticReceive = ReadNumber("/proc/sys/net/ipv4/tcp_rmem", 2);
    return limits;
  }


  bool ServerFacts::IsOlderThan(const OrthancRelease& release) const
  {
    std::istringstream text(orthancVersion);
    OrthancRelease own = {};
    char dot = 0;
    return text >> own[0] >> dot >> own[1] >> dot >> own[2] && own < release;
  }


  bool ServerFacts::IsStorageInDatabase() const
  {
    return configuration[databaseSection]["EnableStorage"] == Json::Value(true);
  }


  double ReadRunnableTasks()
  {
    std::ifstream file("/proc/loadavg");
    double average = 0;
    double runnable = 0;

    if (!(file >> average >> average >> average >> runnable))
    {
      return 0;
    }

    return std::max(runnable - 1, 0.0) / std::max(std::thread::hardware_concurrency(), 1U);
  }


  std::uint64_t ReadProcessMemory(const char* key)
  {
    std::ifstream file("/proc/self/status");
    std::uint64_t kibibytes = 0;
    std::string word;

    while (word != key && file >> word)
    {
    }

    return file >> kibibytes ? kibibytes * 1024 : 0;
  }
}
