// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Sdk/Orthanc.h"
#include "Tuning/TuningStore.h"

namespace OrthancPerf
{
  // Keeps the changes made to the tuning in a global property of Orthanc's database. Owned by the
  // plugin's context; called by one thread at a time, once Orthanc has started.
  class TuningProperty : public ITuningPersistence
  {
  public:
    explicit TuningProperty(const Orthanc& orthanc) : orthanc_(orthanc)
    {
    }

    std::optional<std::string> Load() override
    {
      return orthanc_.GetGlobalProperty(PROPERTY);
    }

    void Save(const std::string& text) override
    {
      orthanc_.SetGlobalProperty(PROPERTY, text);
    }

  private:
    // Plugins choose a number of 1024 or more (OrthancPluginSetGlobalProperty)
    static constexpr std::int32_t PROPERTY = 27042;

    const Orthanc& orthanc_;
  };
}
