// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTracker.h"

#include "Ingest/PhaseText.h"
#include "Network/AskedServers.h"
#include "Network/Messages/DimseMessages.h"
#include "Network/TrackedConnections.h"
#include "Network/WrittenFiles.h"

#include <gtest/gtest.h>
#include <memory>
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

    // A piece of a TLS connection: 22 is a record of the handshake, 23 one of application data
    std::string MakeTlsRecord(char type, std::size_t size)
    {
      return std::string{type, 3, 3, 0, 0} + std::string(size, 'x');
    }

    const std::string ABORT = MakePdu(7, std::string(4, '\0'));
    const std::string RELEASE = MakePdu(5, std::string(4, '\0'));
    const std::string UPLOAD = "POST /orthanc/instances HTTP/1.1\r\n\r\n" + std::string(5000, 'x');
    const std::string OK = "HTTP/1.1 200 OK\r\n\r\n";

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
        Connection& connection = Open(4242);
        Read(connection, MakeAssociateRequest("ORTHANC", "CT <1>"), 1);
        Write(connection, MakePdu(2, std::string(100, '\0')), 2);
        return connection;
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
        Connection& connection = Open(4242);
        Read(connection, MakeTlsRecord(22, 300), 1);
        Write(connection, MakeTlsRecord(22, 1500), 2);
        Read(connection, MakeTlsRecord(23, 200), 3);
        Write(connection, MakeTlsRecord(23, 200), 4);
        Read(connection, MakeTlsRecord(23, 10000), 5);
        return connection;
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

      // The instances of a connection, which is over
      std::vector<FinishedInstance> Close(Connection& connection, int at)
      {
        tracker_.OnClosing(connection, At(at));
        return std::exchange(Drain().instances, {});
      }

      // A request to store, and a data set behind it
      void Store(Connection& connection, const std::string& request, int at)
      {
        Write(connection, request, at);
        Write(connection, MakeDataSet(5000), at + 1);
      }

      // By which this side knows the calling side; empty: it is not open
      std::string GetCallingTitle() const
      {
        const std::vector<OpenAssociation> open = tracker_.ListOpen(At(0));
        return open.empty() ? "" : open.at(0).parties.callingTitle;
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

  // An instance that failed after the filter is never taken
  TEST_F(ExchangesTest, WhatIsStoredIsInTheIndexOnceItsFileIsClosedUntilTheNextRequest)
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
    EXPECT_TRUE(files.IsFollowing());
    EXPECT_TRUE(AskedServers::OfThisThread().IsFollowing());

    Write(connection, MakeStoreResponse(0), 52);
    Read(connection, MakeDimseCommand(1), 60);
    EXPECT_FALSE(files.IsFollowing());
    EXPECT_FALSE(AskedServers::OfThisThread().IsFollowing());
  }

  // As it comes in pieces, and is not served before it is whole
  TEST_F(ExchangesTest, TheHeaderOfEachHttpRequestBeginsIt)
  {
    Connection& connection = Open(8042);

    for (const int at : {1, 51})
    {
      Read(connection, "POST /instances", at);
      EXPECT_EQ(at != 1, tracker_.GetCurrentMessage()->idle.has_value());
      tracker_.OnWaited(connection, At(at), At(at + 30));
      Read(connection, " HTTP/1.1\r\n", at + 30);
      tracker_.OnServed(connection, false);
      EXPECT_EQ(At(at), tracker_.GetCurrentMessage()->firstByte);
      EXPECT_EQ(1U, tracker_.GetCurrentMessage()->stalls.count);
      Write(connection, "HTTP/1.1 200 OK\r\n", at + 42);
    }

    EXPECT_EQ(milliseconds(8), tracker_.GetCurrentMessage()->idle);
    EXPECT_FALSE(tracker_.GetCurrentMessage()->isDicom);
    EXPECT_EQ("", tracker_.GetCurrentMessage()->peer.name);
  }

  // CivetWeb reads what it does not want, and keeps the connection; Orthanc itself or Lua may
  // refuse a request after the plugin has served it
  TEST_F(ExchangesTest, TheBodyOfARefusedRequestIsNoPartOfTheNextOne)
  {
    const std::string header = "POST /instances HTTP/1.1\r\n";

    for (const bool isServed : {false, true})
    {
      Connection& connection = Open(8042);
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
      Connection& connection = Open(8042);
      Read(connection, "POST /instances HTTP/1.1\r\n", 3);
      const MessageId id = tracker_.GetCurrentMessage()->id;
      Write(connection, "HTTP/1.1 100 Continue\r\n\r\n", 4);
      EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);
      Read(connection, "body", 5);
      EXPECT_EQ(id.serial, tracker_.GetCurrentMessage()->id.serial);
      Write(connection, answer, 5);
      Write(connection, "HTTP/1.1 507 in the body", 6);
      const Response response = tracker_.GetResponse(id);
      EXPECT_EQ(At(6), response.lastByte);
      EXPECT_FALSE(response.isClosed);
      tracker_.OnClosing(connection, At(7));
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
      return Close(connection, 30);
    };

    const std::vector<FinishedInstance> failed = receive(MakeStoreResponse(0xc000));
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ("receive failed, CT <1> 10.0.0.1: idle 8, receive 7, parse 3 = 10; "
              "Orthanc answered 0xC000: it cannot read the data set",
              ToText(failed[0]));
    EXPECT_EQ(Origin::DicomProtocol, failed[0].origin);
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), failed[0].size);
    EXPECT_EQ("", failed[0].instanceId);

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
      Connection& connection = Open(8042);
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
      return Close(connection, 40);
    };

    const std::vector<FinishedInstance> failed = receive(true, "400 Bad Request\r\n");
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ("receive failed, 10.0.0.1 10.0.0.1: receive 4, parse 6 = 10; "
              "Orthanc answered 400: it cannot read what was uploaded",
              ToText(failed[0]));
    EXPECT_EQ(Origin::Plugin, failed[0].origin);
    EXPECT_EQ(header.size() + 500, failed[0].size);
    EXPECT_TRUE(receive(true, "200 OK\r\n").empty());
    EXPECT_TRUE(receive(true, "409 Conflict\r\n").empty());
    EXPECT_TRUE(receive(false, "400 Bad Request\r\n").empty());
  }

  TEST_F(ExchangesTest, ACStoreThatOrthancDoesNotAnswerIsToldOnceItsAssociationIsOver)
  {
    const std::string part = MakeDataPdu(0, std::string(500, 'x'));
    const auto receive = [this](const std::string& data, const auto& end)
    {
      Connection& connection = Accept();
      Read(connection, MakeDimseCommand(1), 10);
      Read(connection, data, 17);
      end(connection);
      const std::vector<FinishedInstance> failed = Close(connection, 90);
      EXPECT_EQ(0U, journal_.associations.back().instances);
      return failed;
    };
    const auto abort = [this](Connection& connection)
    {
      Write(connection, ABORT, 60);
    };
    const auto readAbort = [this](Connection& connection)
    {
      Read(connection, ABORT, 80);
    };
    const auto stall = [&](Connection& connection)
    {
      tracker_.OnWaited(connection, At(17), At(60));
      abort(connection);
    };
    const auto vanish = [&](Connection& connection)
    {
      connection.isPeerGone = true;
      abort(connection);
    };

    // It cannot parse it, and does nothing; the sender loses patience
    const std::vector<FinishedInstance> failed = receive(MakeDataSet(500), readAbort);
    ASSERT_EQ(1U, failed.size());
    EXPECT_EQ(Outcome::Failed, failed[0].outcome);
    EXPECT_EQ("Orthanc did not answer: it cannot read the data set", failed[0].reason);

    // It breaks off in its middle
    EXPECT_EQ(1U, receive(part, abort).size());

    // So it does where the sender stalls, or is gone; or the sender itself does
    EXPECT_TRUE(receive(part, stall).empty());
    EXPECT_TRUE(receive(part, vanish).empty());
    EXPECT_TRUE(receive(part, readAbort).empty());

    // Of what was claimed, the ingest tells
    EXPECT_TRUE(
        receive(MakeDataSet(500), [this](Connection&) { tracker_.ClaimMessage(); }).empty());
  }

  TEST_F(ExchangesTest, AMessageThatItsSenderBreaksOffIsNoLongerWaitedForAndIsNoInstance)
  {
    Connection& connection = Accept();
    Read(connection, MakeDimseCommand(1), 40);
    const MessageId id = tracker_.GetCurrentMessage()->id;
    EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(id).state);
    Close(connection, 60);
    EXPECT_EQ(Response::State::Gone, tracker_.GetResponse(id).state);
    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(AssociationOutcome::Lost, journal_.associations[0].outcome);
    EXPECT_EQ(0U, journal_.associations[0].instances);

    Read(Accept(), MakeDimseCommand(1), 140);
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
    Read(connection, RELEASE, 40);
    Write(connection, MakePdu(6, std::string(4, '\0')), 41);
    tracker_.NameRequestor("ANOTHER");  // what was read counts
    EXPECT_EQ("CT <1>", GetCallingTitle());
    EXPECT_TRUE(Close(connection, 50).empty());

    ASSERT_EQ(1U, journal_.associations.size());
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
    EXPECT_EQ("", GetCallingTitle());
  }

  TEST(Exchanges, WhatAThreadReadForAnEarlierTrackerIsNoMessageOfThisOne)
  {
    // As when Orthanc loads its plugins anew; the same memory, as it may be
    auto tracker = std::make_unique<ConnectionTracker>();
    tracker->places = {4242, 0};
    Connection* connection = tracker->OnAccepted(5, 4242, {}, TimePoint());
    const std::uint8_t byte = 4;
    tracker->OnRead(*connection, &byte, 1, TimePoint());
    EXPECT_TRUE(tracker->GetCurrentMessage().has_value());

    tracker.reset();
    tracker = std::make_unique<ConnectionTracker>();
    EXPECT_FALSE(tracker->GetCurrentMessage().has_value());
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

    const std::vector<FinishedInstance> sent = Close(connection, 1120);
    ASSERT_EQ(2U, sent.size());
    EXPECT_EQ(
        "send stored, PACS 10.0.0.1: idle 4, connect 5, associate 1000, send 3, wait 8 = 1016",
        ToText(sent[0]));
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), sent[0].size);
    EXPECT_EQ("send stored, PACS 10.0.0.1: idle 10, send 0, wait 80 = 80, 1 stalled",
              ToText(sent[1]));
    EXPECT_EQ(milliseconds(40), sent[1].stallTime);

    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(2U, journal_.associations.front().instances);
    EXPECT_EQ(milliseconds(5), journal_.associations.front().connect);
    EXPECT_FALSE(tracker_.GetCurrentMessage());
  }

  // Asked for by Orthanc, or by the peer with a C-GET; a C-CANCEL-RQ is no answer
  TEST_F(ExchangesTest, WhatIsSentIsStoredOnlyIfTheReceiverSaysSo)
  {
    const std::string stored = MakeStoreResponse(0);
    const std::string full = MakeStoreResponse(0xa700);
    const std::string cancel = MakeDimseCommand(0x0fff);
    const std::string outOfResources = "the receiver answered 0xA700: out of resources";
    const std::string closed = "the connection was closed before the response";
    const struct
    {
      std::vector<std::string> answers;
      std::string reason;
    } cases[] = {
        {{stored}, ""},
        {{MakeStoreResponse(0xb007)}, ""},
        {{MakeStoreResponse(0x0111)}, ""},
        {{MakeStoreResponse(0xc123)},
         "the receiver answered 0xC123: the receiver cannot understand it"},
        {{MakeStoreResponse(0x0122)}, "the receiver answered 0x0122: SOP class not supported"},
        {{MakeStoreResponse(0x0999)}, "the receiver answered 0x0999"},
        {{full}, outOfResources},
        {{cancel, stored}, ""},
        {{cancel, full}, outOfResources},
        {{cancel}, closed},
        {{ABORT}, "the association was aborted before the response"},
        {{RELEASE}, "the receiver sent no response"},
        {{}, closed}};

    for (const bool isAskedFor : {false, true})
    {
      for (const auto& one : cases)
      {
        Connection& connection = isAskedFor ? AnswerCGet() : Connect();

        if (!isAskedFor)
        {
          Store(connection, MakeStoreRequest("1.2.3.4"), 1010);
        }

        for (const std::string& answer : one.answers)
        {
          Read(connection, answer, 1083);
        }

        if (isAskedFor)
        {
          connection.isPeerGone = true;
          Write(connection, ABORT, 1090);
        }

        const std::vector<FinishedInstance> sent = Close(connection, 1100);
        ASSERT_EQ(1U, sent.size());
        EXPECT_EQ(one.reason, sent[0].reason);
        EXPECT_EQ(one.reason.empty() ? Outcome::Stored : Outcome::Failed, sent[0].outcome);
        EXPECT_EQ(milliseconds(isAskedFor ? 3 : 1), sent[0].phases.Get(Phase::Send));
        const bool isAnswered =
            one.reason.empty() || one.reason.find("answered") != std::string::npos;
        EXPECT_EQ(isAnswered, sent[0].phases.Get(Phase::Wait).has_value()) << one.reason;
        EXPECT_EQ(1U, journal_.associations.back().instances);
      }
    }
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
    Read(connection, RELEASE, 190);

    const std::vector<FinishedInstance> sent = Close(connection, 200);
    ASSERT_EQ(2U, sent.size());
    EXPECT_EQ("send stored, CT <1> 10.0.0.1: send 3, wait 60 = 63", ToText(sent[0]));
    EXPECT_EQ(MakeDimseCommand(1).size() + MakeDataSet(5000).size(), sent[0].size);
    EXPECT_EQ(1U, sent[1].stalls);
    EXPECT_EQ(milliseconds(40), sent[1].stallTime);
    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(2U, journal_.associations.front().instances);
  }

  // Orthanc has lost patience, and goes on
  TEST_F(ExchangesTest, WhatIsSentWithoutAnAnswerHasFailedOnceTheNextIsSent)
  {
    const std::string second = MakeStoreRequest("1.2.3.5");

    for (const bool isAskedFor : {false, true})
    {
      Connection& connection = isAskedFor ? AnswerCGet() : Connect();

      if (isAskedFor)
      {
        Write(connection, MakeDimseCommand(0x8010), 2009);  // C-GET-RSP, pending
      }
      else
      {
        Store(connection, MakeStoreRequest("1.2.3.4"), 1010);
      }

      Store(connection, second, 2010);
      Read(connection, MakeStoreResponse(0), 2020);
      const std::vector<FinishedInstance> sent = Close(connection, 2080);
      ASSERT_EQ(2U, sent.size());
      EXPECT_EQ("the receiver sent no response", sent[0].reason);
      EXPECT_EQ(Outcome::Stored, sent[1].outcome);
      EXPECT_EQ(second.size() + MakeDataSet(5000).size(), sent[1].size);
      EXPECT_EQ(2U, journal_.associations.back().instances);
    }
  }

  // As DCMTK takes it: it waits for that of the second
  TEST_F(ExchangesTest, ALateAnswerIsNotThatOfTheNextInstance)
  {
    Connection& connection = Connect();
    Store(connection, MakeStoreRequest("1.2.3.4", 7), 1010);
    Store(connection, MakeStoreRequest("1.2.3.5", 8), 2010);
    Read(connection, MakeStoreResponse(0xa700, 7), 2020);
    Store(connection, MakeStoreRequest("1.2.3.6", 9), 2030);
    Read(connection, MakeStoreResponse(0, 9), 2040);

    const std::vector<FinishedInstance> sent = Close(connection, 2080);
    ASSERT_EQ(3U, sent.size());
    EXPECT_EQ(Outcome::Failed, sent[1].outcome);
    EXPECT_FALSE(sent[1].phases.Get(Phase::Wait));
    EXPECT_EQ(Outcome::Stored, sent[2].outcome);
  }

  TEST_F(ExchangesTest, ADescriptorThatIsUsedAgainForgetsWhoHadIt)
  {
    Close(Accept(), 50);
    EXPECT_TRUE(tracker_.ListOpen(At(50)).empty());
    Connection* connection = tracker_.OnAccepted(FD, 4242, MakeAddress(1234), At(60));
    Read(*connection, "x", 61);
    EXPECT_EQ("", tracker_.GetCurrentMessage()->peer.name);
    EXPECT_FALSE(tracker_.GetCurrentMessage()->idle);
    EXPECT_EQ(1U, tracker_.ListOpen(At(61)).at(0).bytesReceived);
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

    const std::vector<FinishedInstance> sent = Close(*connection, 30);
    ASSERT_EQ(1U, sent.size());
    EXPECT_EQ(
        "send stored, 10.0.0.1 10.0.0.1: idle 4, connect 1, associate 10, send 0, wait 7 = 18",
        ToText(sent[0]));
    ASSERT_EQ(1U, journal_.associations.size());
    EXPECT_EQ(AssociationOutcome::Encrypted, journal_.associations.front().outcome);
    EXPECT_EQ(milliseconds(16), journal_.associations.front().setup);
    EXPECT_EQ(1U, journal_.associations.front().instances);
    EXPECT_EQ("10.0.0.1", journal_.associations.front().peer.name);
  }

  // Anyone may send a ClientHello, also to a port without TLS. Nobody claims what its sender broke
  // off. What ends it looks like an answer: an A-ABORT.
  TEST_F(ExchangesTest, UnderTlsAnAssociationHasAnInstanceOnceThatIsClaimedAndTheTitleThatIsTold)
  {
    for (const bool isClaimed : {false, true})
    {
      Connection& connection = ReceiveUnderTls();
      EXPECT_EQ("", GetCallingTitle());
      const std::string title = isClaimed ? "CT_ROOM_1" : "";

      if (isClaimed)
      {
        tracker_.ClaimMessage();
        tracker_.NameRequestor(title);
        EXPECT_EQ(title, tracker_.GetCurrentMessage()->peer.name);
      }

      EXPECT_EQ(isClaimed, tracker_.ListOpen(At(5)).at(0).isAccepted);
      EXPECT_EQ(title, GetCallingTitle());
      Write(connection, MakeTlsRecord(23, 120), 6);
      Close(connection, 7);
      const FinishedAssociation& association = journal_.associations.back();
      EXPECT_EQ(isClaimed, association.isAccepted);
      EXPECT_EQ(isClaimed ? 1U : 0U, association.instances);
      EXPECT_EQ(AssociationOutcome::Encrypted, association.outcome);
      EXPECT_EQ(isClaimed ? title : "10.0.0.1", association.peer.name);
      EXPECT_EQ("10.0.0.1", association.peer.address);
      EXPECT_EQ("", GetCallingTitle());
    }
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
        Call();
      }

      void Call()
      {
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

      // How it ended
      AssociationOutcome End(int at)
      {
        instances_ = Close(*connection_, at);
        return journal_.associations.back().outcome;
      }

      Connection* connection_ = nullptr;
      std::vector<FinishedInstance> instances_;  // that were sent
    };
  }

  TEST_F(PeerTest, GetsInstancesWithTheirPhases)
  {
    Request(UPLOAD, 6);
    Write(*connection_, "rest", 8);
    Read(*connection_, OK, 20);
    Request(UPLOAD, 30);
    Read(*connection_, "HTTP/1.1 401 Unauthorized\r\n\r\n", 33);
    EXPECT_EQ(AssociationOutcome::Rejected, End(40));

    ASSERT_EQ(2U, instances_.size());
    EXPECT_EQ("send stored, cloud 10.0.0.1: connect 5, send 2, wait 12 = 19",
              ToText(instances_[0]));
    EXPECT_EQ(UPLOAD.size() + 4, instances_[0].size);
    EXPECT_EQ("send failed, cloud 10.0.0.1: idle 10, send 0, wait 3 = 3; "
              "the peer answered HTTP status 401",
              ToText(instances_[1]));
    EXPECT_EQ("cloud", journal_.associations[0].peer.name);
    EXPECT_EQ("HTTP status 401", journal_.associations[0].rejection);
    EXPECT_EQ(2U, journal_.associations[0].instances);
  }

  TEST_F(PeerTest, AnswersOrNot)
  {
    const struct
    {
      std::string request;
      std::vector<std::string> answers;
      bool isGone;
      AssociationOutcome outcome;
      std::size_t instances;
    } cases[] = {
        {"GET /system HTTP/1.1\r\n\r\n", {OK}, false, AssociationOutcome::Released, 0},
        {UPLOAD, {"HTTP/1.1 100 Continue\r\n\r\n", OK}, false, AssociationOutcome::Released, 1},
        {UPLOAD, {}, false, AssociationOutcome::TimedOut, 1},
        {UPLOAD, {}, true, AssociationOutcome::Lost, 1},
        {MakeTlsRecord(22, 500), {MakeTlsRecord(21, 2)}, false, AssociationOutcome::TlsFailed, 0},
        {MakeTlsRecord(22, 500), {}, false, AssociationOutcome::TimedOut, 0}};

    for (const auto& one : cases)
    {
      SCOPED_TRACE(one.request.substr(0, 30));
      Call();
      Request(one.request, 6);

      for (const std::string& answer : one.answers)
      {
        Write(*connection_, "rest", 7);
        Read(*connection_, answer, 8);
      }

      connection_->isPeerGone = one.isGone;
      EXPECT_EQ(one.outcome, End(1000));
      ASSERT_EQ(one.instances, instances_.size());
      const bool isReleased = one.outcome == AssociationOutcome::Released;
      EXPECT_EQ(isReleased, journal_.associations.back().setup.has_value());
    }
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
    EXPECT_EQ(AssociationOutcome::Encrypted, End(41));

    ASSERT_EQ(2U, instances_.size());
    EXPECT_EQ("send stored, cloud 10.0.0.1: idle 2, connect 10, send 2, wait 8 = 20",
              ToText(instances_[0]));
    EXPECT_EQ(Outcome::Stored, instances_[1].outcome);
  }

  // Another plugin's filter may ask a service that has a peer's port
  TEST_F(PeerTest, IsNotCalledInPlaceOfTheRequestThatItsThreadServes)
  {
    Connection& client = *tracker_.OnAccepted(FD - 1, 8042, MakeAddress(1234), At(0));
    Read(client, UPLOAD, 1);
    Request(UPLOAD, 6);
    EXPECT_EQ(FD - 1, tracker_.GetCurrentConnection());
    tracker_.OnClosing(client, At(9));
  }

  // Of a pool: a job has connected, and a thread that stores an instance asks over it
  TEST_F(PeerTest, HasAPortThatOtherServersAndAnObjectStorageHaveToo)
  {
    Request(UPLOAD, 6);
    Read(*connection_, OK, 9);
    AskedServers::OfThisThread().Begin({true, false}, At(10));
    EXPECT_FALSE(Recognise(*connection_, UPLOAD, 11));
    EXPECT_EQ(ConnectionKind::None, connection_->kind);

    AskedServers::OfThisThread() = {};
    tracker_.events.SetDestinations({{"cloud", HashHost("10.0.0.2"), 8043, false, true}});
    Call();
    Request(UPLOAD, 6);
    Read(*connection_, OK, 9);
    EXPECT_TRUE(Close(*connection_, 10).empty());
    EXPECT_TRUE(journal_.associations.empty());
  }
}
