// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Destination.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(Destination, IsFoundByHostAndPort)
  {
    const std::vector<Destination> list = {{"CT", HashHost("10.0.0.1"), 104},
                                           {"MR", HashHost("10.0.0.1"), 11112},
                                           {"PACS", HashHost("pacs"), 104}};
    EXPECT_EQ("MR", FindTitle(list, HashHost("10.0.0.1"), 11112));
    EXPECT_EQ("PACS", FindTitle(list, HashHost("pacs"), 104));
  }

  TEST(Destination, IsFoundByItsHostWhereThatHasNoAddress)
  {
    const std::vector<Destination> list = {{"CT", HashHost("ct"), 104},
                                           {"PACS", HashHost("pacs"), 104}};
    EXPECT_EQ("PACS", FindTitle(list, HashHost("pacs"), 0));
  }

  TEST(Destination, OtherServersAreNone)
  {
    const std::vector<Destination> list = {{"CT", HashHost("10.0.0.1"), 104}};
    EXPECT_FALSE(FindTitle(list, HashHost("10.0.0.1"), 5432));
    EXPECT_FALSE(FindTitle(list, HashHost("10.0.0.9"), 104));
    EXPECT_FALSE(FindTitle(list, 0, 104));
  }
}
