// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTracker.h"

#include "Network/AskedServers.h"
#include "Network/Messages/DimseMessages.h"
#include "Network/TrackedConnections.h"
#include "Network/WrittenFiles.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    Destination MakeEncrypted(std::uint16_t port)
    {
      return {"TLS", HashHost("pacs"), port, true, false};
    }

    class ConnectionTrackerTest : public TrackedConnections
    {
    protected:
      ConnectionTrackerTest()
      {
        tracker_.events.SetDestinations({MakeEncrypted(2762)});
      }

      Connection& Connect(std::uint16_t port)
      {
        return *tracker_.OnConnecting(FD, PeerAddress{{}, port}, At(0));
      }

      Message GetMessage() const
      {
        return tracker_.GetCurrentMessage().value_or(Message());
      }

      Response::State GetResponse() const
      {
        return tracker_.GetResponse(GetMessage().id).state;
      }

      AssociationOutcome Close(Connection& connection, int at)
      {
        tracker_.OnClosing(connection, At(at));
        return Drain().associations.back().outcome;
      }
    };

    const std::string REQUEST = MakeAssociateRequest("ORTHANC", "STORESCU");
    const std::string HELLO = "\x16\x03\x01 client hello";
  }

  TEST_F(ConnectionTrackerTest, WatchesTheServersPortsOnly)
  {
    EXPECT_EQ(nullptr, tracker_.OnAccepted(5, 22, {}, At(0)));
    EXPECT_EQ(nullptr, tracker_.OnAccepted(5, 0, {}, At(0)));
    EXPECT_EQ(nullptr, tracker_.OnAccepted(4096, 4242, {}, At(0)));
    EXPECT_EQ(nullptr, tracker_.OnAccepted(-1, 4242, {}, At(0)));
    EXPECT_NE(nullptr, tracker_.OnAccepted(5, 4242, {}, At(0)));
    EXPECT_NE(nullptr, tracker_.OnAccepted(6, 8042, {}, At(0)));
  }

  TEST_F(ConnectionTrackerTest, CountsWaitsInsideARequestAsStallsWhenTheByteComes)
  {
    Connection& connection = Open(4242);

    tracker_.OnWaited(connection, At(0), At(500));  // idle
    Read(connection, "a", 500);
    tracker_.OnWaited(connection, At(500), At(519));
    Read(connection, "b", 519);
    tracker_.OnWaited(connection, At(519), At(1519));  // two waits, one stall
    tracker_.OnWaited(connection, At(1519), At(1529));
    Read(connection, "c", 1529);

    EXPECT_EQ(1U, GetMessage().stalls.count);
    EXPECT_EQ(milliseconds(1010), GetMessage().stalls.time);
  }

  TEST_F(ConnectionTrackerTest, CountsTheTimeThatAResponseIsHeldBackAsStall)
  {
    Connection& connection = Open(4242);
    Read(connection, "a", 1);
    Write(connection, std::string(142, 'x'), 2);
    connection.heldBackSince = At(2);
    tracker_.OnWaited(connection, At(2), At(142));  // the response is there after 40 ms
    tracker_.OnLetGo(connection, At(42));
    Read(connection, "b", 142);
    EXPECT_EQ(1U, GetMessage().stalls.count);
    EXPECT_EQ(milliseconds(40), GetMessage().stalls.time);
    EXPECT_EQ(milliseconds(140), GetMessage().idle);
    Write(connection, std::string(142, 'x'), 143);
    tracker_.OnWaited(connection, At(143), At(5000));  // the sender's own pause
    Read(connection, "c", 5000);
    EXPECT_EQ(0U, GetMessage().stalls.count);
  }

  TEST_F(ConnectionTrackerTest, TakesAWaitForAResponseForThePeersUnlessTheRequestIsHeldBack)
  {
    Connection& connection = Connect(104);
    tracker_.OnConnected(connection, At(3));
    ASSERT_TRUE(Recognise(connection, REQUEST, 4));
    Write(connection, REQUEST, 5);
    EXPECT_TRUE(connection.IsMessageAwaited());
    tracker_.OnWaited(connection, At(5), At(65));
    Read(connection, std::string("\x02\x00\x00\x00\x00\x00", 6), 65);
    EXPECT_FALSE(connection.IsMessageAwaited());

    EXPECT_EQ(0U, connection.message.stalls.count);
    EXPECT_EQ(milliseconds(65), connection.setup);
    EXPECT_EQ("STORESCU", tracker_.ListOpen(At(66)).at(0).parties.callingTitle);

    Write(connection, "abc", 70);
    connection.heldBackSince = At(72);
    tracker_.OnWaited(connection, At(70), At(170));
    tracker_.OnLetGo(connection, At(112));
    Read(connection, "d", 170);
    tracker_.OnWaited(connection, At(170), At(210));  // inside the response
    Read(connection, "e", 210);

    EXPECT_EQ(2U, connection.message.stalls.count);
    EXPECT_EQ(milliseconds(80), connection.message.stalls.time);
    Close(connection, 220);
    EXPECT_EQ(milliseconds(3), journal_.associations[0].connect);
  }

  TEST_F(ConnectionTrackerTest, TakesTlsForDicomOnKnownPorts)
  {
    const auto isDicom = [&](std::uint16_t port)
    {
      return Recognise(Connect(port), HELLO, 1);
    };
    EXPECT_TRUE(isDicom(2762));
    EXPECT_FALSE(isDicom(65535));
    tracker_.events.SetDestinations({MakeEncrypted(65535), MakeEncrypted(11112)});
    EXPECT_TRUE(isDicom(65535));
    EXPECT_TRUE(isDicom(11112));
    EXPECT_FALSE(isDicom(11113));
    EXPECT_FALSE(isDicom(2762));

    ASSERT_TRUE(isDicom(11112));
    Connection& connection = *tracker_.table.Find(FD);
    Write(connection, HELLO, 1);
    EXPECT_EQ(AssociationOutcome::TlsFailed, Close(connection, 2));
  }

  // A known port may be that of others as well: an object storage, at 443
  TEST_F(ConnectionTrackerTest, TakesNothingElseForDicomOnAKnownPort)
  {
    const auto isDicom = [&](const std::string& bytes)
    {
      return Recognise(Connect(2762), bytes, 1);
    };
    EXPECT_FALSE(isDicom("GET / HTTP/1.1"));
    EXPECT_EQ(nullptr, tracker_.table.Find(FD));
    EXPECT_TRUE(Drain().associations.empty());

    AskedServers& servers = AskedServers::OfThisThread();
    servers.Begin({true, true}, At(0));  // stores an instance
    EXPECT_FALSE(isDicom(HELLO));
    EXPECT_TRUE(isDicom(REQUEST));
    servers.Take();
    EXPECT_TRUE(isDicom(HELLO));

    // Where files are written, and no server is asked
    WrittenFiles::OfThisThread().Begin();
    EXPECT_TRUE(isDicom(HELLO));
    WrittenFiles::OfThisThread().Take();

    servers.Begin({false, true}, At(1) - AskedServers::LONGEST);  // its instance has failed
    EXPECT_TRUE(isDicom(HELLO));
    servers.Take();
  }

  TEST_F(ConnectionTrackerTest, TellsHowAssociationsEnd)
  {
    const auto end = [&](const std::string& written, const std::string& read)
    {
      Connection& connection = Open(4242);
      Read(connection, REQUEST, 1);

      if (!written.empty())
      {
        Write(connection, written, 2);
      }

      if (!read.empty())
      {
        Read(connection, read, 2);
      }

      EXPECT_FALSE(tracker_.ListOpen(At(3)).at(0).isAccepted);
      const AssociationOutcome outcome = Close(connection, 3);
      EXPECT_FALSE(journal_.associations.back().isAccepted);
      return outcome;
    };
    const std::string release = MakePdu(5, std::string(4, '\0'));
    const std::string abort = MakePdu(7, std::string(4, '\0'));
    const std::string reject = MakePdu(3, std::string("\0\1\1\7", 4));

    EXPECT_EQ(AssociationOutcome::Released, end("", release));
    EXPECT_EQ(AssociationOutcome::Aborted, end("", abort));
    EXPECT_EQ(AssociationOutcome::Incomplete, end("", ""));
    EXPECT_EQ(AssociationOutcome::Rejected, end(reject, ""));
    EXPECT_EQ("called AE title not recognized", journal_.associations.back().rejection);
    EXPECT_EQ(AssociationOutcome::Released, end(reject, release));
    EXPECT_EQ(AssociationOutcome::Aborted, end(reject, abort));
    EXPECT_EQ(nullptr, tracker_.table.Find(FD));
  }

  TEST_F(ConnectionTrackerTest, TellsWhyOrthancHasNoAssociation)
  {
    tracker_.events.SetDestinations({{"PACS", HashHost("pacs"), 104}});

    tracker_.OnLookedUp(HashHost("pacs"), {}, true);
    Connection& unused = Connect(104);  // is no failure
    tracker_.OnConnected(unused, At(1));
    tracker_.OnClosing(unused, At(2));

    for (const int error : {ECONNREFUSED, 0, ETIMEDOUT, EHOSTUNREACH})
    {
      Connection& connection = Connect(104);
      connection.connectError = error;
      tracker_.OnClosing(connection, At(1));
    }

    tracker_.OnLookedUp(HashHost("pacs"), {}, false);
    tracker_.OnLookedUp(HashHost("database"), {}, false);
    std::vector<AssociationOutcome> outcomes;

    for (const FinishedAssociation& association : Drain().associations)
    {
      EXPECT_EQ("PACS", association.peer.name);
      outcomes.push_back(association.outcome);
    }

    EXPECT_EQ(
        (std::vector<AssociationOutcome>{
            AssociationOutcome::Refused, AssociationOutcome::TimedOut, AssociationOutcome::TimedOut,
            AssociationOutcome::Unreachable, AssociationOutcome::Unresolved}),
        outcomes);
  }

  // Also in pieces, as where the kernel has room for a part of it
  TEST_F(ConnectionTrackerTest, TakesAnAbortForNoResponse)
  {
    const std::string abort("\x07\x00\x00\x00\x00\x04\x00\x00\x00\x00", 10);

    for (const std::size_t first : {abort.size(), std::size_t(3)})
    {
      Connection& connection = Open(4242);
      Read(connection, std::string("\x04\x00\x00\x00\x10\x00", 6) + std::string(100, 'x'), 1);
      Write(connection, abort.substr(0, first), 2);
      Write(connection, abort.substr(first), 2);
      EXPECT_EQ(Response::State::Pending, GetResponse());
      EXPECT_EQ(AssociationOutcome::Aborted, Close(connection, 3));
    }
  }

  TEST_F(ConnectionTrackerTest, TellsHttpResponsesUnderTlsByTheirSize)
  {
    Connection& connection = Open(8042);
    Read(connection, HELLO, 1);
    Write(connection, std::string(1000, '\x16'), 2);
    Read(connection, std::string(200, '\x17'), 3);
    Write(connection, std::string(90, '\x17'), 4);
    EXPECT_EQ(Response::State::Pending, GetResponse());
    const MessageId id = GetMessage().id;
    Read(connection, "more", 5);
    EXPECT_EQ(id.serial, GetMessage().id.serial);
    Write(connection, std::string(107, '\x17'), 6);
    EXPECT_EQ(Response::State::Written, GetResponse());
  }
}
