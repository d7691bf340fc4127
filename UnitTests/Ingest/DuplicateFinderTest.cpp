// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/DuplicateFinder.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;


    InstanceIdentity MakeInstance(const std::string& patient, const std::string& uid)
    {
      return {uid, patient + uid};
    }


    class DuplicateFinderTest : public testing::Test
    {
    protected:
      bool IsStored(const std::string& uid, const std::string& patient = "P")
      {
        return finder_.IsStored(MakeInstance(patient, uid));
      }

      void Store(const std::string& uid)
      {
        index_.insert(MakeInstance("P", uid).GetInstanceId());
      }

      bool Lookup(const std::string& id)
      {
        asked_++;
        now_ += answerTime_;

        if (isDown_)
        {
          throw std::runtime_error("the database is down");
        }

        return index_.count(id) == 1;
      }

      int asked_ = 0;
      bool isDown_ = false;
      milliseconds answerTime_{1};
      TimePoint now_{std::chrono::hours(1)};
      std::set<std::string> index_;
      DuplicateFinder finder_{[this](const std::string& id) { return Lookup(id); },
                              [this]
                              {
                                return now_;
                              }};
    };
  }


  TEST_F(DuplicateFinderTest, WhatTheIndexHasIsStored)
  {
    Store("1.2.3.4");
    EXPECT_TRUE(IsStored("1.2.3.4"));
    EXPECT_FALSE(IsStored("1.2.3.5"));
  }


  TEST_F(DuplicateFinderTest, AnotherPatientsInstanceIsAnotherOne)
  {
    Store("1.2.3.4");
    EXPECT_FALSE(IsStored("1.2.3.4", "Q"));
    EXPECT_EQ(1, asked_);
  }


  TEST_F(DuplicateFinderTest, EachInstanceOfAStoredSeriesIsAskedFor)
  {
    for (int i = 0; i < 100; i++)
    {
      const std::string text = "1.2.3." + std::to_string(i);
      Store(text);
      EXPECT_TRUE(IsStored(text));
    }

    EXPECT_EQ(100, asked_);
  }


  TEST_F(DuplicateFinderTest, ANewSeriesIsAskedForAHundredthOfTheTime)
  {
    for (int i = 0; i < 250; i++)
    {
      EXPECT_FALSE(IsStored("1.2.3." + std::to_string(i)));
      now_ += milliseconds(4);
    }

    EXPECT_EQ(10, asked_) << "in the second that it took";
  }


  TEST_F(DuplicateFinderTest, ANewSeriesHidesNoOtherOne)
  {
    Store("1.2.4.1");
    EXPECT_FALSE(IsStored("1.2.3.1"));
    EXPECT_TRUE(IsStored("1.2.4.1"));
  }


  TEST_F(DuplicateFinderTest, ASeriesThatComesAgainIsFoundOut)
  {
    EXPECT_FALSE(IsStored("1.2.3.1"));
    Store("1.2.3.1");
    EXPECT_FALSE(IsStored("1.2.3.1")) << "it is not asked for yet";
    now_ += milliseconds(DuplicateFinder::PAUSE_FACTOR);
    EXPECT_TRUE(IsStored("1.2.3.1"));
  }


  TEST_F(DuplicateFinderTest, ADistantIndexIsAskedAgainAfterASecond)
  {
    answerTime_ = milliseconds(100);
    EXPECT_FALSE(IsStored("1.2.3.1"));
    now_ += milliseconds(999);
    EXPECT_FALSE(IsStored("1.2.3.2"));
    EXPECT_EQ(1, asked_);
    now_ += milliseconds(1);
    EXPECT_FALSE(IsStored("1.2.3.3"));
    EXPECT_EQ(2, asked_);
  }


  TEST_F(DuplicateFinderTest, NothingIsStoredWhileTheIndexDoesNotAnswer)
  {
    Store("1.2.3.1");
    isDown_ = true;
    EXPECT_FALSE(IsStored("1.2.3.1"));
    EXPECT_FALSE(IsStored("1.2.3.2"));
    EXPECT_EQ(1, asked_);  // the others wait, as where it answers
    isDown_ = false;
    now_ += DuplicateFinder::LONGEST_PAUSE;
    EXPECT_TRUE(IsStored("1.2.3.1"));
  }


  TEST_F(DuplicateFinderTest, AnInstanceWithoutAnIdentifierIsNotAskedFor)
  {
    EXPECT_FALSE(IsStored("1.2.3.1", "M\xfcller"));
    EXPECT_EQ(0, asked_);
  }
}
