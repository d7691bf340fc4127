// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

namespace OrthancPerf
{
  // Ends the process, which the fuzzer notes, where something is not as it has to be
  inline void Require(bool condition)
  {
    if (!condition)
    {
      std::abort();
    }
  }

  inline bool IsPrintable(const std::string& text)
  {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  }
}
