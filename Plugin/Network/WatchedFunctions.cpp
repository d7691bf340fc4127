// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WatchedFunctions.h"

#include "Network/AdmissionGate.h"
#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/HookActions.h"
#include "Network/WrittenFiles.h"
#include "Redirection/ErrnoKeeper.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <netdb.h>
#include <optional>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// The checked variants that _FORTIFY_SOURCE makes of them (Linux Standard Base 5.0, section 10.3);
// glibc declares them only where it uses them itself.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*,readability-identifier-naming)
extern "C"
{
  ssize_t __read_chk(int fd, void* buffer, size_t size, size_t available);
  ssize_t __recv_chk(int fd, void* buffer, size_t size, size_t available, int flags);
  int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t available);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl*,readability-identifier-naming)

namespace OrthancPerf
{
  namespace
  {
    // What does not take the next bytes of the stream, or does not give them: recv(2), tcp(7)
    constexpr int NO_READING = MSG_PEEK | MSG_TRUNC | MSG_OOB | MSG_ERRQUEUE;

    // Only a thread that stores an instance pays for more than the question: "tell" gets this
    // thread's AskedServers or WrittenFiles, what the original answered, and when it was called.
    template <typename Followed, typename Original, typename Tell>
    auto Follow(const Original& original, const Tell& tell)
    {
      Followed& followed = Followed::OfThisThread();

      if (!followed.IsFollowing())
      {
        return original();
      }

      const TimePoint from = Clock::now();
      const auto result = original();
      tell(followed, result, from);
      return result;
    }

    void AfterQuestion(int fd) noexcept
    {
      AskedServers& servers = AskedServers::OfThisThread();

      if (servers.IsFollowing() && !WrittenFiles::OfThisThread().IsOpen(fd))
      {
        servers.OnWritten(fd, Clock::now());
      }
    }

    template <typename Original>
    ssize_t Receive(int fd, void* buffer, std::size_t size, int flags, const Original& original)
    {
      const bool isReading = size != 0 && (flags & NO_READING) == 0;
      bool mustAsk = false;
      const Watch watch = isReading ? TurnTo(fd, &mustAsk) : Watch::Nothing;

      if (mustAsk && !MayRead(fd))
      {
        AfterRead(fd, buffer, -1, {});
        return -1;
      }

      if (watch == Watch::Nothing)
      {
        return Follow<AskedServers>(original,
                                    [fd](AskedServers& servers, ssize_t result, TimePoint from)
                                    { servers.OnRead(fd, result, from, Clock::now()); });
      }

      std::optional<TimePoint> from;

      // Without waiting, MSG_WAITALL would come back with less than it was asked for
      if (watch == Watch::Duration || (flags & MSG_WAITALL) != 0)
      {
        from = Clock::now();
        const ssize_t result = original();
        AfterRead(fd, buffer, result, from);
        return result;
      }

      const int error = errno;
      ssize_t result = recv(fd, buffer, size, flags | MSG_DONTWAIT);

      if (result < 0 && errno == ENOTSOCK)
      {
        Forget(fd);
        errno = error;
        return original();
      }

      if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      {
        BeforeWait(fd);
        from = Clock::now();
        errno = error;
        result = original();
      }

      AfterRead(fd, buffer, result, from);
      return result;
    }

    template <typename Original>
    ssize_t Send(int fd, const void* buffer, std::size_t size, const Original& original)
    {
      const bool isWatched = BeforeWrite(fd, buffer, size);
      const ssize_t result = original();

      if (isWatched && result > 0)
      {
        AfterWrite(fd, buffer, static_cast<std::size_t>(result));
      }
      else if (result > 0)
      {
        AfterQuestion(fd);
      }

      return result;
    }

    // Waits as long as "wait(timeout)" would, and looks into the wait meanwhile. A negative
    // time-out never ends; "wait" answers as poll(2) does.
    template <typename Wait>
    int WaitAndLook(int fd, Duration timeout, const Wait& wait)
    {
      Duration part = BeforeWait(fd);
      const TimePoint from = Clock::now();
      int result = 0;

      while (part != Duration::zero() && (timeout < Duration::zero() || part < timeout) &&
             result == 0)
      {
        result = wait(part);
        timeout -= timeout < Duration::zero() ? Duration::zero() : part;
        part = result == 0 ? LookIntoWait(fd, from) : Duration::zero();
      }

      result = result == 0 ? wait(timeout) : result;
      AfterWait(fd, from);
      return result;
    }

    // A wait for this descriptor, of which the thread's servers are told
    template <typename Original>
    int WaitForServer(int fd, const Original& original)
    {
      return Follow<AskedServers>(original, [fd](AskedServers& servers, int, TimePoint from)
                                  { servers.OnWaited(fd, Clock::now() - from); });
    }

