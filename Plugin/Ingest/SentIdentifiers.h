// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/StoreLookups.h"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Orthanc's identifiers of instances that were sent, of which the sockets tell the SOP Instance
  // UID only. The store is asked when somebody looks at them, not when they are sent; what it has
  // is remembered. Owned by the plugin's context; any thread may call it. Memory: some 200 bytes an
  // instance, of the latest "capacity" that were asked for.
  class SentIdentifiers
  {
  public:
    // So many questions may wait, and no more are asked meanwhile: the lookups have to have room
    // for instances whose outcome is to be judged, which come first
    static constexpr std::size_t MAXIMUM_ASKED = StoreLookups::MAXIMUM / 4;

    // The lookups outlive this, and nothing is asked once it is gone
    SentIdentifiers(StoreLookups& lookups, std::size_t capacity);

    // Asks for those that are not known yet, as far as there is room, and waits for the answers for
    // so long at most
    void LookUp(const std::vector<UidText>& sopInstanceUids, Duration patience);

    // Empty: the store does not hold it, or has not answered yet
    std::string Get(const UidText& sopInstanceUid) const;

  private:
    bool IsToAsk(const std::string& uid);
    void OnAnswer(const std::string& uid, const std::string& instanceId);

    StoreLookups& lookups_;
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> known_;
    std::deque<std::string> order_;  // of what is known, the oldest first
    std::set<std::string> asked_;    // not answered yet
  };
}
