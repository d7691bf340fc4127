// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DicomFile.h"
#include "Ingest/FinishedInstance.h"
#include "Ingest/MessageSource.h"
#include "Ingest/OutcomeJudge.h"
#include "Ingest/Timeline.h"

#include <cstddef>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // An instance on whose thread something else goes on now
  struct EndedInstance
  {
    FinishedInstance instance;
    bool isStored = false;  // else its outcome is to be judged from the evidence
    IngestEvidence evidence;
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


  // An instance on its way through Orthanc: what was heard of it so far, and how that is read. A
  // value of IngestThread, under its mutex.
  struct InstanceInFlight : EndedInstance
  {
    explicit InstanceInFlight(TimePoint begin);

    // It came in this message. "before": the same when its previous instance had come, or the
    // message before it on this thread.
    void MarkReceived(const Message& from, const Message& before, TimePoint now);

    // What was seen of its storing, which has ended
    void MarkStored(const std::optional<StoredFile>& file, const AskedWork& asked, TimePoint now);
    void SetStored(const KnownInstance& known);

    Response GetResponse(const IMessageSource& source) const;

    // Whether Orthanc may still be at work on it, as far as that is seen: what its thread does
    // afterwards, such as to serve a C-MOVE, is done for others
    bool IsUnanswered(const IMessageSource& source) const;

    // See IngestThread::TakeEnded and GetStuck
    bool HasEnded(const IMessageSource& source, TimePoint now, Duration quiet) const;
    std::optional<StuckInstance> GetStuck(const IMessageSource& source, TimePoint now) const;

    EndedInstance Finish() &&;

    Timeline timeline;
    std::optional<MessageId> message;
    bool isBesideMessage = false;  // not in the DIMSE message at which its thread works
    bool isTakenOver = false;      // see IngestThread::GetTakenOver
    bool isHeld = false;
    std::optional<TimePoint> letGo;

  private:
    void MarkDatabase(const std::optional<DatabaseWork>& work);
    TimePoint GetLastSign() const;
    Duration GetPatience() const;
  };
}
