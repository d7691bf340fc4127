// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/InstanceInFlight.h"

#include <cstddef>
#include <deque>
#include <string>

namespace OrthancPerf
{
  // The instances of a thread of Orthanc's that have ended without having been stored, and may be
  // stored all the same: if the thread is told so later, they are not to be ended a second time.
  // Another plugin may store others on the thread meanwhile, between two callbacks of such a one.
  // A value of IngestThread, under its mutex. Memory: the identifiers of the latest MAXIMUM.
  class GivenUpInstances
  {
  public:
    static constexpr std::size_t MAXIMUM = 5;

    void Add(const EndedInstance& instance);

    // The thread works at something that nothing before it on the thread can outlast
    void Clear()
    {
      latest_.clear();
    }

    bool IsEmpty() const
    {
      return latest_.empty();
    }

    // Whether the latest one was given up before it had come to the incoming-instance filter
    bool IsBeforeFilter() const;

    // Whether this one is among them; then it is no more. "mayBeAny": it is none else, so that the
    // latest one has to do where the identifier is none of theirs, as some cannot be made.
    bool Take(const std::string& instanceId, bool mayBeAny);

  private:
    struct GivenUp
    {
      std::string instanceId;
      bool isBeforeFilter = false;
    };

    std::deque<GivenUp> latest_;  // latest last
  };
}
