// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/InstanceTracker.h"

#include "Ingest/NoMessageSource.h"
#include "Ingest/PhaseText.h"
#include "Threads.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;

    constexpr milliseconds QUIET(50);

    // Which Orthanc would name by the identifier that is made of this letter
    ReceivedInstance Received(char letter, Origin origin, std::size_t size = 1000)
    {
      ReceivedInstance received;
      received.origin = origin;
      received.size = size;
      received.identity = InstanceIdentity("", std::string(1, letter));
      return received;
    }

    ReceivedInstance Unreadable()
    {
      ReceivedInstance received = Received('x', Origin::RestApi, 77);
      received.problem = "not DICOM";
      return received;
    }

    KnownInstance Known(char letter, Origin origin)
    {
      KnownInstance known;
      known.instanceId = Received(letter, origin).identity.GetInstanceId();
      known.origin = origin;
      known.size = 1000;

      if (origin == Origin::DicomProtocol)
      {
        known.peer = Peer{"CT1", "10.0.0.1"};
      }

      return known;
    }

    TranscodingRecord MakeTranscoding(const std::string& outcome)
    {
      TranscodingRecord transcoding;
      transcoding.outcome = outcome;
      return transcoding;
    }

    class Collector : public IJournalObserver
    {
    public:
      void OnInstanceFinished(const FinishedInstance& instance) override
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        instances_.push_back(instance);
      }

      std::vector<FinishedInstance> Get() const
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        return instances_;
      }

    private:
      mutable std::mutex mutex_;
      std::vector<FinishedInstance> instances_;
    };

    // A view of sockets and files in which the test says what happened
    class ScriptedSource : public NoMessageSource
    {
    public:
      std::optional<Message> GetCurrentMessage() const override
      {
        return message;
      }

      Response GetResponse(const MessageId& id) const noexcept override
      {
        return message && message->id == id ? response : Response{Response::State::Gone, {}, true};
      }

      void ClaimMessage() noexcept override
      {
        countClaims++;
      }

      StorageWork TakeStorageWork() override
      {
        return std::exchange(stored, {});
      }

      Phase GetStoringPhase(const MessageId&) const noexcept override
      {
        return phase;
      }

      void Answer(int at, std::uint16_t status)
      {
        response = {Response::State::Written, At(at), false, status};
      }

      std::optional<Message> message;
      Response response;
      int countClaims = 0;
      Phase phase = Phase::Storage;
      StorageWork stored;
    };

    template <typename Source>
    class TrackerTest : public testing::Test
    {
    protected:
      void Store(int at, char letter, Origin origin)
      {
        tracker_.OnStored(At(at), Known(letter, origin));
      }

      void ReceiveAndFilter(int at, char letter, Origin origin)
      {
        tracker_.OnReceived(At(at), Received(letter, origin));
        tracker_.OnFilter(At(at + 1), Known(letter, origin));
      }

      // What has ended by then
      std::vector<FinishedInstance> Settle(int at)
      {
        tracker_.Settle(At(at), QUIET);
        return collector_.Get();
      }

      // What has ended: "a stored, b failed"
      std::string List() const
      {
        std::string list;

        for (const FinishedInstance& ended : collector_.Get())
        {
          char letter = 'a';

          while (letter < 'z' && ended.instanceId != Known(letter, Origin::RestApi).instanceId)
          {
            letter++;
          }

          list +=
              (list.empty() ? "" : ", ") + std::string(1, letter) + " " + ToLabel(ended.outcome);
        }

        return list;
      }

      std::size_t CountInFlight() const
      {
        std::size_t count = 0;

        for (const Origin origin : GetAllOrigins())
        {
          count += tracker_.CountInFlight(origin);
        }

        return count;
      }

      Collector collector_;
      Journal journal_{{&collector_}};
      Source source_;
      InstanceTracker tracker_{journal_, source_};
    };

    using WithoutProbe = TrackerTest<NoMessageSource>;

    class WithProbe : public TrackerTest<ScriptedSource>
    {
    protected:
      void BeginMessage(std::uint64_t serial, int firstByte, int lastByte, bool isDicom = true)
      {
        source_.response = {};
        source_.message.emplace();
        source_.message->id = MessageId{7, serial};
        source_.message->firstByte = At(firstByte);
        source_.message->lastByte = At(lastByte);
        source_.message->isDicom = isDicom;
        source_.message->peer = isDicom ? Peer{"CT1", "10.0.0.1"} : Peer{"", "10.0.0.2"};
      }

      // A C-STORE, until it has passed the filters
      void Receive()
      {
        BeginMessage(1, 100, 108);
        ReceiveAndFilter(109, 'a', Origin::DicomProtocol);
      }

      // The only one that has ended
      FinishedInstance Get(int at)
      {
        EXPECT_EQ(1U, Settle(at).size());
        return collector_.Get().at(0);
      }
    };
  }

  TEST_F(WithoutProbe, AnUploadHasReceiveTranscodePrepareAndCommit)
  {
    tracker_.OnRequest(At(0), "127.0.0.1");
    tracker_.OnReceived(At(3), Received('a', Origin::RestApi, 500));
    EXPECT_EQ(1U, tracker_.CountInFlight(Origin::RestApi));
    EXPECT_EQ(0U, tracker_.CountInFlight(Origin::Lua));
    tracker_.OnTranscoderBegin(At(4));
    tracker_.OnTranscoderEnd(At(10), MakeTranscoding("transcoded"), std::nullopt);
    tracker_.OnFilter(At(12), Known('a', Origin::RestApi));
    Store(16, 'a', Origin::RestApi);

    ASSERT_EQ("a stored", List());
    const FinishedInstance stored = collector_.Get().front();
    EXPECT_EQ(
        "receive stored, 127.0.0.1 127.0.0.1: receive 3, transcode 6, prepare 3, commit 4 = 16",
        ToText(stored));
    EXPECT_EQ("transcoded", stored.transcoding->outcome);
    EXPECT_EQ(500U, stored.size);
    EXPECT_EQ(0U, CountInFlight());
  }

  TEST_F(WithoutProbe, ACStoreHasNoReceive)
  {
    ReceiveAndFilter(100, 'a', Origin::DicomProtocol);
    Store(104, 'a', Origin::DicomProtocol);

    ASSERT_EQ("a stored", List());
    EXPECT_EQ("receive stored, CT1 10.0.0.1: prepare 1, commit 3 = 4",
              ToText(collector_.Get().front()));
  }

  TEST_F(WithoutProbe, ALossyDerivationIsKnownByItsNewIdentity)
  {
    ReceiveAndFilter(0, 'a', Origin::RestApi);
    ReceiveAndFilter(5, 'i', Origin::Plugin);
    tracker_.OnTranscoderEnd(At(7), MakeTranscoding("transcoded"),
                             Received('b', Origin::Plugin).identity);
    Store(8, 'b', Origin::Plugin);
    ASSERT_EQ(1U, collector_.Get().size());
    EXPECT_EQ(Origin::Plugin, collector_.Get()[0].origin);
    EXPECT_EQ(1U, tracker_.CountInFlight(Origin::RestApi));
  }

  TEST_F(WithoutProbe, TheSecondInstanceOfARequestBeginsWhereTheFirstEnded)
  {
    tracker_.OnRequest(At(0), "127.0.0.1");
    ReceiveAndFilter(10, 'a', Origin::RestApi);
    Store(15, 'a', Origin::RestApi);
    ReceiveAndFilter(18, 'b', Origin::RestApi);
    Store(20, 'b', Origin::RestApi);
    ASSERT_EQ(2U, collector_.Get().size());
    EXPECT_EQ(milliseconds(3), collector_.Get()[1].phases.Get(Phase::Receive));
  }

  // Another plugin has that callback
  TEST_F(WithoutProbe, WithoutTheReceivedCallbackTheTimelineBeginsAtTheFilter)
  {
    tracker_.OnRequest(At(0), "127.0.0.1");

    for (const char letter : {'a', 'b', 'c'})
    {
      tracker_.OnFilter(At(10), Known(letter, Origin::RestApi));

      if (letter != 'b')
      {
        Store(14, letter, Origin::RestApi);
      }
    }

    ASSERT_EQ("a stored, z failed, c stored", List());  // it is not known which one failed
    EXPECT_EQ(milliseconds(4), collector_.Get()[0].phases.GetTotal());
  }

  TEST_F(WithoutProbe, WhatIsNotStoredEndsWithTheNextRequestOfItsThread)
  {
    tracker_.OnRequest(At(0), "127.0.0.1");
    tracker_.OnReceived(At(1), Received('a', Origin::RestApi));
    EXPECT_TRUE(Settle(86'400'000).empty());
    tracker_.OnRequest(At(90'000'000), "127.0.0.2");

    ASSERT_EQ("a discarded", List());
    EXPECT_EQ("receive discarded, 127.0.0.1 127.0.0.1: receive 1 = 1; "
              "not stored; there is no response that says why",
              ToText(collector_.Get().front()));
  }

  TEST_F(WithoutProbe, AndWithItsNextInstance)
  {
    ReceiveAndFilter(0, 'a', Origin::DicomProtocol);
    tracker_.OnReceived(At(9), Unreadable());
    tracker_.OnReceived(At(10), Received('b', Origin::RestApi));
    ASSERT_EQ("a failed, x failed", List());
    EXPECT_TRUE(collector_.Get()[0].isOwnFailure);
    EXPECT_EQ("not DICOM", collector_.Get()[1].reason);
    EXPECT_FALSE(collector_.Get()[1].isOwnFailure);  // nobody could have stored it
    EXPECT_EQ(77U, collector_.Get()[1].size);
  }

  TEST_F(WithoutProbe, AndWithItsThread)
  {
    std::thread([this] { ReceiveAndFilter(0, 'a', Origin::Plugin); }).join();

    while (Settle(1).empty())  // Linux forgets a thread a moment after join() has come back
    {
      std::this_thread::yield();
    }

    EXPECT_EQ("a failed", List());
    EXPECT_EQ(0U, CountInFlight());
  }

  TEST_F(WithoutProbe, WhatOrthancReadsAllTheSameIsStored)
  {
    tracker_.OnReceived(At(0), Unreadable());
    EXPECT_TRUE(Settle(1).empty());
    tracker_.OnFilter(At(2), Known('x', Origin::RestApi));
    tracker_.OnStored(At(3), Known('x', Origin::RestApi));
    EXPECT_EQ("x stored", List());
  }

  TEST_F(WithoutProbe, NobodyKnowsWhetherAnInstanceIsStuck)
  {
    ReceiveAndFilter(0, 'a', Origin::DicomProtocol);
    EXPECT_TRUE(tracker_.ListStuck(At(60'000)).empty());
    EXPECT_FALSE(tracker_.IsOfMessage());
  }

  // It is told of a stored instance before this one, and uploads another on the same thread
  TEST_F(WithoutProbe, WhatAnotherPluginStoresInItsStoredCallbackIsAnInstanceOfItsOwn)
  {
    ReceiveAndFilter(0, 'a', Origin::RestApi);
    ReceiveAndFilter(5, 'b', Origin::Plugin);
    Store(8, 'b', Origin::Plugin);
    Store(9, 'a', Origin::RestApi);

    ASSERT_EQ("b stored, a stored", List());
    EXPECT_EQ(milliseconds(8), collector_.Get()[1].phases.Get(Phase::Commit));
  }

  TEST_F(WithoutProbe, AnInnerInstanceThatIsNotStoredIsNotTakenForTheOuterOne)
  {
    tracker_.OnFilter(At(0), Known('a', Origin::RestApi));  // no identifier can be made
    tracker_.OnFilter(At(5), Known('b', Origin::Plugin));
    Store(9, 'a', Origin::RestApi);
    ASSERT_EQ(1U, collector_.Get().size());
    EXPECT_EQ(Origin::RestApi, collector_.Get().front().origin);
    EXPECT_EQ(1U, tracker_.CountInFlight(Origin::Plugin));
  }

  TEST_F(WithoutProbe, KeepsEveryThreadsInstancesApartWhileOthersCount)
  {
    static constexpr std::size_t THREADS = 16;
    constexpr std::size_t INSTANCES = 200;
    const auto store = [this](int)
    {
      for (std::size_t i = 0; i < INSTANCES; i++)
      {
        tracker_.OnRequest(At(0), "127.0.0.1");
        ReceiveAndFilter(1, 'a', Origin::RestApi);
        Store(3, 'a', Origin::RestApi);
      }
    };
    RunOnThreads(THREADS, store,
                 [this]
                 {
                   for (int i = 0; i < 100; i++)
                   {
                     Settle(0);
                     EXPECT_LE(CountInFlight(), THREADS);
                   }
                 });
    EXPECT_EQ(THREADS * INSTANCES, collector_.Get().size());
    EXPECT_EQ(0U, CountInFlight());
  }

  TEST_F(WithProbe, ReceiveEndsAtTheLastByteBeforeTheCallback)
  {
    BeginMessage(1, 100, 108);
    source_.message->idle = milliseconds(30);
    ReceiveAndFilter(109, 'a', Origin::DicomProtocol);
    EXPECT_EQ(1, source_.countClaims);
    source_.stored.file = StoredFile{At(111), At(114), milliseconds(2)};
    Store(117, 'a', Origin::DicomProtocol);
    EXPECT_TRUE(Settle(86'400'000).empty());
    source_.Answer(119, 0);
    EXPECT_TRUE(Settle(120).empty());

    EXPECT_EQ("idle 30, receive 8, parse 1, prepare 2, storage 3, sync 2, index 3, respond 2 = 19",
              ToText(Get(169).phases));
  }

  // Each kind of answer has its case in Verdict.WhatWasNotStoredIsWhatTheResponseSays
  TEST_F(WithProbe, AnInstanceEndsWithAnyResponseOrItsConnection)
  {
    std::size_t count = 0;
    const auto receive = [&](bool isDicom, bool isFiltered, const Response& response)
    {
      BeginMessage(++count, 100, 108, isDicom);
      tracker_.OnReceived(At(109), Received('a', Origin::DicomProtocol));

      if (isFiltered)
      {
        tracker_.OnFilter(At(110), Known('a', Origin::DicomProtocol));
      }

      EXPECT_EQ(count - 1, Settle(86'400'000).size());  // a database may hang
      source_.response = response;
      return Settle(200).back();
    };
    Response written = {Response::State::Written, At(120)};
    const std::string storage = "storage full, or storage or database failed";
    EXPECT_EQ(storage, receive(true, true, written).reason);  // as under TLS
    EXPECT_EQ(storage, receive(true, true, {Response::State::Gone, {}, true}).reason);
    written.status = 0xa700;
    const FinishedInstance failed = receive(true, true, written);
    EXPECT_EQ("Orthanc answered 0xA700: " + storage, failed.reason);
    EXPECT_TRUE(failed.isOwnFailure);
    EXPECT_EQ("CT1", failed.peer.name);
    EXPECT_FALSE(failed.phases.Get(Phase::Respond));
    written.status = 400;
    EXPECT_FALSE(receive(false, false, written).isOwnFailure);
    written.status = 0;
    receive(true, false, written);
    EXPECT_EQ("a failed, a failed, a failed, a failed, a discarded", List());
  }

  // A part of STOW-RS that is stored on the thread of its request, after the response
  TEST_F(WithProbe, AResponseFromBeforeTheInstanceSaysNothingOfIt)
  {
    BeginMessage(1, 100, 101, false);
    source_.Answer(103, 400);
    tracker_.OnReceived(At(106), Received('a', Origin::Plugin));
    EXPECT_TRUE(Settle(86'400'000).empty());
    source_.response.isClosed = true;
    EXPECT_EQ(Outcome::Discarded, Get(86'400'001).outcome);
  }

  TEST_F(WithProbe, AnInstanceEndsWhenItsAssociationGoesOnOnAnotherThread)
  {
    Receive();
    Store(112, 'a', Origin::DicomProtocol);
    BeginMessage(2, 120, 128);
    std::thread([this] { ReceiveAndFilter(129, 'b', Origin::DicomProtocol); }).join();
    EXPECT_EQ("a stored", List());
    EXPECT_EQ(1U, CountInFlight());
  }

  // STOW-RS, with a storage that is full for all but the second part
  TEST_F(WithProbe, ThePartsOfARequestEndWithItsResponse)
  {
    BeginMessage(1, 100, 108, false);

    for (const char part : {'a', 'b', 'c'})
    {
      ReceiveAndFilter(110, part, Origin::Plugin);
    }

    Store(119, 'b', Origin::Plugin);
    EXPECT_EQ(3U, CountInFlight());
    EXPECT_TRUE(Settle(86'400'000).empty());
    source_.Answer(120, 202);
    EXPECT_EQ("Orthanc answered 202: storage full, or storage or database failed",
              Settle(200).back().reason);
    EXPECT_EQ("a failed, b stored, c failed", List());
  }

  TEST_F(WithProbe, SoManyMayBeInFlightAndARequestOfMoreEndsItsOwn)
  {
    BeginMessage(1, 100, 108);
    ReceiveAndFilter(109, 'z', Origin::DicomProtocol);
    BeginMessage(1, 100, 108, false);
    source_.message->id.connection = 8;

    for (std::size_t i = 0; i < InstanceTracker::MAXIMUM_IN_FLIGHT + 5; i++)
    {
      ReceiveAndFilter(110, 'a', Origin::Plugin);
    }

    EXPECT_EQ(6U, collector_.Get().size());
    EXPECT_EQ(InstanceTracker::MAXIMUM_IN_FLIGHT, CountInFlight());
    EXPECT_EQ(1U, tracker_.CountInFlight(Origin::DicomProtocol));
  }

  TEST_F(WithProbe, EachPartOfARequestHasTheStallsSinceThePartBeforeIt)
  {
    tracker_.OnRequest(At(0), "10.0.0.2");
    BeginMessage(1, 0, 50, false);
    source_.message->stalls.count = 1;
    source_.message->stalls.time = milliseconds(40);
    ReceiveAndFilter(51, 'a', Origin::Plugin);
    Store(55, 'a', Origin::Plugin);

    source_.message->lastByte = At(120);
    source_.message->stalls.count = 3;
    source_.message->stalls.time = milliseconds(100);
    ReceiveAndFilter(121, 'b', Origin::Plugin);
    Store(125, 'b', Origin::Plugin);
    source_.Answer(126, 200);

    const std::vector<FinishedInstance> ended = Settle(200);
    ASSERT_EQ(2U, ended.size());
    EXPECT_EQ(1U, ended[0].stalls);
    EXPECT_EQ(2U, ended[1].stalls);
    EXPECT_EQ(milliseconds(60), ended[1].stallTime);
    EXPECT_EQ(milliseconds(65), ended[1].phases.Get(Phase::Receive));
    EXPECT_FALSE(ended[0].phases.Get(Phase::Respond));
    EXPECT_EQ(milliseconds(1), ended[1].phases.Get(Phase::Respond));
  }

  TEST_F(WithProbe, WhatAPluginStoresBesideAMessageHasNothingOfItsSender)
  {
    Receive();
    source_.message->stalls.count = 3;
    ReceiveAndFilter(115, 'b', Origin::Plugin);
    EXPECT_EQ(1, source_.countClaims);
    EXPECT_TRUE(tracker_.IsOfMessage());
    Store(118, 'b', Origin::Plugin);

    ASSERT_EQ("b stored", List());
    EXPECT_EQ("receive stored,  : prepare 1, commit 2 = 3", ToText(collector_.Get().front()));
    EXPECT_FALSE(collector_.Get().front().areStallsObserved);

    ReceiveAndFilter(119, 'c', Origin::Lua);  // and is not stored
    Store(125, 'a', Origin::DicomProtocol);
    source_.Answer(126, 0);
    const std::vector<FinishedInstance> ended = Settle(200);
    ASSERT_EQ("b stored, a stored, c failed", List());
    EXPECT_EQ("CT1", ended[1].peer.name);
    EXPECT_EQ("storage full, or storage or database failed", ended[2].reason);
  }

  // Orthanc transcodes what it sends, on the thread that has refused the instance just before
  TEST_F(WithProbe, WhatIsTranscodedOnTheThreadAfterTheAnswerIsNotTheInstances)
  {
    Receive();
    source_.Answer(112, 0);
    tracker_.OnTranscoderBegin(At(200));
    tracker_.OnTranscoderEnd(At(400), MakeTranscoding("transcoded"), InstanceIdentity());
    const FinishedInstance ended = Get(402);
    EXPECT_FALSE(ended.transcoding);
    EXPECT_EQ(At(110), ended.endedAt);
  }

  TEST_F(WithProbe, WhatOrthancHasForTenSecondsWithoutASignIsStuck)
  {
    Receive();
    EXPECT_TRUE(tracker_.ListStuck(At(10'109)).empty());
    const std::vector<StuckInstance> stuck = tracker_.ListStuck(At(10'110));
    ASSERT_EQ(1U, stuck.size());
    EXPECT_EQ(Phase::Storage, stuck[0].phase);
    EXPECT_EQ(seconds(10), stuck[0].silence);

    source_.phase = Phase::Index;
    EXPECT_EQ(Phase::Index, tracker_.ListStuck(At(86'400'000)).at(0).phase);
    Store(86'400'001, 'a', Origin::DicomProtocol);
    EXPECT_TRUE(tracker_.ListStuck(At(90'000'000)).empty());
  }

  TEST_F(WithProbe, WhatIsStuckBeforeTheFilterIsInPrepareUnlessItIsTranscoded)
  {
    BeginMessage(1, 100, 108);
    tracker_.OnReceived(At(109), Received('a', Origin::DicomProtocol));
    tracker_.OnTranscoderBegin(At(110));
    EXPECT_TRUE(tracker_.ListStuck(At(60'000)).empty());
    tracker_.OnTranscoderEnd(At(60'000), MakeTranscoding("declined"), std::nullopt);
    EXPECT_TRUE(tracker_.ListStuck(At(60'001)).empty());
    EXPECT_EQ(Phase::Prepare, tracker_.ListStuck(At(70'000)).at(0).phase);

    tracker_.OnTranscoderBegin(At(70'000));  // and needs none: the filter follows
    tracker_.OnFilter(At(70'001), Known('a', Origin::DicomProtocol));
    EXPECT_EQ(1U, tracker_.ListStuck(At(90'000)).size());
  }

  TEST_F(WithProbe, APartOfARequestMayBeOverAndAGigabyteMayTakeItsTime)
  {
    BeginMessage(1, 100, 108, false);
    ReceiveAndFilter(109, 'a', Origin::RestApi);
    tracker_.OnReceived(At(112), Received('b', Origin::RestApi));
    EXPECT_TRUE(tracker_.ListStuck(At(60'000)).empty());

    tracker_.OnReceived(At(60'000), Received('c', Origin::RestApi, 1'000'000'000));
    tracker_.OnFilter(At(60'000), Known('c', Origin::RestApi));
    EXPECT_TRUE(tracker_.ListStuck(At(300'000)).empty());
    EXPECT_FALSE(tracker_.ListStuck(At(310'000)).empty());
  }

  TEST_F(WithProbe, WhatTheServersTakeIsInsideStorageAndIndex)
  {
    Receive();
    source_.stored.storage = ServerWork{
        {"10.0.0.8:443", -1, 3, Duration::zero(), {}}, milliseconds(15), At(112), At(130)};
    source_.stored.database = ServerWork{
        {"10.0.0.9:5432", 12, 4, milliseconds(1), milliseconds(9)}, milliseconds(8), {}, {}};
    Store(150, 'a', Origin::DicomProtocol);
    source_.Answer(151, 0);

    const FinishedInstance stored = Get(251);
    EXPECT_EQ("receive 8, parse 1, prepare 3, storage 18, remote 15, index 20, database 8, respond "
              "1 = 51",
              ToText(stored.phases));
    EXPECT_EQ("10.0.0.8:443", stored.remote->server);
    EXPECT_EQ(3U, stored.remote->roundTrips);
    EXPECT_EQ("10.0.0.9:5432", stored.database->server);
    EXPECT_EQ(4U, stored.database->roundTrips);
    EXPECT_EQ(milliseconds(1), stored.database->shortest);
    EXPECT_EQ(milliseconds(9), stored.database->queued);
  }

  TEST_F(WithProbe, WithoutAFileNothingIsSaidOfTheWaitForAConnection)
  {
    Receive();
    source_.stored.database =
        ServerWork{{"", 12, 0, Duration::zero(), {}}, milliseconds(8), {}, {}};
    Store(130, 'a', Origin::DicomProtocol);
    source_.Answer(131, 0);
    const FinishedInstance stored = Get(231);
    EXPECT_EQ(milliseconds(20), stored.phases.Get(Phase::Commit));
    EXPECT_FALSE(stored.database->queued);
  }

  TEST_F(WithProbe, AnUploadBeginsAtTheFirstByteOfItsHeaders)
  {
    BeginMessage(1, 100, 101, false);
    tracker_.OnRequest(At(102), "10.0.0.2");
    source_.message->lastByte = At(120);  // of the body
    source_.message->peer = Peer();
    ReceiveAndFilter(121, 'a', Origin::RestApi);
    Store(125, 'a', Origin::RestApi);
    source_.response = {Response::State::Written, At(126)};
    const FinishedInstance stored = Get(200);
    EXPECT_EQ("10.0.0.2", stored.peer.name);
    EXPECT_EQ("receive 20, parse 1, prepare 1, commit 3, respond 1 = 26", ToText(stored.phases));
  }

  // A plugin's token lets it in: on another connection, or on the same one
  TEST_F(WithProbe, AnUploadOfWhichNoFilterWasToldIsNotTakenForTheRequestBefore)
  {
    for (const std::uint32_t connection : {8U, 7U})
    {
      BeginMessage(1, 0, 1, false);
      tracker_.OnRequest(At(2), "10.0.0.2");
      BeginMessage(2, 5000, 5004, false);
      source_.message->id.connection = connection;
      source_.message->peer = Peer{"", "10.0.0.3"};
      ReceiveAndFilter(5005, 'a', Origin::RestApi);
      Store(5009, 'a', Origin::RestApi);
      source_.Answer(5010, 200);
      const FinishedInstance stored = Settle(6000).back();
      EXPECT_EQ(milliseconds(4), stored.phases.Get(Phase::Receive));
      EXPECT_EQ("10.0.0.3", stored.peer.name);
    }
  }
}
