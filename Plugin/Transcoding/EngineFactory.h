// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/EngineDirectory.h"

#include <filesystem>

namespace OrthancPerf
{
  // All engines. "folder" is where the programs of the engines are: beside the plugin. An engine
  // whose program is not there says so by GetProblem().
  Engines MakeEngines(const std::filesystem::path& folder);
}
