// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/WritableSyntax.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;


TEST(WritableSyntax, IsFoundByItsUidAndByItsName)
{
  for (const WritableSyntax& syntax : GetWritableSyntaxes())
  {
    EXPECT_EQ(syntax.uid, LookupWritableSyntax(syntax.uid));
    EXPECT_EQ(syntax.uid, LookupWritableSyntax(syntax.name));
  }

  EXPECT_EQ("1.2.840.10008.1.2.4.70", LookupWritableSyntax("JPEGProcess14SV1"));
}


TEST(WritableSyntax, VideoRetiredAndUnknownOnesAreNotFound)
{
  for (const char* text : {"", "1.2.840.10008.1.2.2", "1.2.840.10008.1.2.4.100", "1.2.840",
                           "1.2.840.10008.1.2 ", "jpegprocess1", "JPEG"})
  {
    EXPECT_FALSE(LookupWritableSyntax(text).has_value()) << text;
  }
}
