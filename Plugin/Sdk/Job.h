// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/IJob.h"
#include "Sdk/Orthanc.h"

#include <memory>
#include <string>

namespace OrthancPerf
{
  // Hands a job over to Orthanc's jobs engine, which owns it from then on, and returns its
  // identifier, for GET /jobs/{id}. The type is shown there. A job does not outlive a restart of
  // Orthanc. Throws SdkError; Orthanc may carry the job out all the same then. Any thread.
  std::string SubmitJob(const Orthanc& orthanc, const std::string& type, std::unique_ptr<IJob> job,
                        int priority);
}
