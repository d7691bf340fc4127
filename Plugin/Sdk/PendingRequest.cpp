// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/PendingRequest.h"

#include <array>
#include <cstring>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Longer than any IPv6 address with its zone
    using Address = std::array<char, 64>;

    // Needs no destructor: Orthanc's threads may outlive the plugin
    thread_local Address pending = {};
    thread_local bool servesHttp = false;


    // While this thread serves another route, a script or a plugin may ask for one of ours
    bool IsBelowPerf(const char* uri)
    {
      const char* const path = uri + std::strspn(uri, "/");
      return std::strncmp(path, "perf", 4) == 0;
    }
  }


  void NotePendingRequest(const char* uri, const char* address) noexcept
  {
    pending = {};
    servesHttp = true;

    if (uri != nullptr && IsBelowPerf(uri))
    {
      std::strncpy(pending.data(), address == nullptr || *address == 0 ? "unknown" : address,
                   pending.size() - 1);
    }
  }


  std::string TakePendingAddress()
  {
    return std::exchange(pending, {}).data();
  }


  bool ServesHttp() noexcept
  {
    return servesHttp;
  }
}
