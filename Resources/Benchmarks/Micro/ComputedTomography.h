// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // A CT image as a file, for measuring: about 120 elements, three short sequences, 512 kB of
  // pixels. The same bytes each time.
  std::string MakeComputedTomography();
}
