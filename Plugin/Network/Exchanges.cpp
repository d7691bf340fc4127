// SPDX-License-Identifier: GPL-3.0-or-later
// The part of ConnectionTracker that knows requests from responses
#include "Admission/AdmissionQueue.h"
#include "Network/ConnectionTracker.h"
#include "Network/Sockets/TcpInfo.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;

    constexpr std::uint8_t TLS_APPLICATION_DATA = 0x17;  // first byte of a record: RFC 8446 5.1

    // What stays in the kernel for less has left at once, as far as the kernel can tell. It says in
    // ticks when it has sent something (TcpSummary::sinceDataSent): these are two.
    constexpr Duration TICKS = std::chrono::milliseconds(20);

    constexpr std::int32_t HTTP_BAD_REQUEST = 400;

    // When the end of a message has left the machine, whose response begins to come. It was handed
    // to the kernel at "written"; the peer's window and the distance may have kept it there for
    // long, which is not the peer's thinking. What Nagle's algorithm held it back for is left out,
    // being a stall of the wait that follows.
    TimePoint FindDeparture(int fd, TimePoint written, Duration heldBack, TimePoint now) noexcept
    {
      const std::optional<TcpSummary> info = ReadTcpInfo(fd);
      const TimePoint left = info ? now - info->sinceDataSent - heldBack : written;
      return left > written + TICKS ? left : written;
    }

    // Of what Orthanc writes, if it responds to such a request, once so much of it was written
    std::optional<std::uint16_t> GetStatus(const DimseReader& answer,
                                           std::uint16_t request) noexcept
    {
      return answer.GetCommand() == (request | IS_RESPONSE) ? answer.GetStatus() : std::nullopt;
    }

    // What a DIMSE request reads; nothing: it is another one, or cannot be read
    std::optional<RouteClass> FindService(std::optional<std::uint16_t> command) noexcept
    {
      return command == C_GET_REQUEST    ? std::make_optional(RouteClass::CGet)
             : command == C_MOVE_REQUEST ? std::make_optional(RouteClass::CMove)
             : command == C_FIND_REQUEST ? std::make_optional(RouteClass::CFind)
                                         : std::nullopt;
    }

    // Of the first bytes of a response: "HTTP/1.1 200 OK" (RFC 9112 section 4); -1: none
    std::int32_t ReadHttpStatus(const std::uint8_t* data, std::size_t size) noexcept
    {
      constexpr std::string_view BEGIN = "HTTP/1.";
      constexpr std::size_t STATUS = 9;
      constexpr std::size_t DIGITS = 3;

      if (size < STATUS + DIGITS || !std::equal(BEGIN.begin(), BEGIN.end(), data))
      {
        return -1;
      }

      const auto* const first = reinterpret_cast<const char*>(data) + STATUS;
      std::int32_t status = -1;
      return std::from_chars(first, first + DIGITS, status).ec == std::errc() ? status : -1;
    }

    // Whether a request begins so by which Orthanc sends an instance to a peer. The URL of a peer
    // may have a path.
    bool IsUpload(const std::uint8_t* data, std::size_t size) noexcept
    {
      constexpr std::string_view POST = "POST ";
      constexpr std::string_view END = "/instances HTTP/1.1";
      const std::string_view text(reinterpret_cast<const char*>(data), size);
      const std::string_view line = text.substr(0, text.find('\r'));
      return line.substr(0, POST.size()) == POST && line.size() >= END.size() &&
             line.substr(line.size() - END.size()) == END;
    }
  }

  void ConnectionTracker::OnRequestBytes(Connection& connection, const std::uint8_t* data,
                                         std::size_t size, TimePoint now) noexcept
  {
    // To a peer, the first request follows the handshake. OpenSSL sends the A-ASSOCIATE-RQ right
    // behind the end of its handshake.
    const bool isHandshakeOver = connection.IsOutgoing() && connection.IsEncrypted() &&
                                 connection.tls == TlsProgress::Handshake &&
                                 data[0] == TLS_APPLICATION_DATA;
    const bool isFirstToPeer = isHandshakeOver && connection.IsToPeer();

    if (connection.state != ExchangeState::Request || isFirstToPeer)
    {
      connection.restSince = connection.state == ExchangeState::Response && !connection.isServed
                                 ? std::make_optional(now)
                                 : std::nullopt;
      BeginRequest(connection, now);
      connection.isUpload = connection.IsToPeer() && IsUpload(data, size);
    }

    if (isHandshakeOver)
    {
      connection.tls =
          connection.IsToPeer() ? TlsProgress::Messages : TlsProgress::AssociateRequest;
    }

    if (isFirstToPeer)
    {
      connection.connectedAt = now;
    }

    FollowPdus(connection, true, data, size, now);
    connection.requestBytes += size;
    connection.message.lastByte = now;

    // What looks like a send to a peer may be a question of a filter about the request that is
    // served
    if (!connection.IsToPeer())
    {
      SetCurrent(connection.IsOutgoing() ? nullptr : &connection);
    }

    if (connection.IsDicom() && !connection.IsEncrypted() && !connection.IsOutgoing())
    {
      NoteReading(connection);
    }
  }

  void ConnectionTracker::BeginRequest(Connection& connection, TimePoint now) noexcept
  {
    FinishExchange(connection, AssociationOutcome::Released);

    // The response to a sub-operation of a C-GET does not end what that reads
    if (!connection.IsOutgoing() && !connection.reading)
    {
      EndStorage();
    }

    DimseReader& sent = connection.written;

    if (connection.HasSubOperation())
    {
      sent.SetLastByte(
          FindDeparture(connection.fd, sent.GetLastByte(), connection.heldStalls.time, now));
    }
    else
    {
      sent.Forget();
    }

    connection.read.Forget();

    const std::uint64_t serial = connection.serial.load(RELAXED) + 1;
    RememberedResponse& response = connection.responses[serial % connection.responses.size()];
    response.lastByte.store(TimePoint(), RELAXED);
    response.status.store(-1, RELAXED);
    connection.serial.store(serial, std::memory_order_release);

    connection.message = {};
    connection.message.firstByte = now;

    if (connection.respondedAt)
    {
      connection.message.idle = now - *connection.respondedAt;
    }

    connection.message.stalls = std::exchange(connection.heldStalls, {});
    connection.state = ExchangeState::Request;
    connection.isServed = false;
    connection.requestBytes = 0;
    connection.responseBytes = connection.reading ? connection.responseBytes : 0;

    // What of HTTP requests Orthanc keeps is known once it has let them in
    connection.askAt = connection.GetKind() == ConnectionKind::DicomAccepted ? AdmissionQueue::PIECE
                                                                             : Connection::NEVER;
  }

  // Its thread begins to work at it once the last byte is there
  void ConnectionTracker::NoteReading(Connection& connection) noexcept
  {
    const std::optional<std::uint16_t> command = connection.read.GetCommand();

    if (const std::optional<RouteClass> service = FindService(command))
    {
      connection.reading = ReadingRequest();
      connection.reading->route = *service;
      connection.reading->command = *command;
      connection.reading->product.Assign(connection.request.callingTitle.View());
      connection.asked = connection.message;
      connection.responseBytes = 0;
      AskedServers::OfThisThread().BeginReading(served.load(RELAXED), connection.fd);
    }
  }

  // Orthanc goes on: with a response, or with the next message. What it has sent before is over.
  void ConnectionTracker::BeginAnswer(Connection& connection) noexcept
  {
    FinishSubOperation(connection, AssociationOutcome::Released);

    if (connection.reading)
    {
      connection.reading->isCounted = false;
    }
  }

  void ConnectionTracker::OnResponseBytes(Connection& connection, const std::uint8_t* data,
                                          std::size_t size, TimePoint now) noexcept
  {
    if (connection.state == ExchangeState::Request)
    {
      BeginAnswer(connection);
      connection.state = ExchangeState::Response;
    }

    FollowPdus(connection, false, data, size, now);

    if (connection.state == ExchangeState::Quiet)
    {
      return;  // the server speaks first: nothing was asked
    }

    connection.respondedAt = now;
    connection.responseBytes += size;

    if (connection.reading)
    {
      connection.waits = AskedServers::OfThisThread().GetReadWaits();
    }

    const bool isFirst = !connection.GetAnsweredAt();

    if (connection.IsOutgoing() && isFirst)
    {
      MessageTimes& sent = connection.message;
      sent.lastByte = FindDeparture(connection.fd, sent.lastByte, sent.stalls.time, now);
    }

    if (connection.IsDicom())
    {
      NoteDimseAnswer(connection, now);
    }
    else
    {
      NoteHttpAnswer(connection, isFirst ? ReadHttpStatus(data, size) : -1, isFirst, now);
    }
  }

  void ConnectionTracker::NoteHttpAnswer(Connection& connection, std::int32_t status, bool isFirst,
                                         TimePoint now) noexcept
  {
    RememberedResponse& response = connection.GetResponse();

    if (isFirst)
    {
      response.status.store(status, RELAXED);
    }

    response.lastByte.store(now, std::memory_order_release);

    if (connection.IsToPeer())
    {
      const bool isResponse = connection.IsEncrypted()
                                  ? connection.tls == TlsProgress::Messages &&
                                        connection.responseBytes >= SMALLEST_RESPONSE
                                  : status >= 0;
      connection.isAnswered = connection.isAnswered || isResponse;
    }
    // The DICOMweb plugin answers so if it could not read a part, which it shows nobody
    else if (isFirst && std::exchange(connection.isStow, false) && status == HTTP_BAD_REQUEST)
    {
      AddRefused(connection);
    }
  }

  void ConnectionTracker::NoteDimseAnswer(Connection& connection, TimePoint now) noexcept
  {
    RememberedResponse& response = connection.GetResponse();
    const bool isStore = !connection.IsOutgoing() && !connection.IsEncrypted() &&
                         connection.read.GetCommand() == C_STORE_REQUEST;
    const std::optional<std::uint16_t> status =
        isStore ? GetStatus(connection.written, C_STORE_REQUEST) : std::nullopt;

    if (isStore && !status)
    {
      return;  // the response is still to come: DCMTK writes it in two pieces
    }

    const bool isKnown = response.status.load(RELAXED) >= 0;
    response.status.store(status ? *status : response.status.load(RELAXED), RELAXED);
    response.lastByte.store(now, std::memory_order_release);

    // If nobody has claimed the C-STORE, this is its end
    if (isStore && !isKnown && !connection.IsClaimed())
    {
      AddRefused(connection);
    }

    if (connection.reading)
    {
      NoteReadingAnswer(connection, now);
    }
  }

  // The response under way may be the last one: no longer pending (DICOM PS3.4 annex C.4)
  void ConnectionTracker::NoteReadingAnswer(Connection& connection, TimePoint now) noexcept
  {
    ReadingRequest& reading = *connection.reading;
    const std::optional<std::uint16_t> status = GetStatus(connection.written, reading.command);

    if (reading.isCounted || !status)
    {
      return;
    }

    constexpr std::uint16_t PENDING = 0xff00;
    reading.isCounted = true;
    reading.firstResponse = reading.responses == 0 ? now : reading.firstResponse;
    reading.responses++;

    if ((*status & PENDING) != PENDING)
    {
      connection.GetResponse().status.store(*status, RELAXED);
      FinishRead(connection);
    }
  }

  void ConnectionTracker::FollowPdus(Connection& connection, bool isRequestSide,
                                     const std::uint8_t* data, std::size_t size,
                                     TimePoint now) noexcept
  {
    DimseReader& reader = connection.GetReader(isRequestSide);

    if (!connection.IsDicom() || reader.IsLost())
    {
      return;
    }

    AssociateRequestParser& parser = connection.associateRequest;

    if (isRequestSide && parser.GetStatus() == AssociateRequestParser::Status::NeedMore &&
        parser.Feed(data, size) == AssociateRequestParser::Status::Complete)
    {
      connection.request = parser.GetRequest();
      connection.hasParties.store(true, std::memory_order_release);
    }

    const auto onCommand = [&]
    {
      if (!connection.IsOutgoing() && !isRequestSide)
      {
        BeginAnswer(connection);
      }
      // Without a response, Orthanc has lost patience and sends the next request
      else if (connection.IsOutgoing() && isRequestSide && reader.GetFirstByte() != TimePoint())
      {
        BeginRequest(connection, now);
      }
    };

    reader.Feed(
        data, size, now, [&](PduType type) { OnPdu(connection, type, now); }, onCommand);
  }

  void ConnectionTracker::OnPdu(Connection& connection, PduType type, TimePoint now) noexcept
  {
    const bool isAccepted = type == PduType::AssociateAccept;

    if ((isAccepted || type == PduType::AssociateReject) && !connection.isAnswered)
    {
      connection.isAnswered = true;
      connection.outcome = isAccepted ? AssociationOutcome::Lost : AssociationOutcome::Rejected;
      connection.isAccepted.store(isAccepted, RELAXED);
      connection.OnAssociateAnswer(now);
    }
    else if (type == PduType::ReleaseRequest || type == PduType::ReleaseResponse)
    {
      connection.outcome = AssociationOutcome::Released;
    }
    else if (type == PduType::Abort && !connection.isPeerGone)
    {
      connection.outcome = AssociationOutcome::Aborted;
    }
  }
}
