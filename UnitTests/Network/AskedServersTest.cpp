// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AskedServers.h"

#include "Network/TcpPair.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    using std::chrono::milliseconds;

    TimePoint At(int time)
    {
      return TimePoint(milliseconds(time));
    }


    class AskedServersTest : public testing::Test
    {
    protected:
      AskedServersTest()
      {
        servers_.Begin();
      }

      // A question at this time, whose answer takes so long
      void Ask(int fd, int at, int wait)
      {
        servers_.OnWritten(fd, At(at));
        servers_.OnWaited(fd, milliseconds(wait - 1));
        servers_.OnRead(fd, 10, At(at + wait - 1), At(at + wait));
      }

      static std::string Describe(const TcpPair& pair)
      {
        return "127.0.0.1:" + std::to_string(pair.GetPort());
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

    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_EQ(2U, work->roundTrips);
    EXPECT_EQ(milliseconds(8), work->waited);
    EXPECT_EQ(milliseconds(2), work->shortest);
    EXPECT_EQ(Describe(database_), work->server);
    EXPECT_FALSE(work->computed);
    EXPECT_FALSE(servers_.Take());
    EXPECT_FALSE(servers_.IsFollowing());
  }


  TEST_F(AskedServersTest, WhatIsNoSocketAndWhatNobodyWasAskedIsIgnored)
  {
    int ends[2] = {};
    ASSERT_EQ(0, pipe(ends));
    errno = EDOM;
    Ask(ends[1], 100, 5);
    EXPECT_EQ(EDOM, errno);
    Ask(-1, 110, 5);
    servers_.OnWaited(database_.GetClient(), milliseconds(5));
    servers_.OnRead(database_.GetClient(), 10, At(120), At(125));
    EXPECT_FALSE(servers_.Take());
    close(ends[0]);
    close(ends[1]);
  }


  TEST_F(AskedServersTest, TheDatabaseIsWhatIsAskedAfterTheLastFile)
  {
    Ask(database_.GetClient(), 100, 5);
    Ask(other_.GetClient(), 110, 5);
    servers_.OnFileClosed();
    Ask(database_.GetClient(), 120, 5);
    Ask(other_.GetClient(), 130, 7);  // another plugin's callback, say

    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_EQ(Describe(database_), work->server);
    EXPECT_EQ(1U, work->roundTrips);
    EXPECT_EQ(milliseconds(5), work->waited);
    ASSERT_TRUE(work->computed);
    EXPECT_LE(Duration::zero(), *work->computed);
  }


  TEST_F(AskedServersTest, WithoutFilesTheDatabaseIsWhatIsAskedLast)
  {
    Ask(other_.GetClient(), 100, 5);  // an object storage
    Ask(database_.GetClient(), 110, 3);

    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_EQ(Describe(database_), work->server);
    EXPECT_EQ(milliseconds(3), work->waited);
  }


  TEST_F(AskedServersTest, AllConnectionsToTheSameServerCount)
  {
    const ConnectedSocket second(database_.GetPort());
    Ask(database_.GetClient(), 100, 5);
    Ask(second.Get(), 110, 3);
    Ask(other_.GetClient(), 120, 9);
    servers_.OnWritten(database_.GetClient(), At(130));
    servers_.OnRead(database_.GetClient(), 1, At(130), At(134));

    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_EQ(database_.GetClient(), work->connection);
    EXPECT_EQ(3U, work->roundTrips);
    EXPECT_EQ(milliseconds(12), work->waited);
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

    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_LT(0U, work->roundTrips);
    EXPECT_GT(20U, work->roundTrips);
  }


  TEST_F(AskedServersTest, AUnixSocketIsNamedByItsPath)
  {
    const std::string path = testing::TempDir() + "asked-" + std::to_string(getpid());
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(0, bind(listening, generic, sizeof(address)));
    ASSERT_EQ(0, listen(listening, 1));
    ASSERT_EQ(0, connect(client, generic, sizeof(address)));

    Ask(client, 100, 5);
    const std::optional<DatabaseWork> work = servers_.Take();
    ASSERT_TRUE(work);
    EXPECT_EQ(path, work->server);
    close(client);
    close(listening);
    unlink(path.c_str());
  }
}
