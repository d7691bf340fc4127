// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/TransferSyntax.h"

#include <gtest/gtest.h>

#include <string>

namespace OrthancPerf
{
  TEST(TransferSyntax, UnknownOnesAreNotFoundAndOthersAreReadOnly)
  {
    for (const char* uid : {"", "1.2.840.10008.1.2.4", "1.2.840.10008.1.2.4.5",
                            "1.2.840.10008.1.2.4.999", "1.2.840.10008.1.2 "})
    {
      EXPECT_EQ(nullptr, FindTransferSyntax(uid)) << uid;
      EXPECT_FALSE(IsEncapsulated(uid)) << uid;
      EXPECT_EQ(CodestreamKind::None, GetCodestreamKind(uid)) << uid;
    }

    for (const char* text : {"", "1.2.840.10008.1.2.2", "1.2.840.10008.1.2.4.100", "1.2.840",
                             "1.2.840.10008.1.2 ", "jpegprocess1", "JPEG"})
    {
      EXPECT_FALSE(LookupWritableSyntax(text).has_value()) << text;
    }

    for (const std::string number : {"100", "101.1", "106.1", "108", "53", "55"})
    {
      const TransferSyntax* const syntax = FindTransferSyntax("1.2.840.10008.1.2.4." + number);
      ASSERT_NE(nullptr, syntax) << number;
      EXPECT_TRUE(syntax->isEncapsulated && !syntax->isWritable) << number;
      EXPECT_EQ(number.size() > 2, syntax->isVideo) << number;
      EXPECT_EQ(number.size() == 2, syntax->codestream == CodestreamKind::Jpeg) << number;
    }
  }

  // Their order is that of the bits of WorkerHello
  TEST(TransferSyntax, TwelveAreWritableInTheOrderOfTheirUidsAndFoundByNameToo)
  {
    ASSERT_EQ(12u, GetWritableSyntaxes().size());
    std::string last;

    for (const TransferSyntax& syntax : GetWritableSyntaxes())
    {
      EXPECT_LT(last, syntax.uid);
      EXPECT_TRUE(!syntax.isLossy || syntax.isEncapsulated);
      EXPECT_TRUE(!syntax.isEncapsulated || syntax.codestream != CodestreamKind::None);
      EXPECT_EQ(syntax.uid, LookupWritableSyntax(syntax.uid));
      EXPECT_EQ(syntax.uid, LookupWritableSyntax(syntax.name));
      last = syntax.uid;
    }

    EXPECT_EQ("1.2.840.10008.1.2.4.70", LookupWritableSyntax("JPEGProcess14SV1"));
  }
}
