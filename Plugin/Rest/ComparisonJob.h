// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/IJob.h"
#include "Transcoding/Engines/EngineComparison.h"

#include <mutex>
#include <string>

namespace OrthancPerf
{
  // A comparison of engines as a job of Orthanc's: a step is one engine, one target, one instance;
  // the content, the totals so far. Steps come from one thread at a time, whoever asks for progress
  // and content from any.
  class ComparisonJob : public IJob
  {
  public:
    // "resource" is what was asked for, an instance or a series
    ComparisonJob(std::string resource, const EngineDirectory& engines, ComparisonPlan plan,
                  EngineComparison::LoadFile load, ITranscodingObserver& observer);

    bool Step() override;
    void Reset() override;
    float GetProgress() const override;
    Json::Value GetContent() const override;

  private:
    void Publish();

    const std::string resource_;
    EngineComparison comparison_;
    mutable std::mutex mutex_;
    float progress_ = 0;   // as of the last step
    Json::Value content_;  // the same
  };


  // One row of the content, also for tests
  Json::Value ToJson(const EngineTotals& totals);
}
