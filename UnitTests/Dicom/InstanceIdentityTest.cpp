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


  // The example of FIPS 180-4
  TEST(InstanceIdentity, IsSha1AsOrthancWritesIt)
  {
    EXPECT_EQ("a9993e36-4706816a-ba3e2571-7850c26c-9cd0d89d", Hash("abc"));
    EXPECT_EQ("", Hash(""));
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
