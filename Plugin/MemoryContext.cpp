// SPDX-License-Identifier: GPL-3.0-or-later
#include "MemoryContext.h"

#include "Ingest/MemoryLimit.h"
#include "Network/IngestGate.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Of C-STORE messages. One thread stays for the oldest, and another one, for C-ECHO and small
    // images, only where there are more than four, Orthanc's default: it lets one large message
    // after the other on as well, all the time, and of so few that is too much.
    std::size_t CountPlacesInLine(std::size_t dicomThreads)
    {
      const std::size_t free = dicomThreads > 4 ? 2 : 1;
      return std::max(dicomThreads, free) - free;
    }
  }


  MemoryContext::MemoryContext(const Orthanc& orthanc, DicomTuner& tuner,
                               const MessageRecorder& recorder, const ServerConfiguration& server,
                               OrthancPluginIncomingHttpRequestFilter2 filterUpload, Warn warn) :
    orthanc_(orthanc),
    tuner_(tuner),
    recorder_(recorder),
    filterUpload_(filterUpload),
    warn_(std::move(warn))
  {
    // The other half serves what does not wait, /perf and its tuning among it
    IngestBudget& budget = tuner_.GetBudget();
    budget.SetPlacesInLine(CountPlacesInLine(server.dicomThreads), server.httpThreads / 2);
    budget.SetReadTimeouts(server.dicomTimeout, server.httpTimeout);
  }


  void MemoryContext::Start()
  {
    isStarted_ = true;
    RegisterUploadFilter();
  }


  void MemoryContext::Stop() noexcept
  {
    tuner_.GetBudget().Stop();
  }


  void MemoryContext::SetSettings(const MemoryTuning& settings)
  {
    const std::uint64_t limit = settings.ingestBudget.Resolve(ReadMemoryLimit());
    const bool isShareUnknown = limit == 0 && settings.ingestBudget.percent != 0;

    if (isShareUnknown && !isShareUnknown_)
    {
      warn_("\"Memory.IngestBudget\" is a share, but how much memory there is cannot be read from "
            "/proc/meminfo: there is no budget; say it in bytes");
    }

    isShareUnknown_ = isShareUnknown;
    tuner_.GetBudget().Set(limit, settings.ingestWait);

    RegisterUploadFilter();
  }


  void MemoryContext::OnServed() const noexcept
  {
    OrthancPerf::OnServed(recorder_.GetCurrentConnection());
  }


  bool MemoryContext::MayUpload(std::optional<std::uint64_t> length) const noexcept
  {
    return GetBudget().IsIdle() || OrthancPerf::MayUpload(recorder_.GetCurrentConnection(), length);
  }


  void MemoryContext::OnInstanceReceived(std::uint64_t size) const noexcept
  {
    if (!GetBudget().IsIdle())
    {
      OrthancPerf::OnInstanceReceived(recorder_.GetCurrentConnection(), size);
    }
  }


  void MemoryContext::OnInstanceStored() const noexcept
  {
    if (!GetBudget().IsIdle())
    {
      OrthancPerf::OnInstanceStored(recorder_.GetCurrentConnection());
    }
  }


  BudgetFigures MemoryContext::GetFigures() const noexcept
  {
    return GetBudget().GetFigures();
  }


  MemoryEvidence MemoryContext::Look(double received)
  {
    return watch_.Look({GetFigures(), tuner_.IsProbeInstalled(), received}, Clock::now());
  }


  const IngestBudget& MemoryContext::GetBudget() const noexcept
  {
    return tuner_.GetProbe().GetBudget();
  }


  // Behind the filters that are registered at the start. Not before there is a budget: Orthanc
  // (1.10.1 to 1.13.0) lets no request in while a filter is registered and another plugin's is
  // still at work, such as one that asks a web service.
  void MemoryContext::RegisterUploadFilter()
  {
    if (isStarted_ && GetBudget().IsOn())
    {
      std::call_once(isUploadFilterRegistered_,
                     [this] {
                       OrthancPluginRegisterIncomingHttpRequestFilter2(orthanc_.GetContext(),
                                                                       filterUpload_);
                     });
    }
  }
}
