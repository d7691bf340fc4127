// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeerDirectory.h"

#include "Ingest/FinishedInstance.h"

#include <gtest/gtest.h>

#include <thread>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::minutes;

    class PeerDirectoryTest : public testing::Test
    {
    protected:
      PeerPlace Resolve(const std::string& name, PeerSign sign = PeerSign::Instance)
      {
        return directory_.Resolve(name, sign).value();
      }

      PeerPlace Accept(const std::string& name)
      {
        return Resolve(name, PeerSign::Accepted);
      }

      bool IsOther(const std::string& name, PeerSign sign = PeerSign::Instance)
      {
        return Resolve(name, sign) == directory_.GetOthers();
      }

      TimePoint now_{minutes(1000)};
      PeerDirectory directory_{2, [this]
                               {
                                 return now_;
                               }};
    };
  }

  TEST_F(PeerDirectoryTest, APeerKeepsItsPlace)
  {
    const PeerPlace ct = Resolve("CT1");
    const PeerPlace mr = Resolve("MR1");
    EXPECT_EQ(ct, Resolve("CT1"));
    EXPECT_FALSE(ct == mr);
    EXPECT_EQ("CT1", directory_.FindName(ct));
    EXPECT_EQ("MR1", directory_.FindName(mr));
  }

  TEST_F(PeerDirectoryTest, PeersBeyondTheMaximumShareOnePlace)
  {
    Resolve("CT1");
    Resolve("MR1");
    EXPECT_TRUE(IsOther("US1"));
    EXPECT_TRUE(IsOther("CR1"));
    EXPECT_FALSE(IsOther("CT1"));
    EXPECT_EQ("other", directory_.FindName(directory_.GetOthers()));
  }

  TEST_F(PeerDirectoryTest, WithoutPlacesAllAreOthers)
  {
    PeerDirectory directory(0);
    directory.SetModalities({"CT1"});
    EXPECT_EQ(1U, directory.GetCapacity());
    EXPECT_EQ(directory.GetOthers(), directory.Resolve("CT1", PeerSign::Instance));
  }

  TEST_F(PeerDirectoryTest, AnUnknownPeerHasNoPlace)
  {
    EXPECT_FALSE(directory_.Resolve("", PeerSign::Instance).has_value());
    EXPECT_FALSE(directory_.Resolve("  ", PeerSign::Instance).has_value());
  }

  TEST_F(PeerDirectoryTest, AStrangerNamedOtherTakesNoPlace)
  {
    directory_.SetModalities({"other"});
    EXPECT_TRUE(IsOther("other"));
    EXPECT_FALSE(IsOther("CT1"));
    EXPECT_FALSE(IsOther("MR1"));
  }

  TEST_F(PeerDirectoryTest, ARejectedPeerTakesNoPlace)
  {
    for (int i = 0; i < 300; i++)
    {
      EXPECT_TRUE(IsOther("STRANGER" + std::to_string(i), PeerSign::Asked));
    }

    EXPECT_FALSE(IsOther("CT1", PeerSign::Accepted));
    EXPECT_FALSE(IsOther("MR1", PeerSign::Instance));
    EXPECT_FALSE(IsOther("CT1", PeerSign::Asked));
  }

  TEST_F(PeerDirectoryTest, ModalitiesHaveTheirPlacesHoweverManyStrangersCome)
  {
    directory_.SetModalities({"CT1", " MR1", "US1"});
    Resolve("STRANGER");
    EXPECT_FALSE(IsOther("CT1"));
    EXPECT_FALSE(IsOther("MR1"));
    EXPECT_TRUE(IsOther("US1"));
  }

  TEST_F(PeerDirectoryTest, AModalityThatIsAddedLaterTakesOverAStrangersPlaceAtOnce)
  {
    directory_.SetModalities({"CT1"});
    const PeerPlace stranger = Resolve("STRANGER");
    directory_.SetModalities({"LATE", "CT1"});
    EXPECT_FALSE(IsOther("LATE"));
    EXPECT_FALSE(IsOther("CT1"));
    EXPECT_TRUE(IsOther("STRANGER"));
    EXPECT_EQ(std::nullopt, directory_.FindName(stranger));
  }

  TEST_F(PeerDirectoryTest, APlaceWithoutAnInstanceForAnHourIsTakenOver)
  {
    const PeerPlace night = Resolve("NIGHT");
    now_ += minutes(1);
    const PeerPlace echo = Accept("ECHO");
    now_ += minutes(58);
    EXPECT_TRUE(IsOther("NEW"));
    now_ += minutes(1);
    Accept("ECHO");  // no instance
    const PeerPlace taken = Resolve("NEW");
    EXPECT_EQ(night.index, taken.index);
    EXPECT_FALSE(night == taken);
    EXPECT_EQ(std::nullopt, directory_.FindName(night));
    EXPECT_EQ("NEW", directory_.FindName(taken));
    EXPECT_TRUE(IsOther("NIGHT"));
    now_ += minutes(1);
    EXPECT_EQ(echo.index, Resolve("NIGHT").index);
  }

  TEST_F(PeerDirectoryTest, InstancesKeepAPlace)
  {
    Resolve("CT1");
    Resolve("MR1");
    now_ += PeerDirectory::KEPT;
    Resolve("CT1");
    Resolve("MR1");
    EXPECT_TRUE(IsOther("NEW"));
  }

  TEST_F(PeerDirectoryTest, AModalityKeepsItsPlaceWithoutAnInstanceUntilItIsNoneAnyMore)
  {
    directory_.SetModalities({"CT1", "MR1"});
    now_ += std::chrono::hours(1000);
    EXPECT_TRUE(IsOther("NEW"));
    directory_.SetModalities({"MR1"});
    EXPECT_FALSE(IsOther("NEW"));
    EXPECT_TRUE(IsOther("CT1"));
    EXPECT_FALSE(IsOther("MR1"));
  }

  TEST_F(PeerDirectoryTest, NamesAreBoundedAndPrintable)
  {
    EXPECT_EQ(std::string(MAXIMUM_PEER_NAME, '?'),
              directory_.FindName(Resolve(std::string(65536, '\n'))));
    EXPECT_EQ(Resolve("CT1"), Resolve(" CT1 "));
  }

  TEST_F(PeerDirectoryTest, ATitlePaddedWithNulOrSpacesIsTheSamePeer)
  {
    EXPECT_EQ(Resolve("CT1"), Resolve(std::string("CT1\0\0\0", 6)));
    EXPECT_EQ(Resolve("CT1"), Resolve(std::string(" CT1 \0", 6)));
    EXPECT_FALSE(directory_.Resolve(std::string(16, '\0'), PeerSign::Instance).has_value());
  }

  TEST_F(PeerDirectoryTest, ThreadsAgreeOnThePlaces)
  {
    PeerDirectory directory(50);
    std::vector<std::vector<PeerPlace>> places(4);
    std::vector<std::thread> threads;

    for (std::vector<PeerPlace>& mine : places)
    {
      threads.emplace_back(
          [&directory, &mine]
          {
            for (int i = 0; i < 100; i++)
            {
              mine.push_back(
                  directory.Resolve("PEER" + std::to_string(i), PeerSign::Instance).value());
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
      const PeerPlace place = directory.Resolve(name, PeerSign::Instance).value();
      EXPECT_TRUE(place == directory.GetOthers() || directory.FindName(place) == name);

      for (const std::vector<PeerPlace>& mine : places)
      {
        EXPECT_EQ(place, mine.at(i));
      }
    }
  }
}
