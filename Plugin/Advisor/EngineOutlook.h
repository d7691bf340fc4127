// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"
#include "Transcoding/Engines/EngineDirectory.h"

#include <vector>

namespace OrthancPerf
{
  // What the verdicts of the self-test mean for the advisor: which engines are switched off, and
  // which could write the target syntax of the tuning
  TranscodingEvidence DescribeEngines(const std::vector<EngineVerdict>& verdicts,
                                      const IngestTranscoding& tuning);
}
