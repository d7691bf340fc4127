// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/HookActions.h"

#include "Network/HookContext.h"
#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/TcpInfo.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    const std::uint8_t* ToBytes(const void* buffer)
    {
      return static_cast<const std::uint8_t*>(buffer);
    }

    ConnectionKind GetKind(const Connection& connection)
    {
      return connection.kind.load(std::memory_order_relaxed);
    }

    bool IsRecognised(const Connection& connection)
    {
      return GetKind(connection) != ConnectionKind::OutgoingCandidate;
    }

    // Null: it is not watched, or not yet known for what it is
    Connection* FindRecognised(const ContextUse& use, int fd)
    {
      Connection* connection = use.Find(fd);
      return connection != nullptr && IsRecognised(*connection) ? connection : nullptr;
    }

    Connection* Find(const ContextUse& use, int fd, ConnectionKind kind)
    {
      Connection* connection = use.Find(fd);
      return connection != nullptr && GetKind(*connection) == kind ? connection : nullptr;
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

    // What read(2) answered: nothing more will come
    bool IsOver(ssize_t size, int error) noexcept
    {
      return size == 0 || (size < 0 && error != EAGAIN && error != EWOULDBLOCK && error != EINTR);
    }

    // A host has few addresses
    constexpr int LOOKED_AT = 8;

    // The host whose address this thread has looked up, until it connects. Laid out with the thread
    // itself, as in MessageRecorder.cpp.
    __attribute__((tls_model("initial-exec"))) thread_local HostHash lookedUp = 0;
  }


  Watch TurnTo(int fd, bool* mustAsk) noexcept
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


  Duration BeforeWait(int fd) noexcept
  {
    const ContextUse use;
    Connection* connection = use.Find(fd);

    if (connection == nullptr || !connection->IsDicom())
    {
      return Duration::zero();
    }

    if (use.GetSettings().sockets.tcpQuickAck)
    {
      AcknowledgeNow(fd);
    }

    // Without Nagle's algorithm nothing is held back. Looked at once: a peer may rest for hours.
    return !use.GetSettings().sockets.tcpNoDelay && connection->IsMessageAwaited() &&
                   connection->waited == Duration::zero()
               ? ConnectionTracker::STALL
               : Duration::zero();
  }


  Duration LookIntoWait(int fd, TimePoint from) noexcept
  {
    const ContextUse use;
    Connection* connection = use.Find(fd);
    const std::optional<SendQueue> queue = connection == nullptr ? std::nullopt : ReadSendQueue(fd);

    if (!queue || queue->state == SendQueue::State::Sent)
    {
      return Duration::zero();
    }

    if (queue->state == SendQueue::State::Leaving)
    {
      return ConnectionTracker::STALL;
    }

    connection->heldBackSince = std::max(from, Clock::now() - queue->sinceSent);
    return Duration::zero();
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


  void AfterRead(int fd, const void* buffer, ssize_t size,
                 const std::optional<TimePoint>& from) noexcept
  {
    const ContextUse use;
    Connection* connection = FindRecognised(use, fd);

    if (connection == nullptr)
    {
      return;
    }

    const bool isOver = IsOver(size, errno);
    const TimePoint now = Clock::now();

    if (from)
    {
      use->tracker.OnWaited(*connection, *from, now);
    }

    if (isOver)
    {
      connection->isPeerGone = true;
    }

    if (size > 0)
    {
      use->tracker.OnRead(*connection, ToBytes(buffer), static_cast<std::size_t>(size), now);
    }
  }


  bool IsOwnProcess() noexcept
  {
    const ContextUse use;
    return !use || getpid() == use->process;
  }


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


  bool BeforeWrite(int fd, const void* buffer, std::size_t size) noexcept
  {
    const ContextUse use;
    Connection* connection = use.Find(fd);

    const bool isOutgoing =
        connection != nullptr && (!IsRecognised(*connection) || connection->IsToPeer());

    if (connection == nullptr || size == 0 ||
        (isOutgoing &&
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
    for (int i = 0; use && none.port != 0 && found != nullptr && i < LOOKED_AT; i++)
    {
      use->tracker.OnLookedUp(hash, PeerAddress::From(found->ai_addr, found->ai_addrlen), true);
      found = found->ai_next;
    }
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


  void AfterConnect(int fd, int error) noexcept
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


  void BeforeAwaiting(int fd, bool isForReading) noexcept
  {
    const ContextUse use;

    if (Connection* connection = Find(use, fd, ConnectionKind::HttpOutgoing))
    {
      connection->isAwaited = isForReading;
    }
  }


  bool IsConnectionCandidate(int fd) noexcept
  {
    const ContextUse use;
    return Find(use, fd, ConnectionKind::OutgoingCandidate) != nullptr;
  }


  bool BeforeSetOption(int fd, int level, int option, const void* value, std::size_t size) noexcept
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
}
