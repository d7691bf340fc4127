// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Ingest/StoreLookups.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Orthanc's identifiers of instances that were sent, of which the sockets tell the SOP Instance
  // UID only. The store is asked when somebody looks at them, not when they are sent; what it has
  // is remembered, what it does not have is for a minute. Owned by the plugin's context; any thread
  // may call it. Memory: some 200 bytes an instance, of the latest "capacity" that were asked for.
  class SentIdentifiers
  {
  public:
    using Now = std::function<TimePoint()>;

    // So many questions may wait, and no more are asked meanwhile: the lookups have to have room
    // for instances whose outcome is to be judged, which come first
    static constexpr std::size_t MAXIMUM_ASKED = StoreLookups::MAXIMUM / 4;

    // What the store does not have, as it was deleted since, is not asked for again for so long: of
    // very many, those that it has would never have their turn
    static constexpr std::chrono::minutes PAUSE{1};

    // The lookups outlive this, and nothing is asked once it is gone
    SentIdentifiers(StoreLookups& lookups, std::size_t capacity, Now now = &Clock::now);

    // Asks for those that are not known yet, as far as there is room, and waits for the answers for
    // so long at most
    void LookUp(const std::vector<UidText>& sopInstanceUids, Duration patience);

    // Empty: the store does not hold it, or has not answered yet
    std::string Get(const UidText& sopInstanceUid) const;

  private:
    struct Known
    {
      std::string instanceId;  // empty: the store does not have it
      TimePoint answeredAt;
    };

    bool IsToAsk(const std::string& uid);
    void OnAnswer(const std::string& uid, const StoreAnswer& instanceId);

    StoreLookups& lookups_;
    const std::size_t capacity_;
    const Now now_;
    mutable std::mutex mutex_;
    std::map<std::string, Known> known_;
    std::deque<std::string> order_;  // of what is known, the oldest first
    std::set<std::string> asked_;    // not answered yet
  };
}
