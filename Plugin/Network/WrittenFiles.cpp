// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WrittenFiles.h"

#include <algorithm>
#include <fcntl.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Laid out with the thread itself (initial-exec), as the first access to other thread-local
    // storage of a plugin allocates
    __attribute__((tls_model("initial-exec"))) thread_local WrittenFiles ofThisThread;
  }


  WrittenFiles& WrittenFiles::OfThisThread() noexcept
  {
    return ofThisThread;
  }


  bool WrittenFiles::IsWritten(int flags) noexcept
  {
    const bool isForWriting = (flags & O_ACCMODE) == O_WRONLY || (flags & O_TRUNC) != 0;
    return (flags & O_CREAT) != 0 && (flags & O_APPEND) == 0 && isForWriting;
  }


  void WrittenFiles::Begin(std::atomic<bool>* isClosed) noexcept
  {
    *this = {};
    isFollowing_ = true;
    isClosed_ = isClosed;
    TellWhetherClosed(false);
  }


  void WrittenFiles::OnCreated(int fd, TimePoint from) noexcept
  {
    if (isFollowing_ && fd >= 0 && openCount_ < open_.size())
    {
      open_[openCount_++] = fd;
      created_ = created_.value_or(from);
      TellWhetherClosed(false);
    }
  }


  void WrittenFiles::OnSynced(int fd, TimePoint from, TimePoint now) noexcept
  {
    if (Find(fd) != nullptr)
    {
      sync_ = sync_.value_or(Duration::zero()) + (now - from);
    }
  }


  void WrittenFiles::OnClosed(int fd, TimePoint now) noexcept
  {
    int* const found = Find(fd);

    if (found != nullptr)
    {
      *found = open_[--openCount_];
      closed_ = now;
      TellWhetherClosed(openCount_ == 0);
    }
  }


  std::optional<StoredFile> WrittenFiles::Take() noexcept
  {
    const WrittenFiles taken = std::exchange(*this, {});

    if (!taken.closed_)
    {
      return std::nullopt;
    }

    return StoredFile{*taken.created_, *taken.closed_, taken.sync_};
  }


  void WrittenFiles::TellWhetherClosed(bool isClosed) const noexcept
  {
    if (isClosed_ != nullptr)
    {
      isClosed_->store(isClosed, std::memory_order_relaxed);
    }
  }


  // Null: the file does not count
  int* WrittenFiles::Find(int fd) noexcept
  {
    int* const end = open_.data() + openCount_;
    int* const found = std::find(open_.data(), end, fd);
    return found == end ? nullptr : found;
  }
}
