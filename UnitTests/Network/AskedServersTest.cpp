// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AskedServers.h"

#include "Ingest/PhaseText.h"
#include "Network/TcpPair.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    sockaddr_un MakeUnixAddress(const std::string& path)
    {
      sockaddr_un address = {};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
      return address;
    }

    class AskedServersTest : public testing::Test
    {
    protected:
      AskedServersTest()
      {
        servers_.Begin({true, true}, At(100));
      }

      // A question at this time, whose answer takes so long
      void Ask(int fd, int at, int wait)
      {
        servers_.OnWritten(fd, At(at));
        servers_.OnWaited(fd, milliseconds(wait - 1));
        servers_.OnRead(fd, 10, At(at + wait - 1), At(at + wait));
      }

      // Whom it asked, how often, and for how long it waited
      std::string Show(const std::optional<ServerWork>& work) const
      {
        if (!work)
        {
          return "nobody";
        }

        const std::string name = work->server == database_.Describe() ? "database"
                                 : work->server == other_.Describe()  ? "other"
                                                                      : work->server;
        return name + ": " + std::to_string(work->roundTrips) + " in " +
               std::to_string(work->waited / milliseconds(1)) + " ms";
      }

      // Less what this test has computed meanwhile
      static bool IsAbout(Duration expected, const std::optional<Duration>& queued)
      {
        return queued && *queued <= expected && *queued > expected - milliseconds(4);
      }

      TcpPair database_;
      TcpPair other_;
      AskedServers servers_;
    };
  }

  TEST_F(AskedServersTest, AQuestionAndItsAnswerAreOneRoundTrip)
  {
    const int fd = database_.GetClient();
    Ask(fd, 100, 5);
    servers_.OnWritten(fd, At(110));
    servers_.OnWritten(fd, At(111));
    servers_.OnRead(fd, -1, At(111), At(111));  // EAGAIN
    servers_.OnWaited(fd, milliseconds(2));
    servers_.OnRead(fd, 1000, At(113), At(113));
    servers_.OnRead(fd, 1000, At(113), At(114));  // the rest of the answer

    const StorageWork work = servers_.Take();
    EXPECT_EQ("database: 2 in 8 ms", Show(work.database));
    EXPECT_EQ("nobody", Show(work.storage));  // a single server is the database
    EXPECT_EQ(milliseconds(2), work.database->shortest);
    EXPECT_FALSE(work.database->queued);
    EXPECT_FALSE(servers_.Take().database);
    EXPECT_FALSE(servers_.IsFollowing());
  }

  // What is printed goes to the journal, by a connection, under systemd
  TEST_F(AskedServersTest, WhatIsNoQuestionToAServerIsIgnored)
  {
    std::array<int, 2> ends = {};
    ASSERT_EQ(0, pipe(ends.data()));
    const int datagram = socket(AF_INET, SOCK_DGRAM, 0);  // to a name server, say
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(53);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(0, connect(datagram, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
    const int output = dup(STDOUT_FILENO);
    ASSERT_EQ(STDOUT_FILENO, dup2(other_.GetClient(), STDOUT_FILENO));
    errno = EDOM;

    for (const int fd : {ends[1], -1, datagram, STDOUT_FILENO})
    {
      Ask(fd, 100, 5);
    }

    EXPECT_EQ(EDOM, errno);
    ASSERT_EQ(STDOUT_FILENO, dup2(output, STDOUT_FILENO));
    servers_.OnWaited(database_.GetClient(), milliseconds(5));  // nobody has asked it
    servers_.OnRead(database_.GetClient(), 10, At(120), At(125));
    const StorageWork work = servers_.Take();
    EXPECT_EQ("nobody", Show(work.database));
    EXPECT_EQ("nobody", Show(work.storage));

    for (const int fd : {ends[0], ends[1], datagram, output})
    {
      close(fd);
    }
  }

  TEST_F(AskedServersTest, WhereFilesAreWrittenTheDatabaseIsWhatIsAskedAfterTheLastOne)
  {
    Ask(database_.GetClient(), 100, 5);
    Ask(other_.GetClient(), 110, 5);
    servers_.OnFileClosed(At(115));
    Ask(database_.GetClient(), 120, 5);
    Ask(other_.GetClient(), 130, 7);  // another plugin's callback, say

    const StorageWork work = servers_.Take();
    EXPECT_EQ("database: 1 in 5 ms", Show(work.database));
    EXPECT_EQ("nobody", Show(work.storage));

    servers_.Begin({true, false}, At(100));
    servers_.OnFileClosed(At(106));
    EXPECT_FALSE(servers_.IsFollowing());
  }

  // What Orthanc waits for later in the index is no connection to the database
  TEST_F(AskedServersTest, QueuedIsTheTimeBeforeTheFirstQuestionToTheDatabase)
  {
    servers_.OnFileClosed(At(100));
    Ask(database_.GetClient(), 120, 5);
    Ask(database_.GetClient(), 200, 5);
    EXPECT_TRUE(IsAbout(milliseconds(20), servers_.Take().database->queued));

    const ConnectedSocket fresh(database_.GetPort());
    servers_.Begin({true, true}, At(100));
    servers_.OnFileClosed(At(100));
    servers_.OnConnecting(fresh.Get(), At(120), At(121));  // which is to wait for the server
    Ask(fresh.Get(), 130, 5);
    EXPECT_TRUE(IsAbout(milliseconds(20), servers_.Take().database->queued));
  }

  TEST_F(AskedServersTest, WithoutFilesTheStorageIsAskedFirstAndThenTheDatabase)
  {
    Ask(other_.GetClient(), 100, 5);  // an object storage
    Ask(other_.GetClient(), 106, 6);
    Ask(database_.GetClient(), 120, 3);
    Ask(other_.GetClient(), 130, 9);  // it removes what is replaced
    Ask(database_.GetClient(), 140, 2);

    const StorageWork work = servers_.Take();
    ASSERT_EQ("other: 2 in 11 ms", Show(work.storage));
    EXPECT_EQ(At(100), work.storage->begin);
    EXPECT_EQ(At(112), work.storage->end);
    ASSERT_EQ("database: 2 in 5 ms", Show(work.database));
    EXPECT_TRUE(IsAbout(milliseconds(8), work.database->queued));
  }

  TEST_F(AskedServersTest, WhereTheDatabaseIsNoServerTheStorageIsWhatIsAskedFirst)
  {
    servers_.Begin({true, false}, At(100));
    Ask(other_.GetClient(), 100, 5);
    Ask(database_.GetClient(), 110, 3);  // another plugin's callback, say

    const StorageWork work = servers_.Take();
    EXPECT_EQ("nobody", Show(work.database));
    ASSERT_EQ("other: 1 in 5 ms", Show(work.storage));
    EXPECT_EQ(At(105), work.storage->end);
  }

  // As with IPv6, which nobody answers, and IPv4
  TEST_F(AskedServersTest, ToConnectIsToWaitForTheServer)
  {
    servers_.OnConnecting(1000, At(90), At(91));
    servers_.OnConnecting(other_.GetClient(), At(92), At(92));
    EXPECT_TRUE(servers_.OnWaited(other_.GetClient(), milliseconds(7)));
    EXPECT_FALSE(servers_.OnWaited(database_.GetClient(), milliseconds(7)));
    Ask(other_.GetClient(), 100, 5);
    Ask(database_.GetClient(), 110, 3);

    const StorageWork work = servers_.Take();
    ASSERT_EQ("other: 1 in 13 ms", Show(work.storage));  // 1, 7 and 5
    EXPECT_EQ(At(90), work.storage->begin);
    EXPECT_EQ("database: 1 in 3 ms", Show(work.database));
  }

  TEST_F(AskedServersTest, TheWayToWhatDoesNotCountIsNotThatToTheNextServer)
  {
    const int datagram = socket(AF_INET, SOCK_DGRAM, 0);
    servers_.OnConnecting(datagram, At(10), At(20));
    Ask(datagram, 30, 20);
    servers_.OnConnecting(other_.GetClient(), At(90), At(91));
    Ask(other_.GetClient(), 100, 5);

    EXPECT_EQ("other: 1 in 6 ms", Show(servers_.Take().database));
    close(datagram);
  }

  TEST_F(AskedServersTest, ANumberThatAnotherConnectionGetsIsNoLongerTheFirstOnes)
  {
    for (const bool isCloseSeen : {true, false})
    {
      servers_.Begin({true, true}, At(100));
      const ConnectedSocket first(other_.GetPort());
      const ConnectedSocket second(database_.GetPort());
      const int fd = first.Get();
      Ask(fd, 100, 5);

      if (isCloseSeen)
      {
        servers_.OnClosing(fd);
      }

      ASSERT_EQ(fd, dup2(second.Get(), fd));

      if (!isCloseSeen)
      {
        servers_.OnConnecting(fd, At(108), At(109));
      }

      Ask(fd, 110, 3);
      const StorageWork work = servers_.Take();
      EXPECT_EQ("other: 1 in 5 ms", Show(work.storage));
      EXPECT_EQ(isCloseSeen ? "database: 1 in 3 ms" : "database: 1 in 4 ms", Show(work.database));
    }
  }

  // Of an object storage, say, by its name: 127.0.0.2 is this machine as well
  TEST_F(AskedServersTest, TwoAddressesOfTheSamePortAreOneServer)
  {
    const ConnectedSocket second(other_.GetPort(), INADDR_LOOPBACK + 1);
    Ask(other_.GetClient(), 100, 5);
    Ask(second.Get(), 110, 3);
    Ask(database_.GetClient(), 120, 2);

    const StorageWork work = servers_.Take();
    EXPECT_EQ("other: 2 in 8 ms", Show(work.storage));
    EXPECT_EQ("database: 1 in 2 ms", Show(work.database));
  }

  TEST_F(AskedServersTest, AllConnectionsToTheSameServerCount)
  {
    const ConnectedSocket second(database_.GetPort());
    servers_.OnFileClosed(At(99));
    Ask(database_.GetClient(), 100, 5);
    Ask(second.Get(), 110, 3);
    Ask(other_.GetClient(), 120, 9);
    servers_.OnWritten(database_.GetClient(), At(130));
    servers_.OnRead(database_.GetClient(), 1, At(130), At(134));

    const std::optional<ServerWork> work = servers_.Take().database;
    ASSERT_EQ("database: 3 in 12 ms", Show(work));
    EXPECT_EQ(database_.GetClient(), work->connection);
    EXPECT_EQ(milliseconds(3), work->shortest);
  }

  TEST_F(AskedServersTest, MoreConnectionsThanThereIsRoomForDoNotCount)
  {
    std::vector<std::unique_ptr<ConnectedSocket>> sockets;

    for (int i = 0; i < 20; i++)
    {
      sockets.push_back(std::make_unique<ConnectedSocket>(database_.GetPort()));
      Ask(sockets.back()->Get(), 100 + i, 1);
    }

    const std::optional<ServerWork> work = servers_.Take().database;
    ASSERT_TRUE(work);
    EXPECT_LT(0U, work->roundTrips);
    EXPECT_GT(20U, work->roundTrips);
  }

  TEST_F(AskedServersTest, AUnixSocketIsNamedByItsPath)
  {
    const std::string path = testing::TempDir() + "asked-" + std::to_string(getpid());
    const sockaddr_un address = MakeUnixAddress(path);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(0, bind(listening, generic, sizeof(address)));
    ASSERT_EQ(0, listen(listening, 1));
    ASSERT_EQ(0, connect(client, generic, sizeof(address)));

    Ask(client, 100, 5);
    EXPECT_EQ(path + ": 1 in 5 ms", Show(servers_.Take().database));
    close(client);
    close(listening);
    unlink(path.c_str());
  }

  TEST_F(AskedServersTest, ARequestThatReadsAsksTheDatabaseFirstAndThenTheStorageAgainAndAgain)
  {
    constexpr int CLIENT = 900;
    servers_.BeginReading({true, true}, CLIENT);

    for (int i = 0; i < 2; i++)
    {
      Ask(database_.GetClient(), 200, 5);
      Ask(other_.GetClient(), 210, 7);
    }

    servers_.OnWaited(CLIENT, milliseconds(3), true);
    const ReadWaits waits = servers_.GetReadWaits();
    EXPECT_EQ(milliseconds(10), waits.database);
    EXPECT_EQ(milliseconds(14), waits.storage);
    EXPECT_EQ(milliseconds(3), waits.client);
    servers_.Begin({true, true}, At(300));
    EXPECT_FALSE(servers_.IsReading());
  }

  TEST_F(AskedServersTest, WhatARequestReadsAndNeverAskedIsAFileOfTheStorage)
  {
    constexpr int CLIENT = 900;
    constexpr int FILE = 901;
    servers_.BeginReading({false, true}, CLIENT);
    Ask(database_.GetClient(), 200, 5);
    servers_.OnRead(FILE, 8000, At(210), At(212));
    Ask(other_.GetClient(), 220, 7);  // neither of them
    EXPECT_EQ(milliseconds(5), servers_.GetReadWaits().database);
    EXPECT_EQ(milliseconds(2), servers_.GetReadWaits().storage);
    EXPECT_EQ(milliseconds(0), servers_.GetReadWaits().client);
  }

  TEST_F(AskedServersTest, WhomTheMachineAsksForNamesOrCredentialsIsNoServerOfAnInstance)
  {
    const auto isOfMachine = [](const std::string& path)
    {
      const sockaddr_un address = MakeUnixAddress(path);
      return IsServiceOfMachine(reinterpret_cast<const sockaddr*>(&address),
                                offsetof(sockaddr_un, sun_path) + path.size() + 1);
    };

    EXPECT_TRUE(isOfMachine("/run/systemd/resolve/io.systemd.Resolve"));
    EXPECT_TRUE(isOfMachine("/var/lib/sss/pipes/nss"));
    EXPECT_FALSE(isOfMachine("/run/postgresql/.s.PGSQL.5432"));
    EXPECT_FALSE(isOfMachine(""));

    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0xa9fea9fe);  // 169.254.169.254
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_TRUE(IsServiceOfMachine(generic, sizeof(address)));
    address.sin_addr.s_addr = htonl(0x0afea9fe);
    EXPECT_FALSE(IsServiceOfMachine(generic, sizeof(address)));
  }
}
