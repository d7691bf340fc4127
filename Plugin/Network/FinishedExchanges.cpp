// SPDX-License-Identifier: GPL-3.0-or-later
// The part of ConnectionTracker that puts what ends on a connection into the queue, on the thread
// that has the connection
#include "Network/ConnectionTracker.h"
#include "Network/GatheredFile.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

#include <cerrno>
#include <pthread.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Kind = ProbeEvent::Kind;

    constexpr auto RELAXED = std::memory_order_relaxed;

    // Under TLS the command of a message cannot be read. What Orthanc sends is taken for a C-STORE
    // from this size on: other requests (C-ECHO, C-FIND, C-MOVE, N-ACTION) have some hundred bytes.
    constexpr std::uint64_t LARGE_MESSAGE = 4096;

    ProbeEvent MakeEvent(Kind kind, Connection& connection) noexcept
    {
      const std::optional<TimePoint> answered = connection.GetAnsweredAt();
      const std::int32_t status = connection.GetResponse().status.load(RELAXED);
      ProbeEvent event;
      static_cast<ExchangeFacts&>(event) = static_cast<const ExchangeFacts&>(connection);
      event.kind = kind;
      event.isDicom = connection.IsDicom();
      event.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
      event.isPeerRequestor = !connection.IsOutgoing();
      event.hasParties = connection.hasParties.load(RELAXED);
      event.isAccepted = connection.isAccepted.load(RELAXED);
      event.request = connection.request;
      event.address = connection.peer;
      event.endedAt = answered.value_or(connection.message.lastByte);
      event.bytesReceived = connection.bytesRead.load(RELAXED);
      event.bytesSent = connection.bytesWritten.load(RELAXED);

      if (connection.connectedAt)
      {
        event.connect = *connection.connectedAt - connection.openedAt.load(RELAXED);
      }

      if (status >= 0)
      {
        event.status = static_cast<std::uint16_t>(status);
      }

      if (answered)
      {
        event.wait = *answered - connection.message.lastByte;
      }

      return event;
    }

    // The status of the response to the message of this ID. What is none (A-ABORT, A-RELEASE-RQ,
    // C-CANCEL-RQ) does not answer, nor what comes late for the message before: DCMTK takes
    // neither.
    void ReadStatus(ProbeEvent& event, const DimseReader& answer,
                    std::optional<std::uint16_t> id) noexcept
    {
      const std::optional<std::uint16_t> answered = answer.GetAnsweredId();

      if (answer.GetCommand() != C_STORE_RESPONSE || (id && answered && *id != *answered))
      {
        event.wait.reset();
      }
      else
      {
        event.status = answer.GetStatus();
      }
    }

    // How a connection to a peer has ended. Orthanc closes it where the peer does not answer in
    // time.
    AssociationOutcome JudgePeer(Connection& connection) noexcept
    {
      const bool isTls = connection.IsEncrypted();

      if (isTls && !connection.isAnswered && connection.bytesRead.load(RELAXED) > 0)
      {
        return AssociationOutcome::TlsFailed;
      }

      // The last that is written under TLS tells of the end (close_notify of RFC 8446 section 6.1)
      if (!connection.GetAnsweredAt() && (!isTls || connection.requestBytes >= SMALLEST_RESPONSE))
      {
        return connection.isPeerGone ? AssociationOutcome::Lost : AssociationOutcome::TimedOut;
      }

      return isTls ? AssociationOutcome::Encrypted
             : connection.GetResponse().status.load(RELAXED) / 100 == 2
                 ? AssociationOutcome::Released
                 : AssociationOutcome::Rejected;
    }
  }

  void ConnectionTracker::FinishExchange(Connection& connection,
                                         AssociationOutcome outcome) noexcept
  {
    if (connection.message.firstByte == TimePoint())
    {
      return;  // there was none
    }

    const std::optional<TimePoint> answered = connection.GetAnsweredAt();

    if (connection.IsHttpAccepted())
    {
      FinishRead(connection);
    }
    else if (connection.tls == TlsProgress::AssociateRequest)
    {
      connection.tls = TlsProgress::Messages;

      if (answered)
      {
        connection.OnAssociateAnswer(*answered);
      }
    }
    else if (connection.IsOutgoing())
    {
      FinishSent(connection, outcome);
    }
    else if (connection.IsEncrypted())
    {
      connection.instances += connection.IsClaimed() ? 1 : 0;
    }
    else if (connection.read.GetCommand() == C_STORE_REQUEST && answered)
    {
      connection.instances++;
    }
    // What it cannot parse, Orthanc neither answers nor tells any plugin: of a small data set, it
    // goes on as if nothing had come; inside a large one, it breaks the association off (1.10.1).
    // One that its sender broke off was not received.
    else if (connection.read.GetCommand() == C_STORE_REQUEST && !connection.IsClaimed() &&
             (connection.read.HasDataSet() || connection.isRefused))
    {
      AddRefused(connection);
    }
  }

  void ConnectionTracker::FinishSent(Connection& connection, AssociationOutcome outcome) noexcept
  {
    const bool isDimse = connection.IsDicom() && !connection.IsEncrypted();
    const bool isInstance =
        isDimse ? connection.written.GetCommand() == C_STORE_REQUEST
        : connection.IsEncrypted()
            ? connection.tls == TlsProgress::Messages && connection.requestBytes >= LARGE_MESSAGE
            : connection.isUpload;

    if (!isInstance)
    {
      return;
    }

    connection.instances++;
    ProbeEvent event = MakeEvent(Kind::Instance, connection);
    event.outcome = outcome;
    event.bytesSent = isDimse ? connection.written.GetSize() : connection.requestBytes;

    if (isDimse)
    {
      ReadStatus(event, connection.read, connection.written.GetMessageId());
    }

    events.Push(event);
  }

  void ConnectionTracker::FinishSubOperation(Connection& connection,
                                             AssociationOutcome outcome) noexcept
  {
    if (!connection.HasSubOperation())
    {
      return;
    }

    DimseReader& sent = connection.written;
    connection.instances++;
    const bool isAnswered = connection.state == ExchangeState::Request;

    if (!isAnswered)
    {
      connection.message.stalls = std::exchange(connection.heldStalls, {});
    }

    const TimePoint answer = connection.message.lastByte;
    ProbeEvent event = MakeEvent(Kind::Instance, connection);
    event.direction = Direction::Send;
    event.outcome = outcome;
    event.instances = 0;  // connecting and associating were the peer's business
    event.message.idle.reset();
    event.message.firstByte = sent.GetFirstByte();
    event.message.lastByte = sent.GetLastByte();
    event.wait.reset();
    event.status.reset();
    event.endedAt = sent.GetLastByte();
    event.bytesSent = sent.GetSize();

    if (isAnswered)
    {
      event.wait = answer - sent.GetLastByte();
      event.endedAt = answer;
      ReadStatus(event, connection.read, sent.GetMessageId());
    }

    events.Push(event);
    sent.Forget();
  }

  void ConnectionTracker::FinishRead(Connection& connection) noexcept
  {
    if (!connection.reading)
    {
      return;
    }

    if (connection.GetAnsweredAt())
    {
      ProbeEvent event = MakeEvent(Kind::Request, connection);
      event.message = connection.IsDicom() ? connection.asked : connection.message;
      event.bytesSent = connection.responseBytes;
      events.Push(event);
    }

    connection.reading.reset();
    EndStorage();
  }

  void ConnectionTracker::FinishConnection(Connection& connection, TimePoint now) noexcept
  {
    connection.closedSerial.store(connection.serial.load(RELAXED), std::memory_order_release);

    if (connection.IsHttpAccepted())
    {
      return FinishRead(connection);
    }

    const AssociationOutcome outcome = connection.IsToPeer()      ? JudgePeer(connection)
                                       : connection.IsEncrypted() ? AssociationOutcome::Encrypted
                                                                  : connection.outcome;
    FinishExchange(connection, outcome);
    FinishSubOperation(connection, outcome);

    ProbeEvent event = MakeEvent(Kind::Association, connection);
    event.outcome = outcome;
    event.rejection = connection.GetReader(false).GetBody();

    if (connection.IsToPeer())
    {
      event.setup = connection.isAnswered ? event.connect : std::nullopt;
      event.isAccepted = connection.isAnswered;
    }
    // Orthanc has asked in vain for an association, or did not come to that
    else if (connection.IsEncrypted() && connection.IsOutgoing() && !connection.setup)
    {
      event.kind = Kind::FailedCall;
      event.isAccepted = false;
      event.outcome = AssociationOutcome::TlsFailed;
    }

    event.length = now - connection.openedAt.load(RELAXED);
    event.tcp = ReadTcpInfo(connection.fd);
    events.Push(event);
  }

  void ConnectionTracker::AddRefused(Connection& connection) noexcept
  {
    ProbeEvent event = MakeEvent(Kind::Instance, connection);
    event.bytesReceived = connection.requestBytes;
    events.Push(event);
  }

  void ConnectionTracker::AddCall(ProbeEvent::Kind kind, const Connection& connection,
                                  TimePoint now) noexcept
  {
    const int error = connection.connectError;
    ProbeEvent event;
    event.kind = kind;
    event.isDicom = kind != Kind::Connected;
    event.address = connection.peer;
    event.thread = static_cast<std::uint64_t>(pthread_self());
    event.endedAt = now;
    event.length = now - connection.openedAt.load(RELAXED);
    event.outcome = error == ECONNREFUSED              ? AssociationOutcome::Refused
                    : error == 0 || error == ETIMEDOUT ? AssociationOutcome::TimedOut
                                                       : AssociationOutcome::Unreachable;
    events.Push(event);
  }

  void ConnectionTracker::EndStorage() noexcept
  {
    WrittenFiles& files = WrittenFiles::OfThisThread();

    if (files.IsFollowing() || AskedServers::OfThisThread().IsReading())
    {
      files = {};
      GatheredFile::OfThisThread().Expect(0);
      AskedServers::OfThisThread() = {};
    }
  }
}
