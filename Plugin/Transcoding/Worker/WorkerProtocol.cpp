// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Worker/WorkerProtocol.h"

namespace OrthancPerf
{
  WorkerLimits WorkerLimits::ForSource(std::size_t size) const
  {
    constexpr std::size_t MEBIBYTE = std::size_t(1) << 20;

    WorkerLimits limits = *this;
    limits.time += std::chrono::seconds(size / MEBIBYTE);
    limits.memory += 32 * static_cast<std::uint64_t>(size);
    limits.result += 16 * static_cast<std::uint64_t>(size);
    return limits;
  }


  std::string FindProblem(const WorkerHello& hello)
  {
    if (hello.magic != WORKER_MAGIC || GetText(hello.version) != PERF_VERSION)
    {
      return "is of another version than the plugin (" PERF_VERSION ")";
    }

    const std::string problem = GetText(hello.problem);
    return problem.empty() ? "" : "does not work: " + problem;
  }


  bool IsPlausible(const WorkerResponse& response, const WorkerLimits& limits) noexcept
  {
    return response.magic == WORKER_MAGIC &&
           response.outcome <= static_cast<std::uint32_t>(TranscodingOutcome::Failed) &&
           response.resultSize <= limits.result;
  }
}
