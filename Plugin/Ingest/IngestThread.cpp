// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestThread.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Nothing tells that Orthanc has refused an instance, so one that stays silent is given up
    // after a while: a base, more once it has reached the storage and the database, which may
    // wait for a disk or a network, and a share for its size (parsing, hashing, transcoding).
    constexpr std::chrono::seconds PATIENCE_BEFORE_FILTER(5);
    constexpr std::chrono::seconds PATIENCE_AFTER_FILTER(30);
    constexpr std::size_t SLOWEST_BYTES_PER_SECOND = 4 * 1024 * 1024;
  }

  std::optional<LostInstance> IngestThread::OnRequest(TimePoint now, const std::string& address)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<LostInstance> lost = Lose();
    requestAddress_ = address;
    requestMark_ = now;
    givenUp_ = false;
    return lost;
  }

  std::optional<LostInstance> IngestThread::OnReceived(TimePoint now,
                                                       const ReceivedInstance& received)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::optional<LostInstance> lost = Lose();
    Open(requestMark_.value_or(now), received.origin, received.size);

    if (requestMark_)
    {
      inFlight_->timeline.Mark(Phase::Receive, now);
    }

    inFlight_->evidence.readable = received.readable;
    inFlight_->sopInstanceUid = received.sopInstanceUid;
    return lost;
  }

  void IngestThread::OnTranscoderBegin(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->timeline.Mark(Phase::Prepare, now);
    }
  }

  void IngestThread::OnTranscoderEnd(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->timeline.Mark(Phase::Transcode, now);
    }
  }

  void IngestThread::OnFilter(TimePoint now, const KnownInstance& known)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (givenUp_)
    {
      return;
    }

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
      inFlight_->instance.peer = known.peer;
    }

    inFlight_->evidence.filterReached = true;
  }

  void IngestThread::OnCStoreFilter()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (inFlight_)
    {
      inFlight_->evidence.cstoreFilterReached = true;
    }
  }

  std::optional<FinishedInstance> IngestThread::OnStored(TimePoint now, const KnownInstance& known)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (std::exchange(givenUp_, false))
    {
      return std::nullopt;
    }

    if (!inFlight_)
    {
      Open(now, known.origin, known.size);
    }
    else
    {
      inFlight_->timeline.Mark(Phase::Commit, now);
    }

    FinishedInstance finished = std::move(inFlight_->instance);
    finished.phases = inFlight_->timeline.GetPhases();
    finished.outcome = Outcome::Stored;
    finished.instanceId = known.instanceId;
    finished.finishedAt = std::chrono::system_clock::now();

    if (!known.peer.name.empty())
    {
      finished.peer = known.peer;
    }

    inFlight_.reset();

    if (requestMark_)
    {
      requestMark_ = now;
    }

    return finished;
  }

  std::optional<LostInstance> IngestThread::TakeOverdue(TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!inFlight_ || now - inFlight_->timeline.GetLastMark() < GetPatience(*inFlight_))
    {
      return std::nullopt;
    }

    givenUp_ = true;
    return Lose();
  }

  std::optional<LostInstance> IngestThread::TakeLost()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Lose();
  }

  std::optional<Origin> IngestThread::GetInFlight() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return inFlight_ ? std::optional<Origin>(inFlight_->instance.origin) : std::nullopt;
  }

  std::optional<LostInstance> IngestThread::Lose()
  {
    if (!inFlight_)
    {
      return std::nullopt;
    }

    LostInstance lost;
    lost.instance = std::move(inFlight_->instance);
    lost.instance.phases = inFlight_->timeline.GetPhases();
    lost.instance.finishedAt = std::chrono::system_clock::now();
    lost.evidence = inFlight_->evidence;
    lost.sopInstanceUid = inFlight_->sopInstanceUid;

    if (requestMark_)
    {
      requestMark_ = inFlight_->timeline.GetLastMark();
    }

    inFlight_.reset();
    return lost;
  }

  void IngestThread::Open(TimePoint begin, Origin origin, std::size_t size)
  {
    inFlight_.emplace(InFlight{Timeline(begin), {}, {}, {}});
    inFlight_->instance.origin = origin;
    inFlight_->instance.size = size;
    inFlight_->instance.peer = Peer{requestAddress_, requestAddress_};
    inFlight_->evidence.origin = origin;
    givenUp_ = false;
  }

  Duration IngestThread::GetPatience(const InFlight& inFlight)
  {
    const std::chrono::seconds base =
        inFlight.evidence.filterReached ? PATIENCE_AFTER_FILTER : PATIENCE_BEFORE_FILTER;
    return base + std::chrono::seconds(inFlight.instance.size / SLOWEST_BYTES_PER_SECOND);
  }
}
