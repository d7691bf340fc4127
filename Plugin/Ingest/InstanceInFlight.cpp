// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/InstanceInFlight.h"

#include "Ingest/Verdict.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t SLOWEST_BYTES_PER_SECOND = std::size_t(4) * 1024 * 1024;

    // A disk or a database that works answers within this, however busy
    constexpr std::chrono::seconds LONG_SILENCE(10);
  }

  int GetThreadId()
  {
    thread_local const int id = gettid();  // a system call
    return id;
  }

  InstanceInFlight::InstanceInFlight(TimePoint begin, Origin origin, std::size_t size) :
    thread(GetThreadId()),
    timeline(begin)
  {
    instance.origin = origin;
    instance.size = size;
  }

  void InstanceInFlight::SetStored(const KnownInstance& known)
  {
    isStored = true;
    instance.instanceId = known.instanceId;

    if (!known.peer.name.empty())
    {
      instance.peer = known.peer;
    }
  }

  void InstanceInFlight::MarkReceived(const Message& before, TimePoint now)
  {
    const Message& from = *message;
    const bool isFirst = !(from.id == before.id);

    timeline.Mark(Phase::Receive, std::min(from.lastByte, now));
    timeline.Mark(Phase::Parse, now);

    if (isFirst && from.idle)
    {
      timeline.AddBeside(Phase::Idle, *from.idle);
    }

    if (!from.peer.name.empty())
    {
      instance.peer = from.peer;
    }

    // The stalls of the message since its previous instance
    const StallSum earlier = isFirst ? StallSum() : before.stalls;
    instance.areStallsObserved = true;
    instance.stalls = from.stalls.count - earlier.count;
    instance.stallTime = from.stalls.time - earlier.time;
    instance.stallTimeInIdle = from.stalls.idle - earlier.idle;
  }

  void InstanceInFlight::MarkStored(const StorageWork& stored, TimePoint now)
  {
    const auto& [file, storage, database] = stored;
    const bool isStorageSeen = file || storage;

    if (isStorageSeen)
    {
      timeline.Mark(Phase::Prepare, file ? file->created : storage->begin);
      const TimePoint begin = timeline.GetLastMark();
      timeline.Mark(Phase::Storage, file ? file->closed : storage->end);

      if (storage)
      {
        // What is removed once the index is done (what the instance replaces) is no part of it
        const Duration length = timeline.GetLastMark() - begin;
        timeline.AddBeside(Phase::Remote, std::min(storage->waited, length));
        instance.remote = *storage;
      }
    }

    if (file && file->sync)
    {
      timeline.AddBeside(Phase::Sync, *file->sync);
    }

    if (database)
    {
      timeline.AddBeside(Phase::Database, database->waited);
      instance.database = *database;
    }

    timeline.Mark(isStorageSeen ? Phase::Index : Phase::Commit, now);
  }

  Response InstanceInFlight::GetResponse(const IMessageSource& source) const
  {
    const Response response = message ? source.GetResponse(message->id) : Response();

    // What was written before its last mark is no answer to it, but "100 Continue", say
    const bool isEarlier =
        response.state == Response::State::Written && response.lastByte < timeline.GetLastMark();
    const Response none = {response.isClosed ? Response::State::Gone : Response::State::Pending};
    return isEarlier ? none : response;
  }

  bool InstanceInFlight::IsWorkedAt(const IMessageSource& source) const
  {
    return !isStored && GetResponse(source).state == Response::State::Pending;
  }

  std::optional<StuckInstance> InstanceInFlight::GetStuck(const IMessageSource& source,
                                                          TimePoint now) const
  {
    const Duration silence = now - timeline.GetLastMark();

    // An HTTP request may have many instances: that one which no filter has seen is over is only
    // known when the next one is here
    if (!IsOfMessage() || isTranscoding || (!passedFilters && !message->isDicom) ||
        silence < LONG_SILENCE + std::chrono::seconds(instance.size / SLOWEST_BYTES_PER_SECOND) ||
        !IsWorkedAt(source))
    {
      return std::nullopt;
    }

    return StuckInstance{passedFilters ? source.GetStoringPhase(message->id) : Phase::Prepare,
                         silence};
  }

  FinishedInstance InstanceInFlight::Finish(const IMessageSource& source) &&
  {
    const Response response = GetResponse(source);

    if (isStored)
    {
      if (response.state == Response::State::Written && !isBeside)
      {
        timeline.Mark(Phase::Respond, response.lastByte);
      }

      instance.outcome = Outcome::Stored;
    }
    else
    {
      Verdict verdict = IsOfMessage()
                            ? Judge({problem, passedFilters, response.status, message->isDicom})
                            : Judge({problem, passedFilters, std::nullopt, false});
      instance.outcome = verdict.outcome;
      instance.reason = std::move(verdict.reason);
      instance.isOwnFailure = verdict.isOwnFailure;
      instance.instanceId = identity.GetInstanceId();
    }

    instance.phases = timeline.GetPhases();
    instance.endedAt = timeline.GetLastMark();
    instance.finishedAt = ToSystemTime(instance.endedAt);
    return std::move(instance);
  }
}
