// SPDX-License-Identifier: GPL-3.0-or-later
// Any order of what a thread does with its descriptors while it stores an instance: what is said of
// the servers that it has asked is no more than what it did, and took no longer.
#include "Fuzz/Require.h"
#include "Network/AskedServers.h"
#include "Network/TcpPair.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace OrthancPerf;

namespace
{
  constexpr std::size_t PLACES = 8;
  constexpr int FIRST = 200;  // the descriptor of the first place; nobody else has these

  // A socket that has connected to another one of this process, in the abstract namespace (unix(7))
  int ConnectUnixSocket()
  {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string name = "perf-fuzz-" + std::to_string(getpid());
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);

    if (bind(listening, generic, size) != 0 || listen(listening, 1) != 0 ||
        connect(client, generic, size) != 0)
    {
      throw std::runtime_error("no Unix socket");
    }

    return client;
  }

  // What a descriptor may be: connections to three servers, one of them twice, and what is none
  class Kinds
  {
  public:
    Kinds()
    {
      int ends[2] = {};
      Require(pipe(ends) == 0);
      fds_ = {servers_[0].GetClient(),
              again_.Get(),
              servers_[1].GetClient(),
              servers_[2].GetClient(),
              ConnectUnixSocket(),
              socket(AF_INET, SOCK_STREAM, 0),
              ends[1],
              socket(AF_INET, SOCK_DGRAM, 0)};
    }

    // Empty: it is no TCP connection
    std::string GetServer(std::size_t kind) const
    {
      static constexpr std::array<std::size_t, 4> OWNERS = {0, 0, 1, 2};
      const std::size_t place = kind % fds_.size();
      return place < OWNERS.size()
                 ? "127.0.0.1:" + std::to_string(servers_[OWNERS[place]].GetPort())
                 : "";
    }

    // The descriptor "fd" is such a thing from now on
    void Put(int fd, std::size_t kind) const
    {
      Require(dup2(fds_[kind % fds_.size()], fd) == fd);
    }

  private:
    std::array<TcpPair, 3> servers_;
    ConnectedSocket again_{servers_[0].GetPort()};
    std::array<int, 8> fds_ = {};
  };

  // One instance after the other, by a script: each step is two bytes, whom it concerns and what
  // happens, and how long that takes
  class Thread
  {
  public:
    explicit Thread(const Kinds& kinds) : kinds_(kinds)
    {
      for (std::size_t place = 0; place < PLACES; place++)
      {
        close(FIRST + static_cast<int>(place));
      }

      Begin(3);
    }

    void Play(const std::uint8_t* data, std::size_t size)
    {
      for (std::size_t i = 0; i + 1 < size; i += 2)
      {
        errno = EDOM;
        Act(FIRST + static_cast<int>(data[i] % PLACES), data[i] / PLACES, data[i + 1]);
        Require(errno == EDOM);
      }

      Take();
    }

  private:
    void Act(int fd, unsigned int action, unsigned int amount)
    {
      switch (action)
      {
        case 0:
          Take();
          Begin(amount);
          break;
        case 1:
          CloseFile();
          break;
        case 2:
        case 3:
          Put(fd, amount);
          isSilent_ = true;  // behind the hooks' backs: who is asked there, they can't know
          break;
        case 4:
        case 5:
          Put(fd, amount);
          Connect(fd, amount / PLACES);
          break;
        case 6:
          Close(fd);
          break;
        case 7:
        case 8:
          now_ += std::chrono::milliseconds(amount);
          break;
        default:
          Ask(fd, action, amount);
      }
    }

    void Put(int fd, unsigned int kind)
    {
      kinds_.Put(fd, kind);
      places_.at(static_cast<std::size_t>(fd - FIRST)) = kinds_.GetServer(kind);
    }

    // The hooks tell it nothing else while it does not follow
    void Ask(int fd, unsigned int action, unsigned int amount)
    {
      if (!servers_.IsFollowing())
      {
        return;
      }

      if (action % 3 == 0)
      {
        servers_.OnWritten(fd, now_);
        writes_++;
        writesTo_[places_.at(static_cast<std::size_t>(fd - FIRST))]++;
        return;
      }

      const TimePoint from = now_;
      now_ += std::chrono::milliseconds(amount / 4);
      waited_ += now_ - from;

      if (action % 3 == 1)
      {
        servers_.OnWaited(fd, now_ - from);
      }
      else
      {
        servers_.OnRead(fd, static_cast<ssize_t>(amount % 4) - 1, from, now_);
      }
    }

    void Connect(int fd, unsigned int amount)
    {
      if (servers_.IsFollowing())
      {
        const TimePoint from = now_;
        now_ += std::chrono::milliseconds(amount);
        waited_ += now_ - from;
        servers_.OnConnecting(fd, from, now_);
      }
    }

    void Close(int fd)
    {
      if (servers_.IsFollowing())
      {
        servers_.OnClosing(fd);
      }

      const int error = errno;
      close(fd);
      errno = error;
    }

    void CloseFile()
    {
      if (servers_.IsFollowing())
      {
        servers_.OnFileClosed(now_);
        Require(servers_.IsFollowing() == served_.isDatabase);
        served_.isStorage = false;
        Restart();
      }
    }

    void Begin(unsigned int served)
    {
      served_ = {(served & 1) != 0, (served & 2) != 0};
      servers_.Begin(served_, now_);
      Require(servers_.IsFollowing());
      Restart();
    }

    void Restart()
    {
      begin_ = now_;
      waited_ = Duration::zero();
      writes_ = 0;
      writesTo_.clear();
      isSilent_ = false;
    }

    void Take()
    {
      const int error = errno;
      const StorageWork work = servers_.Take();
      errno = error;
      Require(!servers_.IsFollowing());
      Require(served_.isStorage || !work.storage);
      Require(served_.isDatabase || !work.database);
      std::uint64_t roundTrips = 0;
      Duration waited = Duration::zero();

      if (work.storage)
      {
        CheckStorage(*work.storage);
        roundTrips += work.storage->roundTrips;
        waited += work.storage->waited;
      }

      if (work.database)
      {
        CheckDatabase(*work.database);
        roundTrips += work.database->roundTrips;
        waited += work.database->waited;
      }

      Require(roundTrips <= writes_ && waited <= waited_);
    }

    // No server answers what another one was asked
    void CheckServer(const std::string& server, std::uint32_t roundTrips) const
    {
      Require(IsPrintable(server));
      const auto writes = writesTo_.find(server);
      Require(isSilent_ || server.empty() ||
              (writes != writesTo_.end() && roundTrips <= writes->second));
    }

    void CheckStorage(const ServerWork& work) const
    {
      CheckServer(work.server, work.roundTrips);
      Require(work.waited >= Duration::zero());
      Require(begin_ <= work.begin && work.begin <= work.end && work.end <= now_);
    }

    void CheckDatabase(const ServerWork& work) const
    {
      const Duration whole = now_ - begin_;
      CheckServer(work.server, work.roundTrips);
      Require(work.waited >= Duration::zero());
      Require(work.connection >= FIRST && work.connection < FIRST + static_cast<int>(PLACES));
      Require(work.roundTrips > 0 ? work.shortest >= Duration::zero() && work.shortest <= whole
                                  : work.shortest == Duration::zero());
      Require(!work.queued || (*work.queued >= Duration::zero() && *work.queued <= whole));
    }

    const Kinds& kinds_;
    AskedServers servers_;
    Served served_;
    TimePoint now_{std::chrono::seconds(1)};
    TimePoint begin_;
    Duration waited_ = Duration::zero();
    std::uint64_t writes_ = 0;
    std::array<std::string, PLACES> places_;         // the servers that are connected there
    std::map<std::string, std::uint64_t> writesTo_;  // each of them
    bool isSilent_ = false;
  };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static const Kinds kinds;
  Thread thread(kinds);
  thread.Play(data, size);
  return 0;
}
