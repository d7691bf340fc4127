// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Probe.h"

#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/StockSockets.h"
#include "Network/TcpPair.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(ListeningSocket, IsFoundByItsPort)
  {
    const TcpPair pair;
    EXPECT_EQ(pair.GetListening(), FindListeningSocket(pair.GetPort()));
    EXPECT_FALSE(FindListeningSocket(0));
    EXPECT_FALSE(FindListeningSocket(1));
  }

  TEST(ProbeSettings, WithoutTheProbeAcceptedSocketsInheritTheOptions)
  {
    TcpPair pair;
    WatchedPlaces places;
    places.dicomPort = pair.GetPort();
    ConnectionTracker tracker;
    Probe probe(places, tracker);
    EXPECT_FALSE(probe.IsInstalled());
    EXPECT_FALSE(probe.GetProblem().empty());

    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.keepAlive = std::chrono::seconds(44);
    probe.SetSettings(settings);

    // The pair's own connection is older than the settings
    const ConnectedSocket client(pair.GetPort());
    pair.GetServer();
    const int accepted = accept(pair.GetListening(), nullptr, nullptr);
    const SocketOptions options = ReadSocketOptions(accepted);
    close(accepted);
    EXPECT_EQ(true, options.noDelay);
    EXPECT_EQ(44U, options.keepAlive);
  }

  TEST(ProbeSettings, WhatIsLeftToDcmtkIsWhatItsEnvironmentSays)
  {
    ConnectionTracker tracker;
    Probe probe({}, tracker, {}, DcmtkEnvironment::Parse("1", "32768"));
    probe.SetSettings(MakeStock());

    const SettingsTrial trial = probe.GetTrial();
    EXPECT_TRUE(trial.problems.empty());
    EXPECT_EQ(true, trial.inForce.noDelay);
    EXPECT_EQ(65536U, trial.inForce.receiveBuffer);

    Probe other({}, tracker);
    other.SetSettings(MakeStock());
    EXPECT_EQ(false, other.GetTrial().inForce.noDelay);
    EXPECT_EQ(false, other.GetTrial().inForce.isReceiveBufferFixed.value_or(false));
  }
}