    // All that a library waits for at once; libcurl has a descriptor of its own among it
    constexpr nfds_t LOOKED_AT = 8;

    // Waits, of which the thread's servers are told
    template <typename Original>
    int WaitForServers(const pollfd* fds, nfds_t count, const Original& original)
    {
      const auto tell = [fds, count](AskedServers& servers, int, TimePoint from)
      {
        const Duration waited = Clock::now() - from;
        // Until one of them is a server's; libc++ warns where the answer is not thrown away aloud
        static_cast<void>(std::any_of(fds, fds + std::min(count, LOOKED_AT),
                                      [&servers, waited](const pollfd& one)
                                      { return servers.OnWaited(one.fd, waited); }));
      };
      return Follow<AskedServers>(original, tell);
    }

    // "original": takes the time-out of poll(2)
    template <typename Original>
    int Poll(pollfd* fds, nfds_t count, int timeout, const Original& original)
    {
      const auto waitForServers = [&]
      {
        return WaitForServers(fds, count, [&] { return original(timeout); });
      };

      // libcurl lists a connection that it reads and writes twice, to write last
      for (nfds_t i = 0; i < std::min(count, LOOKED_AT) && timeout != 0; i++)
      {
        BeforeAwaiting(fds[i].fd, (fds[i].events & POLLOUT) == 0);
      }

      // All who wait for one of Orthanc's own connections wait for nothing else, or for little.
      if (count != 1 || timeout == 0)
      {
        return timeout == 0 ? original(timeout) : waitForServers();
      }

      const int fd = fds->fd;

      if ((fds->events & POLLIN) == 0)
      {
        const bool isConnecting = IsConnectionCandidate(fd);
        const int result = Follow<AskedServers>([&] { return original(timeout); },
                                                [fd](AskedServers& servers, int, TimePoint from) {
                                                  servers.OnWaitedForRoom(fd, Clock::now() - from);
                                                });

        if (isConnecting && result > 0 && (fds->revents & POLLOUT) != 0)
        {
          AfterConnect(fd);
        }

        return result;
      }

      const Watch watch = TurnTo(fd);

      if (watch == Watch::Nothing)
      {
        return waitForServers();
      }

      const auto wait = [&](Duration time)
      {
        using std::chrono::milliseconds;
        return original(static_cast<int>(std::chrono::duration_cast<milliseconds>(time).count()));
      };

      if (watch == Watch::Wait)
      {
        // What is left for a PDU of DCMTK's time-out (-1: it has none) is less than nothing where
        // the sender was held back meanwhile. Debian's DCMTK would wait for ever then.
        const int ready = original(0);
        return ready != 0 || timeout < -1
                   ? ready
                   : WaitAndLook(fd, std::chrono::milliseconds(timeout), wait);
      }

      const TimePoint from = Clock::now();
      const int result = original(timeout);
      AfterWait(fd, from);
      return result;
    }

    bool IsInvalid(const timeval* timeout) noexcept
    {
      return timeout != nullptr && (timeout->tv_sec < 0 || timeout->tv_usec < 0);
    }

    // Null: for ever. Thirty years do for longer ones.
    Duration ToDuration(const timeval* timeout) noexcept
    {
      constexpr std::time_t LONGEST = 1000000000;
      return timeout == nullptr ? Duration(-1)
                                : std::chrono::seconds(std::min(timeout->tv_sec, LONGEST)) +
                                      std::chrono::microseconds(timeout->tv_usec);
    }

    timeval ToTimeval(Duration time) noexcept
    {
      const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
      constexpr std::int64_t PER_SECOND = 1000000;
      return {microseconds / PER_SECOND, microseconds % PER_SECOND};
    }

    // The only descriptor of the set, below "count"; -1: there is none, or several
    int FindOnly(const fd_set* set, int count) noexcept
    {
      int found = -1;

      for (int fd = 0; set != nullptr && fd < count && fd < FD_SETSIZE; fd++)
      {
        if (FD_ISSET(fd, set))
        {
          if (found >= 0)
          {
            return -1;
          }

          found = fd;
        }
      }

      return found;
    }

    // "original" answers with what was opened, "getFile" makes its descriptor of that
    template <typename Original, typename GetFile>
    auto Create(bool isWritten, const Original& original, const GetFile& getFile)
    {
      const auto tell = [&getFile](WrittenFiles& files, auto result, TimePoint from)
      {
        if (IsOwnProcess())
        {
          files.OnCreated(getFile(result), from);
        }
      };
      return isWritten ? Follow<WrittenFiles>(original, tell) : original();
    }

    template <typename Original>
    int Sync(int fd, const Original& original)
    {
      const int written = GatheredFile::OfThisThread().End(fd);
      const auto tell = [fd](WrittenFiles& files, int, TimePoint from)
      {
        files.OnSynced(fd, from, Clock::now());
      };
      return written == 0 ? Follow<WrittenFiles>(original, tell) : written;
    }

