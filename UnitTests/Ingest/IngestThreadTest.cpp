// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestThread.h"

#include "Ingest/NoMessageSource.h"

#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;
    using std::chrono::seconds;

    TimePoint At(int ms)
    {
      return TimePoint(milliseconds(ms));
    }

    ReceivedInstance Received(Origin origin, std::size_t size)
    {
      ReceivedInstance received;
      received.origin = origin;
      received.size = size;
      return received;
    }

    KnownInstance Known(Origin origin, std::size_t size)
    {
      KnownInstance known;
      known.origin = origin;
      known.size = size;
      return known;
    }

    TranscodingRecord MakeTranscoding(const std::string& outcome)
    {
      TranscodingRecord transcoding;
      transcoding.outcome = outcome;
      return transcoding;
    }

    constexpr milliseconds QUIET(50);


    // What has ended when the stored callback returns
    std::optional<EndedInstance> Store(IngestThread& thread, TimePoint now,
                                       const KnownInstance& known)
    {
      return thread.OnStored(now, known) ? thread.TakeEnded(now, QUIET) : std::nullopt;
    }


    KnownInstance FromModality(const std::string& aet)
    {
      KnownInstance known = Known(Origin::DicomProtocol, 1000);
      known.instanceId = "identifier";
      known.peer = Peer{aet, "10.0.0.1"};
      return known;
    }
  }

  TEST(IngestThread, AnInstanceNamesTheThreadThatReceivedItWhoeverReportsIt)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    int receiver = 0;
    std::thread(
        [&]
        {
          receiver = gettid();
          thread.OnReceived(At(0), Received(Origin::DicomProtocol, 1000));
        })
        .join();

    const auto ended = thread.TakeLast();
    ASSERT_TRUE(ended);
    EXPECT_EQ(receiver, ended->instance.thread);
  }

  TEST(IngestThread, AnUploadHasReceivePrepareAndCommit)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    EXPECT_FALSE(thread.OnRequest(At(0), "127.0.0.1"));
    EXPECT_FALSE(thread.OnReceived(At(3), Received(Origin::RestApi, 500)));
    EXPECT_EQ(thread.CountInFlight(Origin::RestApi), 1U);
    thread.OnFilter(At(5), Known(Origin::RestApi, 500));
    const auto finished = Store(thread, At(9), Known(Origin::RestApi, 500));

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Receive), milliseconds(3));
    EXPECT_EQ(finished->instance.phases.Get(Phase::Prepare), milliseconds(2));
    EXPECT_EQ(finished->instance.phases.Get(Phase::Commit), milliseconds(4));
    EXPECT_EQ(finished->instance.peer.name, "127.0.0.1");
    EXPECT_TRUE(finished->isStored);
    EXPECT_EQ(finished->instance.size, 500U);
    EXPECT_EQ(thread.CountInFlight(), 0U);
  }

  TEST(IngestThread, ACStoreWithoutTheProbeHasNoReceive)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(100), Received(Origin::DicomProtocol, 1000));
    thread.OnFilter(At(101), FromModality("CT1"));
    thread.OnCStoreFilter();
    const auto finished = Store(thread, At(104), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Receive));
    EXPECT_EQ(finished->instance.phases.GetTotal(), milliseconds(4));
    EXPECT_EQ(finished->instance.peer.name, "CT1");
    EXPECT_EQ(finished->instance.peer.address, "10.0.0.1");
    EXPECT_EQ(finished->instance.instanceId, "identifier");
  }

  TEST(IngestThread, TheTranscoderHasItsOwnPhase)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 1000));
    thread.OnTranscoderBegin(At(1));
    thread.OnTranscoderEnd(At(11), MakeTranscoding("transcoded"), {});
    thread.OnFilter(At(12), FromModality("CT1"));
    const auto finished = Store(thread, At(15), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Transcode), milliseconds(10));
    EXPECT_EQ(finished->instance.phases.Get(Phase::Prepare), milliseconds(2));
    EXPECT_EQ(finished->instance.phases.GetTotal(), milliseconds(15));
    ASSERT_TRUE(finished->instance.transcoding);
    EXPECT_EQ(finished->instance.transcoding->outcome, "transcoded");
  }

  TEST(IngestThread, WithoutATranscoderThereIsNoneOfThat)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 1000));
    thread.OnTranscoderBegin(At(1));
    thread.OnTranscoderEnd(At(2), MakeTranscoding("failed"), {});
    Store(thread, At(3), FromModality("CT1"));
    thread.OnReceived(At(4), Received(Origin::DicomProtocol, 1000));
    const auto finished = Store(thread, At(5), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_FALSE(finished->instance.transcoding);
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Transcode));
  }

  TEST(IngestThread, ANewIdentityIsTheOneToLookFor)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    ReceivedInstance received = Received(Origin::DicomProtocol, 1000);
    received.identity.sopInstanceUid = {'1', '.', '2'};
    thread.OnReceived(At(0), received);
    thread.OnTranscoderEnd(At(1), MakeTranscoding("transcoded"),
                           InstanceIdentity{{'1', '.', '3'}, {}});
    const auto ended = thread.TakeLast();

    ASSERT_TRUE(ended);
    EXPECT_STREQ(ended->identity.sopInstanceUid.data(), "1.3");
  }

  TEST(IngestThread, TheSecondInstanceOfARequestBeginsWhereTheFirstEnded)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnRequest(At(0), "127.0.0.1");
    thread.OnReceived(At(30), Received(Origin::RestApi, 1));
    Store(thread, At(34), Known(Origin::RestApi, 1));
    thread.OnReceived(At(35), Received(Origin::RestApi, 2));
    const auto second = Store(thread, At(39), Known(Origin::RestApi, 2));

    ASSERT_TRUE(second);
    EXPECT_EQ(second->instance.phases.Get(Phase::Receive), milliseconds(1));
    EXPECT_EQ(second->instance.phases.GetTotal(), milliseconds(5));
  }

  TEST(IngestThread, WithoutTheReceivedCallbackTheTimelineBeginsAtTheFilter)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnRequest(At(0), "127.0.0.1");
    thread.OnFilter(At(7), Known(Origin::RestApi, 400));
    const auto finished = Store(thread, At(10), Known(Origin::RestApi, 400));

    ASSERT_TRUE(finished);
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Receive));
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Prepare));
    EXPECT_EQ(finished->instance.phases.Get(Phase::Commit), milliseconds(3));
    EXPECT_EQ(finished->instance.size, 400U);
  }

  TEST(IngestThread, TheNextRequestOnTheThreadShowsThatAnInstanceWasLost)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnRequest(At(0), "127.0.0.1");
    ReceivedInstance garbage = Received(Origin::RestApi, 77);
    garbage.problem = "not DICOM";
    thread.OnReceived(At(1), garbage);
    const auto lost = thread.OnRequest(At(50), "127.0.0.2");

    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->instance.size, 77U);
    EXPECT_EQ(lost->instance.peer.name, "127.0.0.1");
    EXPECT_STREQ("not DICOM", lost->evidence.problem);
    EXPECT_FALSE(lost->evidence.filterReached);
    EXPECT_EQ(lost->instance.phases.GetTotal(), milliseconds(1));
    EXPECT_FALSE(thread.OnRequest(At(60), "127.0.0.2"));
  }

  TEST(IngestThread, TheNextInstanceShowsThatTheOneBeforeWasLost)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnFilter(At(1), FromModality("CT1"));
    const auto lost = thread.OnReceived(At(9), Received(Origin::DicomProtocol, 20));

    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->instance.size, 10U);
    EXPECT_EQ(lost->instance.peer.name, "CT1");
    EXPECT_TRUE(lost->evidence.filterReached);
    EXPECT_FALSE(lost->evidence.cstoreFilterReached);
  }

  TEST(IngestThread, AnInstanceIsGivenUpAfterALongSilenceOnly)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    EXPECT_FALSE(thread.TakeEnded(At(4999), QUIET));
    EXPECT_TRUE(thread.TakeEnded(At(5000), QUIET));
    EXPECT_FALSE(thread.TakeEnded(At(9000), QUIET));
  }

  TEST(IngestThread, ALargeInstanceMayStaySilentForLonger)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 400 * 1024 * 1024));
    EXPECT_FALSE(thread.TakeEnded(TimePoint(seconds(104)), QUIET));
    EXPECT_TRUE(thread.TakeEnded(TimePoint(seconds(105)), QUIET));
  }

  TEST(IngestThread, AnInstanceInTheDatabaseMayStaySilentForLonger)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnFilter(At(1), FromModality("CT1"));
    EXPECT_FALSE(thread.TakeEnded(TimePoint(seconds(29)), QUIET));
    EXPECT_TRUE(thread.TakeEnded(TimePoint(seconds(31)), QUIET));
  }

  TEST(IngestThread, PatienceDoesNotRunWhileThePluginItselfHoldsTheInstance)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnHeld();
    thread.OnTranscoderBegin(At(1));
    EXPECT_FALSE(thread.TakeEnded(TimePoint(seconds(600)), QUIET));

    thread.OnTranscoderEnd(TimePoint(seconds(601)), MakeTranscoding("failed"), {});
    thread.OnLetGo(TimePoint(seconds(602)));
    EXPECT_FALSE(thread.TakeEnded(TimePoint(seconds(606)), QUIET));
    const auto finished = Store(thread, TimePoint(seconds(606)), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_TRUE(finished->isStored);
    EXPECT_EQ(finished->instance.instanceId, "identifier");
    ASSERT_TRUE(finished->instance.transcoding);
    EXPECT_EQ(finished->instance.transcoding->outcome, "failed");
  }

  TEST(IngestThread, PatienceRunsFromTheMomentAtWhichThePluginLetsTheInstanceGo)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnHeld();
    thread.OnLetGo(TimePoint(seconds(60)));
    EXPECT_FALSE(thread.TakeEnded(TimePoint(seconds(64)), QUIET));
    EXPECT_TRUE(thread.TakeEnded(TimePoint(seconds(66)), QUIET));
  }

  TEST(IngestThread, AnInstanceThatWasGivenUpIsNotFinishedASecondTime)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    ASSERT_TRUE(thread.TakeEnded(TimePoint(seconds(60)), QUIET));
    thread.OnFilter(TimePoint(seconds(61)), FromModality("CT1"));
    EXPECT_FALSE(Store(thread, TimePoint(seconds(62)), FromModality("CT1")));

    thread.OnReceived(TimePoint(seconds(63)), Received(Origin::DicomProtocol, 10));
    EXPECT_TRUE(Store(thread, TimePoint(seconds(64)), FromModality("CT1")));
  }


  namespace
  {
    // A view of sockets and files in which the test says what happened
    class ScriptedSource : public IMessageSource
    {
    public:
      std::optional<Message> GetCurrentMessage() const override
      {
        return message;
      }

      Response GetResponse(const MessageId& id) const noexcept override
      {
        if (!message || !(message->id == id))
        {
          return Response{Response::State::Forgotten, {}};
        }

        return response ? Response{Response::State::Written, *response} : Response();
      }

      void BeginStorage(TimePoint) noexcept override
      {
        file.reset();
      }

      std::optional<StoredFile> TakeStoredFile() noexcept override
      {
        return std::exchange(file, std::nullopt);
      }

      AskedWork TakeAskedWork() override
      {
        return std::exchange(asked, {});
      }

      Phase GetStoringPhase(const MessageId&) const noexcept override
      {
        return phase;
      }

      std::optional<Message> message;
      std::optional<TimePoint> response;
      Phase phase = Phase::Storage;
      std::optional<StoredFile> file;
      AskedWork asked;
    };


    Message MakeMessage(std::uint64_t serial, int firstByte, int lastByte)
    {
      Message message;
      message.id = MessageId{7, serial};
      message.firstByte = At(firstByte);
      message.lastByte = At(lastByte);
      message.peer = Peer{"CT1", "10.0.0.1"};
      return message;
    }


    class IngestThreadWithProbe : public testing::Test
    {
    protected:
      // Until it has passed the filters
      void Receive()
      {
        source_.message = MakeMessage(1, 100, 108);
        source_.message->isDicom = true;
        thread_.OnReceived(At(109), Received(Origin::DicomProtocol, 1000));
        thread_.OnFilter(At(110), FromModality("CT1"));
      }

      ScriptedSource source_;
      IngestThread thread_{source_};
    };
  }


  TEST_F(IngestThreadWithProbe, ReceiveEndsAtTheLastByteBeforeTheCallback)
  {
    source_.message = MakeMessage(1, 100, 108);
    source_.message->idle = milliseconds(30);
    thread_.OnReceived(At(109), Received(Origin::DicomProtocol, 1000));
    thread_.OnFilter(At(110), FromModality("CT1"));
    source_.file = StoredFile{At(111), At(114), milliseconds(2)};
    EXPECT_FALSE(Store(thread_, At(117), FromModality("CT1")));

    source_.response = At(119);
    EXPECT_FALSE(thread_.TakeEnded(At(120), QUIET));
    const auto finished = thread_.TakeEnded(At(169), QUIET);

    ASSERT_TRUE(finished);
    const PhaseDurations& phases = finished->instance.phases;
    EXPECT_EQ(phases.Get(Phase::Idle), milliseconds(30));
    EXPECT_EQ(phases.Get(Phase::Receive), milliseconds(8));
    EXPECT_EQ(phases.Get(Phase::Parse), milliseconds(1));
    EXPECT_EQ(phases.Get(Phase::Prepare), milliseconds(2));
    EXPECT_EQ(phases.Get(Phase::Storage), milliseconds(3));
    EXPECT_EQ(phases.Get(Phase::Sync), milliseconds(2));
    EXPECT_EQ(phases.Get(Phase::Index), milliseconds(3));
    EXPECT_EQ(phases.Get(Phase::Respond), milliseconds(2));
    EXPECT_FALSE(phases.Get(Phase::Commit));
    EXPECT_EQ(phases.GetTotal(), milliseconds(19));
  }


  TEST_F(IngestThreadWithProbe, WhatOrthancHasForTenSecondsWithoutASignIsStuck)
  {
    Receive();
    EXPECT_FALSE(thread_.GetStuck(At(10'109)));
    const std::optional<StuckInstance> stuck = thread_.GetStuck(At(10'110));
    ASSERT_TRUE(stuck);
    EXPECT_EQ(Phase::Storage, stuck->phase);
    EXPECT_EQ(seconds(10), stuck->silence);

    source_.phase = Phase::Index;
    EXPECT_EQ(Phase::Index, thread_.GetStuck(At(12'000))->phase);

    source_.response = At(12'001);  // it was refused
    EXPECT_FALSE(thread_.GetStuck(At(12'002)));
  }


  TEST_F(IngestThreadWithProbe, WhatIsStuckStaysSoWhenItIsGivenUp)
  {
    constexpr int QUARTER_OF_AN_HOUR = 900'000;
    Receive();
    source_.phase = Phase::Index;
    ASSERT_FALSE(thread_.TakeEnded(At(QUARTER_OF_AN_HOUR), milliseconds(0)));
    ASSERT_TRUE(thread_.TakeEnded(At(QUARTER_OF_AN_HOUR + 110), milliseconds(0)));
    EXPECT_EQ(0U, thread_.CountInFlight());

    const std::optional<StuckInstance> stuck = thread_.GetStuck(At(QUARTER_OF_AN_HOUR + 5110));
    ASSERT_TRUE(stuck);
    EXPECT_EQ(Phase::Index, stuck->phase);
    EXPECT_EQ(milliseconds(QUARTER_OF_AN_HOUR + 5000), stuck->silence);

    source_.response = At(QUARTER_OF_AN_HOUR + 6000);
    EXPECT_FALSE(thread_.GetStuck(At(QUARTER_OF_AN_HOUR + 6001)));
  }


  TEST_F(IngestThreadWithProbe, WhatIsStoredOrGoneIsNotStuck)
  {
    Receive();
    Store(thread_, At(120), FromModality("CT1"));
    EXPECT_FALSE(thread_.GetStuck(At(60'000)));

    Receive();
    source_.message.reset();
    EXPECT_FALSE(thread_.GetStuck(At(60'000)));
  }


  TEST_F(IngestThreadWithProbe, WhatIsStuckBeforeTheFilterIsInPrepareUnlessThePluginHoldsIt)
  {
    source_.message = MakeMessage(1, 100, 108);
    thread_.OnReceived(At(109), Received(Origin::DicomProtocol, 1000));
    thread_.OnHeld();
    EXPECT_FALSE(thread_.GetStuck(At(60'000)));
    thread_.OnLetGo(At(60'000));
    EXPECT_FALSE(thread_.GetStuck(At(60'001)));
    EXPECT_EQ(Phase::Prepare, thread_.GetStuck(At(70'000))->phase);
  }


  TEST_F(IngestThreadWithProbe, APartOfARequestThatNoFilterHasSeenMayBeOver)
  {
    source_.message = MakeMessage(1, 100, 108);
    thread_.OnReceived(At(109), Received(Origin::RestApi, 1000));
    EXPECT_FALSE(thread_.GetStuck(At(60'000)));
  }


  TEST_F(IngestThreadWithProbe, AGigabyteMayTakeItsTime)
  {
    source_.message = MakeMessage(1, 100, 108);
    thread_.OnReceived(At(109), Received(Origin::DicomProtocol, 1'000'000'000));
    thread_.OnFilter(At(110), FromModality("CT1"));
    EXPECT_FALSE(thread_.GetStuck(At(240'000)));
    EXPECT_TRUE(thread_.GetStuck(At(250'000)));
  }


  TEST(IngestThread, WithoutAViewOfItsConnectionNobodyKnowsWhetherItIsStuck)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnFilter(At(1), FromModality("CT1"));
    EXPECT_FALSE(thread.GetStuck(TimePoint(seconds(29))));
  }


  TEST_F(IngestThreadWithProbe, WhatTheDatabaseTakesIsInsideTheIndex)
  {
    Receive();
    source_.file = StoredFile{At(111), At(114), {}};
    source_.asked.database =
        DatabaseWork{"10.0.0.9:5432", 12, 4, milliseconds(8), milliseconds(1), milliseconds(9)};
    Store(thread_, At(134), FromModality("CT1"));
    source_.response = At(135);
    const auto finished = thread_.TakeEnded(At(235), QUIET);

    ASSERT_TRUE(finished);
    const FinishedInstance& instance = finished->instance;
    EXPECT_EQ(instance.phases.Get(Phase::Index), milliseconds(20));
    EXPECT_EQ(instance.phases.Get(Phase::Database), milliseconds(8));
    EXPECT_EQ(instance.phases.GetTotal(), milliseconds(35));
    ASSERT_TRUE(instance.database);
    EXPECT_EQ(instance.database->server, "10.0.0.9:5432");
    EXPECT_EQ(instance.database->roundTrips, 4U);
    EXPECT_EQ(instance.database->shortest, milliseconds(1));
    EXPECT_EQ(instance.database->queued, milliseconds(9));
  }


  TEST_F(IngestThreadWithProbe, WhatTheServerOfTheStorageTakesIsInsideTheStorage)
  {
    Receive();
    source_.asked.storage = StorageWork{"10.0.0.8:443", At(112), At(130), 3, milliseconds(15)};
    source_.asked.database =
        DatabaseWork{"10.0.0.9:5432", 12, 4, milliseconds(8), milliseconds(1), milliseconds(9)};
    Store(thread_, At(150), FromModality("CT1"));
    source_.response = At(151);
    const auto finished = thread_.TakeEnded(At(251), QUIET);

    ASSERT_TRUE(finished);
    const FinishedInstance& instance = finished->instance;
    EXPECT_EQ(instance.phases.Get(Phase::Prepare), milliseconds(3));
    EXPECT_EQ(instance.phases.Get(Phase::Storage), milliseconds(18));
    EXPECT_EQ(instance.phases.Get(Phase::Remote), milliseconds(15));
    EXPECT_EQ(instance.phases.Get(Phase::Index), milliseconds(20));
    EXPECT_EQ(instance.phases.Get(Phase::Database), milliseconds(8));
    EXPECT_FALSE(instance.phases.Get(Phase::Commit));
    EXPECT_FALSE(instance.phases.Get(Phase::Sync));
    EXPECT_EQ(instance.phases.GetTotal(), milliseconds(51));
    ASSERT_TRUE(instance.remote);
    EXPECT_EQ(instance.remote->server, "10.0.0.8:443");
    EXPECT_EQ(instance.remote->roundTrips, 3U);
    EXPECT_EQ(instance.database->queued, milliseconds(9));
  }


  TEST_F(IngestThreadWithProbe, WithoutAFileNothingIsSaidOfTheWaitForAConnection)
  {
    Receive();
    source_.asked.database = DatabaseWork{"", 12, 0, milliseconds(8), Duration::max(), {}};
    Store(thread_, At(130), FromModality("CT1"));
    source_.response = At(131);
    const auto finished = thread_.TakeEnded(At(231), QUIET);

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Commit), milliseconds(20));
    EXPECT_EQ(finished->instance.phases.Get(Phase::Database), milliseconds(8));
    EXPECT_EQ(finished->instance.database->shortest, Duration::zero());
    EXPECT_FALSE(finished->instance.database->queued);
  }


  TEST_F(IngestThreadWithProbe, TheResponseOfARefusedInstanceEndsItWithoutPatience)
  {
    source_.message = MakeMessage(1, 0, 5);
    thread_.OnReceived(At(6), Received(Origin::DicomProtocol, 1000));
    EXPECT_FALSE(thread_.TakeEnded(At(7), milliseconds(0)));
    source_.response = At(8);
    const auto ended = thread_.TakeEnded(At(8), milliseconds(0));

    ASSERT_TRUE(ended);
    EXPECT_FALSE(ended->isStored);
    EXPECT_EQ(ended->instance.peer.name, "CT1");
  }


  // Orthanc transcodes what it sends, on the thread that has refused the instance just before
  TEST_F(IngestThreadWithProbe, WhatIsTranscodedOnTheThreadAfterTheAnswerIsNotTheInstances)
  {
    Receive();
    source_.response = At(112);
    thread_.OnHeld();
    thread_.OnTranscoderBegin(At(200));
    thread_.OnTranscoderEnd(At(400), MakeTranscoding("transcoded"), InstanceIdentity());
    thread_.OnLetGo(At(401));
    const auto ended = thread_.TakeEnded(At(402), QUIET);

    ASSERT_TRUE(ended);
    EXPECT_FALSE(ended->isStored);
    EXPECT_FALSE(ended->instance.transcoding);
    EXPECT_EQ(At(110), ended->instance.endedAt);
  }


  TEST_F(IngestThreadWithProbe, WhatIsAnsweredEndsThoughItsThreadTranscodesForOthers)
  {
    Receive();
    source_.response = At(112);
    thread_.OnHeld();
    EXPECT_TRUE(thread_.TakeEnded(At(200), QUIET));
  }


  TEST_F(IngestThreadWithProbe, WhatIsUnansweredWhileADiskOrADatabaseIsAwayIsInFlight)
  {
    source_.message = MakeMessage(1, 0, 5);
    thread_.OnReceived(At(6), Received(Origin::DicomProtocol, 1000));
    thread_.OnFilter(At(7), FromModality("CT1"));
    EXPECT_FALSE(thread_.TakeEnded(TimePoint(seconds(800)), QUIET));
    Store(thread_, TimePoint(seconds(801)), FromModality("CT1"));
    source_.response = TimePoint(seconds(802));
    const auto finished = thread_.TakeEnded(TimePoint(seconds(803)), QUIET);

    ASSERT_TRUE(finished);
    EXPECT_TRUE(finished->isStored);
  }


  TEST_F(IngestThreadWithProbe, WhoseAnswerWasNotSeenIsGivenUpInTheEnd)
  {
    source_.message = MakeMessage(1, 0, 5);
    thread_.OnReceived(At(6), Received(Origin::DicomProtocol, 1000));
    EXPECT_TRUE(thread_.TakeEnded(TimePoint(seconds(901)), QUIET));
  }


  TEST_F(IngestThreadWithProbe, AMessageThatIsForgottenHasEnded)
  {
    source_.message = MakeMessage(1, 100, 108);
    thread_.OnReceived(At(109), Received(Origin::DicomProtocol, 1000));
    EXPECT_FALSE(Store(thread_, At(112), FromModality("CT1")));
    source_.message = MakeMessage(20, 113, 114);
    const auto finished = thread_.TakeEnded(At(114), QUIET);

    ASSERT_TRUE(finished);
    EXPECT_TRUE(finished->isStored);
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Respond));
  }


  TEST_F(IngestThreadWithProbe, AResponseFromBeforeTheInstanceSaysNothingOfIt)
  {
    source_.message = MakeMessage(1, 0, 5);
    source_.response = At(3);
    thread_.OnReceived(At(6), Received(Origin::DicomProtocol, 1000));
    EXPECT_FALSE(thread_.TakeEnded(At(100), QUIET));
  }


  TEST_F(IngestThreadWithProbe, AnUploadBeginsAtTheFirstByteOfItsHeaders)
  {
    source_.message = MakeMessage(1, 100, 101);
    source_.message->isEncrypted = true;
    thread_.OnRequest(At(102), "10.0.0.2");
    source_.message = MakeMessage(2, 105, 120);  // the body, after "100 Continue" in a large record
    source_.message->peer = Peer();
    thread_.OnReceived(At(121), Received(Origin::RestApi, 1000));
    Store(thread_, At(125), Known(Origin::RestApi, 1000));
    source_.response = At(126);
    const auto finished = thread_.TakeEnded(At(126), milliseconds(0));

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Receive), milliseconds(20));
    EXPECT_EQ(finished->instance.phases.GetTotal(), milliseconds(26));
    EXPECT_EQ(finished->instance.peer.name, "10.0.0.2");
  }


  // A plugin's token lets it in
  TEST_F(IngestThreadWithProbe, AnUploadOfWhichNoFilterWasToldIsNotTakenForTheRequestBefore)
  {
    source_.message = MakeMessage(1, 0, 1);
    thread_.OnRequest(At(2), "10.0.0.2");

    source_.message = MakeMessage(1, 5000, 5004);
    source_.message->id.connection = 8;
    source_.message->peer = Peer{"", "10.0.0.3"};
    thread_.OnReceived(At(5005), Received(Origin::RestApi, 1000));
    Store(thread_, At(5009), Known(Origin::RestApi, 1000));
    const auto first = thread_.TakeLast();

    source_.message = MakeMessage(2, 9000, 9002);
    source_.message->id.connection = 8;
    source_.message->peer = Peer{"", "10.0.0.3"};
    thread_.OnReceived(At(9003), Received(Origin::RestApi, 1000));
    const auto second = thread_.TakeLast();

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(milliseconds(4), first->instance.phases.Get(Phase::Receive));
    EXPECT_EQ("10.0.0.3", first->instance.peer.name);
    EXPECT_EQ("10.0.0.3", first->instance.peer.address);
    EXPECT_EQ(milliseconds(2), second->instance.phases.Get(Phase::Receive));
  }


  TEST_F(IngestThreadWithProbe, ARequestOfWhichNoFilterWasToldMayFollowOnTheSameConnection)
  {
    source_.message = MakeMessage(1, 0, 1);
    thread_.OnRequest(At(2), "10.0.0.2");
    source_.message = MakeMessage(2, 5000, 5004);
    source_.message->peer = Peer{"", "10.0.0.2"};
    thread_.OnReceived(At(5005), Received(Origin::RestApi, 1000));
    const auto finished = thread_.TakeLast();

    ASSERT_TRUE(finished);
    EXPECT_EQ(milliseconds(4), finished->instance.phases.Get(Phase::Receive));
  }


  namespace
  {
    KnownInstance Identified(const std::string& instanceId, Origin origin)
    {
      KnownInstance known = Known(origin, 1000);
      known.instanceId = instanceId;
      return known;
    }


    // With an identity of its own
    ReceivedInstance Inner()
    {
      ReceivedInstance received = Received(Origin::Plugin, 500);
      received.identity.hasher.Add('1');
      return received;
    }
  }


  // It is told of a stored instance before this one, and uploads another on the same thread
  TEST_F(IngestThreadWithProbe, WhatAnotherPluginStoresInItsStoredCallbackIsAnInstanceOfItsOwn)
  {
    Receive();
    const std::string outerId = InstanceIdentity().hasher.GetInstanceId();
    const std::string innerId = Inner().identity.hasher.GetInstanceId();
    ASSERT_NE(outerId, innerId);
    EXPECT_FALSE(thread_.OnReceived(At(115), Inner()));
    thread_.OnFilter(At(116), Identified(innerId, Origin::Plugin));
    const auto inner = Store(thread_, At(118), Identified(innerId, Origin::Plugin));
    const auto outer = Store(thread_, At(119), Identified(outerId, Origin::DicomProtocol));

    ASSERT_TRUE(outer);
    EXPECT_TRUE(outer->isStored);
    EXPECT_EQ(outerId, outer->instance.instanceId);
    EXPECT_EQ(1000U, outer->instance.size);
    EXPECT_EQ(milliseconds(9), outer->instance.phases.Get(Phase::Commit));
    ASSERT_TRUE(inner);
    EXPECT_TRUE(inner->isStored);
    EXPECT_EQ(innerId, inner->instance.instanceId);
    EXPECT_EQ(500U, inner->instance.size);
  }


  // Orthanc has it already, and says nothing more of it
  TEST_F(IngestThreadWithProbe, AnInnerInstanceThatIsNotStoredIsNotTakenForTheOuterOne)
  {
    Receive();
    const std::string outerId = InstanceIdentity().hasher.GetInstanceId();
    thread_.OnReceived(At(115), Inner());
    const auto outer = Store(thread_, At(119), Identified(outerId, Origin::DicomProtocol));
    const auto inner = thread_.TakeLast();

    ASSERT_TRUE(outer);
    EXPECT_EQ(1000U, outer->instance.size);
    ASSERT_TRUE(inner);
    EXPECT_FALSE(inner->isStored);
    EXPECT_EQ(500U, inner->instance.size);
  }


  TEST_F(IngestThreadWithProbe, WhatAPluginStoresBesideAMessageHasNothingOfItsSender)
  {
    Receive();
    source_.message->stalls = 3;
    const std::string outerId = InstanceIdentity().hasher.GetInstanceId();
    const std::string innerId = Inner().identity.hasher.GetInstanceId();
    thread_.OnReceived(At(115), Inner());
    EXPECT_TRUE(thread_.HasMessage());
    thread_.OnFilter(At(116), Identified(innerId, Origin::Plugin));
    const auto inner = Store(thread_, At(118), Identified(innerId, Origin::Plugin));

    ASSERT_TRUE(inner);
    EXPECT_TRUE(inner->isStored);
    EXPECT_EQ("", inner->instance.peer.name);
    EXPECT_EQ("", inner->instance.peer.address);
    EXPECT_FALSE(inner->instance.areStallsObserved);
    EXPECT_EQ(0U, inner->instance.stalls);
    EXPECT_FALSE(inner->instance.phases.Get(Phase::Receive));
    EXPECT_EQ(milliseconds(3), inner->instance.phases.GetTotal());

    const auto outer = Store(thread_, At(119), Identified(outerId, Origin::DicomProtocol));
    ASSERT_TRUE(outer);
    EXPECT_EQ("CT1", outer->instance.peer.name);
  }


  TEST_F(IngestThreadWithProbe, APartThatFailedIsJudgedOnceItsRequestIsAnswered)
  {
    source_.message = MakeMessage(1, 100, 108);
    thread_.OnReceived(At(109), Received(Origin::Plugin, 1000));
    thread_.OnFilter(At(110), Known(Origin::Plugin, 1000));
    EXPECT_FALSE(thread_.OnReceived(At(115), Inner()));
    thread_.OnFilter(At(116), Known(Origin::Plugin, 500));
    EXPECT_FALSE(thread_.TakeEnded(At(120), QUIET));
    EXPECT_NE(thread_.CountInFlight(), 0U);

    source_.response = At(121);
    const auto first = thread_.TakeEnded(At(171), QUIET);
    const auto second = thread_.TakeEnded(At(171), QUIET);

    ASSERT_TRUE(first);
    EXPECT_EQ(1000U, first->instance.size);
    EXPECT_FALSE(first->isStored);
    EXPECT_TRUE(first->evidence.filterReached);
    ASSERT_TRUE(second);
    EXPECT_EQ(500U, second->instance.size);
    EXPECT_EQ(thread_.CountInFlight(), 0U);
  }


  TEST(IngestThread, AnOuterInstanceIsStoredOnceWhereNoMessageIsSeen)
  {
    NoMessageSource noSource;
    IngestThread thread(noSource);
    thread.OnFilter(At(10), FromModality("CT1"));
    EXPECT_FALSE(thread.OnFilter(At(15), Known(Origin::Plugin, 500)));
    const auto inner = Store(thread, At(18), Identified("inner", Origin::Plugin));
    const auto outer = Store(thread, At(19), Identified("outer", Origin::DicomProtocol));

    ASSERT_TRUE(inner);
    EXPECT_EQ("inner", inner->instance.instanceId);
    ASSERT_TRUE(outer);
    EXPECT_EQ("outer", outer->instance.instanceId);
    EXPECT_EQ(1000U, outer->instance.size);
    EXPECT_EQ(thread.CountInFlight(), 0U);
  }


  TEST_F(IngestThreadWithProbe, SoManyMayBeOvertaken)
  {
    Receive();
    std::size_t ended = 0;

    for (int i = 0; i < 10; i++)
    {
      ended += thread_.OnReceived(At(120), Received(Origin::Plugin, 500)) ? 1U : 0U;
      thread_.OnFilter(At(121), Known(Origin::Plugin, 500));
    }

    EXPECT_EQ(6U, ended);
  }


  TEST_F(IngestThreadWithProbe, EachPartOfARequestHasTheStallsSinceThePartBeforeIt)
  {
    thread_.OnRequest(At(0), "10.0.0.2");
    source_.message = MakeMessage(1, 0, 50);
    source_.message->stalls = 1;
    source_.message->stallTime = milliseconds(40);
    source_.message->lossStalls = {1, milliseconds(40)};
    thread_.OnReceived(At(51), Received(Origin::Plugin, 1));
    Store(thread_, At(55), Known(Origin::Plugin, 1));

    source_.message->lastByte = At(120);
    source_.message->stalls = 3;
    source_.message->stallTime = milliseconds(100);
    source_.message->lossStalls = {2, milliseconds(75)};
    const auto first = thread_.OnReceived(At(121), Received(Origin::Plugin, 2));
    Store(thread_, At(125), Known(Origin::Plugin, 2));
    const auto second = thread_.TakeLast();

    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(first->instance.stalls, 1U);
    EXPECT_EQ(second->instance.stalls, 2U);
    EXPECT_EQ(second->instance.stallTime, milliseconds(60));
    EXPECT_EQ(first->instance.lossStalls.count, 1U);
    EXPECT_EQ(second->instance.lossStalls.count, 1U);
    EXPECT_EQ(second->instance.lossStalls.time, milliseconds(35));
    EXPECT_EQ(second->instance.phases.Get(Phase::Receive), milliseconds(65));
    EXPECT_FALSE(first->instance.phases.Get(Phase::Respond));
  }


  TEST_F(IngestThreadWithProbe, AFileFromAnEarlierInstanceIsNotTakenForThisOne)
  {
    source_.file = StoredFile{At(1), At(2), {}};
    Receive();
    Store(thread_, At(113), FromModality("CT1"));
    const auto finished = thread_.TakeLast();

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Commit), milliseconds(3));
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Storage));
  }


  TEST_F(IngestThreadWithProbe, AStorageThatSyncsNothingHasNoSync)
  {
    Receive();
    source_.file = StoredFile{At(111), At(114), {}};
    Store(thread_, At(117), FromModality("CT1"));
    const auto finished = thread_.TakeLast();

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->instance.phases.Get(Phase::Storage), milliseconds(3));
    EXPECT_FALSE(finished->instance.phases.Get(Phase::Sync));
  }
}
