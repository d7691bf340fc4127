// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/AssociateRequest.h"

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

    Bytes Pdu(char type, const Bytes& value)
    {
      return Bytes{type, 0} + Big32(value.size()) + value;
    }

    const Bytes FIXED = Big16(1) + Big16(0) + "ORTHANC         STORESCU        " + Bytes(32, '\0');
    const Bytes CONTEXTS = Item(0x10, "1.2.840.10008.3.1.1.1") + Item(0x20, Bytes(60, 'c')) +
                           Item(0x20, Bytes(300, 'c'));
    const Bytes USER = Item(0x51, Big32(16384)) + Item(0x52, "1.2.276.0.7230010.3.0.3.6.7") +
                       Item(0x53, Big16(3) + Big16(0)) + Item(0x54, Bytes(100, 'r')) +
                       Item(0x55, "OFFIS_DCMTK_367");
    const Bytes REQUEST = Pdu(1, FIXED + CONTEXTS + Item(0x50, USER));

    Status Feed(AssociateRequestParser& parser, const Bytes& bytes)
    {
      return parser.Feed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
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

  TEST(AssociateRequestParser, ReadsARequestInOnePiece)
  {
    AssociateRequestParser parser;
    Feed(parser, REQUEST + "next");
    ExpectWhole(parser);
  }

  TEST(AssociateRequestParser, ReadsARequestByteByByte)
  {
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
    AssociateRequestParser parser;
    Feed(parser, Pdu(1, FIXED + Item(0x50, USER) + CONTEXTS));
    ExpectWhole(parser);

    AssociateRequestParser bare;
    EXPECT_EQ(Status::Complete, Feed(bare, Pdu(1, FIXED)));
    AssociateRequestParser empty;
    EXPECT_EQ(Status::Complete,
              Feed(empty, Pdu(1, FIXED + Item(0x20, "") + Item(0x50, Item(0x58, "")))));
  }

  TEST(AssociateRequestParser, RefusesOtherPdusAndLengthsThatCannotBe)
  {
    AssociateRequestParser tls;
    EXPECT_EQ(Status::Failed, Feed(tls, "\x16\x03\x01\x02\x03\x04"));

    AssociateRequestParser tooShort;
    EXPECT_EQ(Status::Failed, Feed(tooShort, Pdu(1, "short")));

    AssociateRequestParser tooLong;
    EXPECT_EQ(Status::Failed, Feed(tooLong, Bytes("\x01\x00\xff\xff\xff\xff", 6)));
  }

  TEST(AssociateRequestParser, RefusesItemsThatAreLongerThanWhatHoldsThem)
  {
    AssociateRequestParser item;
    EXPECT_EQ(Status::Failed, Feed(item, Pdu(1, FIXED + Bytes{0x20, 0} + Big16(5) + "four")));

    AssociateRequestParser user;
    const Bytes bad = Bytes{0x51, 0} + Big16(9) + "four";
    EXPECT_EQ(Status::Failed, Feed(user, Pdu(1, FIXED + Item(0x50, bad))));

    AssociateRequestParser rest;
    EXPECT_EQ(Status::Failed, Feed(rest, Pdu(1, FIXED + "abc")));

    AssociateRequestParser userRest;
    EXPECT_EQ(Status::Failed, Feed(userRest, Pdu(1, FIXED + Item(0x50, "abc"))));
  }

  TEST(AssociateRequestParser, BoundsTheTextsOfStrangers)
  {
    AssociateRequestParser parser;
    const Bytes user = Item(0x52, Bytes(60000, '1')) + Item(0x55, Bytes(60, 'n'));
    Bytes request = Pdu(1, FIXED + Item(0x50, Item(0x55, Bytes(60, 'n'))));
    ASSERT_EQ(Status::Complete, Feed(parser, request));
    EXPECT_EQ(Bytes(16, 'n'), parser.GetRequest().implementationVersionName.View());

    AssociateRequestParser longer;
    ASSERT_EQ(Status::Complete, Feed(longer, Pdu(1, FIXED + Item(0x50, user))));
    EXPECT_EQ(Bytes(16, 'n'), longer.GetRequest().implementationVersionName.View());
  }
}
