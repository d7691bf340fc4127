// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningDocument.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;

TEST(TuningDocument, DefaultsAreTheTunedPreset)
{
  EXPECT_EQ(SocketPreset::Tuned, FindPreset(Tuning().dicomSockets));
  EXPECT_EQ(DicomSockets(), GetPresetValues(SocketPreset::Tuned));
}

TEST(TuningDocument, StockTouchesNothing)
{
  const DicomSockets stock = GetPresetValues(SocketPreset::Stock).value();
  EXPECT_FALSE(stock.tcpNoDelay);
  EXPECT_FALSE(stock.tcpQuickAck);
  EXPECT_EQ((SocketBuffer{SocketBuffer::Mode::Default}), stock.receiveBuffer);
  EXPECT_EQ((SocketBuffer{SocketBuffer::Mode::Default}), stock.sendBuffer);
  EXPECT_EQ(0, stock.keepAlive.count());
  EXPECT_EQ(0, stock.userTimeout.count());
  EXPECT_EQ("", stock.congestionControl);
}

TEST(TuningDocument, AnyOtherValuesAreCustom)
{
  DicomSockets sockets;
  sockets.userTimeout = std::chrono::seconds(1);
  EXPECT_EQ(SocketPreset::Custom, FindPreset(sockets));
  EXPECT_FALSE(GetPresetValues(SocketPreset::Custom).has_value());
}
