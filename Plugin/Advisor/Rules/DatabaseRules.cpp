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

    // What the releases of the PostgreSQL plugin (orthanc-databases, PostgreSQL/NEWS) have, and
    // which Orthanc they need at least
    constexpr unsigned long WITH_TRANSACTION_MODE = 6;
    constexpr unsigned long WITH_FEWER_ROUND_TRIPS = 7;  // 50 connections and ReadCommitted as well
    constexpr OrthancRelease ORTHANC_FOR_FEWER_ROUND_TRIPS = {1, 12, 5};

    // By default since that release; before, and of the other plugins: 1
    constexpr std::uint64_t MANY_CONNECTIONS = 50;


    std::string DescribeServer(const Evidence& evidence)
    {
      const std::string& server = evidence.database.server;
      return server.empty() ? "the database's server" : "the database's server (" + server + ")";
    }


    // An option of the database's section
    const Json::Value& FindOption(const ServerFacts& facts, const char* option)
    {
      const char* const section = facts.FindDatabaseSection();
      return section == nullptr ? Json::Value::nullSingleton()
                                : facts.configuration[section][option];
    }


    // How many connections to the database there may be; 0: not known
    std::uint64_t CountAllowedConnections(const ServerFacts& facts)
    {
      const Json::Value& configured = FindOption(facts, "IndexConnectionsCount");

      if (configured.isUInt64())
      {
        return configured.asUInt64();
      }

      const std::optional<unsigned long> release = facts.FindPostgreSqlRelease();
      return !release ? 0 : *release >= WITH_FEWER_ROUND_TRIPS ? MANY_CONNECTIONS : 1;
    }


    // Whether transactions that meet are begun anew, and an option changes that
    bool CanCommitInParallel(const ServerFacts& facts)
    {
      const std::optional<unsigned long> release = facts.FindPostgreSqlRelease();

      if (!release || *release < WITH_TRANSACTION_MODE)
      {
        return false;
      }

      const Json::Value& configured = FindOption(facts, "TransactionMode");
      return configured.isString() ? configured.asString() != "ReadCommitted"
                                   : *release < WITH_FEWER_ROUND_TRIPS;
    }


    // Whether they wait for each other instead, whatever is set
    bool CollidesNever(const ServerFacts& facts)
    {
      const std::optional<unsigned long> release = facts.FindPostgreSqlRelease();
      return release && *release >= WITH_TRANSACTION_MODE && !CanCommitInParallel(facts);
    }


    // Empty: there is none that would help
    std::string AdviseOnNewerRelease(const ServerFacts& facts, const std::string& what)
    {
      const std::optional<unsigned long> release = facts.FindPostgreSqlRelease();

      if (!release || *release >= WITH_FEWER_ROUND_TRIPS)
      {
        return "";
      }

      return " From its release 7.0 on, the PostgreSQL plugin " + what + "; this is release " +
             facts.postgreSqlVersion + ". It needs Orthanc 1.12.5 or newer" +
             (facts.IsOlderThan(ORTHANC_FOR_FEWER_ROUND_TRIPS) ? "" : ", as this one is") +
             ", and changes the schema of the database.";
    }


    constexpr const char* READ_COMMITTED =
        "\"TransactionMode\" : \"ReadCommitted\" keeps parallel transactions from colliding.";


    // StatelessDatabaseOperations.cpp of Orthanc, ApplyInternal()
    constexpr const char* COLLISIONS =
        " Transactions that meet are begun anew, 100 ms later and more, and an instance is refused "
        "after \"MaximumConnectionRetries\" of them: try it with your senders, a few connections "
        "at a time.";


    // The servers of a fleet open all of their connections as they start
    constexpr const char* SHARED_CONNECTIONS =
        " All servers together may have no more than the database allows (\"max_connections\", "
        "less some): who does not get all of its own does not start.";


    // Of Orthanc, by default, and the most that are worth a connection each
    constexpr std::uint64_t HTTP_THREADS = 50;


    Remedy AdviseOnLatency(const ServerFacts& facts)
    {
      const std::optional<unsigned long> release = facts.FindPostgreSqlRelease();
      const std::uint64_t allowed = CountAllowedConnections(facts);
      const std::uint64_t wanted =
          std::min(facts.GetNumber("HttpThreadsCount", HTTP_THREADS), MANY_CONNECTIONS);
      Json::Value options;
      std::string text =
          "Put the database's server next to Orthanc, on the same machine or in the same room or "
          "data centre." +
          AdviseOnNewerRelease(facts, "needs fewer round trips");

      if (facts.IsPostgreSql() && !release)
      {
        text += facts.IsOlderThan(ORTHANC_FOR_FEWER_ROUND_TRIPS)
                    ? " From Orthanc 1.12.5 on, the PostgreSQL plugin needs fewer round trips (its "
                      "release 7.0)."
                    : " The PostgreSQL plugin needs fewer round trips from its release 7.0 on.";
      }

      if (facts.IsStorageInDatabase())
      {
        text +=
            " Keep the files in a folder (\"EnableStorage\" : false, for a new store): they all "
            "go over one connection, one after the other.";
      }
      else if (allowed < wanted)
      {
        text += " More connections (\"IndexConnectionsCount\") let several senders wait at the "
                "same time: each of them waits as long, all together are faster.";
        text += SHARED_CONNECTIONS;
        options["IndexConnectionsCount"] = static_cast<Json::UInt64>(wanted);
      }

      if (CanCommitInParallel(facts))
      {
        text += std::string(" ") + READ_COMMITTED;
        options["TransactionMode"] = "ReadCommitted";
      }

      // Before, more connections alone may cost as much as they win, where transactions collide
      if (!release || *release < WITH_TRANSACTION_MODE || options.isNull())
      {
        return Remedy::ChangeSystem(text);
      }

      return Remedy::Configure(MakeOption("PostgreSQL", options), text);
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
    finding.remedy = AdviseOnLatency(evidence.facts);
    return finding;
  }


  namespace
  {
    constexpr double MINIMUM_QUEUED_SHARE = 0.25;
    constexpr double MINIMUM_QUEUED = 0.001;  // an instance

    // Of the connections, those that are in use on average: below, something else is waited for
    constexpr double HARDLY_USED = 0.25;

    Remedy AdviseOnConnections(const ServerFacts& facts, double wanted)
    {
      const char* const section = facts.FindDatabaseSection();
      std::string text =
          "Give the database's plugin a connection for each thread that may store at once.";
      text += SHARED_CONNECTIONS;

      if (section == nullptr)
      {
        return Remedy::ChangeSystem(text);
      }

      Json::Value options;
      options[section]["IndexConnectionsCount"] = static_cast<Json::UInt64>(wanted);

      if (CanCommitInParallel(facts))
      {
        options[section]["TransactionMode"] = "ReadCommitted";
        text += std::string(" ") + READ_COMMITTED;
      }
      else if (!CollidesNever(facts))
      {
        text += COLLISIONS;
        text +=
            facts.IsPostgreSql() && !facts.FindPostgreSqlRelease()
                ? std::string(" From release 6.0 of the PostgreSQL plugin on, ") + READ_COMMITTED
                : AdviseOnNewerRelease(facts, "keeps parallel transactions from colliding, and "
                                              "has 50 connections by default");
      }

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
    const std::uint64_t count = std::max<std::uint64_t>(evidence.database.connections,
                                                        CountAllowedConnections(evidence.facts));
    const auto connections = static_cast<double>(count);
    const double total = traffic.GetTotalSeconds();
    const double index = traffic.GetSeconds(Phase::Index);
    const double queued = traffic.queuedSeconds;

    if (traffic.instances < MINIMUM_INSTANCES || count < 1 || traffic.activeSeconds <= 0 ||
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
                    std::string(count > 1 ? "are " : "is ") + std::to_string(count);
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
    finding.remedy = AdviseOnConnections(
        evidence.facts, std::clamp(std::ceil(threads), connections + 1,
                                   std::max<double>(MANY_CONNECTIONS, connections + 1)));
    return finding;
  }


  namespace
  {
    // SQLite on an SSD takes some 2 ms for an instance (190 page writes), PostgreSQL on the same
    // machine 3 to 5 ms
    constexpr double SLOW_INDEX = 0.008;

    constexpr double MINIMUM_INDEX_SHARE = 0.5;

    // Of what is in the index: below, the server is not what takes the time
    constexpr double MINIMUM_SERVER_SHARE = 0.5;


    // Whether it is seen that the server was asked, and that waiting for it is the least of it
    bool IsBeyondServer(const Evidence& evidence)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
      return evidence.facts.hasDatabasePlugin && traffic.roundTrips > 0 &&
             traffic.GetSeconds(Phase::Database) <
                 MINIMUM_SERVER_SHARE * traffic.GetSeconds(Phase::Index);
    }


    std::string ExplainBeyondServer(const Evidence& evidence)
    {
      const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
      const double queued = traffic.queuedSeconds / traffic.instances;
      return "Of " + SayTime(traffic.GetMean(Phase::Index)) +
             " in the index, an instance waits for " + DescribeServer(evidence) + " for " +
             SayTime(traffic.GetMean(Phase::Database)) +
             ": neither the server nor the way to it is why. " + SayTime(queued) +
             " pass before the first question, without computing: for a connection that queries of "
             "others have, or a lock. The rest may be Orthanc's pauses before it begins a "
             "transaction anew that met another one (100 ms and more), or what another plugin or "
             "Lua does with each stored instance.";
    }


    Remedy AdviseBeyondServer(const ServerFacts& facts)
    {
      std::string text = "Look at who else asks this server much, at senders that store into one "
                         "study at the same time, and at what other plugins and Lua do once an "
                         "instance is stored.";

      if (!CanCommitInParallel(facts))
      {
        text += AdviseOnNewerRelease(facts, "keeps parallel transactions from colliding");
        return Remedy::ChangeSystem(text);
      }

      return Remedy::Configure(MakeOption("PostgreSQL", "TransactionMode", "ReadCommitted"),
                               text + " " + READ_COMMITTED);
    }


    std::string Explain(const Evidence& evidence)
    {
      if (IsBeyondServer(evidence))
      {
        return ExplainBeyondServer(evidence);
      }

      return evidence.facts.hasDatabasePlugin
                 ? "Each instance makes many statements, one after the other: each of them is a "
                   "round trip to the database server, and a commit that its disk has to take."
                 : "SQLite writes some 190 pages for an instance, under one lock for all threads: "
                   "its disk is slow, or busy with something else.";
    }


    // A Unix socket, or a loopback address
    bool IsOnThisMachine(const std::string& server)
    {
      const std::string begin = server.substr(0, server.find_first_of(".]") + 1);
      return begin == "127." || begin == "[::1]" || server.find_first_of("/@") == 0;
    }


    Remedy Advise(const Evidence& evidence)
    {
      if (IsBeyondServer(evidence))
      {
        return AdviseBeyondServer(evidence.facts);
      }

      if (evidence.facts.hasDatabasePlugin)
      {
        return Remedy::ChangeSystem(
            IsOnThisMachine(evidence.database.server)
                ? "Give the database server's data a faster disk (SSD), and it more memory."
                : "Put the database server on Orthanc's own machine or next to it, on an SSD.");
      }

      return Remedy::Configure(MakeOption("IndexDirectory", "/a/folder/on/an/SSD"),
                               "Put the index on an SSD (move the file \"index\" there while "
                               "Orthanc is stopped), or use the PostgreSQL plugin.");
    }
  }


  std::optional<Finding> JudgeIndex(const Evidence& evidence)
  {
    const TrafficSums& traffic = evidence.GetTotal(Direction::Receive);
    const double share = traffic.GetShare(Phase::Index);
    const double service = traffic.GetServiceTime(Phase::Index);

    if (traffic.instances < MINIMUM_INSTANCES || share < MINIMUM_INDEX_SHARE ||
        service < SLOW_INDEX)
    {
      return std::nullopt;
    }

    // Which say why
    if (JudgeDatabaseLatency(evidence) || JudgeDatabaseConnections(evidence))
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "index";
    finding.title = "Ingest waits for the database: " + SayTime(service) + " for an instance";
    finding.explanation = Explain(evidence);
    finding.evidence["Database"] = evidence.facts.hasDatabasePlugin ? "plugin" : "SQLite";
    finding.evidence["MeanIndex"] = traffic.GetMean(Phase::Index);
    finding.evidence["ServiceTime"] = service;
    finding.evidence["IndexShare"] = share;
    finding.cost = EstimateShare(traffic.GetSeconds(Phase::Index), traffic);
    finding.remedy = Advise(evidence);
    return finding;
  }
}
