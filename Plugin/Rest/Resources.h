// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Advisor.h"
#include "Advisor/HealthWatch.h"
#include "Ingest/RecentInstances.h"
#include "Metrics/History.h"
#include "Metrics/MetricTable.h"
#include "Metrics/PeerStatistics.h"
#include "Metrics/RecentRequests.h"
#include "Rest/RestRouter.h"
#include "Tuning/TuningChanges.h"

#include <functional>

namespace OrthancPerf
{
  // The routes that only read. Each function registers those of one subject; all that it is given
  // must outlive the router.

  // GET /perf/metrics: Prometheus' text format
  void RegisterMetricsResource(RestRouter& router, std::function<MetricFigures()> gather);

  // GET /perf/health, for load balancers: 200 while the database and the disk of the images answer;
  // otherwise 503, and why
  void RegisterHealthResource(RestRouter& router, HealthWatch& watch);

  // GET /perf/advice: all findings, the most costly first; GET /perf/advice/history: those of the
  // last day, with begin and end
  void RegisterAdviceResource(RestRouter& router, Advisor& advisor);

  // GET /perf/instances?limit=&peer=&origin=&direction=&outcome=: the latest finished instances,
  // newest first; GET /perf/instances/{id}: one of them
  void RegisterInstancesResource(RestRouter& router, const RecentInstances& instances);

  // GET /perf/requests?limit=&class=&client=: what HTTP requests that read cost by class in the
  // last five minutes, the latest of them, and the slowest of the last hour
  void RegisterRequestsResource(RestRouter& router, const RecentRequests& requests);

  // GET /perf/peers: each peer, what went between it and Orthanc, its associations and their TCP
  // connections
  void RegisterPeersResource(RestRouter& router, const PeerStatistics& peers);

  // GET /perf/history: what charts show, the last hour by the second or the last day by the minute,
  // and when the tuning was changed
  void RegisterHistoryResource(RestRouter& router, History& history, const TuningChanges& changes);
}
