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
    explicit TuningProperty(const Orthanc& orthanc);

    std::optional<std::string> Load() override;
    void Save(const std::string& text) override;
    void Clear() override;

  private:
    const Orthanc& orthanc_;
  };
}
