// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/IngestThread.h"
#include "Ingest/Journal.h"
#include "Ingest/StoreLookups.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  // Follows every instance that Orthanc ingests, on whatever thread, and publishes it in the
  // journal when it is finished. Owned by the plugin's context. Orthanc's callbacks call the
  // On... functions on the ingesting thread; any other thread may settle and count.
  class IngestTracker
  {
  public:
    // Journal, source and lookups outlive the tracker, and nothing is asked once it is gone.
    // "hasOtherFilters": see OtherFilters
    IngestTracker(const Journal& journal, bool hasOtherFilters, IMessageSource& source,
                  StoreLookups& lookups);

    void OnRequest(TimePoint now, const std::string& address);
    void OnReceived(TimePoint now, const ReceivedInstance& received);
    void OnFilter(TimePoint now, const KnownInstance& known);
    void OnStored(TimePoint now, const KnownInstance& known);

    // What the calling thread works at, for the events that end nothing
    IngestThread& GetThread();

    // Finishes the instances that have ended without another event on their thread: those whose
    // response was written at least "quiet" ago, and those that went out of sight. To be called
    // about every second, and with no quiet before anyone looks at what is finished. Those that
    // may be in the store all the same are finished once it has been asked.
    void Settle(TimePoint now, Duration quiet);

    // Instances that were received and have no outcome yet
    std::size_t CountInFlight(Origin origin) const;

    // Those of them of which nothing has been heard for long (IngestThread::GetStuck)
    std::vector<StuckInstance> ListStuck(TimePoint now) const;

    // Instances that were stored after they had been given up: counted as discarded or failed
    std::uint64_t CountLateOutcomes() const;

    // Whether the instance on the calling thread has come in a message that was seen
    bool IsOfMessage();

  private:
    void Publish(const EndedInstance& ended, const Verdict& verdict,
                 const std::string& instanceId) const;
    void FinishOrDefer(const std::optional<EndedInstance>& ended);
    Verdict Judge(const EndedInstance& ended) const;
    void FinishBefore(const MessageId& message);
    void DropEndedThreads();
    bool Defer(const EndedInstance& ended);
    void FinishDeferred(const EndedInstance& ended, const StoreAnswer& answer);
    std::vector<std::shared_ptr<IngestThread>> CopyThreads() const;

    const Journal& journal_;
    IMessageSource& source_;
    const bool hasOtherFilters_;
    const std::uint64_t id_;

    StoreLookups& lookups_;
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<IngestThread>> threads_;
    std::array<std::atomic<std::size_t>, ORIGIN_COUNT> deferred_ = {};  // by origin
    std::atomic<const Verdict*> latestFromStore_{nullptr};  // on the latest one that was looked up
    std::atomic<std::uint64_t> lateOutcomes_{0};
    std::atomic<bool> othersAcceptCStore_{false};
  };


  // For as long as it lives, the instance on this thread is held up by the plugin itself: whatever
  // that takes, it is in flight. Where there is no instance, nothing happens.
  class IngestHold
  {
  public:
    explicit IngestHold(IngestTracker& tracker) : tracker_(tracker)
    {
      tracker_.GetThread().OnHeld();
    }

    IngestHold(const IngestHold&) = delete;
    IngestHold& operator=(const IngestHold&) = delete;

    ~IngestHold()
    {
      tracker_.GetThread().OnLetGo(Clock::now());
    }

  private:
    IngestTracker& tracker_;
  };
}
