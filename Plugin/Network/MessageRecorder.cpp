// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/MessageRecorder.h"

#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <pthread.h>
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

    // Under TLS the command of a message cannot be read. What Orthanc sends is taken for a C-STORE
    // from this size on: other requests (C-ECHO, C-FIND, C-MOVE, N-ACTION) have some hundred bytes.
    constexpr std::uint64_t LARGE_MESSAGE = 4096;

    constexpr std::int32_t HTTP_BAD_REQUEST = 400;

    // An HTTP response under TLS has more bytes, an alert (RFC 8446 section 6) less
    constexpr std::uint64_t SMALLEST_RESPONSE = 100;


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


    // Of what Orthanc writes, if it responds to such a request, once so much of it was written
    std::optional<std::uint16_t> GetStatus(const DimseReader& answer,
                                           std::uint16_t request) noexcept
    {
      return answer.GetCommand() == (request | IS_RESPONSE) ? answer.GetStatus() : std::nullopt;
    }


    // The ingest tells what becomes of the message under way
    bool IsClaimed(const Connection& connection) noexcept
    {
      return connection.claimedSerial == connection.serial.load(RELAXED);
    }


    ProbeEvent MakeEvent(const Connection& connection) noexcept
    {
      const std::optional<TimePoint> answered = connection.GetAnsweredAt();
      ProbeEvent event;
      event.isDicom = connection.IsDicom();
      event.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
      event.isPeerRequestor = !connection.IsOutgoing();
      event.hasParties = connection.hasParties.load(RELAXED);
      event.isAccepted = connection.isAccepted.load(RELAXED);
      event.request = connection.request;
      event.address = connection.peer.Load();
      event.setup = connection.setup;
      event.associate = connection.associate;
      event.host = connection.host;

      if (connection.connectedAt)
      {
        event.connect = *connection.connectedAt - connection.openedAt.load(RELAXED);
      }

      if (const std::int32_t status = connection.GetResponse().status.load(RELAXED);
          connection.IsToPeer() && status >= 0)
      {
        event.status = static_cast<std::uint16_t>(status);
      }

      if (answered)
      {
        event.wait = *answered - connection.message.lastByte;
      }

      event.message = connection.message;
      event.endedAt = answered.value_or(connection.message.lastByte);
      event.instances = connection.instances;
      event.bytesReceived = connection.bytesRead.load(RELAXED);
      event.bytesSent = connection.bytesWritten.load(RELAXED);
      return event;
    }


    // A call by this thread, and what came of it by now
    ProbeEvent MakeCall(const Connection& connection, TimePoint now) noexcept
    {
      ProbeEvent event;
      event.direction = Direction::Send;
      event.host = connection.host;
      event.address = connection.peer.Load();
      event.thread = static_cast<std::uint64_t>(pthread_self());
      event.begunAt = connection.openedAt.load(RELAXED);
      event.endedAt = now;
      event.length = now - event.begunAt;
      return event;
    }


    Call ToCall(const ProbeEvent& event)
    {
      return {event.thread, event.address, event.begunAt, event.endedAt};
    }


    // How a connection to a peer has ended. Orthanc closes it where the peer does not answer in
    // time.
    AssociationOutcome JudgePeer(const Connection& connection) noexcept
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


    // The thread's former instance has failed on the way, or it would have been taken
    void EndStorage() noexcept
    {
      WrittenFiles& files = WrittenFiles::OfThisThread();

      if (files.IsFollowing() || AskedServers::OfThisThread().IsReading())
      {
        files = {};
        AskedServers::OfThisThread() = {};
      }
    }


    // Bytes of a peer's response. Under TLS, an alert is none.
    void NotePeerAnswer(Connection& connection, const std::uint8_t* data, std::size_t size,
                        bool isFirst) noexcept
    {
      std::atomic<std::int32_t>& status = connection.GetResponse().status;

      if (isFirst)
      {
        status.store(ReadHttpStatus(data, size), RELAXED);
      }

      connection.isAnswered =
          connection.isAnswered ||
          (connection.IsEncrypted() ? connection.tls == TlsProgress::Messages &&
                                          connection.responseBytes >= SMALLEST_RESPONSE
                                    : status.load(RELAXED) >= 0);
    }


    std::uint64_t MakeRecorderId()
    {
      static std::atomic<std::uint64_t> next = 1;
      return next++;
    }
  }


  MessageRecorder::MessageRecorder() : id_(MakeRecorderId()), events_(std::make_unique<Events>())
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

    return isStorageServed_.load(RELAXED) ? Phase::Commit : Phase::Storage;
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

    if (const Served served = GetServed(); served.isStorage || served.isDatabase)
    {
      AskedServers::OfThisThread().Begin(served, now);
    }
  }


  void MessageRecorder::BeginReading(const Connection& connection) noexcept
  {
    AskedServers::OfThisThread().BeginReading(GetServed(), connection.fd);
  }


  Served MessageRecorder::GetServed() const noexcept
  {
    return {isStorageServed_.load(RELAXED), isDatabaseServed_.load(RELAXED)};
  }


  std::optional<StoredFile> MessageRecorder::TakeStoredFile() noexcept
  {
    return WrittenFiles::OfThisThread().Take();
  }


  AskedWork MessageRecorder::TakeAskedWork()
  {
    return AskedServers::OfThisThread().Take();
  }


  void MessageRecorder::Drain(const Journal& journal, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    ProbeEvent event = {};

    while (events_->pop(event))
    {
      if (event.reading)
      {
        journal.Publish(ToRequest(event));
      }
      else if (event.isResolved)
      {
        destinations_.Learn(event.host, event.address);
      }
      else if (event.isUncalled)
      {
        PublishUncalled(journal, event);
      }
      else if (!event.isDicom && event.direction == Direction::Send)
      {
        PublishToPeer(journal, event);
      }
      else if (event.isAssociation)
      {
        journal.Publish(ToAssociation(event));
      }
      else
      {
        journal.Publish(event.direction == Direction::Send ? ToSentInstance(event)
                                                           : ToRefusedInstance(event));
      }
    }

    for (const FinishedAssociation& failure : destinations_.TakeFailed(now))
    {
      journal.Publish(failure);
    }
  }


  void MessageRecorder::PublishUncalled(const Journal& journal, const ProbeEvent& event)
  {
    const Destination* const found = destinations_.Find(event.host, event.address);

    if (found == nullptr && !event.isAssociation)
    {
      return;
    }

    FinishedAssociation association = ToAssociation(event);
    association.peer.name = found != nullptr ? found->title : association.peer.address;

    if (found != nullptr && found->isPeer && event.outcome != AssociationOutcome::Unresolved)
    {
      destinations_.OnFailed(ToCall(event), association);
    }
    else
    {
      journal.Publish(association);
    }
  }


  void MessageRecorder::PublishToPeer(const Journal& journal, const ProbeEvent& event)
  {
    const Destination* const found = destinations_.Find(event.host, event.address);

    if (found == nullptr || !found->isPeer)
    {
      return;  // another server with a peer's port
    }

    if (event.isConnected)
    {
      destinations_.OnConnected(ToCall(event), found->title);
    }
    else if (event.isAssociation)
    {
      FinishedAssociation association = ToAssociation(event);
      association.peer.name = found->title;
      journal.Publish(association);
    }
    else
    {
      FinishedInstance instance = ToSentInstance(event);
      instance.peer.name = found->title;
      journal.Publish(instance);
    }
  }


  void MessageRecorder::SetDestinations(std::vector<Destination> destinations)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    destinations_.Set(std::move(destinations));
  }


  std::uint64_t MessageRecorder::CountDropped() const noexcept
  {
    return dropped_.load(RELAXED);
  }


  void MessageRecorder::Push(const ProbeEvent& event) noexcept
  {
    if (!events_->push(event))
    {
      dropped_.fetch_add(1, RELAXED);
    }
  }


  void MessageRecorder::CloseConnection(Connection& connection, TimePoint now) noexcept
  {
    connection.closedSerial.store(connection.serial.load(RELAXED), std::memory_order_release);

    if (!connection.IsDicom() && !connection.IsToPeer())
    {
      FinishRead(connection, connection.GetResponse().status.load(RELAXED));
      return;
    }

    const AssociationOutcome outcome = connection.IsToPeer()      ? JudgePeer(connection)
                                       : connection.IsEncrypted() ? AssociationOutcome::Encrypted
                                                                  : connection.outcome;
    FinishExchange(connection, outcome);
    FinishSubOperation(connection, outcome);

    ProbeEvent event = MakeEvent(connection);
    event.isAssociation = true;
    event.outcome = outcome;
    event.rejection = connection.GetAnswers().GetBody();

    if (connection.IsToPeer())
    {
      event.setup = connection.isAnswered ? event.connect : std::nullopt;
      event.isAccepted = connection.isAnswered;
    }
    // Orthanc has asked in vain for an association, or did not come to that
    else if (connection.IsEncrypted() && connection.IsOutgoing() && !connection.setup)
    {
      event.isUncalled = true;
      event.isAccepted = false;
      event.outcome = AssociationOutcome::TlsFailed;
    }

    event.length = now - connection.openedAt.load(RELAXED);
    event.tcp = ReadTcpInfo(connection.fd);
    Push(event);
  }


  void MessageRecorder::AddUnconnected(const Connection& connection, TimePoint now) noexcept
  {
    const int error = connection.connectError;
    ProbeEvent event = MakeCall(connection, now);
    event.isUncalled = true;
    event.outcome = error == ECONNREFUSED              ? AssociationOutcome::Refused
                    : error == 0 || error == ETIMEDOUT ? AssociationOutcome::TimedOut
                                                       : AssociationOutcome::Unreachable;
    Push(event);
  }


  void MessageRecorder::AddConnected(const Connection& connection, TimePoint now) noexcept
  {
    ProbeEvent event = MakeCall(connection, now);
    event.isDicom = false;
    event.isConnected = true;
    Push(event);
  }


  void MessageRecorder::AddLookUp(HostHash host, const PeerAddress& address,
                                  bool isResolved) noexcept
  {
    ProbeEvent event;
    event.isResolved = isResolved;
    event.isUncalled = !isResolved;
    event.direction = Direction::Send;
    event.host = host;
    event.address = address;
    event.outcome = AssociationOutcome::Unresolved;
    Push(event);
  }


  void MessageRecorder::BeginMessage(Connection& connection, TimePoint now) noexcept
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
      FinishRead(connection, *status);
    }
  }


  void MessageRecorder::AddResponseBytes(Connection& connection, const std::uint8_t* data,
                                         std::size_t size, TimePoint now) noexcept
  {
    const bool isAnswered = connection.GetAnsweredAt().has_value();

    if (!connection.IsDicom() && !connection.IsToPeer())
    {
      return NoteAnswer(connection, data, size, now);
    }

    if (!connection.IsOutgoing())
    {
      NoteAnswer(connection, data, size, now);

      if (connection.reading)
      {
        NoteReadingAnswer(connection, now);
      }

      return;
    }

    if (!isAnswered)
    {
      MessageTimes& sent = connection.message;
      sent.lastByte = FindDeparture(connection.fd, sent.lastByte, sent.stalls.time, now);
    }

    if (connection.IsToPeer())
    {
      NotePeerAnswer(connection, data, size, !isAnswered);
    }

    connection.GetResponse().lastByte.store(now, std::memory_order_release);
  }


  // What Orthanc answers, and, if nobody has claimed the C-STORE, the end of it. The DICOMweb
  // plugin answers 400 if it could not read a part of the request, which it shows nobody.
  void MessageRecorder::NoteAnswer(Connection& connection, const std::uint8_t* data,
                                   std::size_t size, TimePoint now) noexcept
  {
    RememberedResponse& response = connection.GetResponse();
    const bool isFirst = response.status.load(RELAXED) < 0;
    const bool isStore = !connection.IsEncrypted() && connection.IsDicom() &&
                         connection.read.GetCommand() == C_STORE_REQUEST;
    bool isUnreadable = false;

    if (isStore)
    {
      const std::optional<std::uint16_t> status = GetStatus(connection.written, C_STORE_REQUEST);

      if (!status)
      {
        return;  // the response is still to come: DCMTK writes it in two pieces
      }

      response.status.store(*status, RELAXED);
    }
    else if (!connection.GetAnsweredAt() && !connection.IsDicom())
    {
      const std::int32_t status = ReadHttpStatus(data, size);
      response.status.store(status, RELAXED);
      isUnreadable = std::exchange(connection.isStow, false) && status == HTTP_BAD_REQUEST;
    }

    response.lastByte.store(now, std::memory_order_release);

    if (isUnreadable || (isStore && isFirst && !IsClaimed(connection)))
    {
      ProbeEvent event = MakeEvent(connection);
      event.status = static_cast<std::uint16_t>(response.status.load(RELAXED));
      event.bytesReceived = connection.requestBytes;
      Push(event);
    }
  }


  void MessageRecorder::AddStall(Connection& connection, Duration waited) noexcept
  {
    const bool isOfMessage = connection.IsOutgoing() || connection.state == ExchangeState::Request;
    StallSum& stalls = isOfMessage ? connection.message.stalls : connection.heldStalls;
    stalls.count++;
    stalls.time += waited;
  }


  void MessageRecorder::BeginAnswer(Connection& connection) noexcept
  {
    FinishSubOperation(connection, AssociationOutcome::Released);

    if (connection.reading)
    {
      connection.reading->isCounted = false;
    }
  }


  // What the peer has written since the request is the response
  void MessageRecorder::FinishSubOperation(Connection& connection,
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
    ProbeEvent event = MakeEvent(connection);
    event.direction = Direction::Send;
    event.outcome = outcome;
    event.instances = 0;  // connecting and associating were the peer's business
    event.message.idle.reset();
    event.message.firstByte = sent.GetFirstByte();
    event.message.lastByte = sent.GetLastByte();
    event.wait.reset();
    event.endedAt = sent.GetLastByte();
    event.bytesSent = sent.GetSize();

    if (isAnswered)
    {
      event.wait = answer - sent.GetLastByte();
      event.endedAt = answer;
      ReadStatus(event, connection.read, sent.GetMessageId());
    }

    Push(event);
    sent.Forget();
  }


  void MessageRecorder::FinishExchange(Connection& connection, AssociationOutcome outcome) noexcept
  {
    if (connection.message.firstByte == TimePoint())
    {
      return;  // there was none
    }

    if (connection.IsToPeer())
    {
      FinishSent(connection, outcome);
      return;
    }

    if (!connection.IsDicom())
    {
      FinishRead(connection, connection.GetResponse().status.load(RELAXED));
      return;
    }

    const std::optional<TimePoint> answered = connection.GetAnsweredAt();
    const bool isStore = connection.GetAsked().GetCommand() == C_STORE_REQUEST;

    if (connection.tls == TlsProgress::AssociateRequest)
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
      connection.instances += IsClaimed(connection) ? 1 : 0;
    }
    else if (isStore && answered)
    {
      connection.instances++;
    }
    else if (isStore)
    {
      TellUnanswered(connection);
    }
  }


  // "status": -1 if it is not known. One that was not answered is left out: the client is gone.
  void MessageRecorder::FinishRead(Connection& connection, std::int32_t status) noexcept
  {
    if (connection.reading && connection.GetAnsweredAt())
    {
      ProbeEvent event = MakeEvent(connection);
      event.message = connection.IsDicom() ? connection.asked : connection.message;
      event.reading = connection.reading;
      event.waits = connection.waits;
      event.bytesSent = connection.responseBytes;

      if (status >= 0)
      {
        event.status = static_cast<std::uint16_t>(status);
      }

      Push(event);
    }

    if (connection.reading)
    {
      connection.reading.reset();
      EndStorage();
    }
  }


  void MessageRecorder::FinishSent(Connection& connection, AssociationOutcome outcome) noexcept
  {
    const bool isEncrypted = connection.IsEncrypted();
    const bool isUpload = connection.IsToPeer()
                              ? connection.isUpload
                              : connection.written.GetCommand() == C_STORE_REQUEST;

    if (isEncrypted
            ? connection.tls != TlsProgress::Messages || connection.requestBytes < LARGE_MESSAGE
            : !isUpload)
    {
      return;
    }

    connection.instances++;
    ProbeEvent event = MakeEvent(connection);
    event.outcome = outcome;
    event.bytesSent = connection.requestBytes;

    if (connection.IsDicom() && !isEncrypted)
    {
      event.bytesSent = connection.written.GetSize();
      ReadStatus(event, connection.read, connection.written.GetMessageId());
    }

    Push(event);
  }


  // What it cannot parse, Orthanc neither answers nor tells any plugin: of a small data set, it
  // goes on as if nothing had come; inside a large one, it breaks the association off (1.10.1).
  // One that its sender broke off was not received.
  void MessageRecorder::TellUnanswered(const Connection& connection) noexcept
  {
    if (!IsClaimed(connection) && (connection.read.HasDataSet() || connection.isRefused))
    {
      ProbeEvent event = MakeEvent(connection);
      event.bytesReceived = connection.requestBytes;
      Push(event);
    }
  }
}
