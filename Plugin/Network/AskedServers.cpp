// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AskedServers.h"

#include "Network/Connection.h"
#include "Redirection/ErrnoKeeper.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // As that of WrittenFiles
    __attribute__((tls_model("initial-exec"))) thread_local AskedServers ofThisThread;


    bool IsSocket(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      int type = 0;
      socklen_t size = sizeof(type);
      return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    }


    // The processor time of the calling thread (clock_gettime(2))
    Duration GetComputed() noexcept
    {
      const ErrnoKeeper keeper;
      timespec time = {};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }


    // unix(7): the path ends with a zero byte, or where the address does; that of the abstract
    // namespace begins with one, which is written as "@" (ss(8))
    std::string DescribeUnixAddress(const sockaddr_un& address, std::size_t size)
    {
      const std::size_t begin = offsetof(sockaddr_un, sun_path);
      std::string path(address.sun_path, size > begin ? size - begin : 0);

      if (!path.empty() && path[0] == '\0')
      {
        path[0] = '@';
      }

      path.resize(std::min(path.size(), path.find('\0')));
      std::replace_if(
          path.begin(), path.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
      return path;
    }


    // "10.0.0.1:5432", "[::1]:5432", "/run/postgresql/.s.PGSQL.5432"; empty if the kernel does not
    // know it, as where the connection is closed
    std::string DescribeServer(int fd)
    {
      sockaddr_storage storage = {};
      auto* address = reinterpret_cast<sockaddr*>(&storage);
      socklen_t size = sizeof(storage);

      if (getpeername(fd, address, &size) != 0)
      {
        return "";
      }

      if (address->sa_family == AF_UNIX)
      {
        sockaddr_un local = {};
        std::memcpy(&local, &storage, std::min(sizeof(local), std::size_t(size)));
        return DescribeUnixAddress(local, std::min(sizeof(local), std::size_t(size)));
      }

      const PeerAddress peer = PeerAddress::From(address, size);
      const std::string ip = peer.ToString();
      const bool isV6 = ip.find(':') != std::string::npos;
      return peer.port == 0 ? "" : (isV6 ? "[" + ip + "]" : ip) + ":" + std::to_string(peer.port);
    }
  }


  AskedServers& AskedServers::OfThisThread() noexcept
  {
    return ofThisThread;
  }


  void AskedServers::Begin() noexcept
  {
    *this = {};
    isFollowing_ = true;
  }


  void AskedServers::OnFileClosed() noexcept
  {
    Begin();
    computedBefore_ = GetComputed();
  }


  void AskedServers::OnWritten(int fd, TimePoint now) noexcept
  {
    if (Find(fd) == nullptr)
    {
      if (count_ == asked_.size() || !IsSocket(fd))
      {
        return;
      }

      asked_[count_++].fd = fd;
    }

    last_ = fd;
    awaited_ = fd;
    askedAt_ = now;
  }


  void AskedServers::OnWaited(int fd, Duration waited) noexcept
  {
    if (Asked* asked = Find(fd))
    {
      asked->waited += waited;
    }
  }


  void AskedServers::OnRead(int fd, ssize_t size, TimePoint from, TimePoint now) noexcept
  {
    Asked* const asked = Find(fd);

    if (asked == nullptr)
    {
      return;
    }

    asked->waited += now - from;

    if (size > 0 && fd == awaited_)
    {
      asked->roundTrips++;
      asked->shortest = std::min(asked->shortest, now - askedAt_);
      awaited_ = -1;
    }
  }


  std::optional<DatabaseWork> AskedServers::Take()
  {
    const AskedServers taken = std::exchange(*this, {});

    if (taken.count_ == 0)
    {
      return std::nullopt;
    }

    DatabaseWork work;
    const bool isAfterFile = taken.computedBefore_ != Duration::min();
    work.connection = isAfterFile ? taken.asked_[0].fd : taken.last_;
    work.server = DescribeServer(work.connection);

    if (isAfterFile)
    {
      work.computed = GetComputed() - taken.computedBefore_;
    }

    for (std::size_t i = 0; i < taken.count_; i++)
    {
      const Asked& asked = taken.asked_[i];

      // A pool may give each transaction another connection
      if (asked.fd == work.connection || DescribeServer(asked.fd) == work.server)
      {
        work.roundTrips += asked.roundTrips;
        work.waited += asked.waited;
        work.shortest = std::min(work.shortest, asked.shortest);
      }
    }

    return work;
  }


  // Null: it was not asked
  AskedServers::Asked* AskedServers::Find(int fd) noexcept
  {
    Asked* const end = asked_.data() + count_;
    Asked* const found =
        std::find_if(asked_.data(), end, [fd](const Asked& asked) { return asked.fd == fd; });
    return found == end ? nullptr : found;
  }
}
