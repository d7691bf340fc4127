// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/AssociateRequest.h"

#include "Network/Messages/DimseMessages.h"

#include <gtest/gtest.h>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    using Bytes = std::string;
    using Status = AssociateRequestParser::Status;

    Bytes Big16(std::size_t value)
    {
      return {static_cast<char>(value >> 8U), static_cast<char>(value)};
    }

    Bytes Big32(std::size_t value)
    {
      return Big16(value >> 16U) + Big16(value & 0xffffU);
    }

    Bytes Item(char type, const Bytes& value)
    {
      return Bytes{type, 0} + Big16(value.size()) + value;
    }

    const Bytes FIXED = Big16(1) + Big16(0) + "ORTHANC         STORESCU        " + Bytes(32, '\0');
    const Bytes CONTEXTS = Item(0x10, "1.2.840.10008.3.1.1.1") + Item(0x20, Bytes(60, 'c')) +
                           Item(0x20, Bytes(300, 'c'));
    const Bytes USER = Item(0x51, Big32(16384)) + Item(0x52, "1.2.276.0.7230010.3.0.3.6.7") +
                       Item(0x53, Big16(3) + Big16(0)) + Item(0x54, Bytes(100, 'r')) +
                       Item(0x55, "OFFIS_DCMTK_367");
    const Bytes REQUEST = MakePdu(1, FIXED + CONTEXTS + Item(0x50, USER));

    Status Feed(AssociateRequestParser& parser, const Bytes& bytes)
    {
      return parser.Feed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }

    AssociateRequestParser Parse(const Bytes& bytes)
    {
      AssociateRequestParser parser;
      Feed(parser, bytes);
      return parser;
    }

    void ExpectWhole(const AssociateRequestParser& parser)
    {
      ASSERT_EQ(Status::Complete, parser.GetStatus());
      const AssociateRequest& request = parser.GetRequest();
      EXPECT_EQ("ORTHANC         ", request.calledTitle.View());
      EXPECT_EQ("STORESCU        ", request.callingTitle.View());
      EXPECT_EQ(16384u, request.maximumLength);
      EXPECT_EQ("OFFIS_DCMTK_367", request.implementationVersionName.View());
    }
  }

  TEST(AssociateRequestParser, ReadsARequestInOnePieceAndByteByByte)
  {
    ExpectWhole(Parse(REQUEST + "next"));
    AssociateRequestParser parser;

    for (std::size_t i = 0; i < REQUEST.size(); i++)
    {
      ASSERT_EQ(Status::NeedMore, parser.GetStatus()) << i;
      Feed(parser, REQUEST.substr(i, 1));
    }

    ExpectWhole(parser);
  }

  TEST(AssociateRequestParser, TakesItemsInAnyOrderAndWithoutUserInformation)
  {
    ExpectWhole(Parse(MakePdu(1, FIXED + Item(0x50, USER) + CONTEXTS)));
    const Bytes empty = Item(0x20, "") + Item(0x50, Item(0x58, ""));
    EXPECT_EQ(Status::Complete, Parse(MakePdu(1, FIXED)).GetStatus());
    EXPECT_EQ(Status::Complete, Parse(MakePdu(1, FIXED + empty)).GetStatus());
  }

  TEST(AssociateRequestParser, RefusesOtherPdusAndLengthsThatCannotBe)
  {
    const Bytes longItem = Bytes{0x20, 0} + Big16(5) + "four";
    const Bytes longUserItem = Bytes{0x51, 0} + Big16(9) + "four";

    for (const Bytes& request : {Bytes("\x16\x03\x01\x02\x03\x04"), MakePdu(1, "short"),
                                 Bytes("\x01\x00\xff\xff\xff\xff", 6), MakePdu(1, FIXED + longItem),
                                 MakePdu(1, FIXED + Item(0x50, longUserItem)),
                                 MakePdu(1, FIXED + "abc"), MakePdu(1, FIXED + Item(0x50, "abc"))})
    {
      EXPECT_EQ(Status::Failed, Parse(request).GetStatus()) << request;
    }
  }

  TEST(AssociateRequestParser, BoundsTheTextsOfStrangers)
  {
    for (const Bytes& before : {Bytes(), Item(0x52, Bytes(60000, '1'))})
    {
      const Bytes user = before + Item(0x55, Bytes(60, 'n'));
      const AssociateRequestParser parser = Parse(MakePdu(1, FIXED + Item(0x50, user)));
      ASSERT_EQ(Status::Complete, parser.GetStatus());
      EXPECT_EQ(Bytes(16, 'n'), parser.GetRequest().implementationVersionName.View());
    }
  }
}
