// SPDX-License-Identifier: GPL-3.0-or-later
// The functions that wait, read and write. WatchedFunctions.cpp says what holds for all.
#include "Network/AdmissionGate.h"
#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/HookContext.h"
#include "Network/WatchedFunctions.h"
#include "Network/WrittenFiles.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
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
    // Of what a library waits for at once: libcurl has a descriptor of its own among it
    constexpr nfds_t LOOKED_AT = 8;

    // What is to be seen of a call that may wait for bytes
    enum class Watch
    {
      Nothing,   // the connection is not watched
      Duration,  // HTTP: how long the call takes, without a further system call
      Wait       // DICOM: whether it has to wait, and the quick ACK before it does
    };

    const std::uint8_t* ToBytes(const void* buffer)
    {
      return static_cast<const std::uint8_t*>(buffer);
    }

    // ---- Waiting --------------------------------------------------------------------------------

    Watch TurnTo(int fd) noexcept
    {
      const ContextUse use;
      Connection* connection = use.FindRecognised(fd);

      if (connection == nullptr)
      {
        return Watch::Nothing;
      }

      use.Tune(*connection);
      return connection->IsDicom() ? Watch::Wait : Watch::Duration;
    }

    // The thread has to wait for bytes. True: look into the wait once it lasts as long as a stall.
    bool BeforeWait(int fd) noexcept
    {
      const ContextUse use;
      const Connection* connection = use.Find(fd);
      return connection != nullptr && use.BeforeWait(*connection);
    }

    bool LookIntoWait(int fd, TimePoint from) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);
      return connection != nullptr && ConnectionTracker::LookIntoWait(*connection, from);
    }

    void AfterWait(int fd, TimePoint from) noexcept
    {
      const ContextUse use;

      if (Connection* connection = use.FindRecognised(fd))
      {
        const TimePoint now = Clock::now();
        use->tracker.OnWaited(*connection, from, now);
        ConnectionTracker::OnLetGo(*connection, now);
      }
    }

    // Waits as long as "original(timeout)" would, and looks into the wait meanwhile
    template <typename Original>
    int WaitAndLook(int fd, int timeout, const Original& original)
    {
      constexpr auto LOOK = static_cast<int>(
          std::chrono::duration_cast<std::chrono::milliseconds>(ConnectionTracker::STALL).count());
      bool isToLook = BeforeWait(fd);
      const TimePoint from = Clock::now();
      int result = 0;

      while (isToLook && (timeout < 0 || timeout > LOOK) && result == 0)
      {
        result = original(LOOK);
        timeout -= timeout < 0 ? 0 : LOOK;
        isToLook = result == 0 && LookIntoWait(fd, from);
      }

      result = result == 0 ? original(timeout) : result;
      AfterWait(fd, from);
      return result;
    }

    // Notes that the thread waits for these, to read or for room to write. libcurl lists a
    // connection that it reads and writes twice, to write last.
    void BeforeAwaiting(const pollfd* begin, const pollfd* end) noexcept
    {
      const ContextUse use;

      for (const pollfd* one = begin; one != end; one++)
      {
        if (Connection* connection = use.Find(one->fd))
        {
          connection->isAwaited = (one->events & POLLOUT) == 0;
        }
      }
    }

    // Counts the wait for the first of these that is a server's
    template <typename Original>
    int WaitForServers(const pollfd* begin, const pollfd* end, const Original& original)
    {
      return AskedServers::Follow(original,
                                  [=](AskedServers& servers, int, TimePoint from)
                                  {
                                    const Duration waited = Clock::now() - from;
                                    bool isTold = false;

                                    for (const pollfd* one = begin; one != end && !isTold; one++)
                                    {
                                      isTold = servers.OnWaited(one->fd, waited,
                                                                (one->events & POLLIN) == 0);
                                    }
                                  });
    }

    int OnPoll(pollfd* fds, nfds_t count, int timeout)
    {
      const auto original = [=](int time)
      {
        return ::poll(fds, count, time);
      };

      if (timeout == 0)
      {
        return original(0);
      }

      pollfd* const end = fds + std::min(count, LOOKED_AT);
      BeforeAwaiting(fds, end);

      // All who wait for one of Orthanc's own connections wait for nothing else, or for little.
      const bool isForReading = count == 1 && (fds->events & POLLIN) != 0;
      const Watch watch = isForReading ? TurnTo(fds->fd) : Watch::Nothing;

      if (watch == Watch::Nothing)
      {
        return WaitForServers(fds, end, [&] { return original(timeout); });
      }

      if (watch == Watch::Wait)
      {
        // What is left for a PDU of DCMTK's time-out (-1: it has none) is less than nothing where
        // the sender was held back meanwhile. Debian's DCMTK would wait for ever then.
        const int ready = original(0);

        if (ready != 0 || timeout < -1)
        {
          return ready;
        }
      }

      return WaitAndLook(fds->fd, timeout, original);
    }

    int OnPollChecked(pollfd* fds, nfds_t count, int timeout, std::size_t available)
    {
      return available / sizeof(pollfd) < count ? ::__poll_chk(fds, count, timeout, available)
                                                : OnPoll(fds, count, timeout);
    }

    // DICOM connections are not waited for in it
    int OnSelect(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout)
    {
      std::array<pollfd, LOOKED_AT> fds = {};
      pollfd* end = fds.data();

      for (int fd = 0; fd < std::min(count, FD_SETSIZE) && end != fds.data() + fds.size(); fd++)
      {
        const bool isRead = read != nullptr && FD_ISSET(fd, read);
        const bool isWritten = write != nullptr && FD_ISSET(fd, write);

        if (isRead || isWritten)
        {
          *end++ = {fd, static_cast<short>((isRead ? POLLIN : 0) | (isWritten ? POLLOUT : 0)), 0};
        }
      }

      BeforeAwaiting(fds.data(), end);
      return WaitForServers(fds.data(), end,
                            [=] { return ::select(count, read, write, except, timeout); });
    }

    // ---- Reading --------------------------------------------------------------------------------

    // What does not take the next bytes of the stream, or does not give them: recv(2), tcp(7)
    constexpr int NO_READING = MSG_PEEK | MSG_TRUNC | MSG_OOB | MSG_ERRQUEUE;

    // What read(2) answered: nothing more will come
    bool IsOver(ssize_t size, int error) noexcept
    {
      return size == 0 || (size < 0 && error != EAGAIN && error != EWOULDBLOCK && error != EINTR);
    }

    // "size" as read(2) answers; "from": when the call began to wait, as far as that is known
    void AfterRead(int fd, const void* buffer, ssize_t size,
                   const std::optional<TimePoint>& from) noexcept
    {
      const ContextUse use;

      if (Connection* connection = use.FindRecognised(fd))
      {
        const TimePoint now = Clock::now();
        connection->isPeerGone = connection->isPeerGone || IsOver(size, errno);

        if (from)
        {
          use->tracker.OnWaited(*connection, *from, now);
        }

        if (size > 0)
        {
          use->tracker.OnRead(*connection, ToBytes(buffer), static_cast<std::size_t>(size), now);
        }
      }
    }

    template <typename Original>
    ssize_t Receive(int fd, void* buffer, std::size_t size, int flags, const Original& original)
    {
      const bool isReading = size != 0 && (flags & NO_READING) == 0;
      const Watch watch = isReading ? TurnTo(fd) : Watch::Nothing;

      if (watch != Watch::Nothing && !MayRead(fd))
      {
        AfterRead(fd, buffer, -1, {});
        return -1;
      }

      if (watch == Watch::Nothing)
      {
        return AskedServers::Follow(original,
                                    [fd](AskedServers& servers, ssize_t result, TimePoint from)
                                    { servers.OnRead(fd, result, from, Clock::now()); });
      }

      // Without waiting, MSG_WAITALL would come back with less than it was asked for
      const bool isTried = watch == Watch::Wait && (flags & MSG_WAITALL) == 0;
      const int error = errno;
      ssize_t result = isTried ? recv(fd, buffer, size, flags | MSG_DONTWAIT) : -1;
      std::optional<TimePoint> from;

      if (isTried && result < 0 && errno == ENOTSOCK)
      {
        Forget(fd);
        errno = error;
        return original();
      }

      if (!isTried || (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
      {
        BeforeWait(fd);
        from = Clock::now();
        errno = error;
        result = original();
      }

      AfterRead(fd, buffer, result, from);
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

    // ---- Writing --------------------------------------------------------------------------------

    // Whether the connection is watched; recognises an outgoing one by its first bytes
    bool BeforeWrite(int fd, const void* buffer, std::size_t size) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || size == 0 ||
          ((connection->GetKind() == ConnectionKind::OutgoingCandidate || connection->IsToPeer()) &&
           !use->tracker.RecogniseOutgoing(*connection, ToBytes(buffer), size, Clock::now())))
      {
        return false;
      }

      use.Tune(*connection);
      return true;
    }

    // "from": when the call began, on a thread whose servers are followed
    void AfterWrite(int fd, const void* buffer, std::size_t size, TimePoint from) noexcept
    {
      const ContextUse use;

      if (Connection* connection = use.Find(fd))
      {
        const TimePoint now = Clock::now();

        if (AskedServers::OfThisThread().IsReading())
        {
          AskedServers::OfThisThread().OnAnswered(now - from);
        }

        use->tracker.OnWritten(*connection, ToBytes(buffer), size, now);

        // Orthanc answers when it is done with the request
        if (connection->state == ExchangeState::Response)
        {
          use.CloseMessage(fd);
        }
      }
    }

    template <typename Original>
    ssize_t Send(int fd, const void* buffer, std::size_t size, const Original& original)
    {
      const bool isWatched = BeforeWrite(fd, buffer, size);
      AskedServers& servers = AskedServers::OfThisThread();
      const bool mayAsk = servers.IsFollowing() && !WrittenFiles::OfThisThread().IsOpen(fd);
      const TimePoint from = mayAsk ? Clock::now() : TimePoint();
      const ssize_t result = original();

      if (isWatched && result > 0)
      {
        AfterWrite(fd, buffer, static_cast<std::size_t>(result), from);
      }
      else if (result > 0 && mayAsk)
      {
        servers.OnWritten(fd, from);
      }

      return result;
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
  }

  std::vector<Redirection> GetTransferFunctions()
  {
    return {Redirect("read", &OnRead),    Redirect("__read_chk", &OnReadChecked),
            Redirect("recv", &OnRecv),    Redirect("__recv_chk", &OnRecvChecked),
            Redirect("write", &OnWrite),  Redirect("send", &OnSend),
            Redirect("poll", &OnPoll),    Redirect("__poll_chk", &OnPollChecked),
            Redirect("select", &OnSelect)};
  }
}
