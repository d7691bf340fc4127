// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/InstanceHasher.h"

#include <gtest/gtest.h>

#include <string_view>

namespace OrthancPerf
{
  namespace
  {
    std::string Hash(std::string_view text)
    {
      InstanceHasher hasher;

      for (const char c : text)
      {
        hasher.Add(c);
      }

      const std::optional<InstanceDigest> digest = hasher.Finish();
      return digest ? FormatInstanceId(*digest) : "";
    }
  }


  // The example of FIPS 180-4
  TEST(InstanceHasher, IsSha1AsOrthancWritesIt)
  {
    EXPECT_EQ("a9993e36-4706816a-ba3e2571-7850c26c-9cd0d89d", Hash("abc"));
  }


  TEST(InstanceHasher, SeparatesIdentifiersAsOrthancDoes)
  {
    InstanceHasher hasher;
    hasher.Add('a');
    hasher.AddSeparator();
    hasher.Add('b');
    EXPECT_EQ(Hash("a|b"), FormatInstanceId(hasher.Finish().value()));
  }


  TEST(InstanceHasher, SaysNothingOfCharactersThatDependOnTheCharacterSet)
  {
    EXPECT_EQ("", Hash("M\xfcller"));
    EXPECT_EQ("", Hash("a~b"));
    EXPECT_EQ("", Hash("a\\b"));
    EXPECT_EQ("", Hash("\x1b$B"));
  }
}
