// SPDX-License-Identifier: GPL-3.0-or-later
// Stands for the embedded dashboard in a library that is built without it.
#include "Rest/Resources.h"

namespace OrthancPerf
{
  std::vector<DashboardFile> GetDashboardFiles()
  {
    return {};
  }
}
