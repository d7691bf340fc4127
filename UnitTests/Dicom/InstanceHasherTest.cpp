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

      return hasher.GetInstanceId();
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
    EXPECT_EQ(Hash("a|b"), hasher.GetInstanceId());
  }


  TEST(InstanceHasher, KeepsTheLongestIdentifiersOfOrthancsAndNoMore)
  {
    const std::string longest(4 * InstanceHasher::MAXIMUM_IDENTIFIER_LENGTH + 3, 'a');
    EXPECT_EQ("07483bc8-c0b3dcf1-9cf96be3-91403406-d2705101", Hash(longest));
    EXPECT_EQ("", Hash(longest + 'a'));
    EXPECT_EQ("", Hash(""));
  }


  TEST(InstanceHasher, SaysNothingOfCharactersThatDependOnTheCharacterSet)
  {
    EXPECT_EQ("", Hash("M\xfcller"));
    EXPECT_EQ("", Hash("a~b"));
    EXPECT_EQ("", Hash("a\\b"));
    EXPECT_EQ("", Hash("\x1b$B"));
  }


  TEST(InstanceHasher, KnowsTheSameIdentifiers)
  {
    const auto keep = [](std::string_view text, bool isDecoded)
    {
      InstanceHasher hasher;

      for (const char c : text)
      {
        isDecoded ? hasher.Add(c) : hasher.AddUndecoded(c);
      }

      return hasher;
    };

    EXPECT_TRUE(keep("M\xfcller", true).HasSameIdentifiers(keep("M\xfcller", true)));
    EXPECT_TRUE(keep("MADE1", true).HasSameIdentifiers(keep("MADE1", false)));
    EXPECT_FALSE(keep("MADE1", true).HasSameIdentifiers(keep("MADE1 ", false)));
    EXPECT_FALSE(keep("M\xfcller", true).HasSameIdentifiers(keep("M\xfcller", false)));
  }
}
