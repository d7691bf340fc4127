// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/IngestTracker.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr Verdict STORED = {Outcome::Stored, true, ""};

    // From 1.13.0 on, a database that is away fails an instance before any filter is asked. What
    // the question whether it is in the store fails at, Orthanc's own has failed at, too.
    constexpr Verdict UNANSWERED = {Outcome::Failed, true,
                                    "not stored, and the database does not answer"};

    // Null: the store does not have it
    const Verdict* FindVerdict(const StoreAnswer& answer)
    {
      if (!answer)
      {
        return &UNANSWERED;
      }

      return answer->empty() ? nullptr : &STORED;
    }

    std::uint64_t MakeTrackerId()
    {
      static std::atomic<std::uint64_t> next{1};
      return next++;
    }

    class CountedWhileAlive
    {
    public:
      explicit CountedWhileAlive(std::atomic<std::size_t>& count) : count_(count)
      {
        count_.fetch_add(1, std::memory_order_relaxed);
      }

      ~CountedWhileAlive()
      {
        count_.fetch_sub(1, std::memory_order_relaxed);
      }

      CountedWhileAlive(const CountedWhileAlive&) = delete;
      CountedWhileAlive& operator=(const CountedWhileAlive&) = delete;

    private:
      std::atomic<std::size_t>& count_;
    };

    // A thread's share of the tracker. The tracker drops its own share once the thread has ended.
    struct ThreadHandle
    {
      std::uint64_t trackerId = 0;
      std::shared_ptr<IngestThread> thread;
    };

    thread_local ThreadHandle currentThread;
  }

  IngestTracker::IngestTracker(const Journal& journal, bool hasOtherFilters, IMessageSource& source,
                               StoreLookups& lookups) :
    journal_(journal),
    source_(source),
    hasOtherFilters_(hasOtherFilters),
    id_(MakeTrackerId()),
    lookups_(lookups)
  {
  }

  void IngestTracker::OnRequest(TimePoint now, const std::string& address)
  {
    FinishOrDefer(GetThread().OnRequest(now, address));
  }

  void IngestTracker::OnReceived(TimePoint now, const ReceivedInstance& received)
  {
    IngestThread& thread = GetThread();
    FinishOrDefer(thread.OnReceived(now, received));

    if (const std::optional<MessageId> message = thread.GetTakenOver())
    {
      FinishBefore(*message);
    }
  }

  void IngestTracker::OnFilter(TimePoint now, const KnownInstance& known)
  {
    FinishOrDefer(GetThread().OnFilter(now, known));
  }

  void IngestTracker::OnStored(TimePoint now, const KnownInstance& known)
  {
    IngestThread& thread = GetThread();

    if (thread.OnStored(now, known))
    {
      FinishOrDefer(thread.TakeEnded(now, Duration::max()));
    }
    else
    {
      lateOutcomes_.fetch_add(1, std::memory_order_relaxed);
    }
  }


  void IngestTracker::Settle(TimePoint now, Duration quiet)
  {
    for (const std::shared_ptr<IngestThread>& thread : CopyThreads())
    {
      const bool isOver = thread.use_count() == 2;  // the tracker's share and this copy

      while (const auto ended = isOver ? thread->TakeLast() : thread->TakeEnded(now, quiet))
      {
        FinishOrDefer(ended);
      }
    }

    DropEndedThreads();
  }


  // The thread that had the message before may rest for long, until its response is forgotten
  void IngestTracker::FinishBefore(const MessageId& message)
  {
    for (const std::shared_ptr<IngestThread>& thread : CopyThreads())
    {
      FinishOrDefer(thread->TakeBefore(message));
    }
  }


  void IngestTracker::DropEndedThreads()
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads_.erase(std::remove_if(threads_.begin(), threads_.end(),
                                  [](const std::shared_ptr<IngestThread>& thread) {
                                    return thread.use_count() == 1 && thread->CountInFlight() == 0;
                                  }),
                   threads_.end());
  }


  // False: the store has too many questions already
  bool IngestTracker::Defer(const EndedInstance& ended)
  {
    const auto counted = std::make_shared<const CountedWhileAlive>(
        deferred_.at(static_cast<std::size_t>(ended.instance.origin)));
    return lookups_.Add(ended.identity, [this, ended, counted](const StoreAnswer& answer)
                        { FinishDeferred(ended, answer); });
  }


  void IngestTracker::FinishDeferred(const EndedInstance& ended, const StoreAnswer& answer)
  {
    const Verdict* const verdict = FindVerdict(answer);
    latestFromStore_.store(verdict, std::memory_order_relaxed);
    Publish(ended, verdict == nullptr ? Judge(ended) : *verdict, answer.value_or(""));
  }


  std::size_t IngestTracker::CountInFlight(Origin origin) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    return std::accumulate(
        threads_.begin(), threads_.end(),
        deferred_.at(static_cast<std::size_t>(origin)).load(std::memory_order_relaxed),
        [origin](std::size_t count, const std::shared_ptr<IngestThread>& thread)
        { return count + thread->CountInFlight(origin); });
  }


  std::vector<StuckInstance> IngestTracker::ListStuck(TimePoint now) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<StuckInstance> stuck;

    for (const std::shared_ptr<IngestThread>& thread : threads_)
    {
      if (const std::optional<StuckInstance> instance = thread->GetStuck(now))
      {
        stuck.push_back(*instance);
      }
    }

    return stuck;
  }


  std::uint64_t IngestTracker::CountLateOutcomes() const
  {
    return lateOutcomes_.load(std::memory_order_relaxed);
  }


  bool IngestTracker::IsOfMessage()
  {
    return GetThread().HasMessage();
  }


  IngestThread& IngestTracker::GetThread()
  {
    if (currentThread.trackerId != id_)
    {
      auto thread = std::make_shared<IngestThread>(source_);

      {
        const std::lock_guard<std::mutex> lock(mutex_);
        threads_.push_back(thread);
      }

      currentThread = ThreadHandle{id_, std::move(thread)};
    }

    return *currentThread.thread;
  }

  void IngestTracker::Publish(const EndedInstance& ended, const Verdict& verdict,
                              const std::string& instanceId) const
  {
    FinishedInstance finished = ended.instance;
    finished.outcome = verdict.outcome;
    finished.reason = verdict.reason;
    finished.isOwnFailure = verdict.outcome == Outcome::Failed && *ended.evidence.problem == '\0';
    // Else the identifier that Orthanc would have given it
    finished.instanceId =
        verdict.outcome == Outcome::Stored ? instanceId : ended.identity.hasher.GetInstanceId();
    journal_.Publish(finished);
  }


  Verdict IngestTracker::Judge(const EndedInstance& ended) const
  {
    return JudgeOutcome(ended.evidence,
                        {hasOtherFilters_, othersAcceptCStore_.load(std::memory_order_relaxed)});
  }


  void IngestTracker::FinishOrDefer(const std::optional<EndedInstance>& ended)
  {
    if (!ended)
    {
      return;
    }

    if (ended->isStored)
    {
      const IngestEvidence& evidence = ended->evidence;

      if (evidence.origin == Origin::DicomProtocol && evidence.filterReached &&
          !evidence.cstoreFilterReached)
      {
        othersAcceptCStore_.store(true, std::memory_order_relaxed);
      }

      Publish(*ended, STORED, ended->instance.instanceId);
      return;
    }

    const Verdict verdict = Judge(*ended);
    const bool mayBeInStore = verdict.mayBeInStore && ended->identity.sopInstanceUid[0] != '\0';

    if (mayBeInStore && Defer(*ended))
    {
      return;
    }

    // So many that the store cannot be asked for each are alike: sent again, refused, or failed
    const Verdict* const latest =
        mayBeInStore ? latestFromStore_.load(std::memory_order_relaxed) : nullptr;
    Publish(*ended, latest == nullptr ? verdict : *latest, ended->identity.hasher.GetInstanceId());
  }


  std::vector<std::shared_ptr<IngestThread>> IngestTracker::CopyThreads() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return threads_;
  }
}
