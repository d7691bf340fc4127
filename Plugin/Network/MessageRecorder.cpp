// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/MessageRecorder.h"

#include "Network/FinishedExchanges.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

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

    // What a thread of Orthanc works at. Laid out with the thread itself (initial-exec), as the
    // first access to other thread-local storage of a plugin allocates.
    struct ThreadWork
    {
      Connection* connection;
      std::uint64_t recorder;  // whose connection that is: the thread may outlive it
      std::uint64_t serial;  // of the message: its connection may be closed, and another one there
    };

    __attribute__((tls_model("initial-exec"))) thread_local ThreadWork work = {};


    // What stays in the kernel for less has left at once, as far as the kernel can tell: two of its
    // ticks, by which it says when it has sent something (TcpSummary::sinceDataSent)
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


    std::uint64_t MakeRecorderId()
    {
      static std::atomic<std::uint64_t> next = 1;
      return next++;
    }
  }


  MessageRecorder::MessageRecorder() : id_(MakeRecorderId())
  {
  }


  std::optional<Message> MessageRecorder::GetCurrentMessage() const
  {
    const Connection* const connection = FindCurrent();

    if (connection == nullptr)
    {
      return std::nullopt;
    }

    Message message;
    static_cast<MessageTimes&>(message) = connection->message;
    message.id.connection = static_cast<std::uint32_t>(connection->fd);
    message.id.serial = connection->serial.load(RELAXED);
    message.isDicom = connection->IsDicom();
    const PeerAddress address = connection->peer.Load();
    message.peer = ToPeer(connection->request, connection->hasParties.load(RELAXED), true, address);
    return message;
  }


  int MessageRecorder::GetCurrentConnection() const noexcept
  {
    const Connection* const connection = FindCurrent();
    return connection == nullptr ? -1 : connection->fd;
  }


  // Null: there is none, or it is closed. What the thread reads now may come over one whose
  // descriptor is beyond those that are watched.
  Connection* MessageRecorder::FindCurrent() const noexcept
  {
    const bool isOpen = work.connection != nullptr && work.recorder == id_ &&
                        work.connection->closedSerial.load(std::memory_order_acquire) < work.serial;
    return isOpen ? work.connection : nullptr;
  }


  Response MessageRecorder::GetResponse(const MessageId& id) const noexcept
  {
    const Connection& connection = connections_.At(id.connection);
    const RememberedResponse& answer = connection.GetResponse(id.serial);
    const TimePoint response = answer.lastByte.load(std::memory_order_acquire);
    const std::int32_t status = answer.status.load(RELAXED);
    const bool isClosed = connection.closedSerial.load(std::memory_order_acquire) >= id.serial;

    // Read after the response: if it is still remembered now, it was that message's
    if (connection.serial.load(std::memory_order_acquire) - id.serial >= REMEMBERED_RESPONSES)
    {
      return {Response::State::Forgotten};
    }

    if (response != TimePoint())
    {
      return {Response::State::Written, response, isClosed,
              status < 0 ? std::nullopt : std::make_optional(static_cast<std::uint16_t>(status))};
    }

    return {isClosed ? Response::State::Forgotten : Response::State::Pending};
  }


  void MessageRecorder::ClaimMessage() noexcept
  {
    if (Connection* const connection = FindCurrent())
    {
      connection->claimedSerial = work.serial;
      connection->isAccepted.store(true, RELAXED);
    }
  }


  Phase MessageRecorder::GetStoringPhase(const MessageId& id) const noexcept
  {
    if (connections_.At(id.connection).isFileClosed.load(RELAXED))
    {
      return Phase::Index;
    }

    return served_.load(RELAXED).isStorage ? Phase::Commit : Phase::Storage;
  }


  void MessageRecorder::NameRequestor(const std::string& title) noexcept
  {
    Connection* const connection = FindCurrent();

    if (connection != nullptr && connection->IsDicom() && !connection->hasParties.load(RELAXED))
    {
      connection->request = AssociateRequest();
      connection->request.callingTitle.Assign(title);
      connection->hasParties.store(true, std::memory_order_release);
    }
  }


  void MessageRecorder::BeginStorage(TimePoint now) noexcept
  {
    Connection* const connection = FindCurrent();
    WrittenFiles::OfThisThread().Begin(connection == nullptr ? nullptr : &connection->isFileClosed);

    if (const Served served = served_.load(RELAXED); served.isStorage || served.isDatabase)
    {
      AskedServers::OfThisThread().Begin(served, now);
    }
  }


  void MessageRecorder::BeginReading(const Connection& connection) noexcept
  {
    AskedServers::OfThisThread().BeginReading(served_.load(RELAXED), connection.fd);
  }


  std::optional<StoredFile> MessageRecorder::TakeStoredFile() noexcept
  {
    return WrittenFiles::OfThisThread().Take();
  }


  AskedWork MessageRecorder::TakeAskedWork()
  {
    return AskedServers::OfThisThread().Take();
  }


  void MessageRecorder::BeginMessage(Connection& connection, TimePoint now) noexcept
  {
    FinishExchange(connection, AssociationOutcome::Released, events_);

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
    connection.GetResponse(serial).lastByte.store(TimePoint(), RELAXED);
    connection.GetResponse(serial).status.store(-1, RELAXED);
    connection.serial.store(serial, std::memory_order_release);

    connection.message = {};
    connection.message.firstByte = now;

    if (connection.respondedAt)
    {
      connection.message.idle = now - *connection.respondedAt;
    }

    connection.message.stalls = std::exchange(connection.heldStalls, {});
  }


  void MessageRecorder::AddRequestBytes(Connection& connection, const std::uint8_t* data,
                                        std::size_t size, TimePoint now) noexcept
  {
    connection.message.lastByte = now;
    work.connection = connection.IsOutgoing() ? nullptr : &connection;
    work.recorder = id_;
    work.serial = connection.serial.load(RELAXED);

    constexpr std::uint8_t APPLICATION_DATA = 23;

    // OpenSSL sends the A-ASSOCIATE-RQ right behind the end of its handshake
    if (connection.IsOutgoing() && connection.IsDicom() && connection.IsEncrypted() &&
        connection.tls == TlsProgress::Handshake && size > 0 && data[0] == APPLICATION_DATA)
    {
      connection.tls = TlsProgress::AssociateRequest;
    }
    else if (connection.IsDicom() && !connection.IsEncrypted() && !connection.IsOutgoing())
    {
      NoteReading(connection);
    }
  }


  // Its thread begins to work at it once the last byte is there
  void MessageRecorder::NoteReading(Connection& connection) noexcept
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
      BeginReading(connection);
    }
  }


  void MessageRecorder::BeginAnswer(Connection& connection) noexcept
  {
    FinishSubOperation(connection, AssociationOutcome::Released, events_);

    if (connection.reading)
    {
      connection.reading->isCounted = false;
    }
  }


  void MessageRecorder::AddResponseBytes(Connection& connection, const std::uint8_t* data,
                                         std::size_t size, TimePoint now) noexcept
  {
    RememberedResponse& response = connection.GetResponse();
    const bool isFirst = !connection.GetAnsweredAt();

    if (connection.IsOutgoing() && isFirst)
    {
      MessageTimes& sent = connection.message;
      sent.lastByte = FindDeparture(connection.fd, sent.lastByte, sent.stalls.time, now);
    }

    if (connection.IsDicom())
    {
      NoteDimseAnswer(connection, now);
      return;
    }

    if (isFirst)
    {
      response.status.store(ReadHttpStatus(data, size), RELAXED);
    }

    const std::int32_t status = response.status.load(RELAXED);
    response.lastByte.store(now, std::memory_order_release);

    // An HTTP response under TLS has more bytes than an alert (RFC 8446 section 6)
    if (connection.IsToPeer())
    {
      connection.isAnswered =
          connection.isAnswered ||
          (connection.IsEncrypted() ? connection.tls == TlsProgress::Messages &&
                                          connection.responseBytes >= SMALLEST_RESPONSE
                                    : status >= 0);
    }
    // The DICOMweb plugin answers so if it could not read a part, which it shows nobody
    else if (isFirst && std::exchange(connection.isStow, false) && status == HTTP_BAD_REQUEST)
    {
      AddRefused(connection, events_);
    }
  }


  void MessageRecorder::NoteDimseAnswer(Connection& connection, TimePoint now) noexcept
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
      AddRefused(connection, events_);
    }

    if (connection.reading)
    {
      NoteReadingAnswer(connection, now);
    }
  }


  // The response under way may be the last one: no longer pending (DICOM PS3.4 annex C.4)
  void MessageRecorder::NoteReadingAnswer(Connection& connection, TimePoint now) noexcept
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
      FinishRead(connection, events_);
    }
  }


  void MessageRecorder::AddStall(Connection& connection, Duration waited) noexcept
  {
    const bool isOfMessage = connection.IsOutgoing() || connection.state == ExchangeState::Request;
    StallSum& stalls = isOfMessage ? connection.message.stalls : connection.heldStalls;
    stalls.count++;
    stalls.time += waited;
  }
}