    // A file that is only written to the cache of a network's file system leaves it here (nfs(5))
    template <typename Original>
    int CloseFile(int fd, const Original& original)
    {
      const int result = original();
      WrittenFiles& files = WrittenFiles::OfThisThread();

      if (files.IsOpen(fd) && IsOwnProcess())
      {
        const TimePoint now = Clock::now();
        files.OnClosed(fd, now);

        if (AskedServers::OfThisThread().IsFollowing())
        {
          AskedServers::OfThisThread().OnFileClosed(now);
        }
      }

      return result;
    }

    // -1: it has none, or nobody wants to know
    int GetFile(std::FILE* stream) noexcept
    {
      const ErrnoKeeper keeper;
      const bool isWanted = stream != nullptr && WrittenFiles::OfThisThread().IsFollowing();
      return isWanted ? ::fileno(stream) : -1;
    }

    // ---- The hooks ------------------------------------------------------------------------------
    //
    // The originals are called by name, through this module's own PLT, and never by their address:
    // in an executable without PIE that takes the address itself, the address is that of the
    // executable's PLT (System V ABI, AMD64 supplement, section 5.2 "Function Addresses"), from
    // where the redirected slot leads back into the hook. CMakeLists.txt keeps this file from
    // -fno-plt, which would make addresses of the calls.
    //
    // Neither they nor what calls an original is noexcept: most originals are places at which a
    // thread may be cancelled (pthreads(7)), as libcurl does with those that ask for an address,
    // and glibc cancels by unwinding, which noexcept turns into the end of the process. So nothing
    // is held or left half done while an original runs. Nothing here throws.

    int OnAccept(int fd, sockaddr* address, socklen_t* size)
    {
      const int result = ::accept(fd, address, size);
      AfterAccept(result);
      return result;
    }

    int OnAccept4(int fd, sockaddr* address, socklen_t* size, int flags)
    {
      const int result = ::accept4(fd, address, size, flags);
      AfterAccept(result);
      return result;
    }

    int OnGetAddrInfo(const char* node, const char* service, const addrinfo* hints,
                      addrinfo** found)
    {
      const int result = ::getaddrinfo(node, service, hints, found);

      if (node != nullptr)
      {
        AfterLookUp(node, service, result == 0 ? *found : nullptr);
      }

      return result;
    }

    int OnConnect(int fd, const sockaddr* address, socklen_t size)
    {
      BeforeConnect(fd, address, size);
      const int result = Follow<AskedServers>([=] { return ::connect(fd, address, size); },
                                              [fd](AskedServers& servers, int, TimePoint from)
                                              { servers.OnConnecting(fd, from, Clock::now()); });

      if (result == 0)
      {
        AfterConnect(fd);
      }
      else if (errno != EINPROGRESS && errno != EALREADY && errno != EINTR && errno != EISCONN)
      {
        AfterConnect(fd, errno);
      }

      return result;
    }

    ssize_t OnRead(int fd, void* buffer, std::size_t size)
    {
      return Receive(fd, buffer, size, 0, [=] { return ::read(fd, buffer, size); });
    }

    // What the checked variants refuse ends the process
    ssize_t OnReadChecked(int fd, void* buffer, std::size_t size, std::size_t available)
    {
      return size > available ? ::__read_chk(fd, buffer, size, available)
                              : OnRead(fd, buffer, size);
    }

    ssize_t OnRecv(int fd, void* buffer, std::size_t size, int flags)
    {
      return Receive(fd, buffer, size, flags, [=] { return ::recv(fd, buffer, size, flags); });
    }

    ssize_t OnRecvChecked(int fd, void* buffer, std::size_t size, std::size_t available, int flags)
    {
      return size > available ? ::__recv_chk(fd, buffer, size, available, flags)
                              : OnRecv(fd, buffer, size, flags);
    }

    ssize_t OnWrite(int fd, const void* buffer, std::size_t size)
    {
      GatheredFile& file = GatheredFile::OfThisThread();
      return file.Has(fd) ? file.Write(buffer, size)
                          : Send(fd, buffer, size, [=] { return ::write(fd, buffer, size); });
    }

    ssize_t OnSend(int fd, const void* buffer, std::size_t size, int flags)
    {
      return Send(fd, buffer, size, [=] { return ::send(fd, buffer, size, flags); });
    }

    int OnPoll(pollfd* fds, nfds_t count, int timeout)
    {
      return Poll(fds, count, timeout, [=](int time) { return ::poll(fds, count, time); });
    }

    int OnPollChecked(pollfd* fds, nfds_t count, int timeout, std::size_t available)
    {
      return available / sizeof(pollfd) < count ? ::__poll_chk(fds, count, timeout, available)
                                                : OnPoll(fds, count, timeout);
    }

