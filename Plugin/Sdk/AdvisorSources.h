// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Advisor/HealthWatch.h"
#include "Ingest/InstanceTracker.h"
#include "Network/AskedServers.h"
#include "Sdk/Orthanc.h"
#include "Sdk/ServerConfiguration.h"
#include "Transcoding/Engines/EngineDirectory.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // What Orthanc and its machine say of themselves: configuration, the size of the store, the
  // kernel's limits; and what the tracker has in flight. Owned by the plugin's context; any thread
  // may call it.
  class AdvisorSources
  {
  public:
    // All but the configuration outlive the sources. "served" is kept up to date.
    AdvisorSources(const Orthanc& orthanc, const Json::Value& configuration,
                   const ServerConfiguration& server, const EngineDirectory& engines,
                   const InstanceTracker& tracker, std::atomic<Served>& served);

    // Asks Orthanc what plugins keep of it. Throws SdkError.
    void ReadServed();

    // Asks Orthanc that and how much it holds, at most once a minute. Each hour
    // it also measures a look-up in SQLite, unless the store is small. One thread at a time, which
    // nobody waits for: Orthanc takes long while its database does not answer. What was known
    // before stays known where there is no answer.
    void ReadStore();

    // What of Orthanc plugins keep; nothing while Orthanc could not be asked. Asks nobody.
    std::optional<Served> GetServed();

    void AddTo(Evidence& evidence);

  private:
    double TimeLookups() const;

    const Orthanc& orthanc_;
    const EngineDirectory& engines_;
    const InstanceTracker& tracker_;
    std::atomic<Served>& served_;
    TimePoint storeReadAt_;     // of the thread of ReadStore
    TimePoint lookupsTimedAt_;  // the same

    std::mutex mutex_;  // of all below
    ServerFacts facts_;
    bool isServedKnown_ = false;
  };

  // What an image has to have to be stored: the database, and of disks those that Orthanc itself
  // stores on, as what plugins keep may be anywhere. The arguments outlive what is returned.
  // "post" is for the database.
  std::vector<HealthWatch::Part> MakeHealthParts(const Orthanc& orthanc,
                                                 const ServerConfiguration& server,
                                                 AdvisorSources& sources, HealthWatch::Post post);
}
