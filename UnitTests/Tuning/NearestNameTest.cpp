// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/UnknownKeys.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace OrthancPerf;


TEST(NearestName, DistanceCountsInsertionsDeletionsAndReplacements)
{
  EXPECT_EQ(0u, GetEditDistance("", ""));
  EXPECT_EQ(3u, GetEditDistance("", "abc"));
  EXPECT_EQ(3u, GetEditDistance("abc", ""));
  EXPECT_EQ(3u, GetEditDistance("kitten", "sitting"));
  EXPECT_EQ(1u, GetEditDistance("Enabled", "Enable"));
}


TEST(NearestName, DistanceIgnoresCase)
{
  EXPECT_EQ(0u, GetEditDistance("tcpnodelay", "TcpNoDelay"));
}


TEST(NearestName, DistanceIsSymmetric)
{
  const std::vector<std::string> words = {"", "a", "Engine", "Enabled", "MaximumPeers", "peers"};

  for (const std::string& a : words)
  {
    for (const std::string& b : words)
    {
      EXPECT_EQ(GetEditDistance(a, b), GetEditDistance(b, a)) << a << " " << b;
    }
  }
}


TEST(NearestName, OnlyTheStartOfALongTextIsCompared)
{
  EXPECT_EQ(MAXIMUM_COMPARED, GetEditDistance(std::string(10000000, 'x'), "abc"));
}


TEST(NearestName, FindsAPathByItsLastPart)
{
  const std::vector<std::string> paths = {"Perf.Enabled", "Perf.Tuning",
                                          "Perf.Tuning.DicomSockets.TcpNoDelay"};
  EXPECT_EQ("Perf.Tuning.DicomSockets.TcpNoDelay", FindNearestPath("TCP_NODELAY", paths));
  EXPECT_EQ("Perf.Enabled", FindNearestPath("Enable", paths));
}


TEST(NearestName, FindsAPathWrittenInFull)
{
  const std::vector<std::string> paths = {"Engine", "DicomSockets", "DicomSockets.TcpNoDelay"};
  EXPECT_EQ("DicomSockets.TcpNoDelay", FindNearestPath("DicomSockets.TcpNoDelai", paths));
}


TEST(NearestName, TheFirstOfEqualsWins)
{
  EXPECT_EQ("ab", FindNearestPath("a", {"ab", "ac"}));
  EXPECT_EQ("ac", FindNearestPath("a", {"ac", "ab"}));
}


TEST(NearestName, NeedsSomethingToCompareWith)
{
  EXPECT_THROW(FindNearestPath("a", {}), std::invalid_argument);
}
