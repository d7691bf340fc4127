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
  // Which instances are asked for; what is not given matches all
  struct InstanceFilter
  {
    std::optional<std::string> id;
    std::optional<std::string> peer;
    std::optional<Origin> origin;
    std::optional<Direction> direction;
    std::optional<Outcome> outcome;

    bool Matches(const FinishedInstance& instance) const;
  };

  // The latest finished instances, for GET /perf/instances. Failed and discarded ones have a ring
  // of their own, so that thousands of good ones do not push them out. Owned by the plugin's
  // context; any thread may call it. Memory: twice "capacity" entries of a few hundred bytes, taken
  // as they fill.
  class RecentInstances : public IJournalObserver
  {
  public:
    // Keeps that many stored instances, and as many others; none if the capacity is zero
    explicit RecentInstances(std::size_t capacity);

    void OnInstanceFinished(const FinishedInstance& instance) override;

    // At most "limit" instances that match, newest first
    std::vector<FinishedInstance> Latest(std::size_t limit,
                                         const InstanceFilter& filter = InstanceFilter()) const;

  private:
    using Ring =
        boost::circular_buffer<FinishedInstance>;  // as they were reported, the newest first

    mutable std::mutex mutex_;
    Ring stored_;
    Ring others_;
  };
}
