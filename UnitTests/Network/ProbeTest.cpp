// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Probe.h"

#include "Allocations.h"
#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/Messages/DimseMessages.h"
#include "Network/RecordedJournal.h"
#include "Network/Sockets/SocketTuning.h"
#include "Network/TcpPair.h"
#include "Network/WrittenFiles.h"
#include "Redirection/CallerModule.h"
#include "Threads.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // Orthanc's side of connections, as its modules would call libc
    class ProbeTest : public testing::Test
    {
    protected:
      WatchedPlaces MakePlaces(const TcpPair& pair)
      {
        WatchedPlaces places;
        places.dicomPort = pair.GetPort();
        return places;
      }

      ssize_t Read(int fd, std::size_t size)
      {
        std::array<char, 1000> buffer = {};
        return caller_.Get<decltype(::read)>("CallerRead")(fd, buffer.data(), size);
      }

      ssize_t Write(int fd, const std::string& bytes)
      {
        return caller_.Get<decltype(::write)>("CallerWrite")(fd, bytes.data(), bytes.size());
      }

      int Poll(int fd, int timeout)
      {
        pollfd wait = {fd, POLLIN, 0};
        return caller_.Get<int(pollfd*, nfds_t, int)>("CallerPoll")(&wait, 1, timeout);
      }

      std::vector<OpenAssociation> GetOpen() const
      {
        return tracker_.ListOpen(Clock::now());
      }

      // How the associations ended that have ended so far
      std::vector<AssociationOutcome> GetOutcomes()
      {
        std::vector<AssociationOutcome> outcomes;

        for (const FinishedAssociation& association : journal_.Drain(tracker_).associations)
        {
          outcomes.push_back(association.outcome);
        }

        return outcomes;
      }

      void Close(int fd)
      {
        caller_.Get<decltype(::close)>("CallerClose")(fd);
      }

      CallerModule caller_;
      TcpPair::Accept* const accept_ = caller_.Get<TcpPair::Accept>("CallerAccept");
      TcpPair::Connect* const connect_ = caller_.Get<TcpPair::Connect>("CallerConnect");
      ConnectionTracker tracker_;
      RecordedJournal journal_;
    };

    // A connection that Orthanc has accepted, followed by a probe
    class ProbedConnectionTest : public ProbeTest
    {
    protected:
      void SetUp() override
      {
        ASSERT_TRUE(probe_.Install()) << probe_.GetProblem();
        fd_ = pair_.GetServer();
      }

      TcpPair pair_{accept_};
      Probe probe_{MakePlaces(pair_), tracker_, &CallerModule::IsCaller};
      int fd_ = -1;
    };
  }

  TEST_F(ProbedConnectionTest, FollowsAnAcceptedConnection)
  {
    SendAll(pair_.GetClient(), std::string(100, 'x'));
    EXPECT_EQ(1, Poll(fd_, 1000));
    EXPECT_EQ(6, Read(fd_, 6));
    EXPECT_EQ(94, Read(fd_, 1000));
    const std::optional<Message> message = tracker_.GetCurrentMessage();
    ASSERT_TRUE(message);
    EXPECT_LT(message->firstByte, message->lastByte);
    EXPECT_EQ(Response::State::Pending, tracker_.GetResponse(message->id).state);
    EXPECT_EQ(150, Write(fd_, std::string(150, 'y')));
    EXPECT_EQ(Response::State::Written, tracker_.GetResponse(message->id).state);
    EXPECT_EQ(1U, GetOpen().size());
    const TimePoint before;  // it was opened while somebody looked
    EXPECT_EQ(Duration::zero(), tracker_.ListOpen(before).at(0).age);
    Close(fd_);
    pair_.ReleaseServer();

    EXPECT_TRUE(GetOpen().empty());
    ASSERT_EQ(1U, journal_.Drain(tracker_).associations.size());
    EXPECT_EQ(AssociationOutcome::Incomplete, journal_.associations[0].outcome);
    EXPECT_EQ(100U, journal_.associations[0].bytesReceived);
    EXPECT_EQ(150U, journal_.associations[0].bytesSent);
  }

  TEST_F(ProbedConnectionTest, FollowsAnOutgoingAssociationAndTunesItBeforeItsFirstByte)
  {
    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    probe_.SetSettings(settings);
    Close(fd_);
    pair_.ReleaseServer();

    TcpPair pair(&::accept, connect_);
    EXPECT_FALSE(ReadSocketOptions(pair.GetClient()).noDelay.value());
    Write(pair.GetClient(), MakeAssociateRequest("SINK", "ORTHANC"));
    EXPECT_TRUE(ReadSocketOptions(pair.GetClient()).noDelay.value());
    ASSERT_EQ(1U, GetOpen().size());
    EXPECT_EQ(Direction::Send, GetOpen()[0].direction);
    EXPECT_EQ("ORTHANC", GetOpen()[0].parties.callingTitle);
    EXPECT_EQ(74U, GetOpen()[0].bytesSent);
    Close(pair.GetClient());
    pair.ReleaseClient();
  }

  // DCMTK of the official builds asks for TCP_NODELAY after accept and connect
  TEST_F(ProbedConnectionTest, TunesALiveConnectionAtItsNextCallAndGoesBackToWhatOrthancAskedFor)
  {
    DicomSockets settings = MakeStock();
    settings.receiveBuffer = SocketBuffer::MakeFixed(70000);
    const auto isNoDelay = [&](bool setting)
    {
      settings.tcpNoDelay = setting;
      probe_.SetSettings(settings);
      Poll(fd_, 1);
      return ReadSocketOptions(fd_).noDelay.value();
    };
    EXPECT_FALSE(ReadSocketOptions(fd_).noDelay.value());
    EXPECT_TRUE(isNoDelay(true));
    EXPECT_EQ(140000u, ReadSocketOptions(fd_).receiveBuffer.value());
    EXPECT_FALSE(isNoDelay(false));

    auto* set = caller_.Get<decltype(::setsockopt)>("CallerSetSockOpt");
    const int on = 1;
    EXPECT_EQ(0, set(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
    EXPECT_TRUE(ReadSocketOptions(fd_).noDelay.value());
    EXPECT_TRUE(isNoDelay(true));
    EXPECT_TRUE(isNoDelay(false));
  }

  TEST_F(ProbedConnectionTest, KeepsTheApplicationFromSettingWhatTheSettingsSet)
  {
    DicomSockets settings = MakeStock();
    settings.receiveBuffer = SocketBuffer();
    probe_.SetSettings(settings);

    auto* set = caller_.Get<decltype(::setsockopt)>("CallerSetSockOpt");
    const int value = 65536;
    const SocketOptions before = ReadSocketOptions(fd_);
    EXPECT_EQ(0, set(fd_, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)));
    EXPECT_EQ(0, set(fd_, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)));
    EXPECT_EQ(before.receiveBuffer, ReadSocketOptions(fd_).receiveBuffer);
    EXPECT_EQ(before.sendBuffer, ReadSocketOptions(fd_).sendBuffer);
  }

  // DCMTK's time-out for the rest of a PDU, less what the sender was held back for
  TEST_F(ProbedConnectionTest, WhatIsLeftOfATimeoutIsNoMoreThanItWas)
  {
    SendAll(pair_.GetClient(), "a");
    EXPECT_EQ(1, Poll(fd_, -1000));
    EXPECT_EQ(1, Read(fd_, 1));
    EXPECT_EQ(0, Poll(fd_, -1000));
  }

  TEST_F(ProbedConnectionTest, CountsAStallBetweenTwoBytesOfARequest)
  {
    SendAll(pair_.GetClient(), "a");
    EXPECT_EQ(1, Read(fd_, 1));
    EXPECT_EQ(0, Poll(fd_, 25));  // the time passes in the wait itself
    SendAll(pair_.GetClient(), "b");
    EXPECT_EQ(1, Read(fd_, 1));

    EXPECT_EQ(1U, tracker_.GetCurrentMessage().value_or(Message()).stalls.count);
  }

  TEST_F(ProbedConnectionTest, AnAssociationWhosePeerVanishesIsLostAlthoughOrthancWritesAnAbort)
  {
    for (const bool isGone : {true, false})
    {
      const ConnectedSocket client(pair_.GetPort());
      const int fd = accept_(pair_.GetListening(), nullptr, nullptr);
      SendAll(client.Get(), MakeAssociateRequest("ORTHANC", "STORESCU"));
      Read(fd, 1000);
      Write(fd, MakePdu(2, std::string(68, '\0')));

      if (isGone)
      {
        shutdown(client.Get(), SHUT_WR);  // what is written still leaves
        EXPECT_EQ(0, Read(fd, 1000));
      }

      EXPECT_EQ(10, Write(fd, MakePdu(7, std::string(4, '\0'))));
      Close(fd);
      EXPECT_EQ(isGone ? AssociationOutcome::Lost : AssociationOutcome::Aborted,
                GetOutcomes().back());
    }
  }

  TEST_F(ProbedConnectionTest, ARecvThatHasToWaitForAllOfItsBytesDoesAndKeepsErrno)
  {
    SendAll(pair_.GetClient(), "abc");
    std::thread client(
        [&]
        {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          SendAll(pair_.GetClient(), "def");
        });
    std::array<char, 6> buffer = {};
    auto* recv = caller_.Get<decltype(::recv)>("CallerRecv");
    errno = EDOM;
    EXPECT_EQ(6, recv(fd_, buffer.data(), buffer.size(), MSG_WAITALL));
    EXPECT_EQ(EDOM, errno);
    client.join();

    // tcp(7): with MSG_TRUNC, bytes are counted and thrown away; there is no buffer to look into
    SendAll(pair_.GetClient(), "abc");
    EXPECT_EQ(3, recv(fd_, nullptr, 3, MSG_TRUNC));
  }

  TEST_F(ProbedConnectionTest, WaitsInReadAsTheOriginalDoes)
  {
    std::thread sender([&] { SendAll(pair_.GetClient(), "a"); });
    EXPECT_EQ(1, Read(fd_, 1));
    sender.join();

    // A time-out of the socket, and the error of the original
    const timeval brief = {0, 1000};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof(brief));
    errno = 0;
    EXPECT_EQ(-1, Read(fd_, 1));
    EXPECT_EQ(EAGAIN, errno);

    shutdown(pair_.GetClient(), SHUT_RDWR);
    EXPECT_EQ(0, Read(fd_, 1));
  }

  TEST_F(ProbedConnectionTest, KeepsErrno)
  {
    DicomSockets settings = MakeStock();
    settings.congestionControl = "no-such-thing";  // is refused
    probe_.SetSettings(settings);
    SendAll(pair_.GetClient(), "ab");
    errno = EDOM;
    EXPECT_EQ(1, Read(fd_, 1));
    EXPECT_EQ(1, Poll(fd_, 0));
    EXPECT_EQ(1, Read(fd_, 1));
    EXPECT_EQ(0, Poll(fd_, 1));
    EXPECT_EQ(1, Write(fd_, "c"));
    EXPECT_EQ(EDOM, errno);
  }

  namespace
  {
    // What a storage area does, in a folder of its own
    class ProbeTestWithFiles : public ProbeTest
    {
    protected:
      void SetUp() override
      {
        ASSERT_NE(nullptr, mkdtemp(root_.data()));
        ASSERT_TRUE(probe_.Install()) << probe_.GetProblem();
      }

      ~ProbeTestWithFiles() override
      {
        std::filesystem::remove_all(root_);
      }

      void Store(const std::string& path, bool isSynced)
      {
        const int fd = open_(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
        ASSERT_LE(0, fd);
        EXPECT_EQ(4, Write(fd, "DICM"));
        EXPECT_EQ(0, isSynced ? caller_.Get<long(int)>("CallerSync")(fd) : 0);
        Close(fd);
      }

      // The server answers after so long
      void Ask(TcpPair& server, int wait)
      {
        EXPECT_EQ(5, Write(server.GetClient(), "BEGIN"));
        EXPECT_EQ(0, Poll(server.GetClient(), wait));
        SendAll(server.GetServer(), "done");
        EXPECT_EQ(1, Poll(server.GetClient(), 1000));
        EXPECT_EQ(4, Read(server.GetClient(), 100));
      }

      std::string root_ = testing::TempDir() + "probe-XXXXXX";
      TcpPair pair_;
      Probe probe_{MakePlaces(pair_), tracker_, &CallerModule::IsCaller};
      TcpPair database_;
      WrittenFiles& files_ = WrittenFiles::OfThisThread();
      AskedServers& servers_ = AskedServers::OfThisThread();
      int (*const open_)(const char*, int,
                         mode_t) = caller_.Get<int(const char*, int, mode_t)>("CallerOpen");
    };
  }

  TEST_F(ProbeTestWithFiles, FollowsWhatIsWrittenForAnInstance)
  {
    const std::string path = root_ + "/Müller, CT 3.dcm";
    const TimePoint before = Clock::now();
    files_.Begin();
    Store(path, true);
    const TimePoint after = Clock::now();

    const std::optional<StoredFile> file = files_.Take();
    ASSERT_TRUE(file);
    EXPECT_LE(before, file->created);
    EXPECT_LT(file->created, file->closed);
    EXPECT_LE(file->closed, after);
    EXPECT_LT(Duration::zero(), *file->sync);
    EXPECT_GT(file->closed - file->created, *file->sync);
    EXPECT_EQ(std::filesystem::perms(0640) & std::filesystem::perms(0700),
              std::filesystem::status(path).permissions() & std::filesystem::perms(0700));

    Store(path, true);  // for nobody
    EXPECT_FALSE(files_.Take());

    files_.Begin();
    const int reading = open_(path.c_str(), O_RDONLY, 0);
    EXPECT_EQ(4, Read(reading, 10));
    Close(reading);
    EXPECT_FALSE(files_.Take());
  }

  // As Orthanc's stream writes it: pieces of 4 KiB
  TEST_F(ProbeTestWithFiles, AFileIsWrittenAtOnceAndBeforeAnythingElseIsDoneWithIt)
  {
    const std::string path = root_ + "/file";
    const std::string piece = std::string(128, '\0') + "DICM" + std::string(3964, 'x');
    GatheredFile::SetFolder(root_.c_str());

    for (const char* function : {"CallerSync", "CallerSeek", "CallerTruncate", "CallerWriteAt",
                                 "CallerWriteAll", "CallerDuplicate"})
    {
      SCOPED_TRACE(function);
      tracker_.BeginStorage(Clock::now(), 10 * piece.size());
      const int fd = open_(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
      EXPECT_EQ(4096, Write(fd, piece));
      EXPECT_EQ(0U, std::filesystem::file_size(path));
      const long result = caller_.Get<long(int)>(function)(fd);
      EXPECT_EQ(4096U, std::filesystem::file_size(path));
      EXPECT_EQ(4096, Write(fd, piece));
      EXPECT_EQ(8192U, std::filesystem::file_size(path));
      Close(fd);

      if (function == std::string("CallerDuplicate"))
      {
        close(static_cast<int>(result));
      }

      EXPECT_TRUE(tracker_.TakeStorageWork().file);
    }

    // A child has nothing to write
    tracker_.BeginStorage(Clock::now(), 10 * piece.size());
    const int fd = open_(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
    EXPECT_EQ(4096, Write(fd, piece));
    const pid_t child = fork();

    if (child == 0)
    {
      _exit(GatheredFile::OfThisThread().Has(fd) ? 1 : 0);
    }

    int status = -1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(0U, std::filesystem::file_size(path));
    Close(fd);
    EXPECT_EQ(4096U, std::filesystem::file_size(path));

    // Without the probe, nothing is held
    const int late = open_(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
    EXPECT_EQ(4096, Write(late, piece));
    std::thread removing([this] { probe_.Remove(); });

    const auto isGathered = [&path]
    {
      GatheredFile file;
      file.Expect(1);
      file.OnOpened(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0);
      const bool result = file.Has(0);
      file.Expect(0);
      return result;
    };

    while (isGathered())
    {
      std::this_thread::yield();
    }

    Close(late);
    removing.join();
    EXPECT_EQ(4096U, std::filesystem::file_size(path));
    GatheredFile::SetFolder(nullptr);
  }

  TEST_F(ProbeTestWithFiles, FollowsStreamsOfTheCLibrary)
  {
    auto* open = caller_.Get<decltype(::fopen)>("CallerFopen");
    auto* close = caller_.Get<decltype(::fclose)>("CallerFclose");
    const std::string path = root_ + "/stream";

    files_.Begin();
    std::FILE* written = open(path.c_str(), "wb");
    ASSERT_NE(nullptr, written);
    EXPECT_EQ(0, caller_.Get<long(int)>("CallerSync")(fileno(written)));
    EXPECT_EQ(0, close(written));
    const std::optional<StoredFile> file = files_.Take();
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->sync);

    std::array<char, 10> memory = {};
    files_.Begin();
    EXPECT_EQ(0, close(open(path.c_str(), "rb")));
    EXPECT_EQ(0, close(open(path.c_str(), "ab")));
    errno = EDOM;
    EXPECT_EQ(0, close(fmemopen(memory.data(), memory.size(), "w")));
#if !defined(__SANITIZE_THREAD__)  // whose own fclose asks for a descriptor, which there is none
    EXPECT_EQ(EDOM, errno);
#endif
    EXPECT_EQ(nullptr, open((root_ + "/no/folder").c_str(), "wb"));
    EXPECT_EQ(ENOENT, errno);
    EXPECT_FALSE(files_.Take());
  }

  TEST_F(ProbeTestWithFiles, FollowsWhatIsAskedOfADatabaseServer)
  {
    files_.Begin();
    servers_.Begin({false, true}, Clock::now());
    Store(root_ + "/instance", true);
    Ask(database_, 30);
    Ask(database_, 20);
    const std::optional<ServerWork> work = servers_.Take().database;
    ASSERT_TRUE(work);
    EXPECT_EQ(2U, work->roundTrips);
    EXPECT_LE(std::chrono::milliseconds(50), work->waited);
    EXPECT_LE(std::chrono::milliseconds(20), work->shortest);
    EXPECT_EQ(database_.Describe(), work->server);
    EXPECT_TRUE(work->queued);

    Ask(database_, 1);  // for nobody
    EXPECT_FALSE(servers_.Take().database);
    EXPECT_TRUE(files_.Take());
  }

  TEST_F(ProbeTestWithFiles, AWaitBySelectIsOneForTheServer)
  {
    const int fd = database_.GetClient();
    servers_.Begin({false, true}, Clock::now());
    EXPECT_EQ(5, Write(fd, "BEGIN"));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    timeval timeout = {0, 20000};
    auto* select = caller_.Get<decltype(::select)>("CallerSelect");
    EXPECT_EQ(0, select(fd + 1, &set, nullptr, nullptr, &timeout));
    EXPECT_LE(std::chrono::milliseconds(20), servers_.Take().database->waited);
  }

  // As libcurl does: it waits with a descriptor by which other threads can wake it up
  TEST_F(ProbeTestWithFiles, FollowsWhatIsAskedOfAnObjectStorage)
  {
    std::array<int, 2> wakeup = {};
    ASSERT_EQ(0, pipe(wakeup.data()));
    auto* poll = caller_.Get<int(pollfd*, nfds_t, int)>("CallerPoll");
    const auto wait = [&](int fd, short events, int timeout)
    {
      std::array<pollfd, 2> waits = {pollfd{fd, events, 0}, pollfd{wakeup[0], POLLIN, 0}};
      return poll(waits.data(), waits.size(), timeout);
    };

    servers_.Begin({true, true}, Clock::now());
    TcpPair objects(&::accept, connect_);
    const int fd = objects.GetClient();
    EXPECT_EQ(1, wait(fd, POLLOUT, 1000));
    EXPECT_EQ(3, Write(fd, "PUT"));
    EXPECT_EQ(0, wait(fd, POLLIN, 30));
    SendAll(objects.GetServer(), "201");
    EXPECT_EQ(1, wait(fd, POLLIN, 1000));
    EXPECT_EQ(3, Read(fd, 100));
    Ask(database_, 20);

    const StorageWork work = servers_.Take();
    ASSERT_TRUE(work.storage && work.database);
    EXPECT_EQ(1U, work.storage->roundTrips);
    EXPECT_LE(std::chrono::milliseconds(30), work.storage->waited);
    EXPECT_LE(work.storage->waited, work.storage->end - work.storage->begin);
    EXPECT_EQ(objects.Describe(), work.storage->server);
    EXPECT_EQ(1U, work.database->roundTrips);
    EXPECT_LE(std::chrono::milliseconds(20), work.database->waited);

    // Closed, its number becomes that of another one
    servers_.Begin({true, true}, Clock::now());
    EXPECT_EQ(3, Write(fd, "PUT"));
    Close(fd);
    ASSERT_EQ(fd, dup2(database_.GetClient(), fd));
    EXPECT_EQ(6, Write(fd, "COMMIT"));
    const StorageWork both = servers_.Take();
    ASSERT_TRUE(both.storage && both.database);
    EXPECT_EQ(objects.Describe(), both.storage->server);
    EXPECT_EQ(database_.Describe(), both.database->server);
    EXPECT_FALSE(both.database->queued);  // as it is not known when the storage had ended
    Close(wakeup[0]);
    Close(wakeup[1]);
  }

  TEST_F(ProbedConnectionTest, SurvivesADescriptorThatChangedBehindItsBack)
  {
    const int zero = open("/dev/zero", O_RDONLY);
    ASSERT_EQ(fd_, dup2(zero, fd_));
    close(zero);
    EXPECT_EQ(3, Read(fd_, 3));
    EXPECT_FALSE(tracker_.GetCurrentMessage());
    EXPECT_EQ(std::vector<AssociationOutcome>{AssociationOutcome::Incomplete}, GetOutcomes());
  }

  // As Python's subprocess and Java do, in our memory, before they execute a program
  TEST_F(ProbeTestWithFiles, AChildThatClosesWhatItInheritsAndOpensALogChangesNothingOfOurs)
  {
    const int connection = accept_(pair_.GetListening(), nullptr, nullptr);
    files_.Begin();
    servers_.Begin({true, true}, Clock::now());
    const int file = open_((root_ + "/instance").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
    EXPECT_EQ(5, Write(database_.GetClient(), "BEGIN"));
    auto* close = caller_.Get<decltype(::close)>("CallerClose");
    const std::array<int, 3> inherited = {connection, file, database_.GetClient()};
    const std::string log = root_ + "/log";

    // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork)
    const pid_t child = vfork();

    if (child == 0)
    {
      // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
      for (const int fd : inherited)
      {
        close(fd);
      }

      open_(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);  // with the number of the first
      _exit(0);
    }

    EXPECT_EQ(child, waitpid(child, nullptr, 0));
    EXPECT_FALSE(files_.IsOpen(connection));
    EXPECT_TRUE(GetOutcomes().empty());
    EXPECT_EQ(1U, GetOpen().size());
    EXPECT_TRUE(files_.IsOpen(file));
    SendAll(database_.GetServer(), "done");
    EXPECT_EQ(4, Read(database_.GetClient(), 100));
    EXPECT_EQ(1U, servers_.Take().database->roundTrips);
    Close(file);
    EXPECT_TRUE(files_.Take());
    Close(connection);
    EXPECT_EQ(std::vector<AssociationOutcome>{AssociationOutcome::Incomplete}, GetOutcomes());
  }

  TEST_F(ProbedConnectionTest, AChildOfForkIsNotWatched)
  {
    SendAll(pair_.GetClient(), "ab");
    const pid_t child = fork();

    if (child == 0)
    {
      Read(fd_, 1);
      Close(fd_);
      _exit(tracker_.GetCurrentMessage() || !GetOutcomes().empty() ? 1 : 0);
    }

    int status = 0;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(1, Read(fd_, 1));
    EXPECT_TRUE(tracker_.GetCurrentMessage());
  }

#if !defined(PERF_SANITIZED)  // whose own recv and poll are not made for that

  // As libcurl 8.16 does with a thread that asks for an address. The process lives if no frame
  // between here and libc forbids the unwinding.
  TEST_F(ProbedConnectionTest, AThreadThatIsCancelledWhileItWaitsEnds)
  {
    const auto cancel = [](std::function<void()> wait)
    {
      pthread_t thread = {};
      const auto run = [](void* work) -> void*
      {
        (*static_cast<std::function<void()>*>(work))();
        return nullptr;
      };
      ASSERT_EQ(0, pthread_create(&thread, nullptr, run, &wait));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(0, pthread_cancel(thread));
      void* result = nullptr;
      EXPECT_EQ(0, pthread_join(thread, &result));
      EXPECT_EQ(PTHREAD_CANCELED, result);
    };

    for (const int fd : {fd_, pair_.GetClient()})  // the former is watched
    {
      cancel([&] { Poll(fd, 10000); });
      cancel([&] { Read(fd, 1); });
    }

    SendAll(pair_.GetClient(), "a");
    EXPECT_EQ(1, Read(fd_, 1));
  }

  // Sanitizers bring their own allocation functions
  TEST_F(ProbeTest, NoHookAllocatesFromTheFirstCallOn)
  {
    const std::string request = MakeAssociateRequest("ORTHANC", "STORESCU");
    const std::string accepted = MakePdu(2, std::string(68, '\0'));
    auto* set = caller_.Get<decltype(::setsockopt)>("CallerSetSockOpt");
    const int value = 65536;
    const std::size_t begin = Allocations::count;
    const auto number = std::make_unique<int>(1);
    ASSERT_EQ(begin + 1, Allocations::count);

    for (std::size_t i = 0; i < 3; i++)
    {
      TcpPair incoming(accept_);
      Probe probe(MakePlaces(incoming), tracker_, &CallerModule::IsCaller);
      DicomSockets settings = MakeStock();
      settings.tcpNoDelay = true;
      settings.tcpQuickAck = true;
      settings.receiveBuffer = SocketBuffer();
      settings.congestionControl = "fifteen--letter";  // no longer one is there
      probe.SetSettings(settings);
      ASSERT_TRUE(probe.Install()) << probe.GetProblem();
      TcpPair outgoing(&::accept, connect_);
      SendAll(incoming.GetClient(), request);

      const std::size_t before = Allocations::count;
      const int fd = incoming.GetServer();
      set(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
      Poll(fd, 1000);
      Read(fd, 6);
      Read(fd, 1000);
      Write(fd, accepted);
      Poll(fd, 1);  // in vain
      Close(fd);
      incoming.ReleaseServer();
      Write(outgoing.GetClient(), request);
      Close(outgoing.GetClient());
      outgoing.ReleaseClient();
      EXPECT_EQ(before, Allocations::count);

      ASSERT_EQ(2U * (i + 1), journal_.Drain(tracker_).associations.size());
    }
  }

#endif

  TEST_F(ProbedConnectionTest, IsOnlyOneInAProcess)
  {
    Probe second(MakePlaces(pair_), tracker_, &CallerModule::IsCaller);
    EXPECT_FALSE(second.Install());
    EXPECT_NE("", second.GetProblem());
    probe_.Remove();
    EXPECT_TRUE(second.Install());
  }

  TEST_F(ProbedConnectionTest, IsHammeredBySixteenThreadsWhileSettingsChange)
  {
    constexpr int THREADS = 16;
    constexpr int ROUNDS = 200;

    std::mutex pairing;  // that a thread accepts its own connection
    std::atomic<int> running = THREADS;
    std::atomic<int> failures = 0;
    const auto hammer = [&](int)
    {
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(pair_.GetPort());

      for (int round = 0; round < ROUNDS / 10; round++)
      {
        const int client = socket(AF_INET, SOCK_STREAM, 0);
        int server = -1;

        {
          const std::lock_guard<std::mutex> lock(pairing);
          connect_(client, reinterpret_cast<sockaddr*>(&address), sizeof(address));
          server = accept_(pair_.GetListening(), nullptr, nullptr);
        }

        for (int message = 0; message < 10; message++)
        {
          SendAll(client, std::string(100, 'q'));
          failures += (Poll(server, 1000) == 1) ? 0 : 1;
          failures += (Read(server, 100) == 100) ? 0 : 1;
          failures += (Write(server, std::string(100, 'r')) == 100) ? 0 : 1;
          ReceiveAll(client, 100);
        }

        Close(client);
        failures += (Read(server, 1) == 0) ? 0 : 1;

        // The kernel gives the descriptor away after this only. The thread sanitizer does not
        // know that, where the probe was removed in between.
        const std::lock_guard<std::mutex> lock(pairing);
        Close(server);
      }

      running--;
    };
    const auto change = [&]
    {
      DicomSockets settings = MakeStock();

      for (int i = 0; running != 0; i++)
      {
        settings.tcpNoDelay = (i % 2 == 0);
        settings.tcpQuickAck = (i % 3 == 0);
        settings.receiveBuffer = i % 5 == 0 ? SocketBuffer::MakeFixed(50000) : SocketBuffer();
        probe_.SetSettings(settings);
        GetOpen();

        if (i % 10 == 0)
        {
          probe_.Remove();
          ASSERT_TRUE(probe_.Install());
        }
      }
    };
    RunOnThreads(THREADS, hammer, change);
    EXPECT_EQ(0, failures);
  }

  TEST(ListeningSocket, IsFoundByItsPort)
  {
    const TcpPair pair;
    EXPECT_EQ(pair.GetListening(), FindListeningSocket(pair.GetPort()));
    EXPECT_FALSE(FindListeningSocket(0));
    EXPECT_FALSE(FindListeningSocket(1));
  }

  TEST(ProbeSettings, WithoutTheProbeAcceptedSocketsInheritTheOptions)
  {
    TcpPair pair;
    WatchedPlaces places;
    places.dicomPort = pair.GetPort();
    ConnectionTracker tracker;
    Probe probe(places, tracker);
    EXPECT_FALSE(probe.IsInstalled());
    EXPECT_FALSE(probe.GetProblem().empty());

    DicomSockets settings = MakeStock();
    settings.tcpNoDelay = true;
    settings.keepAlive = std::chrono::seconds(44);
    probe.SetSettings(settings);

    // The pair's own connection is older than the settings
    const ConnectedSocket client(pair.GetPort());
    pair.GetServer();
    const int accepted = accept(pair.GetListening(), nullptr, nullptr);
    const SocketOptions options = ReadSocketOptions(accepted);
    close(accepted);
    EXPECT_EQ(true, options.noDelay);
    EXPECT_EQ(44U, options.keepAlive);
  }

  TEST(ProbeSettings, WhatIsLeftToDcmtkIsWhatItsEnvironmentSays)
  {
    ConnectionTracker tracker;
    Probe probe({}, tracker, {}, DcmtkEnvironment::Parse("1", "32768"));
    probe.SetSettings(MakeStock());

    const SettingsTrial trial = probe.GetTrial();
    EXPECT_TRUE(trial.problems.empty());
    EXPECT_EQ(true, trial.inForce.noDelay);
    EXPECT_EQ(65536U, trial.inForce.receiveBuffer);

    Probe other({}, tracker);
    other.SetSettings(MakeStock());
    EXPECT_EQ(false, other.GetTrial().inForce.noDelay);
    EXPECT_EQ(false, other.GetTrial().inForce.isReceiveBufferFixed.value_or(false));
  }
}
