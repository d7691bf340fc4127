// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/InstanceIdentity.h"
#include "Ingest/FinishedInstance.h"
#include "Ingest/MessageSource.h"

#include <cstddef>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What the received-instance callback knows of an instance
  struct ReceivedInstance
  {
    Origin origin = Origin::Unknown;
    std::size_t size = 0;
    const char* problem = "";  // why Orthanc cannot store it; empty: it can. Never freed.
    InstanceIdentity identity;
  };

  // What Orthanc's later callbacks know of an instance
  struct KnownInstance
  {
    std::string instanceId;
    Origin origin = Origin::Unknown;
    Peer peer;
    std::size_t size = 0;
  };

  // An instance in flight of which nothing has been heard for long
  struct StuckInstance
  {
    Phase phase = Phase::Prepare;  // in which it is; Commit: storage or index
    Duration silence = Duration::zero();
  };

  int GetThreadId();  // gettid(2) of the calling thread

  // An instance on its way through Orthanc, and what was heard of it so far. A value of
  // InstanceTracker, under its mutex.
  struct InstanceInFlight
  {
    // Begins on the calling thread
    InstanceInFlight(TimePoint begin, Origin origin, std::size_t size);

    // It came in its message. "before": the same when its previous instance had come, or the
    // message before it on this thread.
    void MarkReceived(const Message& before, TimePoint now);

    // What was seen of its storing, which has ended
    void MarkStored(const StorageWork& stored, TimePoint now);
    void SetStored(const KnownInstance& known);

    // It came in its message
    bool IsOfMessage() const
    {
      return message && !isBeside;
    }

    // To the message in which it came, or beside which it was stored
    Response GetResponse(const IMessageSource& source) const;

    // Whether Orthanc may still be at work on it, as far as that is seen: what its thread does
    // afterwards, such as to serve a C-MOVE, is done for others
    bool IsWorkedAt(const IMessageSource& source) const;

    // See InstanceTracker::ListStuck
    std::optional<StuckInstance> GetStuck(const IMessageSource& source, TimePoint now) const;

    // It has ended
    FinishedInstance Finish(const IMessageSource& source) &&;

    FinishedInstance instance;
    int thread;  // on which it began
    Timeline timeline;
    InstanceIdentity identity;
    std::optional<Message> message;  // at which its thread works
    bool isBeside = false;           // the message: it came otherwise
    bool isStored = false;
    bool passedFilters = false;  // the incoming-instance filter was reached
    bool isTranscoding = false;
    const char* problem = "";  // as in ReceivedInstance
  };
}
