// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"

#include <boost/circular_buffer.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The latest finished instances, for GET /perf/instances. Owned by the plugin's context; any
  // thread may call it. Memory: "capacity" entries of a few hundred bytes, taken as they fill.
  class RecentInstances : public IJournalObserver
  {
  public:
    // Keeps that many instances; none if the capacity is zero
    explicit RecentInstances(std::size_t capacity);

    void OnInstanceFinished(const FinishedInstance& instance) override;

    // At most "limit" instances, newest first, of this peer, origin and direction if they are given
    std::vector<FinishedInstance> Latest(std::size_t limit,
                                         const std::optional<std::string>& peer = std::nullopt,
                                         std::optional<Origin> origin = std::nullopt,
                                         std::optional<Direction> direction = std::nullopt) const;

  private:
    mutable std::mutex mutex_;
    boost::circular_buffer<FinishedInstance> ring_;  // the newest first
  };
}
