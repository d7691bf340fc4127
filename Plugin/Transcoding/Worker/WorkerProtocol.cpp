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


  bool IsOfThisBuild(const WorkerHello& hello)
  {
    return hello.magic == WORKER_MAGIC && GetText(hello.version) == PERF_VERSION;
  }


  bool IsPlausible(const WorkerResponse& response, const WorkerLimits& limits) noexcept
  {
    return response.magic == WORKER_MAGIC &&
           response.outcome <= static_cast<std::uint32_t>(TranscodingOutcome::Failed) &&
           response.resultSize <= limits.result;
  }
}
