// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/IngestGate.h"

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
    using std::chrono::milliseconds;

    constexpr std::uint64_t PIECE = IngestBudget::PIECE;
    constexpr std::uint64_t LIMIT = 10 * PIECE;
    constexpr Duration LONG = std::chrono::minutes(5);

    // Somebody else's message, which takes all that there is
    constexpr int OTHER = 4000;

    // An observer that keeps nothing of what goes by
    class NoObserver : public IConnectionObserver
    {
    public:
      void OnOpened(Connection&, TimePoint) noexcept override
      {
      }

      void OnAssociateRequest(Connection&, const AssociateRequest&, TimePoint) noexcept override
      {
      }

      void OnAssociateAnswer(Connection&, bool, TimePoint) noexcept override
      {
      }

      void OnClosed(Connection&, AssociationOutcome, TimePoint) noexcept override
      {
      }

      void OnRequestBegins(Connection&, TimePoint) noexcept override
      {
      }

      void OnRequestBytes(Connection&, const std::uint8_t*, std::size_t,
                          TimePoint) noexcept override
      {
      }

      void OnResponseBytes(Connection&, const std::uint8_t*, std::size_t,
                           TimePoint) noexcept override
      {
      }

      void OnStall(Connection&, Duration, TimePoint) noexcept override
      {
      }
    };


    // Orthanc's side of one connection, and a sender on the other
    class IngestGateTest : public testing::Test
    {
    protected:
      ~IngestGateTest() override
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
        probe_ = std::make_unique<Probe>(places, observer_, &CallerModule::IsCaller);
        ASSERT_TRUE(probe_->Install()) << probe_->GetProblem();
        pair_.GetServer();
      }

      IngestBudget& GetBudget()
      {
        return probe_->GetBudget();
      }

      void TakeAll()
      {
        GetBudget().Set(LIMIT, LONG);
        ASSERT_EQ(IngestBudget::Answer::Go,
                  GetBudget().AskForAll(OTHER, LIMIT, Clock::now()).answer);
      }

      void BeginToSend(std::size_t size)
      {
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

      // How much came, until an error (its number) or the end
      std::pair<std::size_t, int> Read(std::size_t size)
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
            return {done, result == 0 ? 0 : errno};
          }

          done += static_cast<std::size_t>(result);
        }

        return {done, 0};
      }

      std::future<std::pair<std::size_t, int>> BeginToRead(std::size_t size)
      {
        return std::async(std::launch::async, [this, size] { return Read(size); });
      }

      std::future<bool> BeginUpload(std::optional<std::uint64_t> length)
      {
        return std::async(std::launch::async,
                          [this, length] { return MayUpload(pair_.GetServer(), length); });
      }

      // That a message waits
      void AwaitWait()
      {
        while (GetBudget().GetFigures().waiting == 0)
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
      NoObserver observer_;
      std::unique_ptr<Probe> probe_;
      std::thread sender_;
    };
  }


  TEST_F(IngestGateTest, AMessageIsReadOnAsSoonAsThereIsRoom)
  {
    Install(false);
    TakeAll();
    BeginToSend(2 * PIECE);
    auto reader = BeginToRead(2 * PIECE);
    AwaitWait();
    EXPECT_LE(PIECE, probe_->GetConnections().GetOpen().at(0).bytesRead);
    EXPECT_GT(PIECE + 65536, probe_->GetConnections().GetOpen().at(0).bytesRead);

    GetBudget().Close(OTHER, Clock::now());
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), reader.get());
    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);
    EXPECT_EQ(0U, GetBudget().GetFigures().waiting);

    Write(std::string(200, 'y'));  // the answer
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, SmallMessagesPassAndDoNotCount)
  {
    Install(false);
    TakeAll();
    BeginToSend(3 * (PIECE - 1));

    for (int i = 0; i < 3; i++)
    {
      EXPECT_EQ(std::make_pair(std::size_t{PIECE - 1}, 0), Read(PIECE - 1));
      Write("answer");
    }

    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);
    EXPECT_EQ(0U, GetBudget().GetFigures().waits);
  }


  TEST_F(IngestGateTest, TheReadFailsWhereTheSenderIsGone)
  {
    Install(false);
    TakeAll();
    BeginToSend(PIECE + 100);
    auto reader = BeginToRead(2 * PIECE);
    AwaitWait();
    sender_.join();
    close(pair_.GetClient());
    pair_.ReleaseClient();

    EXPECT_EQ(ECONNRESET, reader.get().second);
    EXPECT_EQ(1U, GetBudget().GetFigures().brokenOff);
    EXPECT_EQ(LIMIT * IngestBudget::COPIES, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, TheReadFailsWhereOrthancStops)
  {
    Install(false);
    TakeAll();
    BeginToSend(PIECE + 100);
    auto reader = BeginToRead(2 * PIECE);
    AwaitWait();
    GetBudget().Stop();
    EXPECT_EQ(ECONNRESET, reader.get().second);
    EXPECT_EQ(1U, GetBudget().GetFigures().brokenOff);
  }


  TEST_F(IngestGateTest, AMessageIsReadOnWhereTheBudgetIsSwitchedOff)
  {
    Install(false);
    TakeAll();
    BeginToSend(2 * PIECE);
    auto reader = BeginToRead(2 * PIECE);
    AwaitWait();
    GetBudget().Set(0, LONG);
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), reader.get());
  }


  TEST_F(IngestGateTest, AMessageIsReadOnAfterTheBound)
  {
    Install(false);
    TakeAll();
    GetBudget().Set(LIMIT, milliseconds(100));
    BeginToSend(2 * PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), Read(2 * PIECE));
    EXPECT_EQ(1U, GetBudget().GetFigures().givenUp);
    EXPECT_LE(milliseconds(100), GetBudget().GetFigures().waited);
  }


  TEST_F(IngestGateTest, AMessageIsReadOnWhereTheProbeIsRemoved)
  {
    Install(false);
    TakeAll();
    BeginToSend(2 * PIECE);
    auto reader = BeginToRead(2 * PIECE);
    AwaitWait();
    probe_->Remove();
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), reader.get());
    EXPECT_EQ(0U, GetBudget().GetFigures().waiting);
  }


  // It waits for its answer, and would wait in vain
  TEST_F(IngestGateTest, WhatASenderThatHasSentAllHasHereIsRead)
  {
    constexpr std::size_t SIZE = PIECE + 10'000;  // the rest has room in any buffer
    Install(false);
    TakeAll();
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(SIZE);
    EXPECT_EQ(std::make_pair(std::size_t{PIECE}, 0), Read(PIECE));
    sender_.join();
    EXPECT_EQ(std::make_pair(SIZE - PIECE, 0), Read(SIZE - PIECE));
    EXPECT_EQ(0U, GetBudget().GetFigures().givenUp);

    // A sip would have counted more
    EXPECT_EQ((LIMIT + SIZE) * IngestBudget::COPIES, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, TheRestOfAChunkedUploadIsReadWhereTheClientSaysThatItIsAll)
  {
    constexpr std::size_t SIZE = PIECE + 100'000;
    Install(true);
    TakeAll();
    BeginToSend(SIZE);
    EXPECT_EQ(std::make_pair(std::size_t{100}, 0), Read(100));
    EXPECT_TRUE(MayUpload(pair_.GetServer(), std::nullopt));
    EXPECT_EQ(std::make_pair(std::size_t{PIECE}, 0), Read(PIECE));
    sender_.join();
    shutdown(pair_.GetClient(), SHUT_WR);
    EXPECT_EQ(std::make_pair(SIZE - PIECE - 100, 0), Read(SIZE - PIECE - 100));
    EXPECT_EQ(0U, GetBudget().GetFigures().brokenOff);
  }


  TEST_F(IngestGateTest, ANewConnectionOfADescriptorHasNothingOfTheFormerOne)
  {
    Install(false);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(2 * PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), Read(2 * PIECE));
    EXPECT_NE(0U, GetBudget().GetFigures().held);
    const ConnectedSocket next(pair_.GetPort());
    const int former = pair_.GetServer();
    close(former);  // not seen
    pair_.ReleaseServer();
    EXPECT_EQ(former, pair_.GetServer());
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, AnUploadWaitsBeforeItsBody)
  {
    Install(true);
    TakeAll();
    BeginToSend(100);
    Read(100);
    EXPECT_TRUE(MayUpload(pair_.GetServer(), PIECE));

    auto upload = BeginUpload(2 * PIECE);
    AwaitWait();
    GetBudget().Close(OTHER, Clock::now());
    EXPECT_TRUE(upload.get());
    EXPECT_EQ(2 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);

    Write("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);
    Write("HTTP/1.1 401 Unauthorized\r\n" + std::string(200, 'y'));
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);

    // What a server throws away afterwards counts no more
    sender_.join();
    BeginToSend(2 * PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), Read(2 * PIECE));
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);
  }


  // Its client has a time-out for all of it, and CivetWeb has the memory for it already
  TEST_F(IngestGateTest, AnUploadThatWasLetOnIsNotHeldBackByABudgetThatIsSetMeanwhile)
  {
    Install(true);
    BeginToSend(100 + 3 * PIECE);
    Read(100);
    EXPECT_TRUE(MayUpload(pair_.GetServer(), 3 * PIECE));
    TakeAll();
    EXPECT_EQ(std::make_pair(std::size_t{3 * PIECE}, 0), Read(3 * PIECE));
    EXPECT_EQ(0U, GetBudget().GetFigures().waits);
  }


  TEST_F(IngestGateTest, AnUploadThatWaitedUntilTheBudgetWasSwitchedOffIsNotHeldBackAgain)
  {
    Install(true);
    TakeAll();
    BeginToSend(100 + 3 * PIECE);
    Read(100);
    auto upload = BeginUpload(3 * PIECE);
    AwaitWait();
    GetBudget().Set(0, LONG);
    EXPECT_TRUE(upload.get());
    GetBudget().Set(LIMIT, LONG);
    EXPECT_EQ(std::make_pair(std::size_t{3 * PIECE}, 0), Read(3 * PIECE));
    EXPECT_EQ(1U, GetBudget().GetFigures().waits);

    // An instance of it (ZIP) counts until the upload is over
    OnInstanceReceived(pair_.GetServer(), 2 * PIECE);
    OnInstanceStored(pair_.GetServer());
    EXPECT_EQ((LIMIT + 3 * PIECE) * IngestBudget::COPIES, GetBudget().GetFigures().held);
    Write("HTTP/1.1 200 OK\r\n" + std::string(200, 'y'));
    EXPECT_EQ(LIMIT * IngestBudget::COPIES, GetBudget().GetFigures().held);
  }


  // CivetWeb has read its header together with the request before
  TEST_F(IngestGateTest, APipelinedUploadCountsAsAnyOther)
  {
    const std::string answer = "HTTP/1.1 200 OK\r\n" + std::string(200, 'y');
    Install(true);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(100 + 2 * PIECE);
    Read(100);
    OnServed(pair_.GetServer());
    Write(answer);

    OnServed(pair_.GetServer());
    EXPECT_TRUE(MayUpload(pair_.GetServer(), 2 * PIECE));
    EXPECT_EQ(2 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    Write(answer);
    EXPECT_EQ(0U, GetBudget().GetFigures().held);

    OnServed(pair_.GetServer());
    EXPECT_TRUE(MayUpload(pair_.GetServer(), std::nullopt));
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), Read(2 * PIECE));
    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);
    Write(answer);
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);
  }


  TEST_F(IngestGateTest, ARequestTakesOverNothingFromTheOneBefore)
  {
    Install(true);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(100);
    Read(100);
    OnServed(pair_.GetServer());
    EXPECT_TRUE(MayUpload(pair_.GetServer(), 2 * PIECE));
    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);

    OnServed(pair_.GetServer());
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  // gzip, a ZIP archive: what came is small, what Orthanc makes of it is not
  TEST_F(IngestGateTest, AnInstanceThatWasInflatedCountsByItsOwnSizeAndHoldsOthersBack)
  {
    Install(true);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(100);
    Read(100);
    EXPECT_TRUE(MayUpload(pair_.GetServer(), 1000));
    OnInstanceReceived(pair_.GetServer(), PIECE);
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);

    OnInstanceReceived(pair_.GetServer(), LIMIT);  // without a wait, whatever there is
    EXPECT_EQ(LIMIT * IngestBudget::COPIES, GetBudget().GetFigures().held);
    EXPECT_EQ(IngestBudget::Answer::Wait,
              GetBudget().AskForAll(OTHER, 2 * PIECE, Clock::now()).answer);

    OnInstanceStored(pair_.GetServer());
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
    OnInstanceReceived(pair_.GetServer(), 3 * PIECE);  // the archive's next one; it is refused
    EXPECT_EQ(3 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    Write("HTTP/1.1 200 OK\r\n" + std::string(200, 'y'));
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, AnInstanceByDicomCountsAsItsMessageDoes)
  {
    Install(false);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(100);
    Read(100);
    OnInstanceReceived(pair_.GetServer(), 2 * PIECE);
    EXPECT_EQ(0U, GetBudget().GetFigures().inFlight);
  }


  TEST_F(IngestGateTest, AnUploadWhoseClientIsGoneIsNotLetOn)
  {
    Install(true);
    TakeAll();
    BeginToSend(100);
    Read(100);
    auto upload = BeginUpload(2 * PIECE);
    AwaitWait();
    sender_.join();
    shutdown(pair_.GetClient(), SHUT_WR);
    EXPECT_FALSE(upload.get());
    EXPECT_EQ(1U, GetBudget().GetFigures().brokenOff);
    EXPECT_EQ(std::make_pair(std::size_t{0}, 0), Read(1));
  }


  TEST_F(IngestGateTest, ChunksWaitOnceTheRequestIsLetIn)
  {
    Install(true);
    TakeAll();
    BeginToSend(5 * PIECE);

    // Not known yet whether Orthanc keeps it
    EXPECT_EQ(std::make_pair(std::size_t{2 * PIECE}, 0), Read(2 * PIECE));
    EXPECT_TRUE(MayUpload(pair_.GetServer(), std::nullopt));
    auto reader = BeginToRead(3 * PIECE);
    AwaitWait();
    GetBudget().Close(OTHER, Clock::now());
    EXPECT_EQ(std::make_pair(std::size_t{3 * PIECE}, 0), reader.get());
    EXPECT_NE(0U, GetBudget().GetFigures().held);
    OnInstanceStored(pair_.GetServer());
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  // Refused by a filter: nobody says that it is over but the next read
  TEST_F(IngestGateTest, APartThatIsNotStoredIsFreeOnceTheRequestIsReadOn)
  {
    Install(true);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(4 * PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{PIECE}, 0), Read(PIECE));
    EXPECT_TRUE(MayUpload(pair_.GetServer(), std::nullopt));
    EXPECT_EQ(std::make_pair(std::size_t{PIECE}, 0), Read(PIECE));
    EXPECT_EQ(std::make_pair(std::size_t{100}, 0), Read(100));
    EXPECT_EQ(3 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);

    OnInstanceReceived(pair_.GetServer(), PIECE);
    EXPECT_EQ(3 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    EXPECT_EQ(std::make_pair(std::size_t{1}, 0), Read(1));
    EXPECT_EQ(0U, GetBudget().GetFigures().held);

    // The next part counts as the first one did
    EXPECT_EQ(std::make_pair(std::size_t{PIECE - 1}, 0), Read(PIECE - 1));
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
    EXPECT_EQ(std::make_pair(std::size_t{100}, 0), Read(100));
    EXPECT_EQ(2 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    EXPECT_EQ(1U, GetBudget().GetFigures().inFlight);
  }


  // As where another plugin's callback posts one instance after the other
  TEST_F(IngestGateTest, AnInstanceThatIsNotStoredIsFreeOnceTheNextOneOfTheRequestIsThere)
  {
    Install(true);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(100);
    Read(100);
    OnInstanceReceived(pair_.GetServer(), 3 * PIECE);
    EXPECT_EQ(3 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    OnInstanceReceived(pair_.GetServer(), 2 * PIECE);
    EXPECT_EQ(2 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
    OnInstanceStored(pair_.GetServer());
    EXPECT_EQ(0U, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, AMessageOfDicomIsNotOverBeforeItsAnswer)
  {
    Install(false);
    GetBudget().Set(LIMIT, LONG);
    BeginToSend(2 * PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{PIECE}, 0), Read(PIECE));
    EXPECT_EQ(std::make_pair(std::size_t{100}, 0), Read(100));
    OnInstanceReceived(pair_.GetServer(), PIECE);
    EXPECT_EQ(std::make_pair(std::size_t{PIECE - 100}, 0), Read(PIECE - 100));
    EXPECT_EQ(2 * PIECE * IngestBudget::COPIES, GetBudget().GetFigures().held);
  }


  TEST_F(IngestGateTest, WhatIsNotWatchedIsLetOn)
  {
    Install(true);
    TakeAll();
    EXPECT_TRUE(MayUpload(-1, 100 * PIECE));
    EXPECT_TRUE(MayUpload(pair_.GetClient(), 100 * PIECE));
    EXPECT_TRUE(MayRead(pair_.GetClient()));
    OnInstanceReceived(-1, PIECE);
    OnServed(-1);
    OnServed(pair_.GetClient());
    OnInstanceStored(-1);
  }
}
