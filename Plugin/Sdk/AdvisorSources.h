// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Advisor.h"
#include "Ingest/IngestTracker.h"
#include "Network/AskedServers.h"
#include "Sdk/Orthanc.h"
#include "Transcoding/Engines/EngineDirectory.h"

#include <mutex>
#include <optional>

namespace OrthancPerf
{
  // From the answer to GET /system. The keys are there since Orthanc 1.2.0; a release without them
  // has no such plugins.
  Served ReadServed(const Json::Value& system);


  // What Orthanc and its machine say of themselves: configuration, log levels, the size of the
  // store, the kernel's limits; and what the tracker has in flight. Owned by the plugin's context;
  // any thread may call it. Asks Orthanc's own REST API, at most every other second, for the size
  // of the store once a minute.
  class AdvisorSources : public IAdvisorSources
  {
  public:
    // All but the configuration outlive the sources
    AdvisorSources(const Orthanc& orthanc, const Json::Value& configuration,
                   const EngineDirectory& engines, const IngestTracker& tracker);

    // Orthanc's servers and database are up
    void Start();

    // What of Orthanc plugins keep; nothing while Orthanc could not be asked. Asks nobody.
    std::optional<Served> GetServed();

    ServerFacts GetFacts() override;
    std::vector<StuckInstance> ListStuck() override;
    TranscodingEvidence GetEngines(const Tuning& tuning) override;

  private:
    void ReadLogLevels();
    bool IsStarted();
    void ReadStore();

    const Orthanc& orthanc_;
    const EngineDirectory& engines_;
    const IngestTracker& tracker_;
    std::mutex askingForStore_;
    TimePoint storeReadAt_;

    std::mutex mutex_;  // of all below
    bool isStarted_ = false;
    ServerFacts facts_;
    std::optional<Served> served_;
    TimePoint logLevelsReadAt_;
  };
}
