// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestTracker.h"

#include "Ingest/NoMessageSource.h"

#include <algorithm>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::seconds;

    constexpr std::chrono::milliseconds QUIET(50);

    // Keeps what the journal publishes
    class Collector : public IJournalObserver
    {
    public:
      void OnInstanceFinished(const FinishedInstance& instance) noexcept override
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        instances_.push_back(instance);
      }

      std::vector<FinishedInstance> Get() const
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        return instances_;
      }

      std::size_t Count(Outcome outcome) const
      {
        std::size_t count = 0;
        for (const FinishedInstance& instance : Get())
        {
          count += instance.outcome == outcome ? 1 : 0;
        }
        return count;
      }

    private:
      mutable std::mutex mutex_;
      std::vector<FinishedInstance> instances_;
    };

    class IngestTrackerTest : public testing::Test
    {
    protected:
      static std::string IsNowhere(const InstanceIdentity&)
      {
        return {};
      }

      static StoreAnswer GivesNoAnswer(const InstanceIdentity&)
      {
        return std::nullopt;
      }

      static ReceivedInstance Readable(const std::string& sopInstanceUid)
      {
        ReceivedInstance received;
        received.origin = Origin::RestApi;
        received.size = 100;
        std::copy(sopInstanceUid.begin(), sopInstanceUid.end(),
                  received.identity.sopInstanceUid.begin());
        return received;
      }

      // Of which Orthanc's identifier can be told
      static ReceivedInstance Identified(char identifier, Origin origin)
      {
        ReceivedInstance received = Readable("1.2");
        received.origin = origin;
        received.identity.hasher.Add(identifier);
        return received;
      }

      static KnownInstance Known(const ReceivedInstance& received)
      {
        KnownInstance known;
        known.instanceId = received.identity.hasher.GetInstanceId();
        known.origin = received.origin;
        return known;
      }

      // As Orthanc does between the two callbacks, and before another plugin is told
      void ReceiveAndFilter(TimePoint now, const ReceivedInstance& received)
      {
        tracker_.OnReceived(now, received);
        tracker_.OnFilter(now, Known(received));
      }

      static ReceivedInstance Unreadable()
      {
        ReceivedInstance received = Readable("");
        received.problem = "not DICOM";
        return received;
      }

      // All that may be in the store is looked up
      void Settle(TimePoint now, Duration quiet, const StoreLookup& lookup)
      {
        tracker_.Settle(now, quiet);

        while (tracker_.CountInFlight(Origin::RestApi) > 0)
        {
          const std::size_t before = collector_.Get().size();
          lookups_.AskNext(lookup, Duration::zero());

          if (collector_.Get().size() == before)
          {
            break;
          }
        }
      }

      const TimePoint now_{seconds(1000)};
      StoreLookups lookups_;
      Collector collector_;
      Journal journal_{{&collector_}};
      NoMessageSource noSource_;
      IngestTracker tracker_{journal_, true, noSource_, lookups_};
    };
  }

  TEST_F(IngestTrackerTest, CountsWhatIsInFlight)
  {
    tracker_.OnReceived(now_, Readable("1.2"));
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 1U);
    EXPECT_EQ(tracker_.CountInFlight(Origin::Lua), 0U);
    tracker_.OnStored(now_, {});
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
    EXPECT_EQ(collector_.Count(Outcome::Stored), 1U);
  }

  TEST_F(IngestTrackerTest, FinishesAtOnceWhatNeedsNoLookup)
  {
    tracker_.OnReceived(now_, Unreadable());
    tracker_.OnRequest(now_, "127.0.0.1");
    EXPECT_EQ(collector_.Count(Outcome::Failed), 1U);
    EXPECT_FALSE(collector_.Get()[0].isOwnFailure);  // nobody could have stored it
  }

  TEST_F(IngestTrackerTest, AsksTheStoreBeforeItCallsAnInstanceDiscarded)
  {
    tracker_.OnReceived(now_, Readable("1.2.3"));
    tracker_.OnReceived(now_, Readable("1.2.4"));
    tracker_.OnRequest(now_, "127.0.0.1");
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 2U);

    Settle(now_, QUIET,
           [](const InstanceIdentity& instance)
           { return std::string(instance.sopInstanceUid.data()) == "1.2.4" ? "id" : ""; });
    EXPECT_EQ(collector_.Count(Outcome::Discarded), 1U);
    EXPECT_EQ(collector_.Count(Outcome::Stored), 1U);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
  }

  // Orthanc 1.13.0 asks its database first, and has failed, though there are filters
  TEST_F(IngestTrackerTest, WhatTheStoreGivesNoAnswerForHasFailed)
  {

    tracker_.OnReceived(now_, Readable("1.2.3"));
    Settle(now_ + seconds(60), QUIET, GivesNoAnswer);
    ASSERT_EQ(1U, collector_.Count(Outcome::Failed));
    EXPECT_TRUE(collector_.Get()[0].isOwnFailure);
    EXPECT_EQ("not stored, and the database does not answer", collector_.Get()[0].reason);
  }

  TEST_F(IngestTrackerTest, WhatTheStoreCannotBeAskedForHasFailedIfTheLatestOneHas)
  {
    tracker_.OnReceived(now_, Readable("1.2.3"));
    Settle(now_ + seconds(60), QUIET, GivesNoAnswer);

    for (int i = 0; i < 2000; i++)
    {
      tracker_.OnReceived(now_, Readable("1.2.3"));
    }

    tracker_.OnRequest(now_, "");
    Settle(now_, QUIET, GivesNoAnswer);
    EXPECT_EQ(2001U, collector_.Count(Outcome::Failed));
  }

  TEST_F(IngestTrackerTest, WhatWasNotStoredHasItsIdentifierAndAReason)
  {
    ReceivedInstance received = Readable("1.2.3");
    received.identity.hasher.Add('a');
    tracker_.OnReceived(now_, received);
    Settle(now_ + seconds(60), QUIET, IsNowhere);

    ASSERT_EQ(1U, collector_.Get().size());
    const FinishedInstance discarded = collector_.Get()[0];
    EXPECT_EQ(Outcome::Discarded, discarded.outcome);
    EXPECT_EQ("86f7e437-faa5a7fc-e15d1ddc-b9eaeaea-377667b8", discarded.instanceId);
    EXPECT_EQ("refused by a filter of Lua's or of another plugin's", discarded.reason);
  }

  TEST_F(IngestTrackerTest, SettlesWhatStaysSilent)
  {
    tracker_.OnReceived(now_, Unreadable());
    Settle(now_ + seconds(1), QUIET, IsNowhere);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 1U);
    Settle(now_ + seconds(6), QUIET, IsNowhere);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
    EXPECT_EQ(collector_.Count(Outcome::Failed), 1U);
  }

  TEST_F(IngestTrackerTest, NamesWhatIsStoredAfterItWasGivenUp)
  {
    tracker_.OnReceived(now_, Unreadable());
    Settle(now_ + seconds(60), QUIET, IsNowhere);
    tracker_.OnStored(now_ + seconds(61), {});
    EXPECT_EQ(collector_.Get().size(), 1U);
    EXPECT_EQ(tracker_.CountLateOutcomes(), 1U);
  }

  // Another plugin is told of it before this one, and stores what it has made of it
  TEST_F(IngestTrackerTest, WhatWasGivenUpIsCountedOnceThoughItsThreadStoresAnotherMeanwhile)
  {
    const ReceivedInstance outer = Identified('a', Origin::RestApi);
    const ReceivedInstance inner = Identified('b', Origin::Plugin);
    ReceiveAndFilter(now_, outer);
    Settle(now_ + seconds(60), QUIET, IsNowhere);
    ReceiveAndFilter(now_ + seconds(61), inner);
    tracker_.OnStored(now_ + seconds(62), Known(inner));
    tracker_.OnStored(now_ + seconds(63), Known(outer));

    EXPECT_EQ(2U, collector_.Get().size());
    EXPECT_EQ(1U, collector_.Count(Outcome::Failed));
    EXPECT_EQ(1U, tracker_.CountLateOutcomes());
  }

  TEST_F(IngestTrackerTest, WhatWasGivenUpAfterItsThreadHasBegunAnotherIsCountedOnce)
  {
    const ReceivedInstance outer = Identified('a', Origin::RestApi);
    const ReceivedInstance inner = Identified('b', Origin::Plugin);
    ReceiveAndFilter(now_, outer);
    ReceiveAndFilter(now_ + seconds(1), inner);
    tracker_.OnStored(now_ + seconds(2), Known(inner));
    Settle(now_ + seconds(60), QUIET, IsNowhere);
    tracker_.OnStored(now_ + seconds(61), Known(outer));

    EXPECT_EQ(2U, collector_.Get().size());
    EXPECT_EQ(1U, tracker_.CountLateOutcomes());
  }

  // Or the identifier cannot be made
  TEST_F(IngestTrackerTest, WhatWasGivenUpIsCountedOnceThoughNothingIsHeardBeforeTheFilter)
  {
    const KnownInstance outer = Known(Identified('a', Origin::RestApi));
    const KnownInstance inner = Known(Identified('b', Origin::Plugin));
    tracker_.OnFilter(now_, outer);
    Settle(now_ + seconds(60), QUIET, IsNowhere);
    tracker_.OnFilter(now_ + seconds(61), inner);
    tracker_.OnStored(now_ + seconds(62), inner);
    tracker_.OnStored(now_ + seconds(63), outer);

    EXPECT_EQ(2U, collector_.Get().size());
    EXPECT_EQ(1U, tracker_.CountLateOutcomes());
  }

  TEST_F(IngestTrackerTest, WhatComesAgainAfterItWasGivenUpIsStored)
  {
    const ReceivedInstance instance = Identified('a', Origin::RestApi);
    ReceiveAndFilter(now_, instance);
    Settle(now_ + seconds(60), QUIET, IsNowhere);
    ReceiveAndFilter(now_ + seconds(61), instance);
    tracker_.OnStored(now_ + seconds(62), Known(instance));

    EXPECT_EQ(1U, collector_.Count(Outcome::Stored));
    EXPECT_EQ(0U, tracker_.CountLateOutcomes());
  }

  TEST_F(IngestTrackerTest, WhatOrthancCouldReadAndDidNotStoreIsLost)
  {
    tracker_.OnReceived(now_, Readable("1.2.3"));
    tracker_.OnFilter(now_, {});
    tracker_.OnRequest(now_, "127.0.0.1");
    ASSERT_EQ(1U, collector_.Get().size());
    EXPECT_TRUE(collector_.Get()[0].isOwnFailure);
  }

  // As where another plugin has the received-instance callback: nothing is heard before the filter
  TEST_F(IngestTrackerTest, OneThatWasRefusedAfterTheFilterDoesNotHideTheNextOne)
  {
    KnownInstance second;
    second.instanceId = "second";

    for (const seconds pause : {seconds(1), seconds(40)})
    {
      const std::size_t before = collector_.Get().size();
      tracker_.OnFilter(now_, {});
      Settle(now_ + pause, QUIET, IsNowhere);
      tracker_.OnFilter(now_ + pause, second);
      tracker_.OnStored(now_ + pause, second);
      Settle(now_ + pause, QUIET, IsNowhere);

      ASSERT_EQ(before + 2, collector_.Get().size());
      EXPECT_NE(Outcome::Stored, collector_.Get()[before].outcome);
      EXPECT_EQ(Outcome::Stored, collector_.Get()[before + 1].outcome);
      EXPECT_EQ("second", collector_.Get()[before + 1].instanceId);
    }

    EXPECT_EQ(0U, tracker_.CountLateOutcomes());
  }

  TEST_F(IngestTrackerTest, SettlesWhatAnEndedThreadLeftBehind)
  {
    std::thread([this] { tracker_.OnReceived(now_, Unreadable()); }).join();
    Settle(now_, QUIET, IsNowhere);
    EXPECT_EQ(collector_.Count(Outcome::Failed), 1U);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
  }

  TEST_F(IngestTrackerTest, DefersABoundedNumberOfLookups)
  {
    for (int i = 0; i < 5000; i++)
    {
      tracker_.OnReceived(now_, Readable("1.2.3"));
    }
    EXPECT_LE(tracker_.CountInFlight(Origin::RestApi), 1025U);
    tracker_.OnRequest(now_, "");
    Settle(now_, QUIET, IsNowhere);
    EXPECT_EQ(collector_.Count(Outcome::Discarded), 5000U);
  }

  TEST_F(IngestTrackerTest, WhatTheStoreCannotBeAskedForIsTakenForWhatTheLatestOneWas)
  {
    const auto isThere = [](const InstanceIdentity&)
    {
      return std::string("id");
    };
    tracker_.OnReceived(now_, Readable("1.2.3"));
    tracker_.OnRequest(now_, "");
    Settle(now_, QUIET, isThere);

    for (int i = 0; i < 5000; i++)
    {
      tracker_.OnReceived(now_, Readable("1.2.3"));
    }

    tracker_.OnRequest(now_, "");
    Settle(now_, QUIET, isThere);
    EXPECT_EQ(collector_.Count(Outcome::Stored), 5001U);
  }

  TEST_F(IngestTrackerTest, AStoreThatHangsHoldsNobodyUp)
  {
    std::promise<void> isAsked;
    std::promise<void> hasAnswered;
    tracker_.OnReceived(now_, Readable("1.2.3"));
    tracker_.OnRequest(now_, "");
    std::thread asking(
        [&]
        {
          lookups_.AskNext(
              [&](const InstanceIdentity&)
              {
                isAsked.set_value();
                hasAnswered.get_future().wait();
                return std::string("id");
              },
              seconds(60));
        });
    isAsked.get_future().wait();

    tracker_.OnReceived(now_, Unreadable());
    tracker_.OnRequest(now_, "");
    tracker_.Settle(now_, QUIET);
    lookups_.WaitForAnswers(Duration::zero());
    EXPECT_EQ(collector_.Count(Outcome::Failed), 1U);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 1U);

    hasAnswered.set_value();
    lookups_.WaitForAnswers(seconds(60));
    asking.join();
    EXPECT_EQ(collector_.Count(Outcome::Stored), 1U);
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
  }

  TEST_F(IngestTrackerTest, AQuestionIsOverThoughItsAnswerFails)
  {
    auto kept = std::make_shared<int>();
    const std::weak_ptr<int> isKept = kept;
    lookups_.Add(Readable("1.2.3").identity,
                 [kept = std::move(kept)](const StoreAnswer&) { throw std::bad_alloc(); });
    EXPECT_THROW(lookups_.AskNext(IsNowhere, Duration::zero()), std::bad_alloc);
    EXPECT_TRUE(isKept.expired());
    lookups_.WaitForAnswers(std::chrono::hours(1));
  }

  TEST_F(IngestTrackerTest, KeepsEveryThreadsInstancesApartWhileOthersCount)
  {
    constexpr int THREADS = 16;
    constexpr int INSTANCES = 500;
    std::vector<std::thread> threads;

    for (int t = 0; t < THREADS; t++)
    {
      threads.emplace_back(
          [this]
          {
            for (int i = 0; i < INSTANCES; i++)
            {
              tracker_.OnRequest(now_, "127.0.0.1");
              tracker_.OnReceived(now_, Readable("1.2"));
              tracker_.OnFilter(now_, {});
              tracker_.OnStored(now_, {});
            }
          });
    }

    for (int i = 0; i < 100; i++)
    {
      Settle(now_, QUIET, IsNowhere);
      EXPECT_LE(tracker_.CountInFlight(Origin::RestApi), static_cast<std::size_t>(THREADS));
    }

    for (std::thread& thread : threads)
    {
      thread.join();
    }

    EXPECT_EQ(collector_.Count(Outcome::Stored), static_cast<std::size_t>(THREADS * INSTANCES));
    EXPECT_EQ(tracker_.CountInFlight(Origin::RestApi), 0U);
  }


  namespace
  {
    // One connection, whose messages are read by whichever thread asks
    class OneConnection : public IMessageSource
    {
    public:
      std::optional<Message> GetCurrentMessage() const override
      {
        return message;
      }

      Response GetResponse(const MessageId&) const noexcept override
      {
        return {Response::State::Written, response};
      }

      void BeginStorage(TimePoint) noexcept override
      {
      }

      std::optional<StoredFile> TakeStoredFile() noexcept override
      {
        return std::nullopt;
      }

      AskedWork TakeAskedWork() override
      {
        return {};
      }

      Message message;
      TimePoint response;
    };
  }

  TEST_F(IngestTrackerTest, ListsWhatIsStuck)
  {
    OneConnection source;
    IngestTracker tracker(journal_, true, source, lookups_);
    tracker.OnReceived(now_, Readable("1.2"));
    tracker.OnFilter(now_, {});
    EXPECT_TRUE(tracker.ListStuck(now_ + seconds(9)).empty());
    ASSERT_EQ(1U, tracker.ListStuck(now_ + seconds(10)).size());
    EXPECT_EQ(Phase::Commit, tracker.ListStuck(now_ + seconds(10))[0].phase);
    tracker.OnStored(now_ + seconds(11), {});
    EXPECT_TRUE(tracker.ListStuck(now_ + seconds(30)).empty());
  }

  // As with STOW-RS, while the storage is full
  TEST_F(IngestTrackerTest, PartsThatFailAreInFlightUntilTheirAnswerEndsThemAll)
  {
    OneConnection source;
    IngestTracker tracker(journal_, true, source, lookups_);
    source.message.id = MessageId{7, 4};
    source.message.firstByte = source.message.lastByte = now_;

    for (const char part : {'a', 'b', 'c', 'd', 'e'})
    {
      const ReceivedInstance received = Identified(part, Origin::Plugin);
      tracker.OnReceived(now_, received);
      tracker.OnFilter(now_, Known(received));
    }

    EXPECT_EQ(5U, tracker.CountInFlight(Origin::Plugin));
    source.response = now_ + seconds(1);
    tracker.Settle(now_ + seconds(2), QUIET);
    EXPECT_EQ(0U, tracker.CountInFlight(Origin::Plugin));
    EXPECT_EQ(5U, collector_.Count(Outcome::Failed));
  }

  TEST_F(IngestTrackerTest, KnowsWhatHasComeInAMessage)
  {
    OneConnection source;
    IngestTracker tracker(journal_, true, source, lookups_);
    EXPECT_FALSE(tracker.IsOfMessage());
    tracker.OnReceived(now_, Readable("1.2"));
    EXPECT_TRUE(tracker.IsOfMessage());

    tracker_.OnReceived(now_, Readable("1.2"));  // as a job does
    EXPECT_FALSE(tracker_.IsOfMessage());
  }

  TEST_F(IngestTrackerTest, AnInstanceEndsWhenItsAssociationGoesOnOnAnotherThread)
  {
    OneConnection source;
    IngestTracker tracker(journal_, true, source, lookups_);

    source.message.id = MessageId{7, 4};
    source.message.firstByte = source.message.lastByte = now_;
    tracker.OnReceived(now_, Readable("1.2"));
    tracker.OnStored(now_ + seconds(1), {});
    source.response = now_ + seconds(3);
    EXPECT_TRUE(collector_.Get().empty());

    source.message.id.serial = 5;
    std::thread([&] { tracker.OnReceived(now_ + seconds(4), Readable("1.3")); }).join();

    ASSERT_EQ(1U, collector_.Get().size());
    EXPECT_EQ(seconds(2), collector_.Get().front().phases.Get(Phase::Respond));
  }
}
