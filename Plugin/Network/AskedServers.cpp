// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AskedServers.h"

#include "Network/Sockets/TcpInfo.h"
#include "Redirection/ErrnoKeeper.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    __attribute__((tls_model("initial-exec"))) thread_local AskedServers ofThisThread;

    // A place that no server has
    constexpr std::uint8_t NOBODY = 2;

    // Whether it is a connection to a server with an address; that of a Unix socket has no port.
    // Questions to a name server are no such connection, nor are two ends of one process. What is
    // printed asks nobody, though it goes to a socket under systemd: to its journal.
    bool FindServer(int fd, PeerAddress& server) noexcept
    {
      if (fd <= STDERR_FILENO)
      {
        return false;
      }

      const ErrnoKeeper keeper;
      sockaddr_storage storage = {};
      auto* address = reinterpret_cast<sockaddr*>(&storage);
      socklen_t size = sizeof(storage);

      if (GetSocketOption(fd, SOL_SOCKET, SO_TYPE) != SOCK_STREAM ||
          getpeername(fd, address, &size) != 0 || IsServiceOfMachine(address, size))
      {
        return false;
      }

      server = PeerAddress::From(address, size);
      return server.port != 0 ||
             (address->sa_family == AF_UNIX && size > offsetof(sockaddr_un, sun_path));
    }

    // The processor time of the calling thread (clock_gettime(2))
    Duration GetComputed() noexcept
    {
      const ErrnoKeeper keeper;
      timespec time = {};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    // Empty if it has no path (unix(7))
    std::string DescribeUnixSocket(int fd)
    {
      sockaddr_un address = {};
      socklen_t size = sizeof(address);
      const bool isKnown = getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                           address.sun_family == AF_UNIX;
      return isKnown ? MakePrintable({std::begin(address.sun_path), std::end(address.sun_path)})
                     : "";
    }
  }

  AskedServers& AskedServers::OfThisThread() noexcept
  {
    return ofThisThread;
  }

  void AskedServers::Begin(Served served, TimePoint now) noexcept
  {
    *this = {};
    isFollowing_ = true;
    served_ = served;
    since_ = now;
  }

  void AskedServers::BeginReading(Served served, int client) noexcept
  {
    Begin(served, TimePoint());
    client_ = client;
  }

  ReadWaits AskedServers::GetReadWaits() const noexcept
  {
    ReadWaits waits = waits_;
    waits.database = served_.isDatabase ? servers_[0].waited : Duration::zero();
    waits.storage =
        served_.isStorage ? servers_[served_.isDatabase ? 1 : 0].waited : waits_.storage;
    return waits;
  }

  void AskedServers::OnFileClosed(TimePoint now) noexcept
  {
    Begin({false, served_.isDatabase}, since_);
    isFollowing_ = served_.isDatabase;
    isAfterFile_ = true;
    end_ = now;
    computedBefore_ = GetComputed();
  }

  void AskedServers::OnConnecting(int fd, TimePoint from, TimePoint now) noexcept
  {
    OnClosing(fd);  // an earlier connection of this descriptor, behind our backs (dup2(2))

    if (connecting_ < 0)
    {
      connectingSince_ = from;
      connectWaited_ = Duration::zero();
    }

    connecting_ = fd;  // where another attempt follows, all are the way to what is asked then
    connectWaited_ += now - from;
  }

  void AskedServers::OnWritten(int fd, TimePoint from) noexcept
  {
    if ((FindLink(fd) != nullptr || Add(fd, from)) && FindCounted(fd) != nullptr)
    {
      awaited_ = fd;
      askedAt_ = from;
    }
  }

  bool AskedServers::OnWaited(int fd, Duration waited, bool isForRoom) noexcept
  {
    if (isForRoom && IsReading() && fd == client_)
    {
      waits_.client += waited;
      return true;
    }

    if (Server* server = FindCounted(fd))
    {
      server->waited += waited;
      return true;
    }

    const bool isConnecting = fd >= 0 && fd == connecting_;
    connectWaited_ += isConnecting ? waited : Duration::zero();
    return isConnecting;
  }

  void AskedServers::OnRead(int fd, ssize_t size, TimePoint from, TimePoint now) noexcept
  {
    Server* const server = FindCounted(fd);

    if (server == nullptr)
    {
      waits_.storage += IsReading() && FindLink(fd) == nullptr ? now - from : Duration::zero();
      return;
    }

    server->waited += now - from;

    if (size <= 0)
    {
      return;
    }

    if (fd == awaited_)
    {
      server->roundTrips++;
      server->shortest = std::min(server->shortest, now - askedAt_);
      awaited_ = -1;
    }

    // As far as that may have been the storage
    if (served_.isStorage && serverCount_ == 1 && !IsReading())
    {
      end_ = now;
      computedBefore_ = GetComputed();
    }
  }

  void AskedServers::OnClosing(int fd) noexcept
  {
    if (Link* const link = FindLink(fd))
    {
      *link = links_[--linkCount_];
    }

    awaited_ = awaited_ == fd ? -1 : awaited_;
  }

  StorageWork AskedServers::Take()
  {
    const AskedServers taken = std::exchange(*this, {});
    StorageWork work;

    if (taken.serverCount_ > 0 && taken.served_.isStorage &&
        (taken.serverCount_ == 2 || !taken.served_.isDatabase))
    {
      work.storage = taken.Describe(0);
      work.storage->begin = taken.begin_;
      work.storage->end = std::max(taken.begin_, taken.end_);
    }

    if (taken.serverCount_ > 0 && taken.served_.isDatabase)
    {
      work.database = taken.Describe(taken.serverCount_ - std::size_t(1));

      if (taken.queued_ != Duration::min())
      {
        work.database->queued = taken.queued_;
      }
    }

    return work;
  }

  // Null: nothing was asked there
  AskedServers::Link* AskedServers::FindLink(int fd) noexcept
  {
    Link* const end = links_.data() + linkCount_;
    Link* const found =
        std::find_if(links_.data(), end, [fd](const Link& link) { return link.fd == fd; });
    return found == end ? nullptr : found;
  }

  // Null: it was not asked, or does not count any more
  AskedServers::Server* AskedServers::FindCounted(int fd) noexcept
  {
    const Link* const link = FindLink(fd);
    const bool isCounted = link != nullptr && (IsReading() ? link->server < serverCount_
                                                           : link->server + 1 == serverCount_);
    return isCounted ? &servers_[link->server] : nullptr;
  }

  // False: nothing is asked there, or there is no room
  bool AskedServers::Add(int fd, TimePoint now) noexcept
  {
    PeerAddress address;
    const bool isConnecting = fd == connecting_;
    connecting_ = isConnecting ? -1 : connecting_;

    // A request that reads long may have many connections to its database, one after the other
    linkCount_ = IsReading() && linkCount_ == links_.size() ? 0 : linkCount_;

    if (linkCount_ == links_.size() || !FindServer(fd, address))
    {
      return false;
    }

    links_[linkCount_] = {fd, Classify(fd, address, isConnecting ? connectingSince_ : now)};
    linkCount_++;

    if (Server* const server = isConnecting ? FindCounted(fd) : nullptr)
    {
      server->waited += connectWaited_;
    }

    return true;
  }

  // The place of the server with this address, which may be a new one. An object storage may have
  // several addresses, of one port: those are one server. Those of Unix sockets have none.
  std::uint8_t AskedServers::Classify(int fd, const PeerAddress& address, TimePoint begin) noexcept
  {
    for (std::uint8_t i = 0; i < serverCount_; i++)
    {
      if (servers_[i].address.port == address.port)
      {
        return i;
      }
    }

    const bool isOne = isAfterFile_ || !served_.isDatabase || (IsReading() && !served_.isStorage);

    if (serverCount_ == (isOne ? 1 : servers_.size()))
    {
      return NOBODY;
    }

    begin_ = serverCount_ == 0 ? begin : begin_;

    // Behind the storage's end: that is the database
    if (computedBefore_ != Duration::min())
    {
      queued_ = std::max(begin - end_ - (GetComputed() - computedBefore_), Duration::zero());
    }

    servers_[serverCount_].address = address;
    servers_[serverCount_].connection = fd;
    return serverCount_++;
  }

  ServerWork AskedServers::Describe(std::size_t place) const
  {
    const Server& server = servers_[place];
    ServerWork work;
    work.server = GetName(place);
    work.connection = server.connection;
    work.roundTrips = server.roundTrips;
    work.shortest = server.roundTrips > 0 ? server.shortest : Duration::zero();
    work.waited = server.waited;
    return work;
  }

  // "10.0.0.1:5432", "[::1]:5432", "/run/postgresql/.s.PGSQL.5432"
  std::string AskedServers::GetName(std::size_t server) const
  {
    if (const PeerAddress& address = servers_[server].address; address.port != 0)
    {
      const std::string ip = address.ToString();
      const bool isV6 = ip.find(':') != std::string::npos;
      return (isV6 ? "[" + ip + "]" : ip) + ":" + std::to_string(address.port);
    }

    return DescribeUnixSocket(servers_[server].connection);
  }
}
