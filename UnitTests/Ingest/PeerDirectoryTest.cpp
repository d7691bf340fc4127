// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeerDirectory.h"

#include "Ingest/FinishedInstance.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace OrthancPerf
{
  TEST(PeerDirectory, APeerKeepsItsPlace)
  {
    PeerDirectory directory(2);
    EXPECT_EQ(0U, directory.Resolve("CT1"));
    EXPECT_EQ(1U, directory.Resolve("MR1"));
    EXPECT_EQ(0U, directory.Resolve("CT1"));
    EXPECT_EQ("CT1", directory.GetName(0));
    EXPECT_EQ("MR1", directory.GetName(1));
  }

  TEST(PeerDirectory, PeersBeyondTheMaximumShareOnePlace)
  {
    PeerDirectory directory(1);
    directory.Resolve("CT1");
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("MR1"));
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("US1"));
    EXPECT_EQ(0U, directory.Resolve("CT1"));
    EXPECT_EQ("other", directory.GetName(directory.GetOthers()));
  }

  TEST(PeerDirectory, WithoutPlacesAllAreOthers)
  {
    PeerDirectory directory(0);
    EXPECT_EQ(1U, directory.GetCapacity());
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("CT1"));
  }

  TEST(PeerDirectory, AnUnknownPeerHasNoPlace)
  {
    PeerDirectory directory(1);
    EXPECT_FALSE(directory.Resolve("").has_value());
    EXPECT_FALSE(directory.Resolve("  ").has_value());
  }

  TEST(PeerDirectory, AStrangerNamedOtherTakesNoPlace)
  {
    PeerDirectory directory(1);
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("other"));
    EXPECT_EQ(0U, directory.Resolve("CT1"));
  }

  TEST(PeerDirectory, ReservedPeersKeepTheirPlacesHoweverManyStrangersCome)
  {
    PeerDirectory directory(2);
    directory.Reserve({"CT1", "MR1", "US1"});
    directory.Resolve("STRANGER");
    EXPECT_EQ(0U, directory.Resolve("CT1"));
    EXPECT_EQ(1U, directory.Resolve("MR1"));
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("US1"));
  }

  TEST(PeerDirectory, NamesAreBoundedAndPrintable)
  {
    PeerDirectory directory(2);
    EXPECT_EQ(0U, directory.Resolve(std::string(65536, '\n')));
    EXPECT_EQ(std::string(MAXIMUM_PEER_NAME, '?'), directory.GetName(0));
    directory.Resolve("CT1");
    EXPECT_EQ(1U, directory.Resolve(" CT1 "));  // known, though the directory is full
  }

  TEST(PeerDirectory, ATitlePaddedWithNulOrSpacesIsTheSamePeer)
  {
    PeerDirectory directory(2);
    EXPECT_EQ(0U, directory.Resolve("CT1"));
    EXPECT_EQ(0U, directory.Resolve(std::string("CT1\0\0\0", 6)));
    EXPECT_EQ(0U, directory.Resolve(std::string(" CT1 \0", 6)));
    EXPECT_FALSE(directory.Resolve(std::string(16, '\0')).has_value());
  }

  TEST(PeerDirectory, AskingForAPlaceThatNobodyHasIsAnError)
  {
    const PeerDirectory directory(2);
    EXPECT_THROW(directory.GetName(0), std::out_of_range);
  }

  TEST(PeerDirectory, ThreadsAgreeOnThePlaces)
  {
    PeerDirectory directory(50);
    std::vector<std::vector<std::size_t>> places(4);
    std::vector<std::thread> threads;

    for (std::vector<std::size_t>& mine : places)
    {
      threads.emplace_back(
          [&directory, &mine]
          {
            for (int i = 0; i < 100; i++)
            {
              mine.push_back(directory.Resolve("PEER" + std::to_string(i)).value());
            }
          });
    }

    for (std::thread& thread : threads)
    {
      thread.join();
    }

    // Which names found places depends on who came first; each that did has one place for all
    for (int i = 0; i < 100; i++)
    {
      const std::string name = "PEER" + std::to_string(i);
      const std::size_t place = directory.Resolve(name).value();
      EXPECT_TRUE(place == directory.GetOthers() || directory.GetName(place) == name);

      for (const std::vector<std::size_t>& mine : places)
      {
        EXPECT_EQ(place, mine.at(i));
      }
    }
  }
}
