// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/EngineDirectory.h"
#include "Tuning/TuningDocument.h"

namespace OrthancPerf
{
  // Whether the engines there are can do what the settings ask for, as far as that does not depend
  // on the images. Throws SettingError: an engine that is not available, or a transfer syntax that
  // it does not write, or that its self-test switched off. Call when the engines have been tested.
  void CheckTranscodingSettings(const IngestTranscoding& settings, const EngineDirectory& engines);
}
