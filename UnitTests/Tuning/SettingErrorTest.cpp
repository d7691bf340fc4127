// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/Json.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;

TEST(SettingError, KeepsDescriptionsShortAndPrintable)
{
  EXPECT_EQ(MAXIMUM_DESCRIPTION + 3, Describe(std::string(5000, 'x')).size());
  EXPECT_EQ("a?b?", DescribeText("a\nb\x80"));
  EXPECT_EQ("\"\\u0001\\n\"", Describe("\x01\n"));
}
