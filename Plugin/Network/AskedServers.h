// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"

#include <array>
#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace OrthancPerf
{
  // The servers that a thread asks over sockets while it stores an instance: a database, whichever
  // library speaks to it. What is written is a question, what is read next its answer; between the
  // two the thread waits. No byte is looked at, so that it works under TLS. Connections of DICOM
  // and of Orthanc's HTTP server are not among them: the hooks know those.
  //
  // Orthanc (1.10.1 to 1.13.0) has its storage area store first and its index then, on the same
  // thread: where files are written, the database is what is asked after the last one was closed;
  // where none is, what is asked last.
  //
  // Each thread has one, for the hooks of the probe: no lock, no allocation, and small, as the
  // dynamic linker has some 500 bytes of such thread-local storage for all plugins together.
  class AskedServers
  {
  public:
    static AskedServers& OfThisThread() noexcept;

    // The thread stores an instance from now on, until Take()
    void Begin() noexcept;

    bool IsFollowing() const noexcept
    {
      return isFollowing_;
    }

    // A file of the instance is complete: what was asked so far was not the database
    void OnFileClosed() noexcept;

    // Something was written to a descriptor that is no file of the instance
    void OnWritten(int fd, TimePoint now) noexcept;

    // It was waited for something to read
    void OnWaited(int fd, Duration waited) noexcept;

    // "size" as read(2) answers
    void OnRead(int fd, ssize_t size, TimePoint from, TimePoint now) noexcept;

    // What the thread has asked of the database since Begin(); nothing if no server was asked.
    // Allocates.
    std::optional<DatabaseWork> Take();

  private:
    // A connection to a server
    struct Asked
    {
      int fd = -1;
      std::uint32_t roundTrips = 0;
      Duration waited = Duration::zero();
      Duration shortest = Duration::max();
    };

    Asked* Find(int fd) noexcept;

    std::array<Asked, 6> asked_ = {};  // what is asked beyond that does not count
    std::uint8_t count_ = 0;
    bool isFollowing_ = false;
    int last_ = -1;     // the descriptor that was asked last
    int awaited_ = -1;  // the one whose answer is to come
    TimePoint askedAt_;
    Duration computedBefore_ = Duration::min();  // by this thread until OnFileClosed()
  };
}
