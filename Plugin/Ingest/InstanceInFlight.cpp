// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/InstanceInFlight.h"

#include <algorithm>
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
  }


  InstanceInFlight::InstanceInFlight(TimePoint begin) : timeline(begin)
  {
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


  void InstanceInFlight::MarkReceived(const Message& from, const Message& before, TimePoint now)
  {
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
    instance.areStallsObserved = true;
    instance.stalls = from.stalls - (isFirst ? 0 : before.stalls);
    instance.stallTime = from.stallTime - (isFirst ? Duration::zero() : before.stallTime);
    instance.lossStalls = from.lossStalls;

    if (!isFirst)
    {
      instance.lossStalls.count -= before.lossStalls.count;
      instance.lossStalls.time -= before.lossStalls.time;
    }

    message = from.id;
    isTakenOver =
        from.id.connection != before.id.connection || from.id.serial > before.id.serial + 1;
  }


  void InstanceInFlight::MarkStored(const std::optional<StoredFile>& file, const AskedWork& asked,
                                    TimePoint now)
  {
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
      instance.remote = RemoteRecord{asked.storage->server, asked.storage->roundTrips};
    }

    MarkDatabase(asked.database);
    timeline.Mark(Phase::Index, now);
  }


  void InstanceInFlight::MarkDatabase(const std::optional<DatabaseWork>& work)
  {
    if (!work)
    {
      return;
    }

    timeline.AddBeside(Phase::Database, work->waited);
    DatabaseRecord& record = instance.database.emplace();
    record.server = work->server;
    record.connection = work->connection;
    record.roundTrips = work->roundTrips;
    record.shortest = work->roundTrips > 0 ? work->shortest : Duration::zero();
    record.queued = work->queued;
  }


  Response InstanceInFlight::GetResponse(const IMessageSource& source) const
  {
    if (!message)
    {
      return {};
    }

    const Response response = source.GetResponse(*message);

    // What was written before its last mark is no answer to it, but "100 Continue", say
    const bool isEarlier =
        response.state == Response::State::Written && response.lastByte < timeline.GetLastMark();
    return isEarlier ? Response() : response;
  }


  bool InstanceInFlight::IsUnanswered(const IMessageSource& source) const
  {
    return GetResponse(source).state == Response::State::Pending;
  }


  bool InstanceInFlight::HasEnded(const IMessageSource& source, TimePoint now, Duration quiet) const
  {
    if (isHeld)
    {
      return false;
    }

    if (isStored && !message)
    {
      return true;
    }

    const Response response = GetResponse(source);

    switch (response.state)
    {
      case Response::State::Forgotten:
        return true;

      case Response::State::Written:
        return now - response.lastByte >= quiet;

      default:
        return now - GetLastSign() >= GetPatience();
    }
  }


  // When it was heard of last: from then on patience runs
  TimePoint InstanceInFlight::GetLastSign() const
  {
    const TimePoint mark = timeline.GetLastMark();
    return letGo ? std::max(mark, *letGo) : mark;
  }


  Duration InstanceInFlight::GetPatience() const
  {
    if (message && !isStored)
    {
      return PATIENCE_WITH_UNANSWERED;
    }

    const std::chrono::seconds base =
        evidence.filterReached ? PATIENCE_AFTER_FILTER : PATIENCE_BEFORE_FILTER;
    return base + GetSlowest(instance.size);
  }


  std::optional<StuckInstance> InstanceInFlight::GetStuck(const IMessageSource& source,
                                                          TimePoint now) const
  {
    if (!message || isStored || isHeld || !IsUnanswered(source))
    {
      return std::nullopt;
    }

    // An HTTP request may have many instances: that one which no filter has seen is over is only
    // known when the next one is here
    if (!evidence.filterReached && instance.origin != Origin::DicomProtocol)
    {
      return std::nullopt;
    }

    const Duration silence = now - GetLastSign();

    if (silence < LONG_SILENCE + GetSlowest(instance.size))
    {
      return std::nullopt;
    }

    return StuckInstance{evidence.filterReached ? source.GetStoringPhase(*message) : Phase::Prepare,
                         silence};
  }


  EndedInstance InstanceInFlight::Finish() &&
  {
    EndedInstance ended = std::move(static_cast<EndedInstance&>(*this));
    ended.instance.phases = timeline.GetPhases();
    ended.instance.endedAt = timeline.GetLastMark();
    ended.instance.finishedAt = ToSystemTime(ended.instance.endedAt);
    return ended;
  }
}
