// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestThread.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Without a view of the sockets nothing tells that Orthanc has refused an instance, so one
    // that stays silent is given up after a while: a base, more once it has reached the storage
    // and the database, which may wait for a disk or a network, and a share for its size
    // (parsing, hashing). While the plugin itself holds it (transcoding), patience does not run.
    constexpr std::chrono::seconds PATIENCE_BEFORE_FILTER(5);
    constexpr std::chrono::seconds PATIENCE_AFTER_FILTER(30);

    // With that view, Orthanc is seen to be still at it: it has neither answered nor closed the
    // connection, while a database or a disk is away for minutes, say. Some end there must be to
    // it, as an answer may have gone by unseen.
    constexpr std::chrono::minutes PATIENCE_WITH_UNANSWERED(15);
    constexpr std::size_t SLOWEST_BYTES_PER_SECOND = std::size_t(4) * 1024 * 1024;

    // A disk or a database that works answers within this, however busy
    constexpr std::chrono::seconds LONG_SILENCE(10);


    std::chrono::seconds GetSlowest(std::size_t size)
    {
      return std::chrono::seconds(size / SLOWEST_BYTES_PER_SECOND);
    }


    int GetThreadId()
    {
      thread_local const int id = gettid();  // a system call
      return id;
    }
  }


  IngestThread::IngestThread(IMessageSource& source) : source_(source)
  {
  }


  std::optional<EndedInstance> IngestThread::OnRequest(TimePoint now, const std::string& address)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<EndedInstance> ended = End();
    const std::optional<Message> message = source_.GetCurrentMessage();
    requestAddress_ = address;
    requestMark_ = message ? std::min(message->firstByte, now) : now;
    requestMessage_.reset();
    isGivenUp_ = false;

    if (message)
    {
      // Under TLS, its body may look like a message of its own: after an interim response that was
      // taken for the final one
      requestMessage_ = message->id;
      requestMessage_->serial += message->isEncrypted ? 1 : 0;
    }

    return ended;
  }


  std::optional<EndedInstance> IngestThread::OnReceived(TimePoint now,
                                                        const ReceivedInstance& received)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<EndedInstance> ended = Leave(received.origin, now);
    const std::optional<Message> message = source_.GetCurrentMessage();
    BeginRequestIfNew(message);
    Open(requestMark_.value_or(now), received.origin, received.size);
    MarkReceived(message, now);
    inFlight_->evidence.problem = received.problem;
    inFlight_->identity = received.identity;
    return ended;
  }


  void IngestThread::OnHeld()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->isHeld = true;
    }
  }


  void IngestThread::OnLetGo(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->isHeld = false;
      inFlight_->letGo = now;
    }
  }


  void IngestThread::OnTranscoderBegin(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_ && !inFlight_->isStored)
    {
      inFlight_->timeline.Mark(Phase::Prepare, now);
    }
  }


  void IngestThread::OnTranscoderEnd(TimePoint now, const TranscodingRecord& transcoding,
                                     const std::optional<InstanceIdentity>& identity)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!inFlight_ || inFlight_->isStored)
    {
      return;
    }

    inFlight_->timeline.Mark(Phase::Transcode, now);
    inFlight_->instance.transcoding = transcoding;

    if (identity)
    {
      inFlight_->identity = *identity;
    }
  }


  std::optional<EndedInstance> IngestThread::OnFilter(TimePoint now, const KnownInstance& known)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (isGivenUp_ && !isGivenUpAfterFilter_)
    {
      return std::nullopt;
    }

    // Each instance is filtered once: this is the next one, of which OnReceived has not been told
    std::optional<EndedInstance> ended =
        inFlight_ && inFlight_->evidence.filterReached ? Leave(known.origin, now) : std::nullopt;

    if (inFlight_)
    {
      inFlight_->timeline.Mark(Phase::Prepare, now);
    }
    else
    {
      Open(now, known.origin, known.size);
    }

    if (!known.peer.name.empty())
    {
      inFlight_->instance.peer.name = known.peer.name;
      source_.NameRequestor(known.peer.name);
    }

    inFlight_->evidence.filterReached = true;
    source_.BeginStorage(now);
    return ended;
  }


  void IngestThread::OnCStoreFilter()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->evidence.cstoreFilterReached = true;
    }
  }


  bool IngestThread::OnStored(TimePoint now, const KnownInstance& known)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (const auto overtaken = FindOvertaken(known.instanceId); overtaken != overtaken_.end())
    {
      overtaken->timeline.Mark(Phase::Commit, now);
      overtaken->SetStored(known);
      told_ = Finish(std::move(*overtaken));
      overtaken_.erase(overtaken);
      return true;
    }

    if (std::exchange(isGivenUp_, false))
    {
      return false;
    }

    if (inFlight_)
    {
      MarkStored(now);
    }
    else
    {
      Open(now, known.origin, known.size);
    }

    inFlight_->SetStored(known);
    return true;
  }


  std::optional<EndedInstance> IngestThread::TakeEnded(TimePoint now, Duration quiet)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (told_)
    {
      return std::exchange(told_, std::nullopt);
    }

    if (!overtaken_.empty() && HasEnded(overtaken_.front(), now, quiet))
    {
      return TakeFirstOvertaken();
    }

    if (!inFlight_ || !HasEnded(*inFlight_, now, quiet))
    {
      return std::nullopt;
    }

    isGivenUp_ = !inFlight_->isStored;
    isGivenUpAfterFilter_ = inFlight_->evidence.filterReached;
    return End();
  }


  std::optional<EndedInstance> IngestThread::TakeLast()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return overtaken_.empty() ? End() : TakeFirstOvertaken();
  }


  std::optional<EndedInstance> IngestThread::TakeBefore(const MessageId& message)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!inFlight_ || !inFlight_->message || inFlight_->message->connection != message.connection ||
        inFlight_->message->serial >= message.serial)
    {
      return std::nullopt;
    }

    return End();
  }


  std::optional<MessageId> IngestThread::GetTakenOver() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return inFlight_ && inFlight_->isTakenOver ? inFlight_->message : std::nullopt;
  }


  bool IngestThread::HasMessage() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return inFlight_ && inFlight_->message;
  }


  std::optional<Origin> IngestThread::GetInFlight() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (inFlight_)
    {
      return inFlight_->instance.origin;
    }

    return overtaken_.empty() ? std::nullopt
                              : std::optional<Origin>(overtaken_.back().instance.origin);
  }


  std::optional<StuckInstance> IngestThread::GetStuck(TimePoint now) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!inFlight_ || !inFlight_->message || inFlight_->isStored || inFlight_->isHeld ||
        GetResponse(*inFlight_).state != Response::State::Pending)
    {
      return std::nullopt;
    }

    // An HTTP request may have many instances: that one which no filter has seen is over is only
    // known when the next one is here
    if (!inFlight_->evidence.filterReached && inFlight_->instance.origin != Origin::DicomProtocol)
    {
      return std::nullopt;
    }

    const Duration silence = now - inFlight_->GetLastSign();

    if (silence < LONG_SILENCE + GetSlowest(inFlight_->instance.size))
    {
      return std::nullopt;
    }

    return StuckInstance{inFlight_->evidence.filterReached
                             ? source_.GetStoringPhase(*inFlight_->message)
                             : Phase::Prepare,
                         silence};
  }


  std::optional<EndedInstance> IngestThread::End()
  {
    if (!inFlight_)
    {
      return std::nullopt;
    }

    if (requestMark_)
    {
      requestMark_ = inFlight_->timeline.GetLastMark();
    }

    const Response response = GetResponse(*inFlight_);

    if (inFlight_->isStored && response.state == Response::State::Written)
    {
      inFlight_->timeline.Mark(Phase::Respond, response.lastByte);
    }

    EndedInstance ended = Finish(std::move(*inFlight_));
    inFlight_.reset();
    return ended;
  }


  // Another one begins, from this origin. Orthanc may have stored the one before, and tells the
  // plugins so, of which one stores another now: whether it has is known once this plugin is told.
  std::optional<EndedInstance> IngestThread::Leave(Origin next, TimePoint now)
  {
    const bool isOfScript = next == Origin::Plugin || next == Origin::Lua;

    if (!inFlight_ || !isOfScript || !inFlight_->evidence.filterReached || inFlight_->isStored ||
        GetResponse(*inFlight_).state != Response::State::Pending)
    {
      return End();
    }

    if (requestMark_)
    {
      requestMark_ = now;
    }

    overtaken_.push_back(std::move(*inFlight_));
    inFlight_.reset();
    return overtaken_.size() > MAXIMUM_OVERTAKEN ? TakeFirstOvertaken() : std::nullopt;
  }


  // The end: it is the one in flight, as far as can be told. Those that were overtaken last are
  // told of first; where their identifiers cannot be made, that has to do.
  std::deque<IngestThread::InFlight>::iterator
  IngestThread::FindOvertaken(const std::string& instanceId)
  {
    const auto isIt = [&instanceId](const InFlight& instance)
    {
      return instance.identity.hasher.GetInstanceId() == instanceId;
    };

    if (overtaken_.empty() || (inFlight_ && !inFlight_->isStored && isIt(*inFlight_)))
    {
      return overtaken_.end();
    }

    const auto found = std::find_if(overtaken_.rbegin(), overtaken_.rend(), isIt);

    if (found != overtaken_.rend())
    {
      return std::prev(found.base());
    }

    const bool isOfFlight = isGivenUp_ || (inFlight_ && !inFlight_->isStored);
    return isOfFlight ? overtaken_.end() : std::prev(overtaken_.end());
  }


  std::optional<EndedInstance> IngestThread::TakeFirstOvertaken()
  {
    EndedInstance ended = Finish(std::move(overtaken_.front()));
    overtaken_.pop_front();
    return ended;
  }


  EndedInstance IngestThread::Finish(InFlight&& instance)
  {
    const Timeline timeline = instance.timeline;
    EndedInstance ended = std::move(static_cast<EndedInstance&>(instance));
    ended.instance.phases = timeline.GetPhases();
    ended.instance.endedAt = timeline.GetLastMark();
    ended.instance.finishedAt = ToSystemTime(ended.instance.endedAt);
    return ended;
  }


  void IngestThread::InFlight::SetStored(const KnownInstance& known)
  {
    isStored = true;
    instance.instanceId = known.instanceId;

    if (!known.peer.name.empty())
    {
      instance.peer = known.peer;
    }
  }


  void IngestThread::Open(TimePoint begin, Origin origin, std::size_t size)
  {
    inFlight_.emplace(begin);
    inFlight_->instance.origin = origin;
    inFlight_->instance.size = size;
    inFlight_->instance.thread = GetThreadId();
    inFlight_->instance.peer = Peer{requestAddress_, requestAddress_};
    inFlight_->evidence.origin = origin;
    isGivenUp_ = false;
  }


  // OnRequest is told of HTTP only, and not of all: Orthanc asks no filter where a plugin's token
  // lets a request in (OrthancPluginGenerateRestApiAuthorizationToken)
  void IngestThread::BeginRequestIfNew(const std::optional<Message>& message)
  {
    const bool wasSeen = requestMessage_.has_value();
    const bool isKnown = wasSeen && message &&
                         requestMessage_->connection == message->id.connection &&
                         requestMessage_->serial >= message->id.serial;

    if (message)
    {
      requestMessage_ = message->id;
    }

    if (isKnown || (!message && !wasSeen))
    {
      return;
    }

    requestAddress_ = message ? message->peer.address : "";
    requestMark_ = message ? std::optional<TimePoint>(message->firstByte) : std::nullopt;
  }


  void IngestThread::MarkReceived(const std::optional<Message>& message, TimePoint now)
  {
    if (message)
    {
      MarkMessage(*message, now);
    }
    else if (requestMark_)
    {
      inFlight_->timeline.Mark(Phase::Receive, now);
    }
  }


  void IngestThread::MarkMessage(const Message& message, TimePoint now)
  {
    const bool isFirst = !(message.id == message_.id);

    inFlight_->timeline.Mark(Phase::Receive, std::min(message.lastByte, now));
    inFlight_->timeline.Mark(Phase::Parse, now);

    if (isFirst && message.idle)
    {
      inFlight_->timeline.AddBeside(Phase::Idle, *message.idle);
    }

    if (!message.peer.name.empty())
    {
      inFlight_->instance.peer = message.peer;
    }

    // The stalls of the message since its previous instance
    FinishedInstance& instance = inFlight_->instance;
    instance.areStallsObserved = true;
    instance.stalls = message.stalls - (isFirst ? 0 : message_.stalls);
    instance.stallTime = message.stallTime - (isFirst ? Duration::zero() : message_.stallTime);
    instance.lossStalls = message.lossStalls;

    if (!isFirst)
    {
      instance.lossStalls.count -= message_.lossStalls.count;
      instance.lossStalls.time -= message_.lossStalls.time;
    }

    inFlight_->message = message.id;
    inFlight_->isTakenOver = message.id.connection != message_.id.connection ||
                             message.id.serial > message_.id.serial + 1;
    message_ = message;
  }


  void IngestThread::MarkStored(TimePoint now)
  {
    Timeline& timeline = inFlight_->timeline;
    const std::optional<StoredFile> file = source_.TakeStoredFile();
    const AskedWork asked = source_.TakeAskedWork();

    if (!file && !asked.storage)
    {
      MarkDatabase(asked.database);
      return timeline.Mark(Phase::Commit, now);
    }

    const TimePoint begin = file ? file->created : asked.storage->begin;
    const TimePoint end = file ? file->closed : asked.storage->end;
    timeline.Mark(Phase::Prepare, begin);
    timeline.Mark(Phase::Storage, end);

    if (file && file->sync)
    {
      timeline.AddBeside(Phase::Sync, *file->sync);
    }

    if (asked.storage)
    {
      // What is removed once the index is done (what the instance replaces) is no part of it
      timeline.AddBeside(Phase::Remote, std::min(asked.storage->waited, end - begin));
      inFlight_->instance.remote = RemoteRecord{asked.storage->server, asked.storage->roundTrips};
    }

    MarkDatabase(asked.database);
    timeline.Mark(Phase::Index, now);
  }


  void IngestThread::MarkDatabase(const std::optional<DatabaseWork>& work)
  {
    if (!work)
    {
      return;
    }

    inFlight_->timeline.AddBeside(Phase::Database, work->waited);
    DatabaseRecord& record = inFlight_->instance.database.emplace();
    record.server = work->server;
    record.connection = work->connection;
    record.roundTrips = work->roundTrips;
    record.shortest = work->roundTrips > 0 ? work->shortest : Duration::zero();
    record.queued = work->queued;
  }


  Response IngestThread::GetResponse(const InFlight& instance) const
  {
    if (!instance.message)
    {
      return {};
    }

    const Response response = source_.GetResponse(*instance.message);

    // What was written before its last mark is no answer to it, but "100 Continue", say
    const bool isEarlier = response.state == Response::State::Written &&
                           response.lastByte < instance.timeline.GetLastMark();
    return isEarlier ? Response() : response;
  }


  bool IngestThread::HasEnded(const InFlight& instance, TimePoint now, Duration quiet) const
  {
    if (instance.isHeld)
    {
      return false;
    }

    if (instance.isStored && !instance.message)
    {
      return true;
    }

    const Response response = GetResponse(instance);

    switch (response.state)
    {
      case Response::State::Forgotten:
        return true;

      case Response::State::Written:
        return now - response.lastByte >= quiet;

      default:
        return now - instance.GetLastSign() >= instance.GetPatience();
    }
  }


  // When it was heard of last: from then on patience runs
  TimePoint IngestThread::InFlight::GetLastSign() const
  {
    const TimePoint mark = timeline.GetLastMark();
    return letGo ? std::max(mark, *letGo) : mark;
  }


  Duration IngestThread::InFlight::GetPatience() const
  {
    if (message && !isStored)
    {
      return PATIENCE_WITH_UNANSWERED;
    }

    const std::chrono::seconds base =
        evidence.filterReached ? PATIENCE_AFTER_FILTER : PATIENCE_BEFORE_FILTER;
    return base + GetSlowest(instance.size);
  }
}
