// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/InstanceTracker.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What a thread works at, as far as it is known: an HTTP request, or a DIMSE message
    struct ThreadWork
    {
      std::string address;
      std::optional<TimePoint> mark;     // begin of what it reads, or the latest of an instance
      std::optional<MessageId> message;  // the latest that may be its; nothing: not seen
      Message latest;                    // as far as its instances have used it
    };

    thread_local ThreadWork work;

    // Orthanc tells of HTTP only, and not of all: it asks no filter where a plugin's token lets a
    // request in (OrthancPluginGenerateRestApiAuthorizationToken). What comes in another message
    // than the known one is of such a request, or of none.
    void BeginIfNew(const std::optional<Message>& current)
    {
      const bool wasSeen = work.message.has_value();
      const bool isKnown = wasSeen && current &&
                           work.message->connection == current->id.connection &&
                           work.message->serial >= current->id.serial;

      if (current)
      {
        work.message = current->id;
      }

      if (!isKnown && (current || wasSeen))
      {
        work.address = current ? current->peer.address : "";
        work.mark = current ? std::optional<TimePoint>(current->firstByte) : std::nullopt;
      }
    }

    // The next instance of the request begins here
    void NoteEvent(TimePoint now)
    {
      if (work.mark)
      {
        work.mark = now;
      }
    }

    bool HasThreadEnded(int thread)
    {
      return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
    }
  }

  InstanceTracker::InstanceTracker(const Journal& journal, IMessageSource& source) :
    journal_(journal),
    source_(source)
  {
    work = ThreadWork();  // of an earlier tracker
  }

  template <typename Action>
  void InstanceTracker::Change(const Action& action)
  {
    InFlight ended;

    {
      const std::lock_guard<std::mutex> lock(mutex_);
      action();
      ended.swap(ended_);
    }

    for (InstanceInFlight& instance : ended)
    {
      journal_.Publish(std::move(instance).Finish(source_));
    }
  }

  void InstanceTracker::OnRequest(TimePoint now, const std::string& address)
  {
    const std::optional<Message> current = source_.GetCurrentMessage();
    work.address = address;
    work.mark = current ? std::min(current->firstByte, now) : now;
    work.message = current ? std::optional<MessageId>(current->id) : std::nullopt;

    Change([&] { TakeFormer(current, false); });
  }

  void InstanceTracker::OnReceived(TimePoint now, const ReceivedInstance& received)
  {
    Change([&] { Open(MakeReceived(now, received)); });
    NoteEvent(now);
  }

  void InstanceTracker::OnTranscoderBegin(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (InstanceInFlight* const instance = FindWorkedAt())
    {
      instance->timeline.Mark(Phase::Prepare, now);
      instance->isTranscoding = true;
    }
  }

  void InstanceTracker::OnTranscoderEnd(TimePoint now, const TranscodingRecord& transcoding,
                                        const std::optional<InstanceIdentity>& identity)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (InstanceInFlight* const instance = FindWorkedAt())
    {
      instance->timeline.Mark(Phase::Transcode, now);
      instance->isTranscoding = false;
      instance->instance.transcoding = transcoding;
      instance->identity = identity.value_or(instance->identity);
    }
  }

  void InstanceTracker::OnFilter(TimePoint now, const KnownInstance& known)
  {
    Change(
        [&]
        {
          InstanceInFlight* instance = FindWorkedAt();

          if (instance != nullptr && !instance->passedFilters)
          {
            instance->timeline.Mark(Phase::Prepare, now);
          }
          else
          {
            instance = &Open(Make(now, known.origin, known.size));
          }

          if (!known.peer.name.empty())
          {
            instance->instance.peer.name = known.peer.name;
            source_.NameRequestor(known.peer.name);
          }

          instance->passedFilters = true;
          instance->isTranscoding = false;  // no end is told where there was nothing to transcode
        });

    NoteEvent(now);
    source_.BeginStorage(now, known.size);
  }

  void InstanceTracker::OnStored(TimePoint now, const KnownInstance& known)
  {
    const StorageWork stored = source_.TakeStorageWork();

    Change(
        [&]
        {
          InstanceInFlight* instance = FindStored(known);

          if (instance != nullptr)
          {
            instance->MarkStored(stored, now);
          }
          else
          {
            instance = &Open(Make(now, known.origin, known.size));
          }

          instance->SetStored(known);
          TakeIf([instance](const InstanceInFlight& other)
                 { return &other == instance && !other.IsOfMessage(); });
        });

    NoteEvent(now);
  }

  bool InstanceTracker::IsOfMessage()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const InstanceInFlight* const latest = FindLatest([](const InstanceInFlight&) { return true; });
    return latest != nullptr && latest->message;
  }

  void InstanceTracker::Settle(TimePoint now, Duration quiet)
  {
    Change(
        [&] {
          TakeIf([&](const InstanceInFlight& instance) { return HasEnded(instance, now, quiet); });
        });
  }

  std::size_t InstanceTracker::CountInFlight(Origin origin) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto count = std::count_if(inFlight_.begin(), inFlight_.end(),
                                     [origin](const InstanceInFlight& instance)
                                     { return instance.instance.origin == origin; });
    return static_cast<std::size_t>(count);
  }

  std::vector<StuckInstance> InstanceTracker::ListStuck(TimePoint now) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<StuckInstance> stuck;
    std::set<int> threads;

    // Orthanc is at work on the latest one of each thread
    for (auto instance = inFlight_.rbegin(); instance != inFlight_.rend(); ++instance)
    {
      const bool isLatest = threads.insert(instance->thread).second;

      if (const auto found = isLatest ? instance->GetStuck(source_, now) : std::nullopt)
      {
        stuck.push_back(*found);
      }
    }

    return stuck;
  }

  // One of which the received-instance callback has told
  InstanceInFlight InstanceTracker::MakeReceived(TimePoint now, const ReceivedInstance& received)
  {
    InstanceInFlight instance = Make(now, received.origin, received.size);
    instance.timeline = Timeline(work.mark.value_or(now));
    instance.problem = received.problem;
    instance.identity = received.identity;

    if (instance.IsOfMessage())
    {
      instance.MarkReceived(std::exchange(work.latest, *instance.message), now);
    }
    else if (work.mark)
    {
      instance.timeline.Mark(Phase::Receive, now);
    }

    return instance;
  }

  InstanceInFlight InstanceTracker::Make(TimePoint begin, Origin origin, std::size_t size)
  {
    InstanceInFlight instance(begin, origin, size);
    instance.message = source_.GetCurrentMessage();

    // What another plugin or Lua stores while its thread works at a DIMSE message, as in a stored
    // callback or a handler of queries, is nothing that this message's sender has sent
    instance.isBeside =
        instance.message && instance.message->isDicom && origin != Origin::DicomProtocol;

    if (instance.IsOfMessage())
    {
      source_.ClaimMessage();
    }

    BeginIfNew(instance.isBeside ? std::nullopt : instance.message);
    instance.instance.peer = Peer{work.address, work.address};
    return instance;
  }

  // It begins on this thread
  InstanceInFlight& InstanceTracker::Open(InstanceInFlight instance)
  {
    const Origin origin = instance.instance.origin;
    TakeFormer(instance.IsOfMessage() ? instance.message : std::nullopt,
               origin == Origin::Plugin || origin == Origin::Lua);

    if (inFlight_.size() >= MAXIMUM_IN_FLIGHT)
    {
      const auto own = std::find_if(inFlight_.begin(), inFlight_.end(),
                                    [&instance](const InstanceInFlight& other) {
                                      return instance.message && other.message &&
                                             other.message->id == instance.message->id;
                                    });
      ended_.splice(ended_.end(), inFlight_, own == inFlight_.end() ? inFlight_.begin() : own);
    }

    return inFlight_.emplace_back(std::move(instance));
  }

  // The latest one on this thread with which it is true; null: there is none
  template <typename Predicate>
  InstanceInFlight* InstanceTracker::FindLatest(const Predicate& predicate)
  {
    const auto found =
        std::find_if(inFlight_.rbegin(), inFlight_.rend(),
                     [&](const InstanceInFlight& instance)
                     { return instance.thread == GetThreadId() && predicate(instance); });
    return found == inFlight_.rend() ? nullptr : &*found;
  }

  // The latest one on this thread, if Orthanc may still be at work on it
  InstanceInFlight* InstanceTracker::FindWorkedAt()
  {
    InstanceInFlight* const latest = FindLatest([](const InstanceInFlight&) { return true; });
    return latest != nullptr && latest->IsWorkedAt(source_) ? latest : nullptr;
  }

  // By its identifier; where that cannot be made (an instance that Orthanc itself has compressed
  // with loss, say), the latest one of its origin on this thread has to do
  InstanceInFlight* InstanceTracker::FindStored(const KnownInstance& known)
  {
    InstanceInFlight* const found = FindLatest(
        [&](const InstanceInFlight& instance) {
          return instance.identity.GetInstanceId() == known.instanceId &&
                 instance.IsWorkedAt(source_);
        });
    return found != nullptr ? found
                            : FindLatest(
                                  [&](const InstanceInFlight& instance) {
                                    return instance.instance.origin == known.origin &&
                                           instance.IsWorkedAt(source_);
                                  });
  }

  bool InstanceTracker::HasEnded(const InstanceInFlight& instance, TimePoint now,
                                 Duration quiet) const
  {
    if (!instance.message)
    {
      return HasThreadEnded(instance.thread);
    }

    const Response response = instance.GetResponse(source_);
    return response.state == Response::State::Gone ||
           (response.state == Response::State::Written && now - response.lastByte >= quiet);
  }

  template <typename Predicate>
  void InstanceTracker::TakeIf(const Predicate& predicate)
  {
    for (auto instance = inFlight_.begin(); instance != inFlight_.end();)
    {
      const auto current = instance++;

      if (predicate(*current))
      {
        ended_.splice(ended_.end(), inFlight_, current);
      }
    }
  }

  // What has ended as this thread begins to read this message, or its next instance. A connection
  // has one message at a time, and the response is that of its last instance.
  void InstanceTracker::TakeFormer(const std::optional<Message>& message, bool isOfScript)
  {
    TakeIf(
        [&](const InstanceInFlight& instance)
        {
          if (!instance.message)
          {
            // Orthanc may have stored it, and tells the plugins so, of which one stores another
            // now: whether it has is known once this plugin is told
            return instance.thread == GetThreadId() && !(isOfScript && instance.passedFilters);
          }

          const MessageId& id = instance.message->id;
          return message && id.connection == message->id.connection &&
                 (id.serial < message->id.serial || (id == message->id && instance.isStored));
        });
  }
}
