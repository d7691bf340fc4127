// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedInstance.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  // DCMTK takes it for a C string: a peer that pads its title otherwise is the same peer
  TEST(FinishedInstance, ATitleEndsWhereItsPaddingBeginsAndIsFitForALabel)
  {
    EXPECT_EQ("CT_ROOM_1", MakePrintable(std::string("CT_ROOM_1\0\0\0", 12)));
    EXPECT_EQ("CT ROOM", MakePrintable(" CT ROOM  "));
    EXPECT_EQ("", MakePrintable(std::string("\0CT", 3)));
    EXPECT_EQ("a?b?", MakePrintable("a\nb\x7f"));
    EXPECT_EQ(MAXIMUM_PEER_NAME, MakePrintable(std::string(1000, 'x')).size());
  }
}
