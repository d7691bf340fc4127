// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TextListKind.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(TextListKind, TakesListsOfItsSortAndNothingElse)
  {
    std::vector<std::string> addresses;
    EXPECT_TRUE(MakeIpAddressesKind().Read(Parse(R"(["127.0.0.1", "0:0::1"])"), addresses));
    EXPECT_EQ((std::vector<std::string>{"127.0.0.1", "::1"}), addresses);

    for (const char* json : {"{}", "[1]", "[\"\"]", "[\"127.0.0.1\", \"proxy\"]",
                             "[\"10.0.0.0/8\"]", "[\"127.0.0.1\\u0000x\"]", "[[\"127.0.0.1\"]]"})
    {
      EXPECT_FALSE(MakeIpAddressesKind().Read(Parse(json), addresses)) << json;
      EXPECT_EQ(2U, addresses.size());
    }

    EXPECT_TRUE(MakeIpAddressesKind().Read(Parse("[]"), addresses));
    EXPECT_TRUE(addresses.empty());
  }
}
