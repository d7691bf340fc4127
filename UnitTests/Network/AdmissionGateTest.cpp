// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AdmissionGate.h"

#include "Network/Probe.h"
#include "Network/TcpPair.h"
#include "Redirection/CallerModule.h"

#include <algorithm>
#include <cerrno>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t PIECE = AdmissionQueue::PIECE;
    constexpr std::uint64_t COPIES = AdmissionQueue::COPIES;
    constexpr std::uint64_t LIMIT = 10 * PIECE;
    constexpr Duration LONG = std::chrono::minutes(5);
    constexpr std::optional<std::uint64_t> CHUNKED = std::nullopt;

    // Somebody else's message, which takes all that there is
    constexpr int OTHER = 4000;

    const std::string ANSWER = "HTTP/1.1 200 OK\r\n" + std::string(200, 'y');

    // Orthanc's side of one connection, and a sender on the other
    class AdmissionGateTest : public testing::Test
    {
    protected:
      ~AdmissionGateTest() override
      {
        if (sender_.joinable())
        {
          shutdown(pair_.GetClient(), SHUT_RDWR);  // what is not read may not fit into the kernel
          sender_.join();
        }
      }

      void Install(bool isHttp)
      {
        WatchedPlaces places;
        (isHttp ? places.httpPort : places.dicomPort) = pair_.GetPort();
        probe_ = std::make_unique<Probe>(places, tracker_, &CallerModule::IsCaller);
        ASSERT_TRUE(probe_->Install()) << probe_->GetProblem();
        pair_.GetServer();
      }

      AdmissionQueue& GetQueue()
      {
        return probe_->admission;
      }

      std::uint64_t GetHeld()
      {
        return GetQueue().GetFigures().held / COPIES;
      }

      void SetLimit()
      {
        GetQueue().Set(LIMIT * COPIES, LONG);
      }

      void TakeAll()
      {
        SetLimit();
        GetQueue().AskForAll(OTHER, LIMIT, Clock::now());
      }

      // A message that is received, and not answered yet
      void Reserve()
      {
        Install(false);
        SetLimit();
        BeginToSend(2 * PIECE);
        EXPECT_EQ(long(2 * PIECE), Read(2 * PIECE));
        EXPECT_NE(0U, GetHeld());
      }

      void BeginToSend(std::size_t size)
      {
        if (sender_.joinable())
        {
          sender_.join();
        }

        sender_ = std::thread(
            [this, size]
            {
              try
              {
                SendAll(pair_.GetClient(), std::string(size, 'x'));
              }
              catch (const std::runtime_error&)
              {
                // Orthanc's side is gone
              }
            });
      }

      // How much came until the end, or an error, as a negative number
      long Read(std::size_t size)
      {
        auto* read = caller_.Get<decltype(::read)>("CallerRead");
        std::vector<char> buffer(65536);
        std::size_t done = 0;

        while (done < size)
        {
          const ssize_t result =
              read(pair_.GetServer(), buffer.data(), std::min(buffer.size(), size - done));

          if (result <= 0)
          {
            return result == 0 ? static_cast<long>(done) : -errno;
          }

          done += static_cast<std::size_t>(result);
        }

        return static_cast<long>(done);
      }

      std::future<long> BeginToRead(std::size_t size)
      {
        return std::async(std::launch::async, [this, size] { return Read(size); });
      }

      // A C-STORE that waits after its first piece, of which so much is to be read
      std::future<long> BeginToReceive(std::size_t sent, std::size_t read)
      {
        Install(false);
        TakeAll();
        BeginToSend(sent);
        auto reader = BeginToRead(read);
        AwaitWait();
        return reader;
      }

      // Orthanc has the header of an upload whose body has to wait
      std::future<bool> BeginToWait()
      {
        Install(true);
        TakeAll();
        BeginToSend(100);
        Read(100);
        EXPECT_TRUE(MayUpload(pair_.GetServer(), PIECE));  // a small one does not wait
        auto upload = std::async(std::launch::async,
                                 [this] { return MayUpload(pair_.GetServer(), 2 * PIECE); });
        AwaitWait();
        return upload;
      }

      void AwaitWait()
      {
        while (GetQueue().GetFigures().waiting == 0)
        {
          std::this_thread::yield();
        }
      }

      void Write(const std::string& bytes)
      {
        caller_.Get<decltype(::write)>("CallerWrite")(pair_.GetServer(), bytes.data(),
                                                      bytes.size());
      }

      CallerModule caller_;
      TcpPair pair_{caller_.Get<TcpPair::Accept>("CallerAccept")};
      ConnectionTracker tracker_;
      std::unique_ptr<Probe> probe_;
      std::thread sender_;
    };
  }

  TEST_F(AdmissionGateTest, SmallMessagesPassAndDoNotCount)
  {
    Install(false);
    TakeAll();
    BeginToSend(3 * (PIECE - 1));

    for (int i = 0; i < 3; i++)
    {
      EXPECT_EQ(long(PIECE - 1), Read(PIECE - 1));
      Write("answer");
    }

    EXPECT_EQ(1U, GetQueue().GetFigures().inFlight);
  }

  TEST_F(AdmissionGateTest, AMessageIsReadOnAsSoonAsThereIsRoomAndIsOverWithItsAnswer)
  {
    auto reader = BeginToReceive(2 * PIECE, 2 * PIECE);
    EXPECT_LE(PIECE, tracker_.ListOpen(Clock::now()).at(0).bytesReceived);
    EXPECT_GT(PIECE + 65536, tracker_.ListOpen(Clock::now()).at(0).bytesReceived);

    GetQueue().Close(OTHER);
    EXPECT_EQ(long(2 * PIECE), reader.get());
    EXPECT_LT(0U, GetHeld());
    Write(ANSWER);
    EXPECT_EQ(0U, GetQueue().GetFigures().inFlight);
  }

  TEST_F(AdmissionGateTest, AWaitEndsWithTheLimitTheTimeoutOrOrthanc)
  {
    struct Case
    {
      const char* name;
      void (*end)(AdmissionQueue& queue);
      long expected;
    };

    const std::vector<Case> cases = {
        {"switched off", [](AdmissionQueue& queue) { queue.Set(0, LONG); }, long(PIECE)},
        {"after the timeout",
         [](AdmissionQueue& queue) { queue.Set(LIMIT, std::chrono::milliseconds(50)); },
         long(PIECE)},
        {"Orthanc stops", [](AdmissionQueue& queue) { queue.Stop(); }, -ECONNRESET},
    };

    Install(false);

    for (const Case& one : cases)
    {
      SCOPED_TRACE(one.name);
      TakeAll();
      BeginToSend(2 * PIECE);
      EXPECT_EQ(long(PIECE), Read(PIECE));
      auto reader = BeginToRead(PIECE);
      AwaitWait();
      one.end(GetQueue());
      EXPECT_EQ(one.expected, reader.get());
      Write(ANSWER);
    }
  }

  TEST_F(AdmissionGateTest, WhatASenderThatIsGoneHasLeftIsReadAtOnce)
  {
    constexpr std::size_t REST = 100'000;  // has room in any buffer
    auto reader = BeginToReceive(PIECE + REST, PIECE + REST + 1);
    sender_.join();
    shutdown(pair_.GetClient(), SHUT_WR);
    EXPECT_EQ(long(PIECE + REST), reader.get());
  }

  TEST_F(AdmissionGateTest, AMessageIsReadOnWhereTheProbeIsRemoved)
  {
    auto reader = BeginToReceive(2 * PIECE, 2 * PIECE);
    probe_->Remove();
    EXPECT_EQ(long(2 * PIECE), reader.get());
    EXPECT_EQ(0U, GetQueue().GetFigures().inFlight);
  }

  TEST_F(AdmissionGateTest, AClosedConnectionLeavesNoReservation)
  {
    Reserve();
    caller_.Get<decltype(::close)>("CallerClose")(pair_.GetServer());
    pair_.ReleaseServer();
    EXPECT_EQ(0U, GetQueue().GetFigures().inFlight);
  }

  // dup2(2)
  TEST_F(AdmissionGateTest, ANewConnectionOfADescriptorHasNothingOfTheFormerOne)
  {
    Reserve();
    const ConnectedSocket next(pair_.GetPort());
    const int former = pair_.GetServer();
    close(former);  // not seen
    pair_.ReleaseServer();
    EXPECT_EQ(former, pair_.GetServer());
    EXPECT_EQ(0U, GetHeld());
  }

  TEST_F(AdmissionGateTest, AnUploadWaitsBeforeItsBodyAndIsOverWithItsAnswer)
  {
    auto upload = BeginToWait();
    GetQueue().Close(OTHER);
    EXPECT_TRUE(upload.get());
    EXPECT_EQ(2 * PIECE, GetHeld());

    OnInstanceStored(pair_.GetServer());  // of a ZIP archive, which Orthanc has until its end
    EXPECT_EQ(2 * PIECE, GetHeld());
    Write("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(2 * PIECE, GetHeld());
    Write(ANSWER);
    EXPECT_EQ(0U, GetQueue().GetFigures().inFlight);

    // What a server throws away afterwards does not count
    BeginToSend(2 * PIECE);
    EXPECT_EQ(long(2 * PIECE), Read(2 * PIECE));
    EXPECT_EQ(0U, GetQueue().GetFigures().inFlight);
  }

  TEST_F(AdmissionGateTest, AnUploadThatWasAdmittedIsNotHeldBackInItsMiddle)
  {
    Install(true);
    BeginToSend(100 + 3 * PIECE);
    Read(100);
    EXPECT_TRUE(MayUpload(pair_.GetServer(), 3 * PIECE));
    TakeAll();
    EXPECT_EQ(long(3 * PIECE), Read(3 * PIECE));
    EXPECT_EQ(0U, GetQueue().GetFigures().waits);
  }

  TEST_F(AdmissionGateTest, AnUploadThatWaitsWhileOrthancStopsGetsNoAnswer)
  {
    auto upload = BeginToWait();
    GetQueue().Stop();
    EXPECT_FALSE(upload.get());
    EXPECT_EQ(1U, GetQueue().GetFigures().inFlight);
    char byte = 0;
    EXPECT_EQ(0, recv(pair_.GetClient(), &byte, 1, 0));
  }

  TEST_F(AdmissionGateTest, AnUploadWhoseConnectionIsLostIsNotAdmitted)
  {
    auto upload = BeginToWait();
    sender_.join();
    const linger reset = {1, 0};
    setsockopt(pair_.GetClient(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(pair_.GetClient());
    pair_.ReleaseClient();
    EXPECT_FALSE(upload.get());
    EXPECT_EQ(1U, GetQueue().GetFigures().inFlight);
  }

  TEST_F(AdmissionGateTest, ChunksWaitOnceTheRequestIsLetInAndAreFreeOnceStored)
  {
    Install(true);
    TakeAll();
    BeginToSend(7 * PIECE);

    // Not known yet whether Orthanc keeps it
    EXPECT_EQ(long(2 * PIECE), Read(2 * PIECE));
    EXPECT_TRUE(MayUpload(pair_.GetServer(), CHUNKED));
    auto reader = BeginToRead(3 * PIECE);
    AwaitWait();
    GetQueue().Close(OTHER);
    EXPECT_EQ(long(3 * PIECE), reader.get());
    EXPECT_LT(PIECE, GetHeld());

    OnInstanceStored(pair_.GetServer());
    EXPECT_EQ(0U, GetHeld());
    EXPECT_EQ(1U, GetQueue().GetFigures().inFlight);
    EXPECT_EQ(long(2 * PIECE), Read(2 * PIECE));  // the next part counts as the first one did
    EXPECT_LE(2 * PIECE, GetHeld());
  }

  TEST_F(AdmissionGateTest, WhatIsNotWatchedIsAdmitted)
  {
    Install(true);
    TakeAll();

    for (const int fd : {-1, pair_.GetClient()})
    {
      EXPECT_TRUE(MayUpload(fd, 100 * PIECE));
      EXPECT_TRUE(MayUpload(fd, CHUNKED));
      EXPECT_TRUE(MayRead(fd));
      OnServed(fd, false);
      OnInstanceStored(fd);
    }

    EXPECT_EQ(1U, GetQueue().GetFigures().inFlight);
  }

  TEST(ContentLength, IsWhatOrthancWouldMakeRoomForOrNothingWhereItIsNoNumber)
  {
    EXPECT_EQ(0U, ParseContentLength("0"));

    for (const char* text : {"1000000000", "+1000000000", " 1000000000", "\t +1000000000",
                             "01000000000", "1000000000 "})
    {
      EXPECT_EQ(1'000'000'000U, ParseContentLength(text)) << text;
    }

    for (const char* text : {"", " ", "+", "++1", "-1", "+-1", "+ 1", "x", "99999999999999999999"})
    {
      EXPECT_FALSE(ParseContentLength(text)) << text;
    }
  }
}
