// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Journal.h"
#include "Metrics/TrafficSummary.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace OrthancPerf
{
  // Seconds. On a LAN the answer takes milliseconds. 35 to 50 ms and 180 to 250 ms hold what met
  // one delayed ACK. 0.9 to 1.1 s hold what met one second: a SYN that was lost (RFC 6298 section
  // 2.1), or a peer that sleeps.
  inline constexpr std::array SETUP_BOUNDS = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02,
                                              0.035,  0.05,  0.1,    0.18,  0.25, 0.5,
                                              0.9,    1.1,   2.5,    5.0,   10.0, 30.0};

  using SetupHistogram = BucketHistogram<SETUP_BOUNDS>;

  // What the server received since the start, by origin, and how long associations took to be
  // answered: for the metrics. Owned by the plugin's context; any thread may call it. One mutex,
  // held for less than a microsecond by an instance, and while a scrape copies 25 kB.
  class ServerTotals : public IJournalObserver
  {
  public:
    ServerTotals();

    // What Orthanc sends is left out
    void OnInstanceFinished(const FinishedInstance& instance) noexcept override;

    void OnAssociationFinished(const FinishedAssociation& association) noexcept override;
    void OnRequestFinished(const FinishedRequest& request) noexcept override;

    // By Origin
    std::vector<TrafficSummary> GetOrigins() const;

    // By RouteClass
    std::vector<ReadSummary> GetReads() const;

    // Of all origins together
    TrafficBucket GetReceived() const;

    // By Direction
    std::vector<SetupHistogram> GetSetups() const;

  private:
    mutable std::mutex mutex_;
    std::vector<TrafficSummary> origins_;
    std::vector<SetupHistogram> setups_;
    std::vector<ReadSummary> reads_;
  };
}
