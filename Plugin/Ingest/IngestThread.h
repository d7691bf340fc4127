// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/DicomFile.h"
#include "Ingest/FinishedInstance.h"
#include "Ingest/OutcomeJudge.h"
#include "Ingest/Timeline.h"

#include <mutex>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // An instance whose end was not seen, with what is known of it
  struct LostInstance
  {
    FinishedInstance instance;
    IngestEvidence evidence;
    UidText sopInstanceUid = {};
  };

  // What the received-instance callback knows of an instance
  struct ReceivedInstance
  {
    Origin origin = Origin::Unknown;
    std::size_t size = 0;
    bool readable = true;
    UidText sopInstanceUid = {};
  };

  // What Orthanc's later callbacks know of it
  struct KnownInstance
  {
    std::string instanceId;
    Origin origin = Origin::Unknown;
    Peer peer;
    std::size_t size = 0;
  };

  // What one thread of Orthanc is working at: an HTTP request, and in it, or in a DICOM
  // association, one instance at a time. Turns the callbacks, in their order, into finished
  // instances. Owned by IngestTracker; the events come from its own thread, TakeOverdue and
  // TakeLost from any: an uncontended mutex stands between them.
  //
  // An event may end the instance before it without its outcome having been seen: it is then
  // returned as lost. Orthanc gives no signal when it refuses an instance or fails to store it.
  class IngestThread
  {
  public:
    // An HTTP request from this address has begun on this thread
    std::optional<LostInstance> OnRequest(TimePoint now, const std::string& address);

    // A DICOM file is in memory: receive ends. Where the request carries several instances (a
    // ZIP, STOW-RS), the next one begins when the one before has ended.
    std::optional<LostInstance> OnReceived(TimePoint now, const ReceivedInstance& received);

    // The transcoder has begun, or ended, its work on the instance
    void OnTranscoderBegin(TimePoint now);
    void OnTranscoderEnd(TimePoint now);

    // The incoming-instance filter: prepare ends. Without OnReceived before, the timeline begins.
    void OnFilter(TimePoint now, const KnownInstance& known);

    // The C-STORE filter, directly after it
    void OnCStoreFilter();

    // Orthanc has stored the instance: it is finished. Nothing if it had been given up before.
    std::optional<FinishedInstance> OnStored(TimePoint now, const KnownInstance& known);

    // The instance on this thread, if nothing was heard of it for so long that it must have
    // ended: see GetPatience
    std::optional<LostInstance> TakeOverdue(TimePoint now);

    // The instance on this thread, whose thread has ended
    std::optional<LostInstance> TakeLost();

    // The origin of the instance on this thread, if there is one
    std::optional<Origin> GetInFlight() const;

  private:
    struct InFlight
    {
      Timeline timeline;
      FinishedInstance instance;
      IngestEvidence evidence;
      UidText sopInstanceUid = {};
    };

    std::optional<LostInstance> Lose();
    void Open(TimePoint begin, Origin origin, std::size_t size);
    static Duration GetPatience(const InFlight& inFlight);

    mutable std::mutex mutex_;
    std::string requestAddress_;
    std::optional<TimePoint> requestMark_;  // its begin, or the end of its latest instance
    std::optional<InFlight> inFlight_;
    bool givenUp_ = false;
  };
}
