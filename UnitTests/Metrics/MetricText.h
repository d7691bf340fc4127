// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace OrthancPerf
{
  // Whether the text of WriteMetrics has this whole line, behind "orthanc_perf_"
  inline testing::AssertionResult HasMetric(const std::string& text, const std::string& line)
  {
    return ("\n" + text).find("\northanc_perf_" + line + "\n") != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << text;
  }
}
