// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AdmissionGate.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(ContentLength, IsWhatOrthancWouldMakeRoomFor)
  {
    for (const char* text : {"1000000000", "+1000000000", " 1000000000", "\t +1000000000",
                             "01000000000", "1000000000 "})
    {
      EXPECT_EQ(1'000'000'000U, ParseContentLength(text)) << text;
    }

    EXPECT_EQ(0U, ParseContentLength("0"));
  }

  TEST(ContentLength, IsNothingWhereItIsNoNumber)
  {
    for (const char* text : {"", " ", "+", "++1", "-1", "+-1", "+ 1", "x", "99999999999999999999"})
    {
      EXPECT_FALSE(ParseContentLength(text)) << text;
    }
  }
}
