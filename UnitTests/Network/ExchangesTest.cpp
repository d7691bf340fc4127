// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTracker.h"

#include "Ingest/PhaseText.h"
#include "Network/AskedServers.h"
#include "Network/Messages/DimseMessages.h"
#include "Network/TrackedConnections.h"
#include "Network/WrittenFiles.h"

#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    PeerAddress MakeAddress(std::uint16_t port)
    {
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(0x0a000001);
      return PeerAddress::From(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }

    // A piece of a TLS connection: 22 is a record of the handshake, 23 one of application data
    std::string MakeTlsRecord(char type, std::size_t size)
    {
      return std::string{type, 3, 3, 0, 0} + std::string(size, 'x');
    }

    // The connections of a server on which a test says what is read and written, and when
    class ExchangesTest : public TrackedConnections
    {
    protected:
      ExchangesTest()
      {
        AskedServers::OfThisThread() = {};  // what tests before this one have left on the thread
      }

      // An association that was asked for at 0 ms and accepted at 2 ms
      Connection& Accept()
      {
        Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(0));
        Read(*connection, MakeAssociateRequest("ORTHANC", "CT <1>"), 1);
        Write(*connection, MakePdu(2, std::string(100, '\0')), 2);
        return *connection;
      }

      // As Accept, asked for an instance by C-GET at 10 ms, which is sent from 20 to 23 ms
      Connection& AnswerCGet(const std::string& request = MakeStoreRequest("1.2.3.4"))
      {
        Connection& connection = Accept();
        Read(connection, MakeDimseCommand(0x0010), 10);  // C-GET-RQ
        Write(connection, request, 20);
        Write(connection, MakeDataSet(5000), 23);
        return connection;
      }

      // An association whose request came under TLS at 3 ms, and an instance over it at 5 ms
      Connection& ReceiveUnderTls()
      {
        Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(0));
        Read(*connection, MakeTlsRecord(22, 300), 1);
        Write(*connection, MakeTlsRecord(22, 1500), 2);
        Read(*connection, MakeTlsRecord(23, 200), 3);
        Write(*connection, MakeTlsRecord(23, 200), 4);
        Read(*connection, MakeTlsRecord(23, 10000), 5);
        return *connection;
      }

      // As Accept, asked for by Orthanc: connected at 5 ms, asked at 6 ms, accepted at 1006 ms
      Connection& Connect()
      {
        Connection* connection = tracker_.OnConnecting(FD, MakeAddress(104), At(0));
        tracker_.OnConnected(*connection, At(5));
        const std::string request = MakeAssociateRequest("PACS", "ORTHANC");
        Recognise(*connection, request, 6);
        Write(*connection, request, 6);
        Read(*connection, MakePdu(2, std::string(100, '\0')), 1006);
        return *connection;
      }

      // Of two that were sent, 1.2.3.4 and 1.2.3.5
      void ExpectOnlySecondIsStored()
      {
        ASSERT_EQ(2U, Drain().instances.size());
        EXPECT_EQ("the receiver sent no response", journal_.instances[0].reason);
        EXPECT_EQ(Outcome::Stored, journal_.instances[1].outcome);
      }

      // By which this side knows the calling side; empty: it is not open
      std::string GetCallingTitle() const
      {
        const std::vector<OpenAssociation> open = tracker_.ListOpen(At(0));
        return open.empty() ? "" : open.at(0).parties.callingTitle;
      }

      bool IsAccepted() const
      {
        return tracker_.ListOpen(At(0)).at(0).isAccepted;
      }
    };
  }

  TEST_F(ExchangesTest, TheCurrentMessageIsTheOneThatThisThreadHasRead)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 40);
    Read(connection, std::string(1000, 'x'), 47);

    const std::optional<Message> message = tracker_.GetCurrentMessage();
    ASSERT_TRUE(message);
    EXPECT_EQ(At(40), message->firstByte);
    EXPECT_EQ(At(47), message->lastByte);
    EXPECT_EQ(milliseconds(38), message->idle);
    EXPECT_TRUE(message->isDicom);
    EXPECT_EQ("CT <1>", message->peer.name);
    EXPECT_EQ("10.0.0.1", message->peer.address);

    std::thread([this] { EXPECT_FALSE(tracker_.GetCurrentMessage()); }).join();
  }

  // The thread may go on with a connection that is not watched, and another has that descriptor
  TEST_F(ExchangesTest, AConnectionThatIsClosedHasNoCurrentMessage)
  {
    Connection& connection = Accept();
    EXPECT_EQ(FD, tracker_.GetCurrentConnection());
    tracker_.OnClosing(connection, At(3));
    EXPECT_EQ(-1, tracker_.GetCurrentConnection());

    std::thread([this] { Accept(); }).join();
    EXPECT_FALSE(tracker_.GetCurrentMessage());
    EXPECT_EQ(-1, tracker_.GetCurrentConnection());
  }

  TEST_F(ExchangesTest, WhatIsStoredIsInTheIndexOnceItsFileIsClosed)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 40);
    const MessageId id = tracker_.GetCurrentMessage()->id;
    WrittenFiles& files = WrittenFiles::OfThisThread();

    tracker_.BeginStorage(At(45), 0);
    EXPECT_EQ(Phase::Storage, tracker_.GetStoringPhase(id));
    files.OnCreated(5, At(50));
    files.OnClosed(5, At(51));
    EXPECT_EQ(Phase::Index, tracker_.GetStoringPhase(id));

    tracker_.served = Served{true, false};
    tracker_.BeginStorage(At(45), 0);
    EXPECT_EQ(Phase::Commit, tracker_.GetStoringPhase(id));
    tracker_.TakeStorageWork();
  }

  // One that failed after the filter is never taken
  TEST_F(ExchangesTest, WithTheNextRequestTheThreadStoresItsInstanceNoMore)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 40);
    tracker_.served = Served{true, true};
    tracker_.BeginStorage(At(45), 0);
    EXPECT_TRUE(WrittenFiles::OfThisThread().IsFollowing());
    EXPECT_TRUE(AskedServers::OfThisThread().IsFollowing());

    Write(connection, MakeStoreResponse(0), 50);
    Read(connection, MakeDimseCommand(1), 60);
    EXPECT_FALSE(WrittenFiles::OfThisThread().IsFollowing());
    EXPECT_FALSE(AskedServers::OfThisThread().IsFollowing());
  }

  TEST_F(ExchangesTest, AnHttpRequestHasNoPeerName)
  {
    Connection* connection = tracker_.OnAccepted(FD, 8042, MakeAddress(1234), At(0));
    Read(*connection, "POST /instances HTTP/1.1\r\n", 3);
    const std::optional<Message> message = tracker_.GetCurrentMessage();
    ASSERT_TRUE(message);
    EXPECT_FALSE(message->isDicom);
    EXPECT_EQ("", message->peer.name);
    EXPECT_FALSE(message->idle);
  }

  // As it comes in pieces, and is not served before it is whole
  TEST_F(ExchangesTest, TheHeaderOfEachRequestBeginsIt)
  {
    Connection& connection = *tracker_.OnAccepted(FD, 8042, MakeAddress(1234), At(0));

    for (const int at : {1, 51})
    {
      Read(connection, "POST /instances", at);
      tracker_.OnWaited(connection, At(at), At(at + 30));
      Read(connection, " HTTP/1.1\r\n", at + 30);
      tracker_.OnServed(connection, false);
      EXPECT_EQ(At(at), tracker_.GetCurrentMessage()->firstByte);
      EXPECT_EQ(1U, tracker_.GetCurrentMessage()->stalls.count);
      Write(connection, "HTTP/1.1 200 OK\r\n", at + 42);
    }

    EXPECT_EQ(milliseconds(8), tracker_.GetCurrentMessage()->idle);
  }

  // CivetWeb reads what it does not want, and keeps the connection; Orthanc itself or Lua may
  // refuse a request after the plugin has served it
  TEST_F(ExchangesTest, TheBodyOfARefusedRequestIsNoPartOfTheNextOne)
  {
    const std::string header = "POST /instances HTTP/1.1\r\n";

    for (const bool isServed : {false, true})
    {
      Connection& connection = *tracker_.OnAccepted(FD, 8042, MakeAddress(1234), At(0));
      Read(connection, isServed ? header : header + std::string(16000, 'x'), 1);

      if (isServed)
      {
        tracker_.OnServed(connection, false);
      }

      Write(connection, isServed ? "HTTP/1.1 403 Forbidden\r\n" : "HTTP/1.1 401 Unauthorized\r\n",
            2);
      Read(connection, std::string(500000, 'x'), 12);
      tracker_.OnWaited(connection, At(12), At(412));
      Read(connection, header, 412);
      tracker_.OnServed(connection, false);
      tracker_.OnWaited(connection, At(413), At(443));
      Read(connection, std::string(500000, 'x'), 443);

      const std::optional<Message> message = tracker_.GetCurrentMessage();
      ASSERT_TRUE(message);
      EXPECT_EQ(At(412), message->firstByte);
      EXPECT_EQ(At(443), message->lastByte);
      EXPECT_EQ(milliseconds(410), message->idle);
      EXPECT_EQ(1U, message->stalls.count);
      EXPECT_EQ(milliseconds(30), message->stalls.time);
      tracker_.OnClosing(connection, At(500));
    }
  }

  TEST_F(ExchangesTest, TheResponseIsRememberedForAWhile)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 10);
    const MessageId id = tracker_.GetCurrentMessage()->id;
    EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);

    // As DCMTK writes it
    const std::string response = MakeStoreResponse(0xa700);
    Write(connection, response.substr(0, 12), 20);
    EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);
    Write(connection, response.substr(12), 21);
    EXPECT_EQ(Response::State::Written, tracker_.GetResponse(id).state);
    EXPECT_EQ(At(21), tracker_.GetResponse(id).lastByte);
    EXPECT_EQ(0xa700, tracker_.GetResponse(id).status);

    for (int i = 0; i < 7; i++)
    {
      Read(connection, MakeDimseCommand(1), 30 + 2 * i);
      EXPECT_EQ(At(21), tracker_.GetResponse(id).lastByte);
      EXPECT_EQ(0xa700, tracker_.GetResponse(id).status);
      Write(connection, MakeStoreResponse(0), 31 + 2 * i);
    }

    Read(connection, MakeDimseCommand(1), 50);
    EXPECT_EQ(Response::State::Gone, tracker_.GetResponse(id).state);
  }

  TEST_F(ExchangesTest, TheStatusOfAnHttpResponseIsThatOfItsFirstLine)
  {
    const auto read = [this](const std::string& answer) -> std::optional<std::uint16_t>
    {
      Connection* connection = tracker_.OnAccepted(FD, 8042, MakeAddress(1234), At(0));
      Read(*connection, "POST /instances HTTP/1.1\r\n", 3);
      const MessageId id = tracker_.GetCurrentMessage()->id;
      Write(*connection, "HTTP/1.1 100 Continue\r\n\r\n", 4);
      EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);
      Write(*connection, answer, 5);
      Write(*connection, "HTTP/1.1 507 in the body", 6);
      const Response response = tracker_.GetResponse(id);
      EXPECT_EQ(At(6), response.lastByte);
      EXPECT_FALSE(response.isClosed);
      tracker_.OnClosing(*connection, At(7));
      EXPECT_TRUE(tracker_.GetResponse(id).isClosed);
      return response.status;
    };

    EXPECT_EQ(200, read("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(400, read("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_FALSE(read("HTTP/1.1 x00 OK\r\n"));
    EXPECT_FALSE(read("no answer"));
  }

  // Orthanc refuses it before it asks any plugin
  TEST_F(ExchangesTest, ACStoreThatNobodyHasClaimedIsWhatItsResponseSays)
  {
    const auto receive = [this](const std::string& answer, bool isClaimed = false)
    {
      Connection& connection = Accept();
      Read(connection, MakeDimseCommand(1), 10);
      Read(connection, MakeDataSet(5000), 17);

      if (isClaimed)
      {
        tracker_.ClaimMessage();
      }

      Write(connection, answer, 20);
      Write(connection, MakeDataSet(10), 21);  // told once
      Drain();
      tracker_.OnClosing(connection, At(30));
      return std::exchange(journal_.instances, {});
    };

    const std::vector<FinishedInstance> failed = receive(MakeStoreResponse(0xc000));
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ(Direction::Receive, failed[0].direction);
    EXPECT_EQ(Origin::DicomProtocol, failed[0].origin);
    EXPECT_EQ(Outcome::Failed, failed[0].outcome);
    EXPECT_EQ("Orthanc answered 0xC000: it cannot read the data set", failed[0].reason);
    EXPECT_EQ("CT <1>", failed[0].peer.name);
    EXPECT_EQ("10.0.0.1", failed[0].peer.address);
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), failed[0].size);
    EXPECT_EQ(milliseconds(7), failed[0].phases.Get(Phase::Receive));
    EXPECT_EQ(milliseconds(3), failed[0].phases.Get(Phase::Parse));
    EXPECT_EQ("", failed[0].instanceId);
    EXPECT_FALSE(failed[0].isOwnFailure);

    EXPECT_EQ(Outcome::Failed, receive(MakeStoreResponse(0xa700)).at(0).outcome);
    EXPECT_EQ(Outcome::Discarded, receive(MakeStoreResponse(0)).at(0).outcome);
    EXPECT_TRUE(receive(MakeStoreResponse(0xa700), true).empty());
  }

  // The DICOMweb plugin shows Orthanc only what it can read itself
  TEST_F(ExchangesTest, AStowRequestThatIsAnsweredBy400HasAnUnreadableInstance)
  {
    const std::string header = "POST /dicom-web/studies HTTP/1.1\r\n";
    const auto receive = [&](bool isStow, const std::string& status)
    {
      Connection& connection = *tracker_.OnAccepted(FD, 8042, MakeAddress(1234), At(0));
      Read(connection, header, 10);
      tracker_.OnServed(connection, isStow);
      Write(connection, "HTTP/1.1 100 Continue\r\n\r\n", 11);
      Read(connection, std::string(500, 'x'), 14);
      tracker_.ClaimMessage();  // another part
      Write(connection, "HTTP/1.1 " + status, 20);
      Write(connection, "HTTP/1.1 400 in the body", 21);

      // CivetWeb answers it, and asks no filter
      Read(connection, "no HTTP", 30);
      Write(connection, "HTTP/1.1 400 Bad Request\r\n", 31);
      tracker_.OnClosing(connection, At(40));
      Drain();
      return std::exchange(journal_.instances, {});
    };

    const std::vector<FinishedInstance> failed = receive(true, "400 Bad Request\r\n");
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ(Direction::Receive, failed[0].direction);
    EXPECT_EQ(Origin::Plugin, failed[0].origin);
    EXPECT_EQ(Outcome::Failed, failed[0].outcome);
    EXPECT_EQ("Orthanc answered 400: it cannot read what was uploaded", failed[0].reason);
    EXPECT_EQ("10.0.0.1", failed[0].peer.name);
    EXPECT_EQ(header.size() + 500, failed[0].size);
    EXPECT_FALSE(failed[0].isOwnFailure);
    EXPECT_TRUE(receive(true, "200 OK\r\n").empty());
    EXPECT_TRUE(receive(true, "409 Conflict\r\n").empty());
    EXPECT_TRUE(receive(false, "400 Bad Request\r\n").empty());
  }

  TEST_F(ExchangesTest, ACStoreThatOrthancDoesNotAnswerIsToldOnceItsAssociationIsOver)
  {
    const std::string abort = MakePdu(7, std::string(4, '\0'));
    const auto receive = [this](const std::string& data, const auto& end)
    {
      Connection& connection = Accept();
      Read(connection, MakeDimseCommand(1), 10);
      Read(connection, data, 17);
      end(connection);
      tracker_.OnClosing(connection, At(90));
      Drain();
      EXPECT_EQ(0U, journal_.associations.back().instances);
      return std::exchange(journal_.instances, {});
    };

    // It cannot parse it, and does nothing; the sender loses patience
    const auto failed =
        receive(MakeDataSet(500), [&](Connection& connection) { Read(connection, abort, 80); });
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ(Outcome::Failed, failed[0].outcome);
    EXPECT_EQ("Orthanc did not answer: it cannot read the data set", failed[0].reason);

    // It breaks off in its middle
    const std::string part = MakeDataPdu(0, std::string(500, 'x'));
    EXPECT_EQ(1U,
              receive(part, [&](Connection& connection) { Write(connection, abort, 18); }).size());

    // So it does where the sender stalls, or is gone; or the sender itself does
    EXPECT_TRUE(receive(part,
                        [&](Connection& connection)
                        {
                          tracker_.OnWaited(connection, At(17), At(60));
                          Write(connection, abort, 60);
                        })
                    .empty());
    EXPECT_TRUE(receive(part,
                        [&](Connection& connection)
                        {
                          connection.isPeerGone = true;
                          Write(connection, abort, 18);
                        })
                    .empty());
    EXPECT_TRUE(
        receive(part, [&](Connection& connection) { Read(connection, abort, 80); }).empty());

    // Of what was claimed, the ingest tells
    EXPECT_TRUE(
        receive(MakeDataSet(500), [this](Connection&) { tracker_.ClaimMessage(); }).empty());
  }

  TEST_F(ExchangesTest, AfterItsConnectionWasClosedAMessageIsNoLongerWaitedFor)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 40);
    const MessageId id = tracker_.GetCurrentMessage()->id;
    EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);
    tracker_.OnClosing(connection, At(60));
    EXPECT_EQ(Response::State::Gone, tracker_.GetResponse(id).state);

    Connection& next = Accept();
    Read(next, MakeDimseCommand(1), 140);
    EXPECT_EQ(Response::State::Pending,
              tracker_.GetResponse(tracker_.GetCurrentMessage()->id).state);
  }

  TEST_F(ExchangesTest, AnAcceptedAssociationIsPublishedWhenItIsOver)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 10);
    tracker_.ClaimMessage();
    Write(connection, MakeStoreResponse(0), 20);
    Read(connection, MakeDimseCommand(0x30), 30);  // C-ECHO-RQ
    Write(connection, MakeStoreResponse(0), 31);
    Read(connection, MakePdu(5, std::string(4, '\0')), 40);
    Write(connection, MakePdu(6, std::string(4, '\0')), 41);
    EXPECT_EQ("CT <1>", GetCallingTitle());
    tracker_.OnClosing(connection, At(50));

    ASSERT_EQ(1U, Drain().associations.size());
    const FinishedAssociation& association = journal_.associations.front();
    EXPECT_EQ(Direction::Receive, association.direction);
    EXPECT_EQ(AssociationOutcome::Released, association.outcome);
    EXPECT_TRUE(association.isAccepted);
    EXPECT_EQ("CT <1>", association.peer.name);
    EXPECT_EQ("ORTHANC", association.parties.calledTitle);
    EXPECT_EQ(milliseconds(2), association.setup);
    EXPECT_FALSE(association.connect);
    EXPECT_EQ(milliseconds(50), association.length);
    EXPECT_EQ(1U, association.instances);
    EXPECT_TRUE(journal_.instances.empty());
    EXPECT_EQ("", GetCallingTitle());
  }

  TEST_F(ExchangesTest, ARejectedAssociationIsNotAcceptedHoweverItEnds)
  {
    for (const char type : {'\0', '\5', '\7'})  // nothing more, A-RELEASE-RQ, A-ABORT
    {
      Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(0));
      Read(*connection, MakeAssociateRequest("ORTHANC", "STRANGER"), 1);
      Write(*connection, MakePdu(3, std::string(4, '\0')), 2);
      Read(*connection, type == '\0' ? "" : MakePdu(type, std::string(4, '\0')), 3);
      EXPECT_FALSE(IsAccepted());
      tracker_.OnClosing(*connection, At(4));
      EXPECT_FALSE(Drain().associations.back().isAccepted);
    }
  }

  TEST_F(ExchangesTest, AnInstanceThatItsSenderBreaksOffIsNotOneOfTheAssociation)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 10);
    tracker_.OnClosing(connection, At(20));

    ASSERT_EQ(1U, Drain().associations.size());
    EXPECT_EQ(AssociationOutcome::Lost, journal_.associations[0].outcome);
    EXPECT_EQ(0U, journal_.associations[0].instances);
  }

  TEST(Exchanges, WhatAThreadReadForAnEarlierTrackerIsNoMessageOfThisOne)
  {
    // As when Orthanc loads its plugins anew; the same memory, as it may be
    auto tracker = std::make_unique<ConnectionTracker>();
    tracker->places = {4242, 0};
    Connection* connection = tracker->OnAccepted(5, 4242, MakeAddress(1), TimePoint());
    const std::uint8_t byte = 4;
    tracker->OnRead(*connection, &byte, 1, TimePoint());
    EXPECT_TRUE(tracker->GetCurrentMessage().has_value());

    tracker.reset();
    tracker = std::make_unique<ConnectionTracker>();
    EXPECT_FALSE(tracker->GetCurrentMessage().has_value());
  }

  TEST_F(ExchangesTest, AConnectionThatAsksForNothingIsIncomplete)
  {
    Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(0));
    tracker_.OnClosing(*connection, At(9));
    ASSERT_EQ(1U, Drain().associations.size());
    EXPECT_EQ(AssociationOutcome::Incomplete, journal_.associations.front().outcome);
    EXPECT_EQ("", journal_.associations.front().peer.name);
    EXPECT_FALSE(journal_.associations.front().setup);
  }

  TEST_F(ExchangesTest, WhatOrthancSendsHasItsOwnPhases)
  {
    Connection& connection = Connect();
    const std::string response = MakeStoreResponse(0);

    Write(connection, MakeDimseCommand(1), 1010);
    Write(connection, MakeDataSet(5000), 1013);
    Read(connection, response.substr(0, 12), 1020);
    Read(connection, response.substr(12), 1021);

    Write(connection, MakeDimseCommand(1), 1031);
    tracker_.OnWaited(connection, At(1031), At(1071));  // the receiver thinks
    Read(connection, response.substr(0, 12), 1071);
    tracker_.OnWaited(connection, At(1071), At(1111));
    Read(connection, response.substr(12), 1111);
    tracker_.OnClosing(connection, At(1120));

    ASSERT_EQ(2U, Drain().instances.size());
    const FinishedInstance& first = journal_.instances[0];
    EXPECT_EQ(Direction::Send, first.direction);
    EXPECT_EQ(Outcome::Stored, first.outcome);
    EXPECT_EQ("PACS", first.peer.name);
    EXPECT_EQ("idle 4, connect 5, associate 1000, send 3, wait 8 = 1016", ToText(first.phases));
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), first.size);

    const FinishedInstance& second = journal_.instances[1];
    EXPECT_EQ("idle 10, send 0, wait 80 = 80", ToText(second.phases));
    EXPECT_EQ(1U, second.stalls);
    EXPECT_EQ(milliseconds(40), second.stallTime);

    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(2U, journal_.associations.front().instances);
    EXPECT_EQ(milliseconds(5), journal_.associations.front().connect);
    EXPECT_FALSE(tracker_.GetCurrentMessage());
  }

  TEST_F(ExchangesTest, WhatTheReceiverRefusesHasFailedForTheReasonThatItGives)
  {
    Connection& connection = Connect();

    for (const std::uint16_t status : {0x0000, 0xb007, 0x0111, 0xa700, 0xc123, 0x0122, 0x0999})
    {
      Write(connection, MakeStoreRequest("1.2.3.4"), 1010);
      Write(connection, MakeDataSet(5000), 1011);
      Read(connection, MakeStoreResponse(status), 1020);
    }

    tracker_.OnClosing(connection, At(1080));
    std::vector<std::string> reasons;

    for (const FinishedInstance& instance : Drain().instances)
    {
      EXPECT_EQ(instance.reason.empty() ? Outcome::Stored : Outcome::Failed, instance.outcome);
      reasons.push_back(instance.reason);
    }

    const std::vector<std::string> expected = {
        "",
        "",
        "",
        "the receiver answered 0xA700: out of resources",
        "the receiver answered 0xC123: the receiver cannot understand it",
        "the receiver answered 0x0122: SOP class not supported",
        "the receiver answered 0x0999"};
    EXPECT_EQ(expected, reasons);
  }

  TEST_F(ExchangesTest, WhatIsNotAnsweredHasFailed)
  {
    const auto send = [this](const std::string& answer)
    {
      Connection& connection = Connect();
      Write(connection, MakeStoreRequest("1.2.3.4"), 1010);
      Read(connection, answer, 1020);
      tracker_.OnClosing(connection, At(1080));
      const FinishedInstance sent = Drain().instances.back();
      EXPECT_EQ(Outcome::Failed, sent.outcome);
      EXPECT_FALSE(sent.phases.Get(Phase::Wait));
      return sent.reason;
    };

    EXPECT_EQ("the association was aborted before the response",
              send(MakePdu(7, std::string(4, '\0'))));
    EXPECT_EQ("the receiver sent no response", send(MakePdu(5, std::string(4, '\0'))));
    EXPECT_EQ("the connection was closed before the response", send(""));
    EXPECT_EQ(3U, journal_.instances.size());
  }

  TEST_F(ExchangesTest, WhatAPeerFetchesByCGetIsSentToIt)
  {
    Connection& connection = AnswerCGet(MakeDimseCommand(1));
    tracker_.OnWaited(connection, At(23), At(83));    // the peer thinks
    Read(connection, MakeDimseCommand(0x8001), 83);   // C-STORE-RSP
    Write(connection, MakeDimseCommand(0x8010), 84);  // C-GET-RSP, pending
    Write(connection, MakeDimseCommand(1), 85);
    Write(connection, MakeDataSet(5000), 86);
    connection.heldBackSince = At(86);
    tracker_.OnWaited(connection, At(86), At(186));
    tracker_.OnLetGo(connection, At(126));
    Read(connection, MakeDimseCommand(0x8001), 186);
    Write(connection, MakeDimseCommand(0x8010), 187);  // C-GET-RSP
    Read(connection, MakePdu(5, std::string(4, '\0')), 190);
    tracker_.OnClosing(connection, At(200));

    ASSERT_EQ(2U, Drain().instances.size());
    const FinishedInstance& first = journal_.instances[0];
    EXPECT_EQ(Direction::Send, first.direction);
    EXPECT_EQ(Outcome::Stored, first.outcome);
    EXPECT_EQ("CT <1>", first.peer.name);
    EXPECT_EQ("send 3, wait 60 = 63", ToText(first.phases));
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), first.size);
    EXPECT_EQ(0U, first.stalls);

    EXPECT_EQ(1U, journal_.instances[1].stalls);
    EXPECT_EQ(milliseconds(40), journal_.instances[1].stallTime);
    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(2U, journal_.associations.front().instances);
  }

  TEST_F(ExchangesTest, WhatIsFetchedByCGetHasFailedAsThePeerSays)
  {
    const auto fetch = [this](const std::string& answer, const std::string& behind = "")
    {
      Connection& connection = AnswerCGet();

      if (!answer.empty())
      {
        Read(connection, answer, 83);
      }

      if (!behind.empty())
      {
        Read(connection, behind, 84);
      }

      connection.isPeerGone = true;
      Write(connection, MakePdu(7, std::string(4, '\0')), 90);
      tracker_.OnClosing(connection, At(100));
      const FinishedInstance sent = Drain().instances.back();
      EXPECT_EQ(milliseconds(3), sent.phases.Get(Phase::Send));
      EXPECT_EQ(1U, journal_.associations.back().instances);
      return sent.reason;
    };

    EXPECT_EQ("", fetch(MakeStoreResponse(0)));
    EXPECT_EQ("the receiver answered 0xA700: out of resources", fetch(MakeStoreResponse(0xa700)));
    const std::string cancel = MakeDimseCommand(0x0fff);
    EXPECT_EQ("", fetch(cancel, MakeStoreResponse(0)));
    EXPECT_EQ("the receiver answered 0xA700: out of resources",
              fetch(cancel, MakeStoreResponse(0xa700)));
    EXPECT_EQ("the connection was closed before the response", fetch(cancel));
    EXPECT_EQ("the association was aborted before the response",
              fetch(MakePdu(7, std::string(4, '\0'))));
    EXPECT_EQ("the receiver sent no response", fetch(MakePdu(5, std::string(4, '\0'))));
    EXPECT_EQ("the connection was closed before the response", fetch(""));
    EXPECT_EQ(8U, journal_.instances.size());
  }

  // Orthanc has lost patience, and goes on
  TEST_F(ExchangesTest, WhatIsSentWithoutAnAnswerHasFailedOnceTheNextIsSent)
  {
    Connection& fetched = AnswerCGet();
    Write(fetched, MakeDimseCommand(0x8010), 1023);  // C-GET-RSP, pending
    Write(fetched, MakeStoreRequest("1.2.3.5"), 1024);
    Write(fetched, MakeDataSet(5000), 1025);
    Read(fetched, MakeStoreResponse(0), 1030);
    Write(fetched, MakeDimseCommand(0x8010), 1031);
    tracker_.OnClosing(fetched, At(1040));
    ASSERT_NO_FATAL_FAILURE(ExpectOnlySecondIsStored());
    EXPECT_EQ(2U, journal_.associations.front().instances);

    journal_.instances.clear();
    Connection& connection = Connect();
    Write(connection, MakeStoreRequest("1.2.3.4"), 1010);
    Write(connection, MakeDataSet(5000), 1011);
    Write(connection, MakeStoreRequest("1.2.3.5"), 2010);
    Write(connection, MakeDataSet(4000), 2011);
    Read(connection, MakeStoreResponse(0), 2020);
    tracker_.OnClosing(connection, At(2080));
    ASSERT_NO_FATAL_FAILURE(ExpectOnlySecondIsStored());
    EXPECT_EQ(MakeStoreRequest("1.2.3.5").size() + MakeDataSet(4000).size(),
              journal_.instances[1].size);
  }

  // As DCMTK takes it: it waits for that of the second
  TEST_F(ExchangesTest, ALateAnswerIsNotThatOfTheNextInstance)
  {
    Connection& connection = Connect();
    Write(connection, MakeStoreRequest("1.2.3.4", 7), 1010);
    Write(connection, MakeDataSet(5000), 1011);
    Write(connection, MakeStoreRequest("1.2.3.5", 8), 2010);
    Write(connection, MakeDataSet(4000), 2011);
    Read(connection, MakeStoreResponse(0xa700, 7), 2020);
    Write(connection, MakeStoreRequest("1.2.3.6", 9), 2030);
    Write(connection, MakeDataSet(4000), 2031);
    Read(connection, MakeStoreResponse(0, 9), 2040);
    tracker_.OnClosing(connection, At(2080));

    ASSERT_EQ(3U, Drain().instances.size());
    EXPECT_EQ(Outcome::Failed, journal_.instances[1].outcome);
    EXPECT_FALSE(journal_.instances[1].phases.Get(Phase::Wait));
    EXPECT_EQ(Outcome::Stored, journal_.instances[2].outcome);
  }

  TEST_F(ExchangesTest, ACommandThatASmallPduDividesIsOne)
  {
    Connection& connection = Connect();
    const auto [first, second] = SplitCommand(MakeStoreRequest("1.2.3.4"));
    Write(connection, first, 1010);
    Write(connection, second, 1011);
    Write(connection, MakeDataSet(5000), 1012);
    Read(connection, MakeStoreResponse(0), 1020);
    tracker_.OnClosing(connection, At(1080));

    ASSERT_EQ(1U, Drain().instances.size());
    EXPECT_EQ(Outcome::Stored, journal_.instances.front().outcome);
  }

  TEST_F(ExchangesTest, ADescriptorThatIsUsedAgainForgetsWhoHadIt)
  {
    tracker_.OnClosing(Accept(), At(50));
    Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(60));
    Read(*connection, "x", 61);
    EXPECT_EQ("", tracker_.GetCurrentMessage()->peer.name);
    EXPECT_FALSE(tracker_.GetCurrentMessage()->idle);
  }

  TEST_F(ExchangesTest, UnderTlsALargeAssociateRequestIsNoInstance)
  {
    tracker_.events.SetDestinations({{"PACS", HashHost("pacs"), 2762, true, false}});
    Connection* connection = tracker_.OnConnecting(FD, MakeAddress(2762), At(0));
    tracker_.OnConnected(*connection, At(1));
    const std::string hello = MakeTlsRecord(22, 300);
    ASSERT_TRUE(Recognise(*connection, hello, 2));
    Write(*connection, hello, 2);
    Read(*connection, MakeTlsRecord(22, 1500), 3);
    Write(*connection, MakeTlsRecord(22, 6000), 4);
    Read(*connection, MakeTlsRecord(22, 50), 5);
    Write(*connection, MakeTlsRecord(23, 10000), 6);
    Read(*connection, MakeTlsRecord(23, 4000), 16);
    Write(*connection, MakeTlsRecord(23, 5000), 20);
    Read(*connection, MakeTlsRecord(23, 150), 27);
    tracker_.OnClosing(*connection, At(30));

    ASSERT_EQ(1U, Drain().instances.size());
    const FinishedInstance& instance = journal_.instances.front();
    EXPECT_EQ("idle 4, connect 1, associate 10, send 0, wait 7 = 18", ToText(instance.phases));
    EXPECT_EQ("10.0.0.1", instance.peer.name);

    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(AssociationOutcome::Encrypted, journal_.associations.front().outcome);
    EXPECT_EQ(milliseconds(16), journal_.associations.front().setup);
    EXPECT_EQ(1U, journal_.associations.front().instances);
    EXPECT_EQ("10.0.0.1", journal_.associations.front().peer.name);
  }

  // Anyone may send a ClientHello, also to a port without TLS. Nobody claims what its sender broke
  // off. What ends it looks like an answer: an A-ABORT.
  TEST_F(ExchangesTest, UnderTlsAnAssociationIsAcceptedAndHasAnInstanceOnceThatIsClaimed)
  {
    for (const bool isClaimed : {false, true})
    {
      Connection& connection = ReceiveUnderTls();

      if (isClaimed)
      {
        tracker_.ClaimMessage();
      }

      EXPECT_EQ(isClaimed, IsAccepted());
      Write(connection, MakeTlsRecord(23, 120), 6);
      tracker_.OnClosing(connection, At(7));
      EXPECT_EQ(isClaimed, Drain().associations.back().isAccepted);
      EXPECT_EQ(isClaimed ? 1U : 0U, journal_.associations.back().instances);
    }
  }

  TEST_F(ExchangesTest, UnderTlsAnAssociationHasTheTitleThatOrthancTellsOfItsInstance)
  {
    Connection& connection = ReceiveUnderTls();
    EXPECT_EQ("", GetCallingTitle());

    tracker_.NameRequestor("CT_ROOM_1");
    EXPECT_EQ("CT_ROOM_1", GetCallingTitle());
    EXPECT_EQ("CT_ROOM_1", tracker_.GetCurrentMessage()->peer.name);

    Write(connection, MakeTlsRecord(23, 100), 6);
    tracker_.OnClosing(connection, At(7));
    Drain();
    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(AssociationOutcome::Encrypted, journal_.associations.front().outcome);
    EXPECT_EQ("CT_ROOM_1", journal_.associations.front().peer.name);
    EXPECT_EQ("10.0.0.1", journal_.associations.front().peer.address);
    EXPECT_EQ("", GetCallingTitle());
  }

  TEST_F(ExchangesTest, TheTitleThatWasReadCounts)
  {
    Read(Accept(), MakeDimseCommand(1), 40);
    tracker_.NameRequestor("ANOTHER");
    EXPECT_EQ("CT <1>", GetCallingTitle());
    EXPECT_EQ("ORTHANC", tracker_.ListOpen(At(0)).at(0).parties.calledTitle);
  }

  namespace
  {
    // An Orthanc peer, called at 0 ms, connected at 5 ms
    class PeerTest : public ExchangesTest
    {
    protected:
      PeerTest()
      {
        tracker_.events.SetDestinations(
            {{"cloud", HashHost(MakeAddress(0).ToString()), 8043, false, true}});
        connection_ = tracker_.OnConnecting(FD, MakeAddress(8043), At(0));
        tracker_.OnConnected(*connection_, At(5));
      }

      // Orthanc sends, and waits for the answer
      void Request(const std::string& bytes, int at)
      {
        if (connection_->kind == ConnectionKind::OutgoingCandidate)
        {
          ASSERT_TRUE(Recognise(*connection_, bytes, at));
        }

        Write(*connection_, bytes, at);
        connection_->isAwaited = true;
      }

      AssociationOutcome Close(int at)
      {
        tracker_.OnClosing(*connection_, At(at));
        return Drain().associations.at(0).outcome;
      }

      Connection* connection_;
    };

    const std::string UPLOAD = "POST /orthanc/instances HTTP/1.1\r\n\r\n" + std::string(5000, 'x');
    const std::string OK = "HTTP/1.1 200 OK\r\n\r\n";
  }

  TEST_F(PeerTest, GetsInstancesWithTheirPhases)
  {
    Request(UPLOAD, 6);
    Write(*connection_, "rest", 8);
    Read(*connection_, OK, 20);
    Request(UPLOAD, 30);
    Read(*connection_, "HTTP/1.1 401 Unauthorized\r\n\r\n", 33);
    EXPECT_EQ(AssociationOutcome::Rejected, Close(40));

    ASSERT_EQ(2U, journal_.instances.size());
    const FinishedInstance& first = journal_.instances[0];
    EXPECT_EQ("cloud", first.peer.name);
    EXPECT_EQ(Direction::Send, first.direction);
    EXPECT_EQ(Outcome::Stored, first.outcome);
    EXPECT_EQ(UPLOAD.size() + 4, first.size);
    EXPECT_EQ("connect 5, send 2, wait 12 = 19", ToText(first.phases));
    const FinishedInstance& second = journal_.instances[1];
    EXPECT_EQ(Outcome::Failed, second.outcome);
    EXPECT_EQ("the peer answered HTTP status 401", second.reason);
    EXPECT_EQ(milliseconds(10), second.phases.Get(Phase::Idle));
    EXPECT_EQ("cloud", journal_.associations[0].peer.name);
    EXPECT_EQ("HTTP status 401", journal_.associations[0].rejection);
    EXPECT_EQ(2U, journal_.associations[0].instances);
  }

  TEST_F(PeerTest, IsAskedForOtherThingsThatAreNoInstances)
  {
    Request("GET /system HTTP/1.1\r\n\r\n", 6);
    Read(*connection_, OK, 9);
    EXPECT_EQ(AssociationOutcome::Released, Close(10));
    EXPECT_TRUE(journal_.instances.empty());
    EXPECT_TRUE(journal_.associations[0].setup.has_value());
  }

  TEST_F(PeerTest, SendsInterimResponses)
  {
    Request("POST /instances HTTP/1.1\r\n\r\n", 6);
    Read(*connection_, "HTTP/1.1 100 Continue\r\n\r\n", 7);
    Write(*connection_, std::string(5000, 'x'), 8);
    Read(*connection_, OK, 9);
    EXPECT_EQ(AssociationOutcome::Released, Close(10));
    EXPECT_EQ(1U, journal_.instances.size());
  }

  TEST_F(PeerTest, DoesNotAnswer)
  {
    Request(UPLOAD, 6);
    EXPECT_EQ(AssociationOutcome::TimedOut, Close(1000));
    EXPECT_EQ(Outcome::Failed, journal_.instances.at(0).outcome);
    EXPECT_FALSE(journal_.associations[0].setup.has_value());
  }

  TEST_F(PeerTest, ClosesTheConnection)
  {
    Request(UPLOAD, 6);
    connection_->isPeerGone = true;
    EXPECT_EQ(AssociationOutcome::Lost, Close(8));
  }

  TEST_F(PeerTest, UnderTlsWritesTicketsWhileOrthancSends)
  {
    Request(MakeTlsRecord(22, 500), 6);
    Read(*connection_, MakeTlsRecord(22, 1500), 8);
    Write(*connection_, MakeTlsRecord(20, 80), 9);
    Write(*connection_, MakeTlsRecord(23, 16000), 10);
    connection_->isAwaited = true;  // libcurl lists both
    connection_->isAwaited = false;
    Read(*connection_, MakeTlsRecord(23, 250), 11);
    Request(MakeTlsRecord(23, 9000), 12);
    Read(*connection_, MakeTlsRecord(23, 500), 20);
    Request(MakeTlsRecord(23, 9000), 30);
    Read(*connection_, MakeTlsRecord(23, 500), 40);
    Write(*connection_, MakeTlsRecord(23, 19), 41);  // close_notify
    EXPECT_EQ(AssociationOutcome::Encrypted, Close(41));

    ASSERT_EQ(2U, journal_.instances.size());
    EXPECT_EQ("idle 2, connect 10, send 2, wait 8 = 20", ToText(journal_.instances[0].phases));
    EXPECT_EQ(Outcome::Stored, journal_.instances[1].outcome);
  }

  TEST_F(PeerTest, RejectsTheHandshake)
  {
    Request(MakeTlsRecord(22, 500), 6);
    Read(*connection_, MakeTlsRecord(21, 2), 8);
    EXPECT_EQ(AssociationOutcome::TlsFailed, Close(9));
  }

  TEST_F(PeerTest, DoesNotAnswerTheHandshake)
  {
    Request(MakeTlsRecord(22, 500), 6);
    EXPECT_EQ(AssociationOutcome::TimedOut, Close(1000));
  }

  // Of a pool: a job has connected, and a thread that stores an instance asks over it
  TEST_F(PeerTest, HasAPortThatAnObjectStorageHasToo)
  {
    Request(UPLOAD, 6);
    Read(*connection_, OK, 9);
    AskedServers::OfThisThread().Begin({true, false}, At(10));
    EXPECT_FALSE(Recognise(*connection_, UPLOAD, 11));
    EXPECT_EQ(ConnectionKind::None, connection_->kind);
  }

  TEST_F(PeerTest, HasAPortThatAnotherServerHasToo)
  {
    tracker_.events.SetDestinations({{"cloud", HashHost("10.0.0.2"), 8043, false, true}});
    Request(UPLOAD, 6);
    Read(*connection_, OK, 9);
    tracker_.OnClosing(*connection_, At(10));
    EXPECT_TRUE(Drain().associations.empty());
    EXPECT_TRUE(journal_.instances.empty());
  }
}
