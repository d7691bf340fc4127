// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WatchedFunctions.h"

#include "Network/ErrnoKeeper.h"
#include "Network/SocketTuning.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <thread>
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
    // ---- The context, and who uses it -----------------------------------------------------------

    // Threads count themselves in one of these while they use the context: several, so that they
    // seldom share a cache line.
    struct alignas(64) UserCount
    {
      std::atomic<std::uint32_t> users = 0;
    };

    // C functions have no other way to their data. Nothing here needs a destructor.
    std::atomic<HookContext*> currentContext = nullptr;
    std::array<UserCount, 64> userCounts;

    UserCount& ChooseCount() noexcept
    {
      // Stacks of different threads are megabytes apart; thread_local storage of a plugin might be
      // allocated at its first use. Fibonacci hashing (Knuth, TAOCP 3, 6.4) to 6 bits.
      const char here = 0;
      const std::uint64_t page = reinterpret_cast<std::uintptr_t>(&here) >> 20U;
      return userCounts[(page * 0x9E3779B97F4A7C15U) >> 58U];
    }

    // The context, safe from LeaveContext() for as long as this object lives, which must be short:
    // no original that may wait is called meanwhile.
    class ContextUse
    {
    public:
      ContextUse() noexcept : count_(ChooseCount())
      {
        count_.users.fetch_add(1);
        context_ = currentContext.load();
      }

      ~ContextUse()
      {
        count_.users.fetch_sub(1);
      }

      ContextUse(const ContextUse&) = delete;
      ContextUse& operator=(const ContextUse&) = delete;

      Connection* Find(int fd) const noexcept
      {
        return context_ == nullptr ? nullptr : context_->tracker.Find(fd);
      }

      HookContext* operator->() const noexcept
      {
        return context_;
      }

      explicit operator bool() const noexcept
      {
        return context_ != nullptr;
      }

    private:
      UserCount& count_;
      HookContext* context_ = nullptr;
    };

    // ---- What several hooks do ------------------------------------------------------------------

    const std::uint8_t* ToBytes(const void* buffer)
    {
      return static_cast<const std::uint8_t*>(buffer);
    }

    ConnectionKind GetKind(const Connection& connection)
    {
      return connection.kind.load(std::memory_order_relaxed);
    }

    bool IsSocketOfServer(const Connection& connection)
    {
      return connection.IsDicom() || GetKind(connection) == ConnectionKind::HttpAccepted;
    }

    // Sets the options if they have changed since this connection got them
    void Tune(const ContextUse& use, Connection& connection) noexcept
    {
      const std::uint32_t revision = use->settings.GetRevision();

      if (connection.IsDicom() &&
          connection.settingsRevision.exchange(revision, std::memory_order_relaxed) != revision)
      {
        ApplySocketSettings(connection.fd, use->settings.Get(),
                            use->defaultCongestionControl.c_str());
      }
    }

    // What is to be seen of a call that may wait for bytes
    enum class Watch
    {
      Nothing,   // the connection is not watched
      Duration,  // HTTP: how long the call takes, without a further system call
      Wait       // DICOM: whether it has to wait, and the quick ACK before it does
    };

    // The thread is about to read or to wait
    Watch TurnTo(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || !IsSocketOfServer(*connection))
      {
        return Watch::Nothing;
      }

      Tune(use, *connection);
      use->tracker.OnTurnedTo(*connection);
      return connection->IsDicom() ? Watch::Wait : Watch::Duration;
    }

    // The thread has to wait for bytes
    void BeforeWait(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || !connection->IsDicom())
      {
        return;
      }

      if (use->settings.IsQuickAck())
      {
        AcknowledgeNow(fd);
      }

      int unsent = 0;

      if (connection->state == ExchangeState::Response && !connection->IsOutgoing() &&
          ioctl(fd, SIOCOUTQNSD, &unsent) == 0 && unsent > 0)
      {
        use->tracker.OnHeldBack(*connection);
      }
    }

    void AfterWait(int fd, TimePoint from) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection != nullptr && IsSocketOfServer(*connection))
      {
        use->tracker.OnWaited(*connection, from, Clock::now());
      }
    }

    // "from": when the call began to wait, as far as that is known
    void AfterRead(int fd, const void* buffer, ssize_t size,
                   const std::optional<TimePoint>& from) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || !IsSocketOfServer(*connection))
      {
        return;
      }

      const TimePoint now = Clock::now();

      if (from)
      {
        use->tracker.OnWaited(*connection, *from, now);
      }

      if (size > 0)
      {
        use->tracker.OnRead(*connection, ToBytes(buffer), static_cast<std::size_t>(size), now);
      }
    }

    // The descriptor is about to be closed, or was closed by a call that no hook saw
    void Forget(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;

      if (Connection* connection = use.Find(fd))
      {
        use->tracker.OnClosing(*connection, Clock::now());
      }
    }

    template <typename Original>
    ssize_t Receive(int fd, void* buffer, std::size_t size, int flags,
                    const Original& original) noexcept
    {
      const bool isReading = size != 0 && (flags & MSG_PEEK) == 0;
      const Watch watch = isReading ? TurnTo(fd) : Watch::Nothing;

      if (watch == Watch::Nothing)
      {
        return original();
      }

      std::optional<TimePoint> from;

      if (watch == Watch::Duration)
      {
        from = Clock::now();
        const ssize_t result = original();
        AfterRead(fd, buffer, result, from);
        return result;
      }

      ssize_t result = recv(fd, buffer, size, flags | MSG_DONTWAIT);

      if (result < 0 && errno == ENOTSOCK)
      {
        Forget(fd);
        return original();
      }

      if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      {
        BeforeWait(fd);
        from = Clock::now();
        result = original();
      }

      AfterRead(fd, buffer, result, from);
      return result;
    }

    // Whether the connection is watched; recognises an outgoing one by its first bytes
    bool BeforeWrite(int fd, const void* buffer, std::size_t size) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || size == 0)
      {
        return false;
      }

      if (GetKind(*connection) == ConnectionKind::OutgoingCandidate &&
          !use->tracker.RecogniseOutgoing(*connection, ToBytes(buffer), size, Clock::now()))
      {
        return false;
      }

      Tune(use, *connection);
      return IsSocketOfServer(*connection);
    }

    template <typename Original>
    ssize_t Send(int fd, const void* buffer, std::size_t size, const Original& original) noexcept
    {
      const bool isWatched = BeforeWrite(fd, buffer, size);
      const ssize_t result = original();

      if (isWatched && result > 0)
      {
        const ErrnoKeeper keeper;
        const ContextUse use;

        if (Connection* connection = use.Find(fd))
        {
          use->tracker.OnWritten(*connection, ToBytes(buffer), static_cast<std::size_t>(result),
                                 Clock::now());
        }
      }

      return result;
    }

    void AfterAccept(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      sockaddr_storage storage = {};
      auto* address = reinterpret_cast<sockaddr*>(&storage);
      socklen_t size = sizeof(storage);

      if (fd < 0 || getsockname(fd, address, &size) != 0)
      {
        return;
      }

      const std::uint16_t localPort = PeerAddress::From(address, size).port;
      size = sizeof(storage);
      const bool isConnected = (getpeername(fd, address, &size) == 0);
      const PeerAddress peer = isConnected ? PeerAddress::From(address, size) : PeerAddress();
      const ContextUse use;

      if (use)
      {
        if (Connection* connection = use->tracker.OnAccepted(fd, localPort, peer, Clock::now()))
        {
          Tune(use, *connection);
        }
      }
    }

    bool IsTcp(int fd) noexcept
    {
      int type = 0;
      socklen_t size = sizeof(type);
      return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
    }

    void BeforeConnect(int fd, const sockaddr* address, socklen_t size) noexcept
    {
      const ErrnoKeeper keeper;
      const PeerAddress peer = PeerAddress::From(address, size);  // port 0: neither IPv4 nor IPv6

      if (peer.port == 0 || !IsTcp(fd))
      {
        return;
      }

      const ContextUse use;

      if (use)
      {
        use->tracker.OnConnecting(fd, peer, Clock::now());
      }
    }

    void AfterConnect(int fd) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection != nullptr && GetKind(*connection) == ConnectionKind::OutgoingCandidate)
      {
        use->tracker.OnConnected(*connection, Clock::now());
      }
    }

    bool IsCandidate(int fd) noexcept
    {
      const ContextUse use;
      const Connection* connection = use.Find(fd);
      return connection != nullptr && GetKind(*connection) == ConnectionKind::OutgoingCandidate;
    }

    template <typename Original>
    int Poll(pollfd* fds, nfds_t count, int timeout, const Original& original) noexcept
    {
      // All who wait for one of these connections wait for nothing else, or for little.
      if (count != 1 || timeout == 0)
      {
        return original();
      }

      const int fd = fds->fd;

      if ((fds->events & POLLIN) == 0)
      {
        const bool isConnecting = IsCandidate(fd);
        const int result = original();

        if (isConnecting && result > 0 && (fds->revents & POLLOUT) != 0)
        {
          AfterConnect(fd);
        }

        return result;
      }

      const Watch watch = TurnTo(fd);

      if (watch == Watch::Nothing)
      {
        return original();
      }

      if (watch == Watch::Wait)
      {
        const int ready = poll(fds, count, 0);

        if (ready != 0)
        {
          return ready;
        }

        BeforeWait(fd);
      }

      const TimePoint from = Clock::now();
      const int result = original();
      AfterWait(fd, from);
      return result;
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

    void AfterFileSync(int fd, TimePoint from) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;
      const Connection* connection = use.Find(fd);

      if (connection != nullptr && GetKind(*connection) == ConnectionKind::StoredFile)
      {
        use->tracker.OnFileSynced(from, Clock::now());
      }
    }

    void AfterOpen(int fd, const char* path, int flags, TimePoint from) noexcept
    {
      const ErrnoKeeper keeper;
      const ContextUse use;

      if (fd >= 0 && use && (flags & O_CREAT) != 0 && use->tracker.IsStoredFile(path))
      {
        use->tracker.OnFileCreated(fd, from);
      }
    }

    // ---- The functions, each with its name, its original and its hook ---------------------------
    //
    // The originals are not constexpr: GCC 16 takes each lambda that calls one for a constexpr
    // function, and then refuses the call. They are initialized before any code runs all the same.

    struct Accept
    {
      static constexpr const char* NAME = "accept";
      static inline const auto ORIGINAL = &::accept;

      static int Hook(int fd, sockaddr* address, socklen_t* size) noexcept
      {
        const int result = ORIGINAL(fd, address, size);
        AfterAccept(result);
        return result;
      }
    };

    struct Accept4
    {
      static constexpr const char* NAME = "accept4";
      static inline const auto ORIGINAL = &::accept4;

      static int Hook(int fd, sockaddr* address, socklen_t* size, int flags) noexcept
      {
        const int result = ORIGINAL(fd, address, size, flags);
        AfterAccept(result);
        return result;
      }
    };

    struct Connect
    {
      static constexpr const char* NAME = "connect";
      static inline const auto ORIGINAL = &::connect;

      static int Hook(int fd, const sockaddr* address, socklen_t size) noexcept
      {
        BeforeConnect(fd, address, size);
        const int result = ORIGINAL(fd, address, size);

        if (result == 0)
        {
          AfterConnect(fd);
        }

        return result;
      }
    };

    struct Read
    {
      static constexpr const char* NAME = "read";
      static inline const auto ORIGINAL = &::read;

      static ssize_t Hook(int fd, void* buffer, std::size_t size) noexcept
      {
        return Receive(fd, buffer, size, 0, [=] { return ORIGINAL(fd, buffer, size); });
      }
    };

    struct ReadChecked
    {
      static constexpr const char* NAME = "__read_chk";
      static inline const auto ORIGINAL = &::__read_chk;

      static ssize_t Hook(int fd, void* buffer, std::size_t size, std::size_t available) noexcept
      {
        const auto original = [=]
        {
          return ORIGINAL(fd, buffer, size, available);
        };
        return size > available ? original() : Receive(fd, buffer, size, 0, original);
      }
    };

    struct Recv
    {
      static constexpr const char* NAME = "recv";
      static inline const auto ORIGINAL = &::recv;

      static ssize_t Hook(int fd, void* buffer, std::size_t size, int flags) noexcept
      {
        return Receive(fd, buffer, size, flags, [=] { return ORIGINAL(fd, buffer, size, flags); });
      }
    };

    struct RecvChecked
    {
      static constexpr const char* NAME = "__recv_chk";
      static inline const auto ORIGINAL = &::__recv_chk;

      static ssize_t Hook(int fd, void* buffer, std::size_t size, std::size_t available,
                          int flags) noexcept
      {
        const auto original = [=]
        {
          return ORIGINAL(fd, buffer, size, available, flags);
        };
        return size > available ? original() : Receive(fd, buffer, size, flags, original);
      }
    };

    struct Write
    {
      static constexpr const char* NAME = "write";
      static inline const auto ORIGINAL = &::write;

      static ssize_t Hook(int fd, const void* buffer, std::size_t size) noexcept
      {
        return Send(fd, buffer, size, [=] { return ORIGINAL(fd, buffer, size); });
      }
    };

    struct SendTo
    {
      static constexpr const char* NAME = "send";
      static inline const auto ORIGINAL = &::send;

      static ssize_t Hook(int fd, const void* buffer, std::size_t size, int flags) noexcept
      {
        return Send(fd, buffer, size, [=] { return ORIGINAL(fd, buffer, size, flags); });
      }
    };

    struct PollOne
    {
      static constexpr const char* NAME = "poll";
      static inline const auto ORIGINAL = &::poll;

      static int Hook(pollfd* fds, nfds_t count, int timeout) noexcept
      {
        return Poll(fds, count, timeout, [=] { return ORIGINAL(fds, count, timeout); });
      }
    };

    struct PollChecked
    {
      static constexpr const char* NAME = "__poll_chk";
      static inline const auto ORIGINAL = &::__poll_chk;

      static int Hook(pollfd* fds, nfds_t count, int timeout, std::size_t available) noexcept
      {
        return Poll(fds, count, timeout, [=] { return ORIGINAL(fds, count, timeout, available); });
      }
    };

    struct Select
    {
      static constexpr const char* NAME = "select";
      static inline const auto ORIGINAL = &::select;

      static int Hook(int count, fd_set* read, fd_set* write, fd_set* except,
                      timeval* timeout) noexcept
      {
        const auto original = [=]
        {
          return ORIGINAL(count, read, write, except, timeout);
        };
        const int reading = FindOnly(read, count);
        const int writing = FindOnly(write, count);

        if (reading < 0 && writing >= 0 && IsCandidate(writing))
        {
          const int result = original();

          if (result > 0 && FD_ISSET(writing, write))
          {
            AfterConnect(writing);
          }

          return result;
        }

        if (reading < 0 || write != nullptr || except != nullptr ||
            TurnTo(reading) == Watch::Nothing)
        {
          return original();
        }

        const fd_set asked = *read;
        timeval none = {0, 0};
        const int ready = ORIGINAL(count, read, write, except, &none);

        if (ready != 0)
        {
          return ready;
        }

        *read = asked;
        BeforeWait(reading);
        const TimePoint from = Clock::now();
        const int result = original();
        AfterWait(reading, from);
        return result;
      }
    };

    struct SetSockOpt
    {
      static constexpr const char* NAME = "setsockopt";
      static inline const auto ORIGINAL = &::setsockopt;

      static int Hook(int fd, int level, int option, const void* value, socklen_t size) noexcept
      {
        {
          const ContextUse use;
          const Connection* connection = use.Find(fd);

          if (connection != nullptr && connection->IsDicom() &&
              IsOverridden(use->settings.Get(), level, option))
          {
            return 0;
          }
        }

        return ORIGINAL(fd, level, option, value, size);
      }
    };

    struct Close
    {
      static constexpr const char* NAME = "close";
      static inline const auto ORIGINAL = &::close;

      static int Hook(int fd) noexcept
      {
        Forget(fd);  // before the original: after it, another thread may get the descriptor
        return ORIGINAL(fd);
      }
    };

    template <typename Original>
    int OpenFile(Original original, const char* path, int flags, mode_t mode) noexcept
    {
      const TimePoint from = Clock::now();
      const int result = original(path, flags, mode);
      AfterOpen(result, path, flags, from);
      return result;
    }

    // open(2): the mode is there only with these flags
    bool HasMode(int flags)
    {
      return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    }

    struct Open
    {
      static constexpr const char* NAME = "open";
      static inline const auto ORIGINAL = &::open;

      // As libc's own: NOLINTNEXTLINE(cert-dcl50-cpp)
      static int Hook(const char* path, int flags, ...) noexcept
      {
        va_list arguments;
        va_start(arguments, flags);
        const mode_t mode = HasMode(flags) ? va_arg(arguments, mode_t) : 0;
        va_end(arguments);
        return OpenFile(ORIGINAL, path, flags, mode);
      }
    };

    struct Open64
    {
      static constexpr const char* NAME = "open64";
      static inline const auto ORIGINAL = &::open64;

      // As libc's own: NOLINTNEXTLINE(cert-dcl50-cpp)
      static int Hook(const char* path, int flags, ...) noexcept
      {
        va_list arguments;
        va_start(arguments, flags);
        const mode_t mode = HasMode(flags) ? va_arg(arguments, mode_t) : 0;
        va_end(arguments);
        return OpenFile(ORIGINAL, path, flags, mode);
      }
    };

    struct Fsync
    {
      static constexpr const char* NAME = "fsync";
      static inline const auto ORIGINAL = &::fsync;

      static int Hook(int fd) noexcept
      {
        const TimePoint from = Clock::now();
        const int result = ORIGINAL(fd);
        AfterFileSync(fd, from);
        return result;
      }
    };

    struct Fdatasync
    {
      static constexpr const char* NAME = "fdatasync";
      static inline const auto ORIGINAL = &::fdatasync;

      static int Hook(int fd) noexcept
      {
        const TimePoint from = Clock::now();
        const int result = ORIGINAL(fd);
        AfterFileSync(fd, from);
        return result;
      }
    };

    template <typename... Functions>
    std::vector<Redirection> List()
    {
      return {{Functions::NAME, reinterpret_cast<void*>(&Functions::Hook)}...};
    }
  }

  std::vector<Redirection> GetWatchedFunctions()
  {
    return List<Accept, Accept4, Connect, Read, ReadChecked, Recv, RecvChecked, Write, SendTo,
                PollOne, PollChecked, Select, SetSockOpt, Close, Open, Open64, Fsync, Fdatasync>();
  }

  bool EnterContext(HookContext& context)
  {
    HookContext* none = nullptr;
    return currentContext.compare_exchange_strong(none, &context);
  }

  void LeaveContext(HookContext& context)
  {
    HookContext* mine = &context;

    if (!currentContext.compare_exchange_strong(mine, nullptr))
    {
      return;
    }

    for (const UserCount& count : userCounts)
    {
      while (count.users.load() != 0)
      {
        std::this_thread::yield();
      }
    }
  }
}
