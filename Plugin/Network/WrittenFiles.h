// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"
#include "Redirection/GotPatcher.h"

#include <atomic>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // The files that a thread creates, writes and syncs while it stores an instance, wherever they
  // are and whatever they are called. Orthanc (1.10.1 to 1.13.0) has its storage area store first
  // and its index then, on the thread that received the instance: so the first file begins the
  // storage, and the last one ends it. A file counts that is opened to be written only, or is
  // emptied: a database reads its files as well (SQLite opens all of them, journals too, with
  // O_RDWR and never with O_TRUNC), and logs are appended to.
  //
  // Each thread has one, for the hooks of the probe: no lock, no allocation. What another thread
  // opens, or closes, does not count.
  class WrittenFiles
  {
  public:
    static WrittenFiles& OfThisThread() noexcept;

    // Whether a file counts that is opened with these flags of open(2)
    static bool IsWritten(int flags) noexcept;

    // The thread stores an instance from now on, until Take(). "isClosed", which outlives that,
    // says whether a file was closed and none is open now; null: nobody wants to know.
    void Begin(std::atomic<bool>* isClosed = nullptr) noexcept;

    bool IsFollowing() const noexcept
    {
      return isFollowing_;
    }

    // "fd" as open(2) answers; "from": when that was called
    void OnCreated(int fd, TimePoint from) noexcept;

    void OnSynced(int fd, TimePoint from, TimePoint now) noexcept;
    void OnClosed(int fd, TimePoint now) noexcept;

    // Whether it counts, and is open
    bool IsOpen(int fd) const noexcept
    {
      return fd == open_ && fd >= 0;
    }

    // What was written since Begin(); nothing if no file was closed
    std::optional<StoredFile> Take() noexcept;

  private:
    void TellWhetherClosed(bool isClosed) const noexcept;

    bool isFollowing_ = false;
    std::atomic<bool>* isClosed_ = nullptr;
    int open_ = -1;  // of several files that are open at once, the latest
    std::optional<TimePoint> created_;
    std::optional<TimePoint> closed_;
    std::optional<Duration> sync_;
  };

  // A descriptor was closed, by close(2) or fclose(3). Keeps errno.
  void AfterFileClosed(int fd) noexcept;

  // Those of the functions of WatchedFunctions.h that open, sync and close files
  std::vector<Redirection> GetFileFunctions();
}