    int OnSelect(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout)
    {
      const auto original = [=]
      {
        return ::select(count, read, write, except, timeout);
      };
      const int reading = FindOnly(read, count);
      const int writing = FindOnly(write, count);

      if (reading < 0 && writing >= 0 && IsConnectionCandidate(writing))
      {
        const int result = WaitForServer(writing, original);

        if (result > 0 && FD_ISSET(writing, write))
        {
          AfterConnect(writing);
        }

        return result;
      }

      if (reading < 0 || write != nullptr || except != nullptr || IsInvalid(timeout) ||
          TurnTo(reading) == Watch::Nothing)
      {
        return WaitForServer(reading < 0 ? writing : reading, original);
      }

      const fd_set asked = *read;

      // The caller's time-out keeps its value, as POSIX lets it
      const auto wait = [&](Duration time)
      {
        timeval rest = ToTimeval(time);
        *read = asked;
        return ::select(count, read, write, except, time < Duration::zero() ? nullptr : &rest);
      };

      const int ready = wait(Duration::zero());
      return ready != 0 ? ready : WaitAndLook(reading, ToDuration(timeout), wait);
    }

    int OnSetSockOpt(int fd, int level, int option, const void* value, socklen_t size)
    {
      return BeforeSetOption(fd, level, option, value, size)
                 ? ::setsockopt(fd, level, option, value, size)
                 : 0;
    }

    // What became of a connect(2) that did not wait: connect(2), EINPROGRESS
    int OnGetSockOpt(int fd, int level, int option, void* value, socklen_t* size)
    {
      const int result = ::getsockopt(fd, level, option, value, size);

      if (result == 0 && level == SOL_SOCKET && option == SO_ERROR && *size == sizeof(int))
      {
        int error = 0;
        std::memcpy(&error, value, sizeof(error));
        AfterConnect(fd, error);
      }

      return result;
    }

    int OnClose(int fd)
    {
      Forget(fd);  // before the original: after it, another thread may get the descriptor

      if (AskedServers::OfThisThread().IsFollowing() && IsOwnProcess())
      {
        AskedServers::OfThisThread().OnClosing(fd);
      }

      const int written = GatheredFile::OfThisThread().End(fd);
      const int closed = CloseFile(fd, [=] { return ::close(fd); });
      return written == 0 ? closed : written;
    }

    // open(2): the mode is there only with these flags
    bool HasMode(int flags)
    {
      return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    }

    // Also for open64, which is the same where off_t has 64 bits (open(2)). Variadic as libc's own:
    // NOLINTNEXTLINE(cert-dcl50-cpp)
    int OnOpen(const char* path, int flags, ...)
    {
      va_list arguments;
      va_start(arguments, flags);
      // clang 14 does not see va_start: NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
      const mode_t mode = HasMode(flags) ? va_arg(arguments, mode_t) : 0;
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
      return CloseFile(GetFile(stream), [=] { return std::fclose(stream); });
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

    template <typename Hook>
    Redirection Lead(const char* function, Hook* hook)
    {
      return {function, reinterpret_cast<void*>(hook)};
    }
  }

  std::vector<Redirection> GetWatchedFunctions()
  {
    return {Lead("accept", &OnAccept),
            Lead("accept4", &OnAccept4),
            Lead("getaddrinfo", &OnGetAddrInfo),
            Lead("connect", &OnConnect),
            Lead("read", &OnRead),
            Lead("__read_chk", &OnReadChecked),
            Lead("recv", &OnRecv),
            Lead("__recv_chk", &OnRecvChecked),
            Lead("write", &OnWrite),
            Lead("send", &OnSend),
            Lead("poll", &OnPoll),
            Lead("__poll_chk", &OnPollChecked),
            Lead("select", &OnSelect),
            Lead("getsockopt", &OnGetSockOpt),
            Lead("setsockopt", &OnSetSockOpt),
            Lead("close", &OnClose),
            Lead("open", &OnOpen),
            Lead("open64", &OnOpen),
            Lead("fopen", &OnFopen),
            Lead("fopen64", &OnFopen),
            Lead("fclose", &OnFclose),
            Lead("fsync", &OnFsync),
            Lead("fdatasync", &OnFdatasync),
            Lead("lseek", &OnMoving<&::lseek, off_t, int>),
            Lead("lseek64", &OnMoving<&::lseek, off_t, int>),
            Lead("ftruncate", &OnMoving<&::ftruncate, off_t>),
            Lead("ftruncate64", &OnMoving<&::ftruncate, off_t>),
            Lead("pwrite", &OnMoving<&::pwrite, const void*, size_t, off_t>),
            Lead("pwrite64", &OnMoving<&::pwrite, const void*, size_t, off_t>),
            Lead("writev", &OnMoving<&::writev, const iovec*, int>),
            Lead("dup", &OnMoving<&::dup>)};
  }
}
