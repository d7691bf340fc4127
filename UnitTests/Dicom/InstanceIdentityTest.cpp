// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/InstanceIdentity.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::string Hash(const std::string& identifiers)
    {
      return InstanceIdentity("1.2.3", identifiers).GetInstanceId();
    }
  }

  TEST(InstanceIdentity, SaysNothingOfCharactersThatDependOnTheCharacterSet)
  {
    EXPECT_EQ("", Hash("M\xfcller"));
    EXPECT_EQ("", Hash("a~b"));
    EXPECT_EQ("", Hash("a\\b"));
    EXPECT_EQ("", Hash("\x1b$B"));
  }

  TEST(InstanceIdentity, KnowsTheSameIdentifiers)
  {
    const InstanceIdentity umlaut("1.2.3", "M\xfcller|1|2|1.2.3");
    EXPECT_TRUE(umlaut.HasSameIdentifiers(InstanceIdentity("1.2.3", "M\xfcller|1|2|1.2.3")));
    EXPECT_FALSE(umlaut.HasSameIdentifiers(InstanceIdentity("1.2.3", "M\xfcller |1|2|1.2.3")));
  }
}
