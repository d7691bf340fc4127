// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/ProcessDescriptors.h"

#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* DESCRIPTORS = "/proc/self/fd";
  }


  std::optional<std::uint64_t> CountOpenDescriptors()
  {
    // The size is zero before Linux 6.2 (fs/proc/fd.c, proc_fd_getattr)
    struct stat status = {};
    const bool isTold = ::stat(DESCRIPTORS, &status) == 0 && status.st_size > 0;
    return isTold ? static_cast<std::uint64_t>(status.st_size) : ListOpenDescriptors(DESCRIPTORS);
  }


  std::optional<std::uint64_t> ListOpenDescriptors(const std::string& folder)
  {
    std::uint64_t count = 0;
    std::error_code error;
    std::filesystem::directory_iterator descriptor(folder, error);

    for (; !error && descriptor != std::filesystem::directory_iterator();
         descriptor.increment(error))
    {
      count++;
    }

    return error || count == 0 ? std::nullopt : std::optional(count - 1);
  }


  std::optional<std::uint64_t> GetMaximumDescriptors()
  {
    rlimit limit = {};

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    {
      return std::nullopt;
    }

    return limit.rlim_cur;
  }
}
