// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    std::string SayServer(const Evidence& evidence)
    {
      const std::string& server = evidence.database.server;
      return "the database server" + (server.empty() ? "" : " (" + server + ")");
    }


    // ---- database-latency --------------------------------------------------------------------

    // Of the time of an instance
    constexpr double MINIMUM_LATENCY_SHARE = 1.0 / 3;

    // The way to another machine of the same room and back takes 0.1 to 0.3 ms, to PostgreSQL on
    // the same machine less than 0.1 ms: nothing to be won by moving the server nearer
    constexpr double MINIMUM_LATENCY = 0.0005;


    // What the way takes is the shortest round trip of an instance: the server works in the others,
    // too, and in that one hardly
    std::optional<Judgement> JudgeLatency(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const double total = traffic.GetTotalSeconds();
      return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && traffic.databaseRoundTrips > 0 &&
                         traffic.latencySeconds >= MINIMUM_LATENCY_SHARE * total &&
                         traffic.latencySeconds >= MINIMUM_LATENCY * traffic.databaseRoundTrips,
                     {{"Server", evidence.database.server},
                      {"RoundTrips", traffic.databaseRoundTrips / traffic.instances},
                      {"Latency", traffic.latencySeconds / traffic.databaseRoundTrips},
                      {"LatencyShare", traffic.latencySeconds / total},
                      {"MeanDatabase", traffic.GetMean(Phase::Database)}},
                     EstimateCost(traffic.latencySeconds, total, traffic),
                     evidence.facts.IsStorageInDatabase()             ? "files"
                     : evidence.facts.databaseSection == "PostgreSQL" ? "PostgreSQL"
                                                                      : "",
                     {{"Database", SayServer(evidence)}});
    }


    // ---- database-connections ----------------------------------------------------------------

    constexpr double MINIMUM_QUEUED_SHARE = 0.25;
    constexpr double MINIMUM_QUEUED = 0.001;  // an instance

    // Of the connections, those that are in use on average: below, something else is waited for
    constexpr double HARDLY_USED = 0.25;

    // As many as the PostgreSQL plugin has by default since its release 7.0
    constexpr double MANY_CONNECTIONS = 50;


    // Those that were seen, or as many as the configuration allows
    double CountConnections(const Evidence& evidence)
    {
      const ServerFacts& facts = evidence.facts;
      const Json::Value& allowed =
          facts.configuration[facts.databaseSection]["IndexConnectionsCount"];
      const auto seen = static_cast<double>(evidence.database.connections);
      return std::max(seen, allowed.isUInt64() ? allowed.asDouble() : 0);
    }


    // A thread that does not compute before it asks the server first waits for a connection, if
    // more threads are in the index than there are connections: each has one at the most. They need
    // not be in use all the time: since release 9.0 of the PostgreSQL plugin, a thread that finds
    // none sleeps for 100 ms. Where the processor is short, that is its own finding.
    std::optional<Judgement> JudgeConnections(const Evidence& evidence)
    {
      const TrafficBucket& traffic = evidence.received;
      const std::string& section = evidence.facts.databaseSection;
      const double connections = CountConnections(evidence);
      const double total = traffic.GetTotalSeconds();
      const double index = traffic.GetSeconds(Phase::Index);
      const double queued = traffic.queuedSeconds;

      // Little's law: the mean number is the time of all over the time on the wall
      const double threads = index / traffic.activeSeconds;
      const double inUse = (index - queued) / traffic.activeSeconds;
      std::optional<Judgement> judgement =
          JudgeIf(traffic.instances >= MINIMUM_INSTANCES && connections >= 1 &&
                      traffic.activeSeconds > 0 && queued >= MINIMUM_QUEUED_SHARE * total &&
                      queued >= MINIMUM_QUEUED * traffic.instances && threads > connections &&
                      inUse >= HARDLY_USED * connections,
                  {{"Server", evidence.database.server},
                   {"Connections", connections},
                   {"ConnectionsInUse", inUse},
                   {"InstancesInIndex", threads},
                   {"MeanQueued", queued / traffic.instances},
                   {"QueuedShare", queued / total}},
                  EstimateShare(queued, traffic), section.empty() ? "unknown" : section.c_str(),
                  {{"Database", SayServer(evidence)}});

      if (judgement && !section.empty())
      {
        const double wanted = std::clamp(std::ceil(threads), connections + 1,
                                         std::max(MANY_CONNECTIONS, connections + 1));
        judgement->document =
            MakeOption(section.c_str(), "IndexConnectionsCount", static_cast<Json::UInt64>(wanted));
      }

      return judgement;
    }


    // ---- index -------------------------------------------------------------------------------

    // SQLite on an SSD takes some 2 ms for an instance (190 page writes), PostgreSQL on the same
    // machine 3 to 5 ms
    constexpr double SLOW_INDEX = 0.008;

    constexpr double MINIMUM_INDEX_SHARE = 0.5;

    // Of what is in the index: below, the server is not what takes the time
    constexpr double MINIMUM_SERVER_SHARE = 0.5;


    // Whether it is seen that the server was asked, and that waiting for it is the least of it
    bool IsBeyondServer(const TrafficBucket& traffic)
    {
      return traffic.databaseRoundTrips > 0 &&
             traffic.GetSeconds(Phase::Database) <
                 MINIMUM_SERVER_SHARE * traffic.GetSeconds(Phase::Index);
    }
  }


  std::optional<Judgement> JudgeIndex(const Evidence& evidence)
  {
    const TrafficBucket& traffic = evidence.received;
    const double share = traffic.GetShare(Phase::Index);
    const double service = traffic.GetServiceTime(Phase::Index);
    const bool isServer = evidence.facts.hasDatabasePlugin;
    return JudgeIf(traffic.instances >= MINIMUM_INSTANCES && share >= MINIMUM_INDEX_SHARE &&
                       service >= SLOW_INDEX,
                   {{"Database", isServer ? "plugin" : "SQLite"},
                    {"MeanIndex", traffic.GetMean(Phase::Index)},
                    {"ServiceTime", service},
                    {"IndexShare", share}},
                   EstimateShare(traffic.GetSeconds(Phase::Index), traffic),
                   !isServer                 ? ""
                   : IsBeyondServer(traffic) ? "beyond"
                                             : "server",
                   {{"Server", SayServer(evidence)},
                    {"MeanDatabase", traffic.GetMean(Phase::Database)},
                    {"MeanQueued", traffic.queuedSeconds / traffic.instances}});
  }


  std::vector<Rule> MakeDatabaseRules()
  {
    return {{"database-latency", &JudgeLatency}, {"database-connections", &JudgeConnections}};
  }
}
