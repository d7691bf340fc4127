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
    int GetThreadId()
    {
      thread_local const int id = gettid();  // a system call
      return id;
    }


    // What another plugin or Lua stores while its thread works at a DIMSE message, as in a stored
    // callback or a handler of queries, is nothing that this message's sender has sent
    bool IsBeside(const std::optional<Message>& message, Origin origin)
    {
      return message && message->isDicom && origin != Origin::DicomProtocol;
    }


    // Such an instance may come while its thread works at another one
    bool IsOfScript(Origin origin)
    {
      return origin == Origin::Plugin || origin == Origin::Lua;
    }


    // As far as its identifier can be made
    bool IsIt(const EndedInstance& instance, const std::string& instanceId)
    {
      return instance.identity.hasher.GetInstanceId() == instanceId;
    }
  }


  IngestThread::IngestThread(IMessageSource& source) : source_(source)
  {
  }


  std::optional<EndedInstance> IngestThread::OnRequest(TimePoint now, const std::string& address)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<EndedInstance> ended = End();
    request_.Begin(address, source_.GetCurrentMessage(), now);
    givenUp_.Clear();
    return ended;
  }


  std::optional<EndedInstance> IngestThread::OnReceived(TimePoint now,
                                                        const ReceivedInstance& received)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<EndedInstance> ended = Leave(received.origin, now);
    std::optional<Message> message = source_.GetCurrentMessage();
    const bool isBeside = IsBeside(message, received.origin);

    if (isBeside)
    {
      message.reset();
    }

    request_.BeginIfNew(message);
    Open(request_.mark.value_or(now), received.origin, received.size);
    inFlight_->isBesideMessage = isBeside;

    if (message)
    {
      inFlight_->MarkReceived(*message, std::exchange(message_, *message), now);
    }
    else if (request_.mark)
    {
      inFlight_->timeline.Mark(Phase::Receive, now);
    }

    inFlight_->evidence.problem = received.problem;
    inFlight_->identity = received.identity;
    return ended;
  }


  void IngestThread::OnHeld()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_ && inFlight_->IsUnanswered(source_))
    {
      inFlight_->isHeld = true;
    }
  }


  void IngestThread::OnLetGo(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_ && inFlight_->isHeld)
    {
      inFlight_->isHeld = false;
      inFlight_->letGo = now;
    }
  }


  void IngestThread::OnTranscoderBegin(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_ && !inFlight_->isStored && inFlight_->IsUnanswered(source_))
    {
      inFlight_->timeline.Mark(Phase::Prepare, now);
    }
  }


  void IngestThread::OnTranscoderEnd(TimePoint now, const TranscodingRecord& transcoding,
                                     const std::optional<InstanceIdentity>& identity)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!inFlight_ || inFlight_->isStored || !inFlight_->IsUnanswered(source_))
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

    if (!inFlight_ && givenUp_.IsBeforeFilter())
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
      told_ = std::move(*overtaken).Finish();
      overtaken_.erase(overtaken);
      return true;
    }

    if (WasGivenUp(known.instanceId))
    {
      silence_.reset();
      return false;
    }

    if (inFlight_)
    {
      const std::optional<StoredFile> file = source_.TakeStoredFile();
      inFlight_->MarkStored(file, source_.TakeAskedWork(), now);
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

    if (!overtaken_.empty() && overtaken_.front().HasEnded(source_, now, quiet))
    {
      return TakeFirstOvertaken();
    }

    if (!inFlight_ || !inFlight_->HasEnded(source_, now, quiet))
    {
      return std::nullopt;
    }

    if (!inFlight_->isStored)
    {
      GiveUp(now);
    }

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
    return inFlight_ && (inFlight_->message || inFlight_->isBesideMessage);
  }


  std::size_t IngestThread::CountInFlight(const std::optional<Origin>& origin) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto isOfOrigin = [&origin](const InstanceInFlight& instance)
    {
      return !origin || instance.instance.origin == *origin;
    };

    const auto overtaken = std::count_if(overtaken_.begin(), overtaken_.end(), isOfOrigin);
    return static_cast<std::size_t>(overtaken) + (inFlight_ && isOfOrigin(*inFlight_) ? 1 : 0);
  }


  std::optional<StuckInstance> IngestThread::GetStuck(TimePoint now) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (inFlight_)
    {
      return inFlight_->GetStuck(source_, now);
    }

    const bool isSilent =
        silence_ && source_.GetResponse(silence_->message).state == Response::State::Pending;
    return isSilent ? std::make_optional(StuckInstance{silence_->phase, now - silence_->since})
                    : std::nullopt;
  }


  // It is in flight no longer, but a disk or a database that hangs keeps its thread
  void IngestThread::GiveUp(TimePoint now)
  {
    givenUp_.Add(*inFlight_);

    if (const std::optional<StuckInstance> stuck = inFlight_->GetStuck(source_, now))
    {
      silence_ = Silence{*inFlight_->message, stuck->phase, now - stuck->silence};
    }
  }


  std::optional<EndedInstance> IngestThread::End()
  {
    if (!inFlight_)
    {
      return std::nullopt;
    }

    if (request_.mark)
    {
      request_.mark = inFlight_->timeline.GetLastMark();
    }

    const Response response = inFlight_->GetResponse(source_);

    if (inFlight_->isStored && response.state == Response::State::Written)
    {
      inFlight_->timeline.Mark(Phase::Respond, response.lastByte);
    }

    EndedInstance ended = std::move(*inFlight_).Finish();
    inFlight_.reset();
    return ended;
  }


  // Another one begins, from this origin. Orthanc may have stored the one before, and tells the
  // plugins so, of which one stores another now: whether it has is known once this plugin is told.
  std::optional<EndedInstance> IngestThread::Leave(Origin next, TimePoint now)
  {
    if (!inFlight_ || !IsOfScript(next) || !inFlight_->evidence.filterReached ||
        inFlight_->isStored || !inFlight_->IsUnanswered(source_))
    {
      return End();
    }

    if (request_.mark)
    {
      request_.mark = now;
    }

    overtaken_.push_back(std::move(*inFlight_));
    inFlight_.reset();
    return overtaken_.size() > MAXIMUM_OVERTAKEN ? TakeFirstOvertaken() : std::nullopt;
  }


  // The end: it is the one in flight, or was given up, as far as can be told. Those that were
  // overtaken last are told of first; where their identifiers cannot be made, that has to do.
  std::deque<InstanceInFlight>::iterator IngestThread::FindOvertaken(const std::string& instanceId)
  {
    if (overtaken_.empty() || (inFlight_ && !inFlight_->isStored && IsIt(*inFlight_, instanceId)))
    {
      return overtaken_.end();
    }

    const auto found = std::find_if(overtaken_.rbegin(), overtaken_.rend(),
                                    [&instanceId](const InstanceInFlight& instance)
                                    { return IsIt(instance, instanceId); });

    if (found != overtaken_.rend())
    {
      return std::prev(found.base());
    }

    const bool isOther = !givenUp_.IsEmpty() || (inFlight_ && !inFlight_->isStored);
    return isOther ? overtaken_.end() : std::prev(overtaken_.end());
  }


  std::optional<EndedInstance> IngestThread::TakeFirstOvertaken()
  {
    givenUp_.Add(overtaken_.front());
    EndedInstance ended = std::move(overtaken_.front()).Finish();
    overtaken_.pop_front();
    return ended;
  }


  // What is in flight and comes again after it was given up is the one in flight
  bool IngestThread::WasGivenUp(const std::string& instanceId)
  {
    if (givenUp_.IsEmpty())
    {
      return false;
    }

    const bool isToStore = inFlight_ && !inFlight_->isStored;
    return !(isToStore && IsIt(*inFlight_, instanceId)) && givenUp_.Take(instanceId, !isToStore);
  }


  void IngestThread::Open(TimePoint begin, Origin origin, std::size_t size)
  {
    silence_.reset();
    inFlight_.emplace(begin);
    inFlight_->instance.origin = origin;
    inFlight_->instance.size = size;
    inFlight_->instance.thread = GetThreadId();
    inFlight_->instance.peer = Peer{request_.address, request_.address};
    inFlight_->evidence.origin = origin;

    if (!IsOfScript(origin))
    {
      givenUp_.Clear();
    }
  }
}
