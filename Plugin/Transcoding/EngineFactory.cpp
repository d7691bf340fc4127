// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineFactory.h"

namespace OrthancPerf
{
  std::vector<InstalledEngine> MakeEngines(const std::string& /*folder*/)
  {
    return {};
  }
}
