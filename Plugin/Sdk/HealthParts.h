// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/HealthWatch.h"
#include "Sdk/AdvisorSources.h"
#include "Sdk/Orthanc.h"
#include "Sdk/ServerConfiguration.h"

#include <vector>

namespace OrthancPerf
{
  // What an image has to have to be stored: the database, and of disks those that Orthanc itself
  // stores on, as what plugins keep may be anywhere. The arguments outlive what is returned.
  // "post" is for the database.
  std::vector<HealthWatch::Part> MakeHealthParts(const Orthanc& orthanc,
                                                 const ServerConfiguration& server,
                                                 AdvisorSources& sources, HealthWatch::Post post);
}
