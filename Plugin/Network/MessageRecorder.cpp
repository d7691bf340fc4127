// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/MessageRecorder.h"

#include "Network/ConnectionTracker.h"

#include <array>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;

    // Under TLS the command of a message cannot be read: one of this size is taken for a C-STORE,
    // as other requests (C-ECHO, C-FIND, C-MOVE, N-ACTION) have some hundred bytes.
    constexpr std::uint64_t LARGE_MESSAGE = 4096;

    // The last instance of an association is taken up within half a second: by then its
    // descriptor may have seen the release, and another short association or two
    constexpr std::size_t REMEMBERED_RESPONSES = 8;


    TimePoint ToTime(std::int64_t count)
    {
      return TimePoint(Clock::duration(count));
    }


    std::int64_t ToCount(TimePoint time)
    {
      return time.time_since_epoch().count();
    }


    // What a thread of Orthanc works at. Laid out with the thread itself (initial-exec), as the
    // first access to other thread-local storage of a plugin allocates.
    struct ThreadWork
    {
      std::int64_t fileCreated;
      std::int64_t fileClosed;
      std::int64_t fileSync;
      const void* place;
      std::uint64_t recorder;  // whose place that is: the thread may outlive it
    };

    __attribute__((tls_model("initial-exec"))) thread_local ThreadWork work = {};


    std::uint64_t MakeRecorderId()
    {
      static std::atomic<std::uint64_t> next = 1;
      return next++;
    }
  }


  namespace
  {
    AssociationParties ToParties(const AssociateRequest& request)
    {
      const auto print = [](std::string_view text)
      {
        return MakePrintable(std::string(text));
      };

      AssociationParties parties;
      parties.callingTitle = print(request.callingTitle.View());
      parties.calledTitle = print(request.calledTitle.View());
      parties.implementationVersion = print(request.implementationVersionName.View());
      parties.maximumLength = request.maximumLength;
      return parties;
    }


    // The other end: it has called, or it was called
    Peer ToPeer(const AssociateRequest& request, bool isReadable, Direction direction,
                const PeerAddress& address)
    {
      const std::string text = address.ToString();

      if (!isReadable)
      {
        return Peer{{}, text};
      }

      const AssociationParties parties = ToParties(request);
      return Peer{direction == Direction::Receive ? parties.callingTitle : parties.calledTitle,
                  text};
    }

  }


  // What is known of the connection that has a file descriptor. Written by the thread that has
  // the connection, read by any.
  struct MessageRecorder::Place
  {
    // Of the connection: fixed once hasParties is set
    AssociateRequest request;
    std::atomic<bool> hasParties = false;

    // Of the message under way. The serial is never reset.
    std::atomic<std::uint64_t> serial = 0;
    std::atomic<std::int64_t> firstByte = 0;
    std::atomic<std::int64_t> lastByte = 0;
    std::atomic<std::int64_t> idle = -1;  // -1: there was no response before
    std::array<std::atomic<std::int64_t>, REMEMBERED_RESPONSES> responses = {};
    std::atomic<std::uint32_t> stalls = 0;
    std::atomic<std::int64_t> stallTime = 0;
    std::atomic<bool> isHttp = false;
    std::atomic<std::uint64_t> peerHigh = 0;
    std::atomic<std::uint64_t> peerLow = 0;

    // For the thread that has the connection
    bool hasExchange = false;  // a request has begun
    std::uint64_t requestBytes = 0;
    std::uint32_t heldStalls = 0;  // of the response before, for the next message
    Duration heldTime = Duration::zero();
    std::uint32_t instances = 0;
    std::int64_t setup = -1;      // accepted, or connect called -> answer
    std::int64_t associate = -1;  // request -> answer
    CommandFieldReader command;

    // The last byte of the response to one of the latest messages, so far; 0: none yet
    std::atomic<std::int64_t>& GetResponse(std::uint64_t messageSerial) noexcept
    {
      return responses[messageSerial % responses.size()];
    }

    const std::atomic<std::int64_t>& GetResponse(std::uint64_t messageSerial) const noexcept
    {
      return responses[messageSerial % responses.size()];
    }

    // What was known of the connection that had the descriptor before is forgotten
    void Open(const Connection& connection) noexcept
    {
      hasParties.store(false, RELAXED);
      isHttp.store(!connection.IsDicom(), RELAXED);
      peerHigh.store(connection.peerHigh.load(RELAXED), RELAXED);
      peerLow.store(connection.peerLow.load(RELAXED), RELAXED);
      hasExchange = false;
      requestBytes = 0;
      heldStalls = 0;
      heldTime = Duration::zero();
      instances = 0;
      setup = -1;
      associate = -1;
    }

    AssociationParties GetParties() const
    {
      return hasParties.load(std::memory_order_acquire) ? ToParties(request) : AssociationParties();
    }

    Peer GetPeer(Direction direction) const
    {
      const bool isReadable = hasParties.load(std::memory_order_acquire);
      const PeerAddress address =
          PeerAddress::FromWords(peerHigh.load(RELAXED), peerLow.load(RELAXED), 0);
      return ToPeer(request, isReadable, direction, address);
    }

    void AddStall(Duration waited) noexcept
    {
      stalls.fetch_add(1, RELAXED);
      stallTime.fetch_add(waited.count(), RELAXED);
    }

    bool IsInstance(const Connection& connection) const noexcept
    {
      return connection.isEncrypted.load(RELAXED) ? requestBytes >= LARGE_MESSAGE
                                                  : command.Get() == C_STORE_REQUEST;
    }
  };


  // Something that is over: an association, or a message that Orthanc has sent. Times in
  // nanoseconds; -1: not known.
  struct MessageRecorder::Event
  {
    bool isAssociation;
    Direction direction;
    AssociationOutcome outcome;
    bool hasParties;
    bool isAnswered;
    AssociateRequest request;
    PeerAddress address;
    std::int64_t setup;
    std::int64_t connect;
    std::int64_t associate;
    std::int64_t length;
    std::int64_t idle;
    std::int64_t send;
    std::int64_t wait;
    std::int64_t stallTime;
    std::uint32_t stalls;
    std::uint32_t instances;
    std::uint64_t bytesReceived;
    std::uint64_t bytesSent;
    std::optional<TcpInfo> tcp;
  };


  MessageRecorder::MessageRecorder(std::size_t capacity) :
    id_(MakeRecorderId()),
    capacity_(capacity),
    places_(std::make_unique<Place[]>(capacity)),
    events_(std::make_unique<Events>())
  {
  }


  MessageRecorder::~MessageRecorder() = default;


  std::optional<Message> MessageRecorder::GetCurrentMessage() const noexcept
  {
    const auto* place = static_cast<const Place*>(work.place);

    if (place == nullptr || work.recorder != id_)
    {
      return std::nullopt;
    }

    Message message;
    message.id.connection = static_cast<std::uint32_t>(place - places_.get());
    message.id.serial = place->serial.load(RELAXED);
    message.firstByte = ToTime(place->firstByte.load(RELAXED));
    message.lastByte = ToTime(place->lastByte.load(RELAXED));
    message.stalls = place->stalls.load(RELAXED);
    message.stallTime = Duration(place->stallTime.load(RELAXED));

    if (const std::int64_t idle = place->idle.load(RELAXED); idle >= 0)
    {
      message.idle = Duration(idle);
    }

    if (!place->isHttp.load(RELAXED))
    {
      message.peer = place->GetPeer(Direction::Receive);
    }

    return message;
  }


  Response MessageRecorder::GetResponse(const MessageId& id) const noexcept
  {
    if (id.connection >= capacity_)
    {
      return {};
    }

    const Place& place = places_[id.connection];
    const std::int64_t response = place.GetResponse(id.serial).load(std::memory_order_acquire);

    // Read after the response: if it is still remembered now, it was that message's
    if (place.serial.load(std::memory_order_acquire) - id.serial >= REMEMBERED_RESPONSES)
    {
      return {Response::State::Forgotten, {}};
    }

    return response == 0 ? Response() : Response{Response::State::Written, ToTime(response)};
  }


  std::optional<StoredFile> MessageRecorder::TakeStoredFile() noexcept
  {
    if (work.fileClosed == 0)
    {
      return std::nullopt;
    }

    const StoredFile file = {ToTime(work.fileCreated), ToTime(work.fileClosed),
                             Duration(work.fileSync)};
    work.fileCreated = 0;
    work.fileClosed = 0;
    work.fileSync = 0;
    return file;
  }


  void MessageRecorder::Drain(const Journal& journal)
  {
    const std::lock_guard<std::mutex> lock(draining_);
    Event event = {};

    while (events_->Pop(event))
    {
      Publish(event, journal);
    }
  }


  std::uint64_t MessageRecorder::CountDropped() const noexcept
  {
    return events_->CountDropped();
  }


  AssociationParties MessageRecorder::GetParties(int fd) const
  {
    const auto index = static_cast<std::size_t>(fd);  // negative: beyond the end
    return index < capacity_ ? places_[index].GetParties() : AssociationParties();
  }


  void MessageRecorder::OnOpened(Connection& connection, TimePoint) noexcept
  {
    if (Place* place = Find(connection))
    {
      place->Open(connection);
    }
  }


  void MessageRecorder::OnAssociateRequest(Connection& connection, const AssociateRequest& request,
                                           TimePoint) noexcept
  {
    if (Place* place = Find(connection))
    {
      place->request = request;
      place->hasParties.store(true, std::memory_order_release);
    }
  }


  void MessageRecorder::OnAssociateAnswer(Connection& connection, bool, TimePoint now) noexcept
  {
    if (Place* place = Find(connection))
    {
      place->setup = ToCount(now) - connection.openedAt.load(RELAXED);
      place->associate = ToCount(now) - place->firstByte.load(RELAXED);
    }
  }


  void MessageRecorder::OnClosed(Connection& connection, AssociationOutcome outcome,
                                 TimePoint now) noexcept
  {
    Place* place = Find(connection);

    if (place == nullptr || !connection.IsDicom())
    {
      return;
    }

    FinishExchange(connection, *place);

    Event event = MakeEvent(connection, *place);
    event.isAssociation = true;
    event.outcome = outcome;
    event.length = ToCount(now) - connection.openedAt.load(RELAXED);
    event.tcp = ReadTcpInfo(connection.fd);
    events_->Push(event);

    place->hasParties.store(false, RELAXED);
  }


  void MessageRecorder::OnRequestBegins(Connection& connection, TimePoint now) noexcept
  {
    Place* place = Find(connection);

    if (place == nullptr)
    {
      return;
    }

    FinishExchange(connection, *place);

    const std::int64_t last = connection.lastResponseAt.load(RELAXED);
    const std::int64_t idle = last == 0 ? -1 : ToCount(now) - last;

    const std::uint64_t serial = place->serial.load(RELAXED) + 1;
    place->GetResponse(serial).store(0, RELAXED);
    place->firstByte.store(ToCount(now), RELAXED);
    place->idle.store(idle, RELAXED);
    place->stalls.store(std::exchange(place->heldStalls, 0), RELAXED);
    place->stallTime.store(std::exchange(place->heldTime, Duration::zero()).count(), RELAXED);
    place->serial.store(serial, std::memory_order_release);
    place->requestBytes = 0;
    place->command.Reset();
  }


  void MessageRecorder::OnRequestBytes(Connection& connection, const std::uint8_t* data,
                                       std::size_t size, TimePoint now) noexcept
  {
    if (Place* place = Find(connection))
    {
      place->lastByte.store(ToCount(now), RELAXED);
      place->requestBytes += size;
      place->command.Feed(data, size);
      work.place = connection.IsOutgoing() ? nullptr : place;
      work.recorder = id_;
    }
  }


  void MessageRecorder::OnResponseBegins(Connection&, TimePoint) noexcept
  {
  }


  void MessageRecorder::OnResponseBytes(Connection& connection, std::size_t, TimePoint now) noexcept
  {
    if (Place* place = Find(connection))
    {
      place->GetResponse(place->serial.load(RELAXED))
          .store(ToCount(now), std::memory_order_release);
    }
  }


  void MessageRecorder::OnResponseEnds(Connection&, TimePoint) noexcept
  {
  }


  void MessageRecorder::OnStall(Connection& connection, Duration waited, TimePoint) noexcept
  {
    Place* place = Find(connection);

    if (place == nullptr)
    {
      return;
    }

    if (connection.IsOutgoing() || connection.state == ExchangeState::Request)
    {
      place->AddStall(waited);
    }
    else
    {
      place->heldStalls++;
      place->heldTime += waited;
    }
  }


  void MessageRecorder::OnFileCreated(TimePoint now) noexcept
  {
    // With StorageCompression, and before Orthanc 1.9.1, an instance has two files
    if (work.fileCreated == 0)
    {
      work.fileCreated = ToCount(now);
    }
  }


  void MessageRecorder::OnFileSynced(Duration duration, TimePoint) noexcept
  {
    work.fileSync += duration.count();
  }


  void MessageRecorder::OnFileClosed(TimePoint now) noexcept
  {
    work.fileClosed = ToCount(now);
  }


  MessageRecorder::Place* MessageRecorder::Find(const Connection& connection) noexcept
  {
    const auto index = static_cast<std::size_t>(connection.fd);  // negative: beyond the end
    return index < capacity_ ? &places_[index] : nullptr;
  }


  void MessageRecorder::FinishExchange(const Connection& connection, Place& place) noexcept
  {
    if (!place.hasExchange)
    {
      place.hasExchange = true;
      return;
    }

    const bool isAnswered = place.GetResponse(place.serial.load(RELAXED)).load(RELAXED) != 0;

    // One that its sender broke off was not received; one that Orthanc sends has failed then
    if (!place.IsInstance(connection) || !(isAnswered || connection.IsOutgoing()))
    {
      return;
    }

    place.instances++;

    if (connection.IsOutgoing())
    {
      Event event = MakeEvent(connection, place);
      event.outcome = AssociationOutcome::Released;
      event.bytesSent = place.requestBytes;
      events_->Push(event);
    }
  }


  MessageRecorder::Event MessageRecorder::MakeEvent(const Connection& connection,
                                                    const Place& place) noexcept
  {
    const std::int64_t response = place.GetResponse(place.serial.load(RELAXED)).load(RELAXED);
    const std::int64_t lastByte = place.lastByte.load(RELAXED);
    const std::int64_t connected = connection.connectedAt.load(RELAXED);

    Event event = {};
    event.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
    event.hasParties = place.hasParties.load(RELAXED);
    event.request = place.request;
    event.address = connection.GetPeer();
    event.setup = place.setup;
    event.connect = connected == 0 ? -1 : connected - connection.openedAt.load(RELAXED);
    event.associate = place.associate;
    event.idle = place.idle.load(RELAXED);
    event.send = lastByte - place.firstByte.load(RELAXED);
    event.wait = response == 0 ? -1 : response - lastByte;
    event.stalls = place.stalls.load(RELAXED);
    event.stallTime = place.stallTime.load(RELAXED);
    event.instances = place.instances;
    event.bytesReceived = connection.bytesRead.load(RELAXED);
    event.bytesSent = connection.bytesWritten.load(RELAXED);
    return event;
  }


  void MessageRecorder::Publish(const Event& event, const Journal& journal)
  {
    if (event.isAssociation)
    {
      journal.Publish(ToAssociation(event));
    }
    else
    {
      journal.Publish(ToSentInstance(event));
    }
  }


  FinishedInstance MessageRecorder::ToSentInstance(const Event& event)
  {
    FinishedInstance sent;
    sent.direction = Direction::Send;
    sent.origin = Origin::DicomProtocol;
    sent.outcome = event.wait < 0 ? Outcome::Failed : Outcome::Stored;
    sent.peer = ToPeer(event.request, event.hasParties, event.direction, event.address);
    sent.size = event.bytesSent;
    sent.finishedAt = std::chrono::system_clock::now();
    sent.areStallsObserved = true;
    sent.stalls = event.stalls;
    sent.stallTime = Duration(event.stallTime);

    const auto add = [&sent](Phase phase, std::int64_t duration)
    {
      if (duration >= 0)
      {
        sent.phases.Add(phase, Duration(duration));
      }
    };

    if (event.instances == 1)
    {
      add(Phase::Connect, event.connect);
      add(Phase::Associate, event.associate);
    }

    add(Phase::Idle, event.idle);
    add(Phase::Send, event.send);
    add(Phase::Wait, event.wait);
    return sent;
  }


  FinishedAssociation MessageRecorder::ToAssociation(const Event& event)
  {
    FinishedAssociation association;
    association.direction = event.direction;
    association.outcome = event.outcome;
    association.peer = ToPeer(event.request, event.hasParties, event.direction, event.address);
    association.length = Duration(event.length);
    association.instances = event.instances;
    association.bytesReceived = event.bytesReceived;
    association.bytesSent = event.bytesSent;

    if (event.hasParties)
    {
      association.parties = ToParties(event.request);
    }

    if (event.setup >= 0)
    {
      association.setup = Duration(event.setup);
    }

    if (event.direction == Direction::Send && event.connect >= 0)
    {
      association.connect = Duration(event.connect);
    }

    if (event.tcp)
    {
      association.tcp = Summarize(*event.tcp);
    }

    return association;
  }
}
