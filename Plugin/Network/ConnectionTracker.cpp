// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTracker.h"

#include "Network/Sockets/TcpInfo.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;

    // A response to the header of a request whose body is still to come, as "100 Continue" is (RFC
    // 9110 section 15.2). Final ones of Orthanc 1.10.1 have 85 bytes where there is nothing to say.
    // Under TLS, 100 Continue has up to 90 with its record, and those have more than 100.
    constexpr std::string_view INTERIM_RESPONSE = "HTTP/1.1 1";
    constexpr std::size_t MAXIMUM_INTERIM_RECORD = 90;

    // Where Orthanc, or a filter after the plugin's, refuses a request after all, it leaves the
    // body unread
    constexpr std::string_view CLIENT_ERROR = "HTTP/1.1 4";

    // What is read within such a time is the header of a request: under TLS, that takes two reads
    constexpr Duration AT_ONCE = std::chrono::milliseconds(1);

    // The first byte of a connection: RFC 8446 section 5.1
    constexpr std::uint8_t TLS_HANDSHAKE = 0x16;

    constexpr std::string_view POST = "POST ";

    // What a thread asks while it stores an instance, or serves a request that reads, is no send,
    // even at a peer's port
    bool MaySendToPeer(TimePoint now) noexcept
    {
      const AskedServers& asked = AskedServers::OfThisThread();
      return !asked.MayAsk(now) && !asked.IsReading();
    }

    void ForgetWait(Connection& connection) noexcept
    {
      connection.waited = Duration::zero();
      connection.heldBack = Duration::zero();
      connection.heldBackSince.reset();
    }

    // One stall may take several waits: Orthanc wakes up each second to see whether it shall stop.
    // What the kernel has held back of a response is one of the next message, and part of its
    // "idle".
    void TakeStall(Connection& connection) noexcept
    {
      const bool isInside = connection.state == (connection.IsOutgoing() ? ExchangeState::Response
                                                                         : ExchangeState::Request);
      const Duration stall = isInside ? connection.waited : connection.heldBack;

      if (stall >= ConnectionTracker::STALL)
      {
        const bool isOfMessage =
            connection.IsOutgoing() || connection.state == ExchangeState::Request;
        StallSum& stalls = isOfMessage ? connection.message.stalls : connection.heldStalls;
        stalls.count++;
        stalls.time += stall;
        stalls.idle += isOfMessage ? Duration::zero() : stall;
      }

      ForgetWait(connection);
    }

    bool BeginsWith(const std::uint8_t* data, std::size_t size, std::string_view text) noexcept
    {
      return size >= text.size() && std::equal(text.begin(), text.end(), data);
    }

    // Of one direction
    void AddBytes(Connection& connection, std::atomic<std::uint64_t>& bytes,
                  const std::uint8_t* data, std::size_t size) noexcept
    {
      if (bytes.fetch_add(size, RELAXED) == 0 && data[0] == TLS_HANDSHAKE)
      {
        connection.isEncrypted.store(true, RELAXED);
      }
    }

    bool IsInterimResponse(const Connection& connection, const std::uint8_t* data,
                           std::size_t size) noexcept
    {
      return connection.IsEncrypted() ? size <= MAXIMUM_INTERIM_RECORD
                                      : BeginsWith(data, size, INTERIM_RESPONSE);
    }

    // While Orthanc still sends a request, a server of TLS 1.3 writes session tickets
    bool IsResponseOfPeer(const Connection& connection, const std::uint8_t* data,
                          std::size_t size) noexcept
    {
      return connection.IsEncrypted() ? connection.isAwaited
                                      : !BeginsWith(data, size, INTERIM_RESPONSE);
    }
  }

  ConnectionTable::ConnectionTable() : connections_(std::make_unique<Connection[]>(CAPACITY))
  {
    for (std::size_t i = 0; i < CAPACITY; i++)
    {
      connections_[i].fd = static_cast<int>(i);
    }
  }

  Connection* ConnectionTable::Open(int fd, ConnectionKind kind, const PeerAddress& peer,
                                    TimePoint now) noexcept
  {
    const auto index = static_cast<std::size_t>(fd);

    if (index >= CAPACITY)
    {
      return nullptr;
    }

    // The kernel gave the descriptor away only after Close(): what was written until then is seen.
    Connection& connection = connections_[index];
    (void)connection.kind.load(std::memory_order_acquire);
    connection.openedAt.store(now, RELAXED);
    connection.bytesRead.store(0, RELAXED);
    connection.bytesWritten.store(0, RELAXED);
    connection.isEncrypted.store(false, RELAXED);
    connection.settingsRevision.store(0, RELAXED);
    connection.hasParties.store(false, RELAXED);
    connection.isAccepted.store(false, RELAXED);
    static_cast<ConnectionProgress&>(connection) = {};
    connection.peer = peer;
    connection.kind.store(kind, std::memory_order_release);
    return &connection;
  }

  void ConnectionTable::Clear() noexcept
  {
    for (std::size_t i = 0; i < CAPACITY; i++)
    {
      Close(connections_[i]);
    }
  }

  Connection* ConnectionTracker::OnAccepted(int fd, std::uint16_t localPort,
                                            const PeerAddress& peer, TimePoint now) noexcept
  {
    const bool isDicom = (localPort == places.dicomPort);

    if (localPort == 0 || (!isDicom && localPort != places.httpPort))
    {
      return nullptr;
    }

    Connection* connection = table.Open(
        fd, isDicom ? ConnectionKind::DicomAccepted : ConnectionKind::HttpAccepted, peer, now);

    if (connection != nullptr)
    {
      OnConnected(*connection, now);
    }

    return connection;
  }

  void ConnectionTracker::OnLookedUp(HostHash host, const PeerAddress& address,
                                     bool isResolved) noexcept
  {
    // Of all others there may be many, and the queue is bounded
    if (address.port == 0 || events.IsPeer(address.port))
    {
      ProbeEvent event;
      event.kind = isResolved ? ProbeEvent::Kind::Resolved : ProbeEvent::Kind::FailedCall;
      event.outcome = AssociationOutcome::Unresolved;
      event.host = host;
      event.address = address;
      events.Push(event);
    }
  }

  void ConnectionTracker::OnConnected(Connection& connection, TimePoint now) noexcept
  {
    connection.connectedAt = connection.connectedAt.value_or(now);
  }

  bool ConnectionTracker::RecogniseOutgoing(Connection& connection, const std::uint8_t* data,
                                            std::size_t size, TimePoint now) noexcept
  {
    // One of a pool, to an object storage that has the port of a peer
    if (connection.IsToPeer() && !MaySendToPeer(now))
    {
      table.Close(connection);
      return false;
    }

    if (connection.GetKind() != ConnectionKind::OutgoingCandidate)
    {
      return true;
    }

    AssociateRequestParser parser;
    const bool isRequest = size >= PDU_HEADER_SIZE &&
                           parser.Feed(data, size) != AssociateRequestParser::Status::Failed;
    const std::uint16_t port = connection.peer.port;
    const bool isTls = size > 0 && data[0] == TLS_HANDSHAKE;

    // What a thread asks while it stores an instance is asked of the storage area or the database,
    // which may have such a port as well. Orthanc sends from threads of its jobs, and for C-MOVE
    // from those that serve it.
    const bool isEncrypted =
        isTls && events.IsEncryptedModality(port) && !AskedServers::OfThisThread().MayAsk(now);
    const bool isToPeer =
        !isRequest && !isEncrypted && events.IsPeer(port) &&
        (isTls || BeginsWith(data, size, "GET ") || BeginsWith(data, size, POST)) &&
        MaySendToPeer(now);

    if (!isRequest && !isEncrypted && !isToPeer)
    {
      table.Close(connection);
      return false;
    }

    OnConnected(connection, now);
    connection.isEncrypted.store(isEncrypted || (isToPeer && isTls), RELAXED);
    connection.isAccepted.store(isEncrypted, RELAXED);
    connection.kind.store(isToPeer ? ConnectionKind::HttpOutgoing : ConnectionKind::DicomOutgoing,
                          std::memory_order_release);

    if (isToPeer)
    {
      AddCall(ProbeEvent::Kind::Connected, connection, now);
    }

    return true;
  }

  void ConnectionTracker::OnWaited(Connection& connection, TimePoint from, TimePoint now) noexcept
  {
    connection.waited += now - from;

    if (connection.IsDicom())
    {
      AskedServers::OfThisThread().OnWaitedForPeer(now - from);
    }
  }

  bool ConnectionTracker::LookIntoWait(Connection& connection, TimePoint from) noexcept
  {
    const std::optional<SendQueue> queue = ReadSendQueue(connection.fd);

    if (queue && queue->state == SendQueue::State::HeldBack)
    {
      connection.heldBackSince = std::max(from, Clock::now() - queue->sinceSent);
    }

    return queue && queue->state == SendQueue::State::Leaving;
  }

  void ConnectionTracker::OnLetGo(Connection& connection, TimePoint now) noexcept
  {
    if (connection.heldBackSince)
    {
      const std::optional<SendQueue> queue = ReadSendQueue(connection.fd);
      const bool isSent = queue && queue->state == SendQueue::State::Sent;
      const TimePoint at = isSent ? now - queue->sinceSent : now;
      connection.heldBack = std::max(at - *connection.heldBackSince, Duration::zero());
    }
  }

  void ConnectionTracker::OnRead(Connection& connection, const std::uint8_t* data, std::size_t size,
                                 TimePoint now) noexcept
  {
    if (size == 0)
    {
      return;
    }

    TakeStall(connection);
    connection.readAt = now;
    AddBytes(connection, connection.bytesRead, data, size);

    if (connection.IsOutgoing())
    {
      if (!connection.IsToPeer() || IsResponseOfPeer(connection, data, size))
      {
        OnResponseBytes(connection, data, size, now);
      }
    }
    else
    {
      OnRequestBytes(connection, data, size, now);
    }
  }

  void ConnectionTracker::OnWritten(Connection& connection, const std::uint8_t* data,
                                    std::size_t size, TimePoint now) noexcept
  {
    if (size == 0)
    {
      return;
    }

    const bool hasWaited = connection.waited >= STALL;
    connection.isAwaited = false;
    ForgetWait(connection);
    AddBytes(connection, connection.bytesWritten, data, size);

    if (connection.IsOutgoing())
    {
      OnRequestBytes(connection, data, size, now);
      return;
    }

    const bool isFirst = connection.state == ExchangeState::Request;

    if (!connection.IsDicom())
    {
      connection.isServed =
          connection.isServed && !(isFirst && BeginsWith(data, size, CLIENT_ERROR));

      if (!isFirst || !IsInterimResponse(connection, data, size))
      {
        OnResponseBytes(connection, data, size, now);
      }

      return;
    }

    // A request that its sender does not end has no response: DCMTK breaks the association off
    if (!connection.isBrokenOff && isFirst && data[0] == static_cast<std::uint8_t>(PduType::Abort))
    {
      connection.isBrokenOff = true;
      connection.isRefused = !hasWaited && !connection.isPeerGone;
    }

    if (connection.isBrokenOff)
    {
      FollowPdus(connection, false, data, size, now);
    }
    else
    {
      OnResponseBytes(connection, data, size, now);
    }
  }

  void ConnectionTracker::OnServed(Connection& connection, bool isStow,
                                   const std::optional<ReadingRequest>& reading) noexcept
  {
    if (!connection.IsHttpAccepted())
    {
      return;
    }

    if (connection.restSince && connection.readAt - *connection.restSince >= AT_ONCE)
    {
      BeginRequest(connection, connection.readAt);
      connection.message.lastByte = connection.readAt;
      SetCurrent(&connection);
    }

    connection.restSince.reset();
    connection.isServed = true;
    connection.isStow = isStow;
    connection.reading = reading;

    if (reading)
    {
      AskedServers::OfThisThread().BeginReading(served.load(RELAXED), connection.fd);
    }
  }

  void ConnectionTracker::OnClosing(Connection& connection, TimePoint now) noexcept
  {
    if (connection.GetKind() != ConnectionKind::OutgoingCandidate)
    {
      TakeStall(connection);
      FinishConnection(connection, now);
    }
    else if ((connection.connectError != 0 || !connection.connectedAt) &&
             (!events.IsPeer(connection.peer.port) || MaySendToPeer(now)))
    {
      AddCall(ProbeEvent::Kind::FailedCall, connection, now);
    }

    table.Close(connection);
  }
}
