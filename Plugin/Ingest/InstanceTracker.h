// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/InstanceInFlight.h"
#include "Ingest/Journal.h"

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Follows every instance that Orthanc ingests, on whatever thread, and publishes it in the
  // journal when it is finished. Owned by the plugin's context. Orthanc's callbacks call the
  // On... functions on the ingesting thread; any other thread may settle and count.
  //
  // An instance is stored if the stored callback names it, by Orthanc's identifier. It ends with
  // the response to its message, whose status says what became of one that was not stored. Where no
  // message is seen (no probe, a job), it ends in the stored callback, or else with what its thread
  // does next, or with its thread. Until then it is in flight, however long that takes.
  class InstanceTracker
  {
  public:
    // Journal and source outlive the tracker
    InstanceTracker(const Journal& journal, IMessageSource& source);

    // An HTTP request from this address has begun on this thread
    void OnRequest(TimePoint now, const std::string& address);

    // A DICOM file is in memory: receive ends. Where the request carries several instances (a
    // ZIP, STOW-RS), the next one begins where the one before was heard of last.
    void OnReceived(TimePoint now, const ReceivedInstance& received);

    // The transcoder has begun its work on the instance, or ended it: until then, it is not stuck.
    // The identity is that of the instance that is stored instead; nothing if it stays what it was.
    void OnTranscoderBegin(TimePoint now);
    void OnTranscoderEnd(TimePoint now, const TranscodingRecord& transcoding,
                         const std::optional<InstanceIdentity>& identity);

    // The incoming-instance filter: prepare ends. Without OnReceived before, as where another
    // plugin has that callback, the timeline begins.
    void OnFilter(TimePoint now, const KnownInstance& known);

    void OnStored(TimePoint now, const KnownInstance& known);

    // Whether the instance on the calling thread has come in a message that was seen, or while its
    // thread works at one
    bool IsOfMessage();

    // Finishes the instances that have ended without another event on their thread: those whose
    // response was written at least "quiet" ago, or whose connection or thread is gone. To be
    // called about every second, and with no quiet before anyone looks at what is finished.
    void Settle(TimePoint now, Duration quiet);

    // Instances that were received and have no outcome yet
    std::size_t CountInFlight(Origin origin) const;

    // Those of them that Orthanc has had for ten seconds, and what a slow disk takes for their
    // size, without a sign: neither stored, nor answered, nor the connection closed. Nothing of
    // those of which that is not seen.
    std::vector<StuckInstance> ListStuck(TimePoint now) const;

    // Beyond that, as where all parts of a large request fail, the oldest instance of the same
    // message ends before its response, or else the oldest of all
    static constexpr std::size_t MAXIMUM_IN_FLIGHT = 4096;

  private:
    using InFlight = std::list<InstanceInFlight>;  // the oldest first

    // Does it with the lock, and publishes what has ended without, as observers have locks
    template <typename Action>
    void Change(const Action& action);

    InstanceInFlight MakeReceived(TimePoint now, const ReceivedInstance& received);
    InstanceInFlight Make(TimePoint begin, Origin origin, std::size_t size);
    InstanceInFlight& Open(InstanceInFlight instance);
    template <typename Predicate>
    InstanceInFlight* FindLatest(const Predicate& predicate);
    InstanceInFlight* FindWorkedAt();
    InstanceInFlight* FindStored(const KnownInstance& known);
    bool HasEnded(const InstanceInFlight& instance, TimePoint now, Duration quiet) const;
    template <typename Predicate>
    void TakeIf(const Predicate& predicate);
    void TakeFormer(const std::optional<Message>& message, bool isOfScript);

    const Journal& journal_;
    IMessageSource& source_;
    mutable std::mutex mutex_;
    InFlight inFlight_;
    InFlight ended_;  // and not yet published
  };
}
