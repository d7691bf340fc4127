// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WrittenFiles.h"

#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/HookContext.h"

#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Laid out with the thread itself (initial-exec), as the first access to other thread-local
    // storage of a plugin allocates
    __attribute__((tls_model("initial-exec"))) thread_local WrittenFiles ofThisThread;

    // ---- The hooks: see WatchedFunctions.cpp ----------------------------------------------------

    // "original" answers with what was opened, "getFile" makes its descriptor of that
    template <typename Original, typename GetFile>
    auto Create(bool isWritten, const Original& original, const GetFile& getFile)
    {
      if (!isWritten || !ofThisThread.IsFollowing())
      {
        return original();
      }

      const TimePoint from = Clock::now();
      const auto result = original();

      if (IsOwnProcess())
      {
        ofThisThread.OnCreated(getFile(result), from);
      }

      return result;
    }

    template <typename Original>
    int Sync(int fd, const Original& original)
    {
      const int written = GatheredFile::OfThisThread().End(fd);

      if (written != 0 || !ofThisThread.IsOpen(fd))
      {
        return written == 0 ? original() : written;
      }

      const TimePoint from = Clock::now();
      const int result = original();
      ofThisThread.OnSynced(fd, from, Clock::now());
      return result;
    }

    // -1: it has none, or nobody wants to know
    int GetFile(std::FILE* stream) noexcept
    {
      const ErrnoKeeper keeper;
      return stream != nullptr && ofThisThread.IsFollowing() ? ::fileno(stream) : -1;
    }

    // Also for open64, which is the same where off_t has 64 bits (open(2)). Variadic as libc's own:
    // NOLINTNEXTLINE(cert-dcl50-cpp)
    int OnOpen(const char* path, int flags, ...)
    {
      // open(2): the mode is there only with these flags
      const bool hasMode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
      va_list arguments;
      va_start(arguments, flags);
      // clang 14 does not see va_start: NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
      const mode_t mode = hasMode ? va_arg(arguments, mode_t) : 0;
      va_end(arguments);

      return Create(
          WrittenFiles::IsWritten(flags), [=] { return ::open(path, flags, mode); },
          [=](int fd)
          {
            GatheredFile::OfThisThread().OnOpened(path, flags, fd);
            return fd;
          });
    }

    // Also for fopen64. "w", whatever follows, is O_CREAT and O_TRUNC (fopen(3)).
    std::FILE* OnFopen(const char* path, const char* mode)
    {
      return Create(
          mode[0] == 'w', [=] { return std::fopen(path, mode); }, &GetFile);
    }

    int OnFclose(std::FILE* stream)
    {
      const int fd = GetFile(stream);
      const int written = GatheredFile::OfThisThread().End(fd);  // of open(2) and fdopen(3)
      const int closed = std::fclose(stream);
      AfterFileClosed(fd);
      return written == 0 ? closed : EOF;
    }

    int OnFsync(int fd)
    {
      return Sync(fd, [=] { return ::fsync(fd); });
    }

    int OnFdatasync(int fd)
    {
      return Sync(fd, [=] { return ::fdatasync(fd); });
    }

    // What else may be done with a file whose pieces are held back
    template <auto ORIGINAL, typename... Arguments>
    auto OnMoving(int fd, Arguments... arguments)
    {
      return GatheredFile::OfThisThread().End(fd) == 0 ? ORIGINAL(fd, arguments...) : -1;
    }
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
    if (isFollowing_ && fd >= 0)
    {
      open_ = fd;
      created_ = created_.value_or(from);
      TellWhetherClosed(false);
    }
  }

  void WrittenFiles::OnSynced(int fd, TimePoint from, TimePoint now) noexcept
  {
    if (IsOpen(fd))
    {
      sync_ = sync_.value_or(Duration::zero()) + (now - from);
    }
  }

  void WrittenFiles::OnClosed(int fd, TimePoint now) noexcept
  {
    if (IsOpen(fd))
    {
      open_ = -1;
      closed_ = now;
      TellWhetherClosed(true);
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

  // A file that is only written to the cache of a network's file system leaves it here (nfs(5))
  void AfterFileClosed(int fd) noexcept
  {
    if (!ofThisThread.IsOpen(fd) || !IsOwnProcess())
    {
      return;
    }

    const TimePoint now = Clock::now();
    ofThisThread.OnClosed(fd, now);

    if (AskedServers::OfThisThread().IsFollowing())
    {
      AskedServers::OfThisThread().OnFileClosed(now);
    }
  }

  std::vector<Redirection> GetFileFunctions()
  {
    return {Redirect("open", &OnOpen),
            Redirect("open64", &OnOpen),
            Redirect("fopen", &OnFopen),
            Redirect("fopen64", &OnFopen),
            Redirect("fclose", &OnFclose),
            Redirect("fsync", &OnFsync),
            Redirect("fdatasync", &OnFdatasync),
            Redirect("lseek", &OnMoving<&::lseek, off_t, int>),
            Redirect("lseek64", &OnMoving<&::lseek, off_t, int>),
            Redirect("ftruncate", &OnMoving<&::ftruncate, off_t>),
            Redirect("ftruncate64", &OnMoving<&::ftruncate, off_t>),
            Redirect("pwrite", &OnMoving<&::pwrite, const void*, size_t, off_t>),
            Redirect("pwrite64", &OnMoving<&::pwrite, const void*, size_t, off_t>),
            Redirect("writev", &OnMoving<&::writev, const iovec*, int>),
            Redirect("dup", &OnMoving<&::dup>)};
  }
}
