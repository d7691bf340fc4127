// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/GatheredFile.h"

#include "Dicom/ReceivedFile.h"
#include "Redirection/ErrnoKeeper.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Laid out with the thread itself, as in WrittenFiles.cpp
    __attribute__((tls_model("initial-exec"))) thread_local GatheredFile ofThisThread;

    // Nothing here needs a destructor: hooks may be under way until the process ends
    std::atomic<const char*> folder = nullptr;  // null: switched off
    std::atomic<bool> isStarted = false;
    std::array<std::atomic<bool>, GatheredFile::SLOTS> areUsed = {};
    std::array<std::array<char, GatheredFile::CAPACITY>, GatheredFile::SLOTS> slots;
  }

  GatheredFile& GatheredFile::OfThisThread() noexcept
  {
    return ofThisThread;
  }

  void GatheredFile::SetFolder(const char* path) noexcept
  {
    folder = path;
  }

  void GatheredFile::Start() noexcept
  {
    isStarted = true;
  }

  void GatheredFile::Stop() noexcept
  {
    isStarted = false;

    while (std::find(areUsed.begin(), areUsed.end(), true) != areUsed.end())
    {
      std::this_thread::yield();
    }
  }

  void GatheredFile::ForgetParent() noexcept
  {
    folder = nullptr;
    ofThisThread = {};
    std::fill(areUsed.begin(), areUsed.end(), false);
  }

  void GatheredFile::Expect(std::size_t size) noexcept
  {
    held_ = 0;  // of a file that was left open: it may be another thread's by now
    End(fd_);
    CloseFailed();
    expected_ = folder == nullptr ? 0 : size;
  }

  void GatheredFile::OnOpened(const char* path, int flags, int fd) noexcept
  {
    const bool isNew = (flags & ~O_CLOEXEC) == (O_WRONLY | O_CREAT | O_TRUNC) && fd >= 0;

    if (Has(fd))  // an earlier file of this number, which was closed out of sight
    {
      held_ = 0;
      End(fd);
    }

    failed_ = failed_ == fd ? -1 : failed_;  // likewise
    CloseFailed();

    for (std::size_t i = 0; i < SLOTS && expected_ != 0 && isNew && fd_ < 0; i++)
    {
      if (!areUsed[i].exchange(true))
      {
        fd_ = fd;
        slot_ = i;
        error_ = 0;
        isTold_ = false;
        taken_ = 0;
      }
    }

    const char* const parent =
        isStarted ? folder.load() : nullptr;  // now, as Stop() waits for slots
    const std::size_t length = parent == nullptr ? 0 : std::strlen(parent);

    if (length == 0 || std::strncmp(path, parent, length) != 0 ||
        (path[length] != '/' && parent[length - 1] != '/'))
    {
      End(fd);
    }
  }

  ssize_t GatheredFile::Write(const void* data, std::size_t size)
  {
    const std::string_view piece(static_cast<const char*>(data), size);

    // What Orthanc has compressed has no such prefix, and another size
    if (taken_ == 0 && !HasFilePrefix(piece))
    {
      expected_ = 0;
    }

    for (std::size_t begin = 0; begin < size;)
    {
      const std::size_t part = piece.copy(slots[slot_].data() + held_, CAPACITY - held_, begin);
      begin += part;
      held_ += part;
      taken_ += part;

      // No further piece of this size comes before the stream is asked
      if (held_ == CAPACITY || taken_ + size >= expected_)
      {
        WriteOut();
      }
    }

    isTold_ = isTold_ || (error_ != 0 && taken_ < expected_);
    errno = error_ == 0 ? errno : error_;
    return error_ == 0 ? static_cast<ssize_t>(size) : -1;
  }

  int GatheredFile::End(int fd)
  {
    if (!Has(fd))
    {
      return 0;
    }

    WriteOut();
    areUsed[slot_] = false;
    fd_ = -1;
    errno = error_ == 0 ? errno : error_;
    return error_ == 0 ? 0 : -1;
  }

  int GatheredFile::EndBeforeClose(int fd)
  {
    failed_ = failed_ == fd ? -1 : failed_;

    if (End(fd) == 0 || isTold_)
    {
      return 0;
    }

    CloseFailed();
    failed_ = fd;
    return -1;
  }

  void GatheredFile::CloseFailed() noexcept
  {
    if (failed_ >= 0)
    {
      const ErrnoKeeper keeper;
      ::close(std::exchange(failed_, -1));
    }
  }

  // Also what write(2) takes in several parts. After an error, nothing more.
  void GatheredFile::WriteOut()
  {
    for (std::size_t written = 0; written < held_ && error_ == 0;)
    {
      const ssize_t result = ::write(fd_, slots[slot_].data() + written, held_ - written);
      written += result > 0 ? static_cast<std::size_t>(result) : 0;
      error_ = result > 0 || (result < 0 && errno == EINTR) ? 0 : result < 0 ? errno : EIO;
    }

    held_ = 0;
  }
}
