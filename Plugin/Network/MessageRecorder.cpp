// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/MessageRecorder.h"

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
      const void* place;
      std::uint64_t recorder;  // whose place that is: the thread may outlive it
      std::uint64_t serial;  // of the message: its connection may be closed, and another one there
    };

    __attribute__((tls_model("initial-exec"))) thread_local ThreadWork work = {};


    // What stays in the kernel for less has left at once, as far as the kernel can tell: two of its
    // ticks, by which it says when it has sent something (TcpSummary::sinceDataSent)
    constexpr Duration TICKS = std::chrono::milliseconds(20);

    // When the end of a message has left the machine, whose response begins to come. It was handed
    // to the kernel at "written"; the peer's window and the distance may have kept it there for
    // long, which is not the peer's thinking. What Nagle's algorithm held it back for is left out,
    // being a stall of the wait that follows.
    std::int64_t FindDeparture(int fd, std::int64_t written, Duration heldBack,
                               TimePoint now) noexcept
    {
      const std::optional<TcpSummary> info = ReadTcpInfo(fd);
      const std::int64_t left = info ? ToCount(now - info->sinceDataSent - heldBack) : written;
      return left > written + TICKS.count() ? left : written;
    }


    // The status of the response to the message of this ID. What is none (A-ABORT, A-RELEASE-RQ,
    // C-CANCEL-RQ) does not answer, nor what comes late for the message before: DCMTK takes
    // neither.
    void ReadStatus(ProbeEvent& event, const CommandFieldReader& answer,
                    std::optional<std::uint16_t> id) noexcept
    {
      const std::optional<std::uint16_t> answered = answer.GetAnsweredId();

      if (answer.Get() != C_STORE_RESPONSE || (id && answered && *id != *answered))
      {
        event.wait = -1;
      }
      else if (const std::optional<std::uint16_t> status = answer.GetStatus())
      {
        event.status = *status;
      }
    }


    // Of the first bytes of a response: "HTTP/1.1 200 OK" (RFC 9112 section 4); -1: none
    std::int32_t ReadHttpStatus(const std::uint8_t* data, std::size_t size) noexcept
    {
      constexpr std::string_view BEGIN = "HTTP/1.1 ";
      constexpr std::size_t DIGITS = 3;

      if (size < BEGIN.size() + DIGITS || !std::equal(BEGIN.begin(), BEGIN.end(), data))
      {
        return -1;
      }

      const auto* const first = reinterpret_cast<const char*>(data) + BEGIN.size();
      std::int32_t status = -1;
      return std::from_chars(first, first + DIGITS, status).ec == std::errc() ? status : -1;
    }


    // The thread's former instance has failed on the way, or it would have been taken
    void EndStorage() noexcept
    {
      if (WrittenFiles& files = WrittenFiles::OfThisThread(); files.IsFollowing())
      {
        files = {};
        AskedServers::OfThisThread() = {};
      }
    }


    std::uint64_t MakeRecorderId()
    {
      static std::atomic<std::uint64_t> next = 1;
      return next++;
    }
  }


  MessageRecorder::MessageRecorder() :
    id_(MakeRecorderId()),
    places_(std::make_unique<MessagePlace[]>(ConnectionTable::DEFAULT_CAPACITY)),
    events_(std::make_unique<Events>())
  {
  }


  std::optional<Message> MessageRecorder::GetCurrentMessage() const
  {
    const MessagePlace* const place = FindCurrentPlace();

    if (place == nullptr)
    {
      return std::nullopt;
    }

    Message message;
    message.id.connection = static_cast<std::uint32_t>(place - places_.get());
    message.id.serial = place->serial.load(RELAXED);
    message.firstByte = ToTimePoint(place->firstByte.load(RELAXED));
    message.lastByte = ToTimePoint(place->lastByte.load(RELAXED));
    message.stalls = place->stalls.load(RELAXED);
    message.stallTime = Duration(place->stallTime.load(RELAXED));
    message.lossStalls = place->GetLossStalls();

    if (const std::int64_t idle = place->idle.load(RELAXED); idle >= 0)
    {
      message.idle = Duration(idle);
    }

    message.isEncrypted = place->tlsAssociateRequest.IsHandshakeOver();
    message.isDicom = !place->isHttp.load(RELAXED);
    message.peer =
        message.isDicom ? place->GetRequestor() : Peer{{}, place->peer.Load().ToString()};

    return message;
  }


  int MessageRecorder::GetCurrentConnection() const noexcept
  {
    const MessagePlace* const place = FindCurrentPlace();
    return place == nullptr ? -1 : static_cast<int>(place - places_.get());
  }


  // Null: there is none, or its connection is closed. What the thread reads now may come over one
  // whose descriptor is beyond those that are watched.
  const MessagePlace* MessageRecorder::FindCurrentPlace() const noexcept
  {
    const auto* const place = static_cast<const MessagePlace*>(work.place);
    const bool isOpen = place != nullptr && work.recorder == id_ &&
                        place->closedSerial.load(std::memory_order_acquire) < work.serial;
    return isOpen ? place : nullptr;
  }


  Response MessageRecorder::GetResponse(const MessageId& id) const noexcept
  {
    const MessagePlace& place = places_[id.connection];
    const ResponsePlace& answer = place.GetResponse(id.serial);
    const std::int64_t response = answer.lastByte.load(std::memory_order_acquire);
    const std::int32_t status = answer.status.load(RELAXED);
    const bool isClosed = place.closedSerial.load(std::memory_order_acquire) >= id.serial;

    // Read after the response: if it is still remembered now, it was that message's
    if (place.serial.load(std::memory_order_acquire) - id.serial >= REMEMBERED_RESPONSES)
    {
      return {Response::State::Forgotten};
    }

    if (response != 0)
    {
      return {Response::State::Written, ToTimePoint(response), isClosed,
              status < 0 ? std::nullopt : std::make_optional(static_cast<std::uint16_t>(status))};
    }

    return {isClosed ? Response::State::Forgotten : Response::State::Pending};
  }


  void MessageRecorder::ClaimMessage() noexcept
  {
    const int connection = GetCurrentConnection();

    if (connection >= 0)
    {
      MessagePlace& place = places_[static_cast<std::size_t>(connection)];
      place.claimedSerial = work.serial;
      place.isAccepted.store(true, RELAXED);
    }
  }


  Phase MessageRecorder::GetStoringPhase(const MessageId& id) const noexcept
  {
    if (places_[id.connection].isFileClosed.load(RELAXED))
    {
      return Phase::Index;
    }

    return isStorageServed_.load(RELAXED) ? Phase::Commit : Phase::Storage;
  }


  void MessageRecorder::NameRequestor(const std::string& title) noexcept
  {
    const int connection = GetCurrentConnection();

    if (connection >= 0)
    {
      places_[static_cast<std::size_t>(connection)].NameRequestor(title);
    }
  }


  void MessageRecorder::BeginStorage(TimePoint now) noexcept
  {
    const int connection = GetCurrentConnection();
    WrittenFiles::OfThisThread().Begin(
        connection < 0 ? nullptr : &places_[static_cast<std::size_t>(connection)].isFileClosed);
    const Served served = {isStorageServed_.load(std::memory_order_relaxed),
                           isDatabaseServed_.load(std::memory_order_relaxed)};

    if (served.isStorage || served.isDatabase)
    {
      AskedServers::OfThisThread().Begin(served, now);
    }
  }


  std::optional<StoredFile> MessageRecorder::TakeStoredFile() noexcept
  {
    return WrittenFiles::OfThisThread().Take();
  }


  AskedWork MessageRecorder::TakeAskedWork()
  {
    return AskedServers::OfThisThread().Take();
  }


  void MessageRecorder::Drain(const Journal& journal)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    ProbeEvent event = {};

    while (events_->Pop(event))
    {
      if (event.isAssociation)
      {
        journal.Publish(ToAssociation(event));
      }
      else
      {
        journal.Publish(event.direction == Direction::Send ? ToSentInstance(event)
                                                           : ToRefusedInstance(event));
      }
    }
  }


  std::uint64_t MessageRecorder::CountDropped() const noexcept
  {
    return events_->CountDropped();
  }


  bool MessageRecorder::IsAccepted(int fd) const noexcept
  {
    return places_[static_cast<std::size_t>(fd)].isAccepted.load(RELAXED);
  }


  AssociationParties MessageRecorder::GetParties(int fd) const
  {
    return places_[static_cast<std::size_t>(fd)].GetParties();
  }


  void MessageRecorder::OnOpened(Connection& connection, TimePoint) noexcept
  {
    GetPlace(connection).Open(connection);
  }


  void MessageRecorder::OnAssociateRequest(Connection& connection, const AssociateRequest& request,
                                           TimePoint) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    place.request = request;
    place.hasParties.store(true, std::memory_order_release);
  }


  void MessageRecorder::OnAssociateAnswer(Connection& connection, bool isAccepted,
                                          TimePoint now) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    place.isAccepted.store(isAccepted, RELAXED);
    place.setup = ToCount(now) - connection.openedAt.load(RELAXED);
    place.associate = ToCount(now) - place.firstByte.load(RELAXED);
  }


  void MessageRecorder::OnClosed(Connection& connection, AssociationOutcome outcome,
                                 TimePoint now) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    place.closedSerial.store(place.serial.load(RELAXED), std::memory_order_release);

    if (!connection.IsDicom())
    {
      return;
    }

    FinishExchange(connection, place, outcome);
    FinishSubOperation(connection, place, outcome);

    ProbeEvent event = MakeEvent(connection, place);
    event.isAssociation = true;
    event.outcome = outcome;
    event.length = ToCount(now) - connection.openedAt.load(RELAXED);
    event.tcp = ReadTcpInfo(connection.fd);
    events_->Push(event);

    place.hasParties.store(false, RELAXED);
  }


  void MessageRecorder::OnRequestBegins(Connection& connection, TimePoint now) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    FinishExchange(connection, place, AssociationOutcome::Released);

    if (!connection.IsOutgoing())
    {
      EndStorage();
    }

    if (SubOperation& sent = place.subOperation; sent.IsInstance())
    {
      sent.OnAnswer(FindDeparture(connection.fd, sent.GetLastByte(), place.heldTime, now));
    }

    const std::int64_t last = connection.lastResponseAt.load(RELAXED);
    const std::int64_t idle = last == 0 ? -1 : ToCount(now) - last;

    const std::uint64_t serial = place.serial.load(RELAXED) + 1;
    place.GetResponse(serial).lastByte.store(0, RELAXED);
    place.GetResponse(serial).status.store(-1, RELAXED);
    place.firstByte.store(ToCount(now), RELAXED);
    place.idle.store(idle, RELAXED);
    place.TakeHeldStalls();
    place.serial.store(serial, std::memory_order_release);
    place.requestBytes = 0;
    place.largestResponse = 0;
    place.command.Reset();
    place.response.Reset();
  }


  void MessageRecorder::OnRequestBytes(Connection& connection, const std::uint8_t* data,
                                       std::size_t size, TimePoint now) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    place.lastByte.store(ToCount(now), RELAXED);
    place.requestBytes += size;

    // Behind a C-CANCEL-RQ, the response to a sub-operation comes still
    if (place.subOperation.IsInstance() && connection.readFramer.IsBetweenPdus() &&
        place.command.Get() == C_CANCEL_REQUEST)
    {
      place.command.Reset();
    }

    place.command.Feed(data, size);

    if (connection.isEncrypted.load(RELAXED))
    {
      place.tlsAssociateRequest.OnRequestBytes(data, size);
    }

    work.place = connection.IsOutgoing() ? nullptr : &place;
    work.recorder = id_;
    work.serial = place.serial.load(RELAXED);
  }


  void MessageRecorder::OnResponseBytes(Connection& connection, const std::uint8_t* data,
                                        std::size_t size, TimePoint now) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    place.largestResponse = std::max<std::uint64_t>(place.largestResponse, size);

    if (!connection.IsOutgoing())
    {
      // Orthanc goes on: after the response, or once it has lost patience
      if (place.GetAnsweredAt() == 0 || connection.isCommandBegun)
      {
        FinishSubOperation(connection, place, AssociationOutcome::Released);
      }

      place.subOperation.OnWritten(data, size, ToCount(now));
      place.tlsAssociateRequest.OnResponseBytes(data, size);
      return NoteAnswer(connection, place, data, size, now);
    }

    if (place.GetAnsweredAt() == 0)
    {
      place.lastByte.store(FindDeparture(connection.fd, place.lastByte.load(RELAXED),
                                         Duration(place.stallTime.load(RELAXED)), now),
                           RELAXED);
    }

    place.response.Feed(data, size);
    place.GetResponse().lastByte.store(ToCount(now), std::memory_order_release);
  }


  // What Orthanc answers, and, if nobody has claimed the C-STORE, the end of it
  void MessageRecorder::NoteAnswer(const Connection& connection, MessagePlace& place,
                                   const std::uint8_t* data, std::size_t size,
                                   TimePoint now) noexcept
  {
    ResponsePlace& response = place.GetResponse();
    const bool isFirst = response.status.load(RELAXED) < 0;
    const bool isStore = !connection.isEncrypted.load(RELAXED) && connection.IsDicom() &&
                         place.command.Get() == C_STORE_REQUEST;

    if (isStore)
    {
      const std::optional<std::uint16_t> status = place.subOperation.GetStoreStatus();

      if (!status)
      {
        return;  // the response is still to come: DCMTK writes it in two pieces
      }

      response.status.store(*status, RELAXED);
    }
    else if (place.GetAnsweredAt() == 0 && !connection.IsDicom())
    {
      response.status.store(ReadHttpStatus(data, size), RELAXED);
    }

    response.lastByte.store(ToCount(now), std::memory_order_release);

    if (isStore && isFirst && place.claimedSerial != place.serial.load(RELAXED))
    {
      ProbeEvent event = MakeEvent(connection, place);
      event.status = response.status.load(RELAXED);
      event.bytesReceived = place.requestBytes;
      events_->Push(event);
    }
  }


  void MessageRecorder::OnStall(Connection& connection, Duration waited, TimePoint) noexcept
  {
    MessagePlace& place = GetPlace(connection);
    if (connection.IsOutgoing() || connection.state == ExchangeState::Request)
    {
      place.AddStall(waited, connection.isLossSeen);
    }
    else
    {
      place.AddHeldStall(waited, connection.isLossSeen);
    }
  }


  MessagePlace& MessageRecorder::GetPlace(const Connection& connection) noexcept
  {
    return places_[static_cast<std::size_t>(connection.fd)];
  }


  // What Orthanc has written may have been a C-STORE request of its own: a sub-operation of the
  // C-GET that the peer has asked for. What the peer has written since is the response.
  void MessageRecorder::FinishSubOperation(const Connection& connection, MessagePlace& place,
                                           AssociationOutcome outcome) noexcept
  {
    SubOperation& sent = place.subOperation;

    if (connection.IsOutgoing() || !sent.IsInstance())
    {
      return;
    }

    place.instances++;
    const bool isAnswered = place.GetAnsweredAt() == 0;

    if (!isAnswered)
    {
      place.TakeHeldStalls();
    }

    ProbeEvent event = MakeEvent(connection, place);
    event.direction = Direction::Send;
    event.outcome = outcome;
    event.instances = 0;  // connecting and associating were the peer's business
    event.idle = -1;
    event.send = sent.GetLastByte() - sent.GetFirstByte();
    event.endedAt = isAnswered ? place.lastByte.load(RELAXED) : sent.GetLastByte();
    event.wait = isAnswered ? event.endedAt - sent.GetLastByte() : -1;
    event.bytesSent = sent.GetSize();

    if (isAnswered)
    {
      ReadStatus(event, place.command, sent.GetMessageId());
    }

    events_->Push(event);
    sent.Finish();
  }


  void MessageRecorder::FinishExchange(const Connection& connection, MessagePlace& place,
                                       AssociationOutcome outcome) noexcept
  {
    if (!place.hasExchange)
    {
      place.hasExchange = true;
      return;
    }

    if (place.tlsAssociateRequest.IsUnderWay())
    {
      return place.FinishAssociateRequest(connection);
    }

    const bool isAnswered =
        place.GetAnsweredAt() != 0 &&
        (place.largestResponse >= SMALLEST_ANSWER || !connection.isEncrypted.load(RELAXED));

    if (!place.IsInstance(connection))
    {
      return;
    }

    // One that its sender broke off was not received; one that Orthanc sends has failed then
    if (!isAnswered && !connection.IsOutgoing())
    {
      return TellUnanswered(connection, place);
    }

    place.instances++;

    if (connection.IsOutgoing())
    {
      ProbeEvent event = MakeEvent(connection, place);
      event.outcome = outcome;
      event.bytesSent = place.requestBytes;

      if (!connection.isEncrypted.load(RELAXED))
      {
        ReadStatus(event, place.response, place.command.GetMessageId());
      }

      events_->Push(event);
    }
  }


  // What it cannot parse, Orthanc neither answers nor tells any plugin: of a small data set, it
  // goes on as if nothing had come; inside a large one, it breaks the association off (1.10.1)
  void MessageRecorder::TellUnanswered(const Connection& connection,
                                       const MessagePlace& place) noexcept
  {
    if (!connection.isEncrypted.load(RELAXED) &&
        place.claimedSerial != place.serial.load(RELAXED) &&
        (connection.readFramer.HasDataSet() || connection.isRefused))
    {
      ProbeEvent event = MakeEvent(connection, place);
      event.bytesReceived = place.requestBytes;
      events_->Push(event);
    }
  }


  ProbeEvent MessageRecorder::MakeEvent(const Connection& connection,
                                        const MessagePlace& place) noexcept
  {
    const std::int64_t response = place.GetAnsweredAt();
    const std::int64_t lastByte = place.lastByte.load(RELAXED);
    const std::int64_t connected = connection.connectedAt.load(RELAXED);

    ProbeEvent event = {};
    event.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
    event.isPeerRequestor = !connection.IsOutgoing();
    event.hasParties = place.hasParties.load(RELAXED);
    event.isAccepted = place.isAccepted.load(RELAXED);
    event.request = place.request;
    event.address = connection.peer.Load();
    event.setup = place.setup;
    event.connect = connected == 0 ? -1 : connected - connection.openedAt.load(RELAXED);
    event.associate = place.associate;
    event.idle = place.idle.load(RELAXED);
    event.send = lastByte - place.firstByte.load(RELAXED);
    event.wait = response == 0 ? -1 : response - lastByte;
    event.endedAt = response == 0 ? lastByte : response;
    event.stalls = place.stalls.load(RELAXED);
    event.stallTime = place.stallTime.load(RELAXED);
    event.lossStalls = place.GetLossStalls();
    event.status = -1;
    event.instances = place.instances;
    event.bytesReceived = connection.bytesRead.load(RELAXED);
    event.bytesSent = connection.bytesWritten.load(RELAXED);
    return event;
  }
}
