// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/QueryArguments.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(QueryArguments, EscapesAreDecoded)
  {
    EXPECT_EQ("CT ROOM", DecodeQuery("CT%20ROOM"));
    EXPECT_EQ("CT ROOM", DecodeQuery("CT+ROOM"));
    EXPECT_EQ("+/&=%", DecodeQuery("%2B%2f%26%3D%25"));
    EXPECT_EQ("\xC3\x9C", DecodeQuery("%C3%9c"));
    EXPECT_EQ(std::string("a\0b", 3), DecodeQuery("a%00b"));
  }


  TEST(QueryArguments, WhatIsNoEscapeStays)
  {
    for (const char* text : {"", "%", "%2", "100%", "%zz", "%2x", "%-1", "% 1", "%%"})
    {
      EXPECT_EQ(text, DecodeQuery(text));
    }

    EXPECT_EQ("% ", DecodeQuery("%%20"));
  }
}
