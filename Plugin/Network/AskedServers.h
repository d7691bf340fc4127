// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"
#include "Network/Sockets/PeerAddress.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace OrthancPerf
{
  // What of Orthanc is kept by a plugin, which may ask a server for it. Aligned, so that an atomic
  // one takes no lock with clang.
  struct alignas(2) Served
  {
    bool isStorage = false;
    bool isDatabase = false;
  };

  // What the thread of a request that reads has waited for, and written, so far
  struct ReadWaits
  {
    Duration database = Duration::zero();  // its server
    Duration storage = Duration::zero();   // its server, or files
    Duration client = Duration::zero();    // to take more of the response; for DIMSE responses
    Duration writing = Duration::zero();   // the response, or what a C-MOVE sends
  };

  // The servers that a thread asks over sockets while it stores an instance: an object storage, a
  // database. What it writes is a question, what it reads next the answer. No byte is looked at, so
  // that it works under TLS. The hooks know Orthanc's own connections: those are not among them.
  //
  // Orthanc (1.10.1 to 1.13.0) stores the file first, then the index, on the same thread. If it
  // writes files, the database is asked after the last one was closed. If not, the storage's server
  // is asked first, the database next. A single server is the database, if that may be a server:
  // the storage area works on other threads then, or is in the same database. The storage's server
  // no longer counts once the database was asked: what an instance replaces is removed last.
  //
  // A request that reads asks the database first, if that may be a server. What its thread reads
  // and never writes to are files of the storage area, unless that is a server.
  //
  // Each thread has one, for the hooks of the probe: no lock, no allocation, and small, as the
  // dynamic linker has some 500 bytes of such thread-local storage for all plugins together.
  class AskedServers
  {
  public:
    static AskedServers& OfThisThread() noexcept;

    // Nothing tells a thread of a job that its instance has failed, and the next thing that it does
    // may be to send: after so long, what it asks is no longer taken for a part of storing
    static constexpr Duration LONGEST = std::chrono::seconds(30);

    // The thread stores an instance from now on, until Take()
    void Begin(Served served, TimePoint now) noexcept;

    // The thread serves a request that reads, over this connection, until it begins anew
    void BeginReading(Served served, int client) noexcept;

    bool IsReading() const noexcept
    {
      return client_ >= 0;
    }

    ReadWaits GetReadWaits() const noexcept;

    // It has written to the client, or to the destination of a C-MOVE
    void OnAnswered(Duration writing) noexcept
    {
      waits_.writing += writing;
    }

    // It has waited for their DIMSE response
    void OnWaitedForPeer(Duration waited) noexcept
    {
      waits_.client += waited;
    }

    bool IsFollowing() const noexcept
    {
      return isFollowing_;
    }

    // Calls the original. Only a thread that is followed pays for more than the question: "tell"
    // gets its servers, what the original answered, and when it was called.
    template <typename Original, typename Tell>
    static auto Follow(const Original& original, const Tell& tell)
    {
      AskedServers& servers = OfThisThread();

      if (!servers.IsFollowing())
      {
        return original();
      }

      const TimePoint from = Clock::now();
      const auto result = original();
      tell(servers, result, from);
      return result;
    }

    // Whether the thread may ask for the sake of an instance
    bool MayAsk(TimePoint now) const noexcept
    {
      return isFollowing_ && !IsReading() && now - since_ < LONGEST;
    }

    // A file of the instance is complete: what was asked so far was not the database
    void OnFileClosed(TimePoint now) noexcept;

    // connect(2) was called, and has returned
    void OnConnecting(int fd, TimePoint from, TimePoint now) noexcept;

    // Something was written to a descriptor that is no file of the instance. "from": when write(2)
    // was called, as a server on the same machine may answer before it returns.
    void OnWritten(int fd, TimePoint from) noexcept;

    // It was waited for: for something to read, for room to write (alone), or to be connected.
    // False: it is nothing that counts.
    bool OnWaited(int fd, Duration waited, bool isForRoom = false) noexcept;

    // "size" as read(2) answers
    void OnRead(int fd, ssize_t size, TimePoint from, TimePoint now) noexcept;

    // Its number may be that of another connection soon
    void OnClosing(int fd) noexcept;

    // What the thread has asked since Begin(). Allocates.
    StorageWork Take();

  private:
    struct Server
    {
      PeerAddress address;  // without a port: a Unix socket
      int connection = -1;  // the first one
      std::uint32_t roundTrips = 0;
      Duration waited = Duration::zero();
      Duration shortest = Duration::max();
    };

    // A connection, and whose it is: a place in servers_, or beyond
    struct Link
    {
      int fd = -1;
      std::uint8_t server = 0;
    };

    Link* FindLink(int fd) noexcept;
    Server* FindCounted(int fd) noexcept;
    bool Add(int fd, TimePoint now) noexcept;
    std::uint8_t Classify(int fd, const PeerAddress& address, TimePoint begin) noexcept;
    ServerWork Describe(std::size_t place) const;
    std::string GetName(std::size_t server) const;

    std::array<Server, 2> servers_ = {};  // in the order in which they were asked first
    std::array<Link, 6> links_ = {};      // what is asked beyond that does not count
    std::uint8_t linkCount_ = 0;
    std::uint8_t serverCount_ = 0;
    int client_ = -1;  // connection of the request that reads; -1: there is none
    ReadWaits waits_;  // of that request, but for servers
    bool isFollowing_ = false;
    bool isAfterFile_ = false;
    Served served_;
    TimePoint since_;
    int awaited_ = -1;     // the connection whose answer is to come
    int connecting_ = -1;  // the one that is to be made
    TimePoint askedAt_;
    TimePoint connectingSince_;
    Duration connectWaited_ = Duration::zero();
    TimePoint begin_;                            // of the first server
    TimePoint end_;                              // of the storage: its last answer, or file
    Duration computedBefore_ = Duration::min();  // by this thread until then
    Duration queued_ = Duration::min();          // from then to the database's first question
  };
}
