// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/CurrentRequest.h"
#include "Ingest/GivenUpInstances.h"
#include "Ingest/InstanceInFlight.h"

#include <cstddef>
#include <deque>
#include <mutex>
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


  // What one thread of Orthanc is working at: an HTTP request, or a DIMSE message, and in it one
  // instance after the other. Turns the callbacks, in their order, into ended instances. Owned by
  // IngestTracker, through which those events come that end an instance; all the events come from
  // its own thread, the Take... functions from any: an uncontended mutex stands between them.
  //
  // An instance ends with its response, where the source sees that, or else in the stored
  // callback. Orthanc gives no signal when it refuses an instance or fails to store it: such a
  // one ends with the response too, or with the next event on the thread, or after a long silence.
  class IngestThread
  {
  public:
    // The source outlives the thread
    explicit IngestThread(IMessageSource& source);

    // An HTTP request from this address has begun on this thread
    std::optional<EndedInstance> OnRequest(TimePoint now, const std::string& address);

    // A DICOM file is in memory: receive ends. Where the request carries several instances (a
    // ZIP, STOW-RS), the next one begins when the one before has ended.
    std::optional<EndedInstance> OnReceived(TimePoint now, const ReceivedInstance& received);

    // The plugin itself holds up the instance on this thread, whatever it waits for, or does so no
    // longer: meanwhile nothing can be heard of it, and it is in flight for as long as that takes
    void OnHeld();
    void OnLetGo(TimePoint now);

    // The transcoder has begun its work on the instance, or ended it. The identity is that of the
    // instance that is stored instead; nothing if it stays what it was.
    void OnTranscoderBegin(TimePoint now);
    void OnTranscoderEnd(TimePoint now, const TranscodingRecord& transcoding,
                         const std::optional<InstanceIdentity>& identity);

    // The incoming-instance filter: prepare ends. Without OnReceived before, as where another
    // plugin has that callback, the timeline begins, and the instance before has ended.
    std::optional<EndedInstance> OnFilter(TimePoint now, const KnownInstance& known);

    // The C-STORE filter, directly after it
    void OnCStoreFilter();

    // Orthanc has stored the instance. False if it had been given up before: it is not ended a
    // second time.
    bool OnStored(TimePoint now, const KnownInstance& known);

    // The instance on this thread if it has ended: it is stored and no response is to be waited
    // for, or its response was written at least "quiet" ago, or nothing was heard of it for so
    // long that it must have ended (see GetPatience)
    std::optional<EndedInstance> TakeEnded(TimePoint now, Duration quiet);

    // The instance on this thread, whatever its state: the thread has ended
    std::optional<EndedInstance> TakeLast();

    // The instance on this thread if it came in an earlier message of the connection than this one:
    // it has ended, as a connection has one message at a time
    std::optional<EndedInstance> TakeBefore(const MessageId& message);

    // The message of the instance on this thread, unless it follows one of the same connection that
    // this thread has had, too: then another thread may have had the message before
    std::optional<MessageId> GetTakenOver() const;

    // Whether there is an instance on this thread that has come in a message that was seen, or
    // beside one
    bool HasMessage() const;

    // The instances on this thread, those of this origin if one is given
    std::size_t CountInFlight(const std::optional<Origin>& origin = std::nullopt) const;

    // The instance on this thread if Orthanc has had it for ten seconds, and what a slow disk takes
    // for its size, without a sign, and has neither stored it, nor answered, nor closed the
    // connection. Nothing if that is not seen. It stays so when the instance has ended as given up.
    std::optional<StuckInstance> GetStuck(TimePoint now) const;

  private:
    // Another plugin that is told of a stored instance may store others on the same thread, which
    // it is told of, too
    static constexpr std::size_t MAXIMUM_OVERTAKEN = 4;

    // The one that was given up last, if Orthanc was still at it: since when, and in which phase
    struct Silence
    {
      MessageId message;
      Phase phase;
      TimePoint since;
    };

    std::optional<EndedInstance> End();
    void GiveUp(TimePoint now);
    std::optional<EndedInstance> Leave(Origin next, TimePoint now);
    std::deque<InstanceInFlight>::iterator FindOvertaken(const std::string& instanceId);
    std::optional<EndedInstance> TakeFirstOvertaken();
    bool WasGivenUp(const std::string& instanceId);
    void Open(TimePoint begin, Origin origin, std::size_t size);

    IMessageSource& source_;
    mutable std::mutex mutex_;
    CurrentRequest request_;
    Message message_;  // the latest, as far as its instances have used it
    std::optional<InstanceInFlight> inFlight_;
    std::deque<InstanceInFlight>
        overtaken_;                      // by those that began later, on their way; latest last
    std::optional<EndedInstance> told_;  // of them, the one that Orthanc was said to have stored
    GivenUpInstances givenUp_;
    std::optional<Silence> silence_;
  };
}
