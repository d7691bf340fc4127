// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Clock.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    using Moment = std::chrono::system_clock::time_point;
  }

  TEST(Moment, IsWrittenAsOrthancDoesAndReadBack)
  {
    const Moment moment(std::chrono::microseconds(1'795'258'056'114'303));
    EXPECT_EQ("20261121T104736.114303", FormatMoment(moment));
    EXPECT_EQ(moment, ParseMoment("20261121T104736.114303"));
    EXPECT_EQ(Moment(std::chrono::seconds(1'795'258'056)), ParseMoment("20261121T104736"));
    EXPECT_EQ("19700101T000000.000000", FormatMoment(Moment()));
    EXPECT_EQ("20240229T235959.999999",
              FormatMoment(ParseMoment("20240229T235959.999999").value()));
  }

  TEST(Moment, OtherTextIsNone)
  {
    for (const char* text :
         {"", "now", "1795258056", "2026-11-21T10:47:36", "20261121T104736Z", "20261121 104736",
          "20261121T104760", "20260230T000000", "20261321T000000", "2026112 T104736",
          "20261121T104736.1", "20261121T104736.11430x", "20261121T104736,114303",
          "19691231T235959", "99991231T235959", "22630101T000000"})
    {
      EXPECT_FALSE(ParseMoment(text)) << text;
    }
  }
}
