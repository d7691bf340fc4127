// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/SentIdentifiers.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    UidText MakeUid(const std::string& text)
    {
      UidText uid = {};
      std::copy(text.begin(), text.end(), uid.begin());
      return uid;
    }


    class SentIdentifiersTest : public testing::Test
    {
    protected:
      // The store has all instances but this one
      void Ask(const std::string& missing = "")
      {
        lookups_.AskNext(
            [this, &missing](const InstanceIdentity& instance)
            {
              const std::string uid = instance.sopInstanceUid.data();
              asked_.push_back(uid);
              return uid == missing ? "" : "id of " + uid;
            },
            Duration::zero());
      }

      StoreLookups lookups_;
      TimePoint now_;
      SentIdentifiers identifiers_{lookups_, 2,
                                   [this]
                                   {
                                     return now_;
                                   }};
      std::vector<std::string> asked_;
    };
  }


  TEST_F(SentIdentifiersTest, WhatTheStoreHasIsAskedForOnce)
  {
    identifiers_.LookUp({MakeUid("1.2"), MakeUid("1.2")}, Duration::zero());
    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    EXPECT_EQ("", identifiers_.Get(MakeUid("1.2")));  // not answered yet

    Ask();
    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    Ask();
    EXPECT_EQ("id of 1.2", identifiers_.Get(MakeUid("1.2")));
    EXPECT_EQ(std::vector<std::string>{"1.2"}, asked_);
  }


  TEST_F(SentIdentifiersTest, WhatTheStoreDoesNotHaveIsAskedForAgainAfterAPause)
  {
    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    Ask("1.2");
    EXPECT_EQ("", identifiers_.Get(MakeUid("1.2")));

    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    Ask();
    EXPECT_EQ("", identifiers_.Get(MakeUid("1.2")));
    EXPECT_EQ(1U, asked_.size());

    now_ += SentIdentifiers::PAUSE;
    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    Ask();
    EXPECT_EQ("id of 1.2", identifiers_.Get(MakeUid("1.2")));
  }


  // Those that the store has have their turn
  TEST_F(SentIdentifiersTest, WhatWasDeletedKeepsNoPlaceOfOthers)
  {
    SentIdentifiers identifiers(lookups_, 1000, [this] { return now_; });
    std::vector<UidText> uids;

    for (std::size_t i = 0; i < SentIdentifiers::MAXIMUM_ASKED; i++)
    {
      uids.push_back(MakeUid("1." + std::to_string(i)));
    }

    uids.push_back(MakeUid("1.2.3"));
    identifiers.LookUp(uids, Duration::zero());

    for (std::size_t i = 0; i < SentIdentifiers::MAXIMUM_ASKED; i++)
    {
      lookups_.AskNext([](const InstanceIdentity&) { return ""; }, Duration::zero());
    }

    identifiers.LookUp(uids, Duration::zero());
    Ask();
    EXPECT_EQ("id of 1.2.3", identifiers.Get(uids.back()));
  }


  TEST_F(SentIdentifiersTest, TheLatestAreRemembered)
  {
    for (const char* uid : {"1.1", "1.2", "1.3"})
    {
      identifiers_.LookUp({MakeUid(uid)}, Duration::zero());
      Ask();
    }

    EXPECT_EQ("", identifiers_.Get(MakeUid("1.1")));
    EXPECT_EQ("id of 1.2", identifiers_.Get(MakeUid("1.2")));
    EXPECT_EQ("id of 1.3", identifiers_.Get(MakeUid("1.3")));
  }


  TEST_F(SentIdentifiersTest, AQuestionThatCannotBeAskedIsOver)
  {
    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    const auto fails = [](const InstanceIdentity&) -> std::string
    {
      throw std::runtime_error("no answer");
    };
    EXPECT_THROW(lookups_.AskNext(fails, Duration::zero()), std::runtime_error);
    lookups_.WaitForAnswers(std::chrono::hours(1));  // does not wait

    identifiers_.LookUp({MakeUid("1.2")}, Duration::zero());
    Ask();
    EXPECT_EQ("id of 1.2", identifiers_.Get(MakeUid("1.2")));
  }


  // Or who lists all that was sent, again and again, would fill the lookups
  TEST_F(SentIdentifiersTest, OfTooManyTheRestIsNotKnown)
  {
    constexpr std::size_t MAXIMUM = SentIdentifiers::MAXIMUM_ASKED;
    std::vector<UidText> uids;

    for (std::size_t i = 0; i <= MAXIMUM; i++)
    {
      uids.push_back(MakeUid("1." + std::to_string(i)));
    }

    identifiers_.LookUp(uids, Duration::zero());
    EXPECT_EQ("", identifiers_.Get(uids.back()));
    Ask();
    identifiers_.LookUp({uids.back()}, Duration::zero());  // there is a place now

    for (std::size_t i = 0; i < MAXIMUM; i++)
    {
      Ask();
    }

    Ask();
    EXPECT_EQ(MAXIMUM + 1, asked_.size());
    EXPECT_EQ("id of 1." + std::to_string(MAXIMUM), identifiers_.Get(uids.back()));
  }
}
