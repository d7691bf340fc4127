// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/InstanceIdentity.h"
#include "Ingest/Clock.h"

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace OrthancPerf
{
  // Finds out whether Orthanc's index has an instance, before work is done on it in vain. What is
  // new must not pay for that, however far away the database is: once an instance was not there,
  // the index is not asked for the next ones of its kin until a hundred times as long has passed as
  // the answer took, but a second at most. Kin are instances whose UIDs differ in the last
  // component only: those of a series, or of a device. What comes again later than that is found
  // out with the first instance.
  //
  // Any thread may call it, several at once. Memory: 4 kB.
  class DuplicateFinder
  {
  public:
    // Asks the index, by Orthanc's identifier of an instance. Whatever it throws, the answer is
    // "not there".
    using Lookup = std::function<bool(const std::string& instanceId)>;
    using Now = std::function<TimePoint()>;

    explicit DuplicateFinder(Lookup lookup, Now now = &Clock::now);

    // True: the index has it. False: it does not, or was not asked, or nobody can tell.
    bool IsStored(const InstanceIdentity& instance) noexcept;

    static constexpr int PAUSE_FACTOR = 100;
    static constexpr std::chrono::seconds LONGEST_PAUSE{1};

  private:
    // Until when no instance of these kin is asked for
    struct Pause
    {
      std::size_t kin = 0;
      TimePoint end;
    };

    const Lookup lookup_;
    const Now now_;
    std::mutex mutex_;
    std::array<Pause, 256> pauses_;  // by the last bits of "kin"; the newest stays
  };
}
