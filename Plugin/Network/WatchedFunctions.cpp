// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WatchedFunctions.h"

#include "Network/AdmissionGate.h"
#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/HookContext.h"
#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

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
    // The originals are called by name, through this module's own PLT, and never by their address:
    // in an executable without PIE that takes the address itself, the address is that of the
    // executable's PLT (System V ABI, AMD64 supplement, section 5.2 "Function Addresses"), from
    // where the redirected slot leads back into the hook. CMakeLists.txt keeps this file from
    // -fno-plt, which would make addresses of the calls.
    //
    // Neither the hooks ("On...") nor what calls an original is noexcept: most originals are places
    // at which a thread may be cancelled (pthreads(7)), as libcurl does with those that ask for an
    // address, and glibc cancels by unwinding, which noexcept turns into the end of the process. So
    // nothing is held or left half done while an original runs. Nothing here throws.
    //
    // What happens before and after an original is noexcept. It looks the connection up in the
    // context of the hooks and tells the tracker; nothing happens where there is no context, or
    // where it does not know the descriptor. It keeps errno, takes no lock, allocates nothing, and
    // never waits; but for a large message while there is a limit of memory: AdmissionQueue takes
    // its lock when that ends.

    // Of the addresses of a host, and of what a library waits for at once: libcurl has a descriptor
    // of its own among it
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

    // Null: it is not watched, or not yet known for what it is
    Connection* FindRecognised(const ContextUse& use, int fd)
    {
      Connection* connection = use.Find(fd);
      return connection != nullptr && connection->GetKind() != ConnectionKind::OutgoingCandidate
                 ? connection
                 : nullptr;
    }

    Connection* Find(const ContextUse& use, int fd, ConnectionKind kind)
    {
      Connection* connection = use.Find(fd);
      return connection != nullptr && connection->GetKind() == kind ? connection : nullptr;
    }

    // Sets the options if they have changed since this connection got them
    void Tune(const ContextUse& use, Connection& connection) noexcept
    {
      const auto& [sockets, revision] = use.GetSettings();

      if (connection.IsDicom() &&
          connection.settingsRevision.exchange(revision, std::memory_order_relaxed) != revision)
      {
        DicomSockets settings = sockets;  // the name of a congestion control needs no memory
        settings.tcpNoDelay = settings.tcpNoDelay || connection.isNoDelayAsked;
        ApplySocketSettings(connection.fd, settings);
      }
    }

    // Only a thread that stores an instance or serves a request that reads pays for more than the
    // question: "tell" gets its servers, what the original answered, and when it was called.
    template <typename Original, typename Tell>
    auto Follow(const Original& original, const Tell& tell)
    {
      AskedServers& servers = AskedServers::OfThisThread();

      if (!servers.IsFollowing())
      {
        return original();
      }

      const TimePoint from = Clock::now();
      const auto result = original();
      tell(servers, result, from);
      return result;
    }

    // ---- Opening --------------------------------------------------------------------------------

    void AfterAccept(int fd) noexcept
    {
      const ContextUse use;

      if (!use || fd < 0)
      {
        return;
      }

      use.CloseMessage(fd);
      const std::uint16_t localPort = PeerAddress::From(fd, &getsockname).port;
      const PeerAddress peer = PeerAddress::From(fd, &getpeername);

      if (Connection* connection = use->tracker.OnAccepted(fd, localPort, peer, Clock::now()))
      {
        Tune(use, *connection);
      }
    }

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

    // The host whose address this thread has looked up, until it connects. Laid out with the thread
    // itself, as in MessageRecorder.cpp.
    __attribute__((tls_model("initial-exec"))) thread_local HostHash lookedUp = 0;

    // The thread has asked for the addresses of this host, as getaddrinfo(3) has it; null: it has
    // none
    void AfterLookUp(const char* host, const char* service, const addrinfo* found) noexcept
    {
      const ContextUse use;
      const HostHash hash = HashHost(host);
      PeerAddress none;

      // DCMTK asks for any service, and connects by the same thread
      if (service == nullptr)
      {
        lookedUp = found != nullptr ? hash : 0;
      }
      else
      {
        const char* const end = service + std::strlen(service);
        std::from_chars(service, end, none.port);
      }

      if (use && found == nullptr)
      {
        use->tracker.OnLookedUp(hash, none, false);
      }

      // libcurl asks by a thread of its own
      for (nfds_t i = 0; use && none.port != 0 && found != nullptr && i < LOOKED_AT; i++)
      {
        use->tracker.OnLookedUp(hash, PeerAddress::From(found->ai_addr, found->ai_addrlen), true);
        found = found->ai_next;
      }
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

    void BeforeConnect(int fd, const sockaddr* address, socklen_t size) noexcept
    {
      const ContextUse use;
      const PeerAddress peer = PeerAddress::From(address, size);  // port 0: neither IPv4 nor IPv6

      if (use && peer.port != 0 && GetSocketOption(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM)
      {
        use.CloseMessage(fd);
        use->tracker.OnConnecting(fd, peer, Clock::now(), std::exchange(lookedUp, 0));
      }
    }

    void AfterConnect(int fd, int error = 0) noexcept
    {
      const ContextUse use;
      Connection* const connection = Find(use, fd, ConnectionKind::OutgoingCandidate);

      if (connection != nullptr && error == 0)
      {
        use->tracker.OnConnected(*connection, Clock::now());
      }
      else if (connection != nullptr)
      {
        connection->connectError = error;
      }
    }

    int OnConnect(int fd, const sockaddr* address, socklen_t size)
    {
      BeforeConnect(fd, address, size);
      const int result = Follow([=] { return ::connect(fd, address, size); },
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

    // False: this setsockopt(2) is not to take place, the settings in force say otherwise. What
    // Orthanc asks for is kept in mind: DCMTK of the official builds switches Nagle's algorithm
    // off.
    bool BeforeSetOption(int fd, int level, int option, const void* value,
                         std::size_t size) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr)
      {
        return true;
      }

      if (level == IPPROTO_TCP && option == TCP_NODELAY && value != nullptr && size >= sizeof(int))
      {
        int number = 0;
        std::memcpy(&number, value, sizeof(number));
        connection->isNoDelayAsked = (number != 0);
      }

      return !connection->IsDicom() || !IsOverridden(use.GetSettings().sockets, level, option);
    }

    int OnSetSockOpt(int fd, int level, int option, const void* value, socklen_t size)
    {
      return BeforeSetOption(fd, level, option, value, size)
                 ? ::setsockopt(fd, level, option, value, size)
                 : 0;
    }

    // ---- Closing --------------------------------------------------------------------------------

    // The descriptor is about to be closed, or was closed by a call that no hook saw
    void Forget(int fd) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection != nullptr && getpid() == use->process)
      {
        use.CloseMessage(*connection);
        use->tracker.OnClosing(*connection, Clock::now());
      }
    }

    int OnClose(int fd)
    {
      Forget(fd);  // before the original: after it, another thread may get the descriptor

      if (AskedServers::OfThisThread().IsFollowing() && IsOwnProcess())
      {
        AskedServers::OfThisThread().OnClosing(fd);
      }

      const int written = GatheredFile::OfThisThread().End(fd);
      const int closed = ::close(fd);
      AfterFileClosed(fd);
      return written == 0 ? closed : written;
    }

    // ---- Waiting --------------------------------------------------------------------------------

    // The thread is about to wait, or to read: "mustAsk" says whether MayRead (AdmissionGate.h) is
    // to be asked before it
    Watch TurnTo(int fd, bool* mustAsk = nullptr) noexcept
    {
      const ContextUse use;
      Connection* connection = FindRecognised(use, fd);

      if (connection == nullptr)
      {
        return Watch::Nothing;
      }

      Tune(use, *connection);

      if (mustAsk != nullptr)
      {
        *mustAsk = use->admission.IsActive() && connection->state == ExchangeState::Request &&
                   connection->requestBytes >= connection->askAt;
      }

      return connection->IsDicom() ? Watch::Wait : Watch::Duration;
    }

    // The thread has to wait for bytes. True: look into the wait once it lasts as long as a stall.
    bool BeforeWait(int fd) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr || !connection->IsDicom())
      {
        return false;
      }

      if (use.GetSettings().sockets.tcpQuickAck)
      {
        AcknowledgeNow(fd);
      }

      // Without Nagle's algorithm nothing is held back. Looked at once: a peer may rest for hours.
      return !use.GetSettings().sockets.tcpNoDelay && connection->IsMessageAwaited() &&
             connection->waited == Duration::zero();
    }

    // The thread still waits: does the kernel hold back what Orthanc has written? True: not so far,
    // look again.
    bool LookIntoWait(int fd, TimePoint from) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);
      const std::optional<SendQueue> queue =
          connection == nullptr ? std::nullopt : ReadSendQueue(fd);

      if (queue && queue->state == SendQueue::State::HeldBack)
      {
        connection->heldBackSince = std::max(from, Clock::now() - queue->sinceSent);
      }

      return queue && queue->state == SendQueue::State::Leaving;
    }

    void AfterWait(int fd, TimePoint from) noexcept
    {
      const ContextUse use;
      Connection* connection = FindRecognised(use, fd);

      if (connection == nullptr)
      {
        return;
      }

      const TimePoint now = Clock::now();
      use->tracker.OnWaited(*connection, from, now);

      if (connection->heldBackSince)
      {
        const std::optional<SendQueue> queue = ReadSendQueue(fd);
        const bool isSent = queue && queue->state == SendQueue::State::Sent;
        ConnectionTracker::OnLetGo(*connection, isSent ? now - queue->sinceSent : now);
      }
    }

    // The thread waits for something to read, or for room to write
    void BeforeAwaiting(int fd, bool isForReading) noexcept
    {
      const ContextUse use;

      if (Connection* connection = Find(use, fd, ConnectionKind::HttpOutgoing))
      {
        connection->isAwaited = isForReading;
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

    // Notes that the thread waits for these
    void BeforeAwaiting(const pollfd* begin, const pollfd* end) noexcept
    {
      // libcurl lists a connection that it reads and writes twice, to write last
      for (const pollfd* one = begin; one != end; one++)
      {
        BeforeAwaiting(one->fd, (one->events & POLLOUT) == 0);
      }
    }

    // Counts the wait for the first of these that is a server's
    template <typename Original>
    int WaitForServers(const pollfd* begin, const pollfd* end, const Original& original)
    {
      return Follow(original,
                    [=](AskedServers& servers, int, TimePoint from)
                    {
                      const Duration waited = Clock::now() - from;
                      bool isTold = false;

                      for (const pollfd* one = begin; one != end && !isTold; one++)
                      {
                        isTold = servers.OnWaited(one->fd, waited, (one->events & POLLIN) == 0);
                      }
                    });
    }

    // "original": takes the time-out of poll(2)
    template <typename Original>
    int Poll(pollfd* fds, nfds_t count, int timeout, const Original& original)
    {
      if (timeout == 0)
      {
        return original(timeout);
      }

      pollfd* const end = fds + std::min(count, LOOKED_AT);

      BeforeAwaiting(fds, end);

      // All who wait for one of Orthanc's own connections wait for nothing else, or for little.
      const bool isForReading = count == 1 && (fds->events & POLLIN) != 0;
      const Watch watch = isForReading ? TurnTo(fds->fd) : Watch::Nothing;

      if (watch == Watch::Nothing)
      {
        const int result = WaitForServers(fds, end, [&] { return original(timeout); });

        if (count == 1 && result > 0 && (fds->revents & POLLOUT) != 0)
        {
          AfterConnect(fds->fd);
        }

        return result;
      }

      if (watch == Watch::Wait)
      {
        // What is left for a PDU of DCMTK's time-out (-1: it has none) is less than nothing where
        // the sender was held back meanwhile. Debian's DCMTK would wait for ever then.
        const int ready = original(0);
        return ready != 0 || timeout < -1 ? ready : WaitAndLook(fds->fd, timeout, original);
      }

      const TimePoint from = Clock::now();
      const int result = original(timeout);
      AfterWait(fds->fd, from);
      return result;
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
      const int result = WaitForServers(
          fds.data(), end, [=] { return ::select(count, read, write, except, timeout); });

      if (end == fds.data() + 1 && result > 0 && write != nullptr && FD_ISSET(fds[0].fd, write))
      {
        AfterConnect(fds[0].fd);
      }

      return result;
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
      Connection* connection = FindRecognised(use, fd);

      if (connection == nullptr)
      {
        return;
      }

      connection->isPeerGone = connection->isPeerGone || IsOver(size, errno);
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
        return Follow(original, [fd](AskedServers& servers, ssize_t result, TimePoint from)
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

      Tune(use, *connection);

      if (AskedServers::OfThisThread().IsReading())
      {
        AskedServers::OfThisThread().OnAnswering(Clock::now());
      }

      return true;
    }

    void AfterWrite(int fd, const void* buffer, std::size_t size) noexcept
    {
      const ContextUse use;

      if (Connection* connection = use.Find(fd))
      {
        const TimePoint now = Clock::now();
        use->tracker.OnWritten(*connection, ToBytes(buffer), size, now);

        // Orthanc answers when it is done with the request
        if (connection->state == ExchangeState::Response)
        {
          use.CloseMessage(*connection);
        }
      }
    }

    template <typename Original>
    ssize_t Send(int fd, const void* buffer, std::size_t size, const Original& original)
    {
      const bool isWatched = BeforeWrite(fd, buffer, size);
      const ssize_t result = original();
      AskedServers& servers = AskedServers::OfThisThread();

      if (isWatched && result > 0)
      {
        AfterWrite(fd, buffer, static_cast<std::size_t>(result));
      }
      else if (result > 0 && servers.IsFollowing() && !WrittenFiles::OfThisThread().IsOpen(fd))
      {
        servers.OnWritten(fd, Clock::now());
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

  std::vector<Redirection> GetWatchedFunctions()
  {
    std::vector<Redirection> all = GetFileFunctions();
    all.insert(all.end(), {Redirect("accept", &OnAccept), Redirect("accept4", &OnAccept4),
                           Redirect("getaddrinfo", &OnGetAddrInfo), Redirect("connect", &OnConnect),
                           Redirect("read", &OnRead), Redirect("__read_chk", &OnReadChecked),
                           Redirect("recv", &OnRecv), Redirect("__recv_chk", &OnRecvChecked),
                           Redirect("write", &OnWrite), Redirect("send", &OnSend),
                           Redirect("poll", &OnPoll), Redirect("__poll_chk", &OnPollChecked),
                           Redirect("select", &OnSelect), Redirect("getsockopt", &OnGetSockOpt),
                           Redirect("setsockopt", &OnSetSockOpt), Redirect("close", &OnClose)});
    return all;
  }
}
