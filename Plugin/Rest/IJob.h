// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

namespace OrthancPerf
{
  // A job of Orthanc's jobs engine: works step by step on a thread of Orthanc's, which stops,
  // pauses and cancels it between two steps. Owned by Orthanc from its submission to the end of its
  // place in the history of jobs. No type of Orthanc's SDK: what it does is tested without.
  class IJob
  {
  public:
    virtual ~IJob() = default;

    // Does one step; false if it was the last. An exception makes the job fail.
    virtual bool Step() = 0;

    // The job, done or canceled, is asked for once more: from the first step
    virtual void Reset() = 0;

    // Any thread, also during a step
    virtual float GetProgress() const = 0;       // 0 to 1
    virtual Json::Value GetContent() const = 0;  // an object, shown by GET /jobs/{id}
  };
}
