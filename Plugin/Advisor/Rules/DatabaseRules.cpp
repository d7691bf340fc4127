// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    // Of the time of an instance
    constexpr double MINIMUM_LATENCY_SHARE = 1.0 / 3;

    // The way to another machine of the same room and back takes 0.1 to 0.3 ms, to PostgreSQL on
    // the same machine less than 0.1 ms: nothing to be won by moving the server nearer
    constexpr double MINIMUM_LATENCY = 0.0005;

    // From this release of Orthanc on, there are plugins for PostgreSQL that ask less often
    constexpr OrthancRelease FEWER_ROUND_TRIPS = {1, 12, 5};


    std::string DescribeServer(const Evidence& evidence)
    {
      const std::string& server = evidence.database.server;
      return server.empty() ? "the database's server" : "the database's server (" + server + ")";
    }


    // The section of Orthanc's configuration that has the database; null: none that is known
    const char* FindSection(const Json::Value& configuration)
    {
      for (const char* const section : {"PostgreSQL", "MySQL", "Odbc"})
      {
        if (configuration[section].isObject() &&
            configuration[section]["EnableIndex"] == Json::Value(true))
        {
          return section;
        }
      }

      return nullptr;
    }


    bool IsPostgreSql(const ServerFacts& facts)
    {
      const char* const section = FindSection(facts.configuration);
      return section != nullptr && std::string(section) == "PostgreSQL";
    }


    std::string AdviseOnLatency(const ServerFacts& facts)
    {
      std::string text =
          "Put the database's server next to Orthanc, on the same machine or in the same room or "
          "data centre. ";
      if (IsPostgreSql(facts))
      {
        text += facts.IsOlderThan(FEWER_ROUND_TRIPS)
                    ? "From Orthanc 1.12.5 on, the PostgreSQL plugin needs fewer round trips (its "
                      "release 7.0). "
                    : "The PostgreSQL plugin needs fewer round trips from its release 7.0 on. ";
      }
      return text +
             "More connections (\"IndexConnectionsCount\") let several senders wait at the same "
             "time: each of them waits as long, all together are faster.";
    }
  }


  // What the way takes is the shortest round trip of an instance: the server works in the others,
  // too, and in that one hardly
  std::optional<Finding> JudgeDatabaseLatency(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double total = traffic.GetTotalSeconds();

    if (traffic.instances < MINIMUM_INSTANCES || traffic.roundTrips <= 0 ||
        traffic.latencySeconds < MINIMUM_LATENCY_SHARE * total ||
        traffic.latencySeconds < MINIMUM_LATENCY * traffic.roundTrips)
    {
      return std::nullopt;
    }

    const double roundTrips = traffic.roundTrips / traffic.instances;
    const double latency = traffic.latencySeconds / traffic.roundTrips;
    const double share = traffic.latencySeconds / total;

    Finding finding;
    finding.id = "database-latency";
    finding.title = "The way to the database and back takes " + SayShare(share) + " of the time";
    finding.explanation = "Orthanc asks " + DescribeServer(evidence) + " " +
                          std::to_string(std::lround(roundTrips)) +
                          " times for an instance, one after the other, and waits at least " +
                          SayTime(latency) + " each time, whatever the server has to do.";
    finding.evidence["Server"] = evidence.database.server;
    finding.evidence["RoundTrips"] = roundTrips;
    finding.evidence["Latency"] = latency;
    finding.evidence["LatencyShare"] = share;
    finding.evidence["MeanDatabase"] = traffic.GetMean(Phase::Database);
    finding.cost = EstimateCost(traffic.latencySeconds, total, traffic);
    finding.remedy = Remedy::ChangeSystem(AdviseOnLatency(evidence.facts));
    return finding;
  }


  namespace
  {
    constexpr double MINIMUM_QUEUED_SHARE = 0.25;
    constexpr double MINIMUM_QUEUED = 0.001;  // an instance

    // Of the connections, those that are in use on average: below, something else is waited for
    constexpr double HARDLY_USED = 0.25;

    // What the PostgreSQL plugin has by default since its release 7.0
    constexpr double MANY_CONNECTIONS = 50;


    Remedy AdviseOnConnections(const ServerFacts& facts, double wanted)
    {
      const char* const section = FindSection(facts.configuration);
      std::string text =
          "Give the database's plugin a connection for each thread that may store at once; its "
          "option \"Lock\", if it has one, has to be false then.";
      if (IsPostgreSql(facts))
      {
        text += " From release 6.0 of the PostgreSQL plugin on, \"TransactionMode\" : "
                "\"ReadCommitted\" keeps parallel transactions from colliding.";
      }

      if (section == nullptr)
      {
        return Remedy::ChangeSystem(text);
      }

      Json::Value options;
      options[section]["IndexConnectionsCount"] = static_cast<Json::UInt64>(wanted);
      return Remedy::Configure(options, text);
    }
  }


  // A thread that does not compute before it asks the server first waits for a connection, if more
  // threads are in the index than there are connections: each has one at the most. They need not
  // be in use all the time: since release 9.0 of the PostgreSQL plugin, a thread that finds none
  // sleeps for 100 ms. Where the processor is short, ProcessorRule speaks.
  std::optional<Finding> JudgeDatabaseConnections(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const auto connections = static_cast<double>(evidence.database.connections);
    const double total = traffic.GetTotalSeconds();
    const double index = traffic.GetSeconds(Phase::Index);
    const double queued = traffic.queuedSeconds;

    if (traffic.instances < MINIMUM_INSTANCES || connections < 1 || traffic.activeSeconds <= 0 ||
        queued < MINIMUM_QUEUED_SHARE * total || queued < MINIMUM_QUEUED * traffic.instances)
    {
      return std::nullopt;
    }

    // Little's law: the mean number is the time of all over the time on the wall
    const double threads = index / traffic.activeSeconds;
    const double inUse = (index - queued) / traffic.activeSeconds;

    if (threads <= connections || inUse < HARDLY_USED * connections)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "database-connections";
    finding.title = "Instances wait for a free connection to the database: there " +
                    std::string(connections > 1 ? "are " : "is ") +
                    std::to_string(evidence.database.connections);
    finding.explanation =
        "In the index, an instance takes " + SayTime(queued / traffic.instances) +
        " before it asks " + DescribeServer(evidence) +
        " for the first time, and does not compute meanwhile, while more instances are there than "
        "connections: it waits for one.";
    finding.evidence["Server"] = evidence.database.server;
    finding.evidence["Connections"] = connections;
    finding.evidence["ConnectionsInUse"] = inUse;
    finding.evidence["InstancesInIndex"] = threads;
    finding.evidence["MeanQueued"] = queued / traffic.instances;
    finding.evidence["QueuedShare"] = queued / total;
    finding.cost = EstimateShare(queued, traffic);
    finding.remedy = AdviseOnConnections(evidence.facts,
                                         std::clamp(std::ceil(threads), connections + 1,
                                                    std::max(MANY_CONNECTIONS, connections + 1)));
    return finding;
  }
}
