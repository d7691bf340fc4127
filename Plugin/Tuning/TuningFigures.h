// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <map>
#include <string>

namespace OrthancPerf
{
  // The tuning as numbers by the paths of its keys, for the gauge orthanc_perf_tuning: switches
  // as 0 and 1; numbers as they are; buffers in bytes, 0 for "auto", -1 for "default"; the preset
  // and the engine by their place in GetAllSocketPresets() and GetAllEngineChoices(); the transfer
  // syntax as 1 where there is one. Names have no number and are left out.
  std::map<std::string, double> ToFigures(const Tuning& tuning);
}
