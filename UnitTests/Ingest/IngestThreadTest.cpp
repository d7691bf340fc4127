// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestThread.h"

#include <gtest/gtest.h>

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

    KnownInstance FromModality(const std::string& aet)
    {
      KnownInstance known = Known(Origin::DicomProtocol, 1000);
      known.instanceId = "identifier";
      known.peer = Peer{aet, "10.0.0.1"};
      return known;
    }
  }

  TEST(IngestThread, AnUploadHasReceivePrepareAndCommit)
  {
    IngestThread thread;
    EXPECT_FALSE(thread.OnRequest(At(0), "127.0.0.1"));
    EXPECT_FALSE(thread.OnReceived(At(3), Received(Origin::RestApi, 500)));
    EXPECT_EQ(thread.GetInFlight(), Origin::RestApi);
    thread.OnFilter(At(5), Known(Origin::RestApi, 500));
    const auto finished = thread.OnStored(At(9), Known(Origin::RestApi, 500));

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->phases.Get(Phase::Receive), milliseconds(3));
    EXPECT_EQ(finished->phases.Get(Phase::Prepare), milliseconds(2));
    EXPECT_EQ(finished->phases.Get(Phase::Commit), milliseconds(4));
    EXPECT_EQ(finished->peer.name, "127.0.0.1");
    EXPECT_EQ(finished->outcome, Outcome::Stored);
    EXPECT_EQ(finished->size, 500U);
    EXPECT_FALSE(thread.GetInFlight());
  }

  TEST(IngestThread, ACStoreWithoutTheProbeHasNoReceive)
  {
    IngestThread thread;
    thread.OnReceived(At(100), Received(Origin::DicomProtocol, 1000));
    thread.OnFilter(At(101), FromModality("CT1"));
    thread.OnCStoreFilter();
    const auto finished = thread.OnStored(At(104), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_FALSE(finished->phases.Get(Phase::Receive));
    EXPECT_EQ(finished->phases.GetTotal(), milliseconds(4));
    EXPECT_EQ(finished->peer.name, "CT1");
    EXPECT_EQ(finished->peer.address, "10.0.0.1");
    EXPECT_EQ(finished->instanceId, "identifier");
  }

  TEST(IngestThread, TheTranscoderHasItsOwnPhase)
  {
    IngestThread thread;
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 1000));
    thread.OnTranscoderBegin(At(1));
    thread.OnTranscoderEnd(At(11));
    thread.OnFilter(At(12), FromModality("CT1"));
    const auto finished = thread.OnStored(At(15), FromModality("CT1"));

    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->phases.Get(Phase::Transcode), milliseconds(10));
    EXPECT_EQ(finished->phases.Get(Phase::Prepare), milliseconds(2));
    EXPECT_EQ(finished->phases.GetTotal(), milliseconds(15));
  }

  TEST(IngestThread, TheSecondInstanceOfARequestBeginsWhereTheFirstEnded)
  {
    IngestThread thread;
    thread.OnRequest(At(0), "127.0.0.1");
    thread.OnReceived(At(30), Received(Origin::RestApi, 1));
    thread.OnStored(At(34), Known(Origin::RestApi, 1));
    thread.OnReceived(At(35), Received(Origin::RestApi, 2));
    const auto second = thread.OnStored(At(39), Known(Origin::RestApi, 2));

    ASSERT_TRUE(second);
    EXPECT_EQ(second->phases.Get(Phase::Receive), milliseconds(1));
    EXPECT_EQ(second->phases.GetTotal(), milliseconds(5));
  }

  TEST(IngestThread, WithoutTheReceivedCallbackTheTimelineBeginsAtTheFilter)
  {
    IngestThread thread;
    thread.OnRequest(At(0), "127.0.0.1");
    thread.OnFilter(At(7), Known(Origin::RestApi, 400));
    const auto finished = thread.OnStored(At(10), Known(Origin::RestApi, 400));

    ASSERT_TRUE(finished);
    EXPECT_FALSE(finished->phases.Get(Phase::Receive));
    EXPECT_FALSE(finished->phases.Get(Phase::Prepare));
    EXPECT_EQ(finished->phases.Get(Phase::Commit), milliseconds(3));
    EXPECT_EQ(finished->size, 400U);
  }

  TEST(IngestThread, TheNextRequestOnTheThreadShowsThatAnInstanceWasLost)
  {
    IngestThread thread;
    thread.OnRequest(At(0), "127.0.0.1");
    ReceivedInstance garbage = Received(Origin::RestApi, 77);
    garbage.readable = false;
    thread.OnReceived(At(1), garbage);
    const auto lost = thread.OnRequest(At(50), "127.0.0.2");

    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->instance.size, 77U);
    EXPECT_EQ(lost->instance.peer.name, "127.0.0.1");
    EXPECT_FALSE(lost->evidence.readable);
    EXPECT_FALSE(lost->evidence.filterReached);
    EXPECT_EQ(lost->instance.phases.GetTotal(), milliseconds(1));
    EXPECT_FALSE(thread.OnRequest(At(60), "127.0.0.2"));
  }

  TEST(IngestThread, TheNextInstanceShowsThatTheOneBeforeWasLost)
  {
    IngestThread thread;
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
    IngestThread thread;
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    EXPECT_FALSE(thread.TakeOverdue(At(4999)));
    EXPECT_TRUE(thread.TakeOverdue(At(5000)));
    EXPECT_FALSE(thread.TakeOverdue(At(9000)));
  }

  TEST(IngestThread, ALargeInstanceMayStaySilentForLonger)
  {
    IngestThread thread;
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 400 * 1024 * 1024));
    EXPECT_FALSE(thread.TakeOverdue(TimePoint(seconds(104))));
    EXPECT_TRUE(thread.TakeOverdue(TimePoint(seconds(105))));
  }

  TEST(IngestThread, AnInstanceInTheDatabaseMayStaySilentForLonger)
  {
    IngestThread thread;
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    thread.OnFilter(At(1), FromModality("CT1"));
    EXPECT_FALSE(thread.TakeOverdue(TimePoint(seconds(29))));
    EXPECT_TRUE(thread.TakeOverdue(TimePoint(seconds(31))));
  }

  TEST(IngestThread, AnInstanceThatWasGivenUpIsNotFinishedASecondTime)
  {
    IngestThread thread;
    thread.OnReceived(At(0), Received(Origin::DicomProtocol, 10));
    ASSERT_TRUE(thread.TakeOverdue(TimePoint(seconds(60))));
    thread.OnFilter(TimePoint(seconds(61)), FromModality("CT1"));
    EXPECT_FALSE(thread.OnStored(TimePoint(seconds(62)), FromModality("CT1")));

    thread.OnReceived(TimePoint(seconds(63)), Received(Origin::DicomProtocol, 10));
    EXPECT_TRUE(thread.OnStored(TimePoint(seconds(64)), FromModality("CT1")));
  }
}
