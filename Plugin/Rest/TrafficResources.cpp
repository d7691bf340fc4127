// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Each phase's part of the time of all instances: {"Receive": 0.8, "Commit": 0.2}
    Json::Value GetShares(const TrafficBucket& traffic)
    {
      return ListPhases(
          [&traffic](Phase phase)
          {
            const bool isPart = traffic.IsObserved(phase) && IsPartOfDuration(phase);
            return isPart && traffic.GetTotalSeconds() > 0
                       ? std::make_optional(traffic.GetShare(phase))
                       : std::nullopt;
          });
    }

    void AddTimes(Json::Value& json, const char* key, const TimeSummary& times)
    {
      if (times.count > 0)
      {
        json[key] = MakeObject(
            {{"Mean", times.GetMean()}, {"Latest", times.latest}, {"Maximum", times.maximum}});
      }
    }

    Json::Value DescribeCounts(const PeerAssociations& associations)
    {
      Json::Value json = MakeObject({{"Open", IfKnown(associations.open)},
                                     {"LatestRejection", IfAny(associations.rejection)}});

      for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
      {
        json[ToKey(ToLabel(outcome))] = ToJson(associations.GetCount(outcome));
      }

      AddTimes(json, "SetupTime", associations.setup);
      AddTimes(json, "ConnectTime", associations.connect);

      if (const std::uint64_t established = associations.CountEstablished(); established > 0)
      {
        const auto divisor = static_cast<double>(established);
        json["InstancesPerAssociation"] = static_cast<double>(associations.instances) / divisor;
        json["BytesPerAssociation"] = static_cast<double>(associations.bytes) / divisor;
      }

      return json;
    }

    Json::Value Describe(const TcpSummary& tcp)
    {
      return MakeObject({{"RoundTrip", IfAny(ToSeconds(tcp.roundTrip))},
                         {"SendMss", IfAny(tcp.sendMss)},
                         {"ReceiveMss", IfAny(tcp.receiveMss)},
                         {"Retransmits", tcp.retransmits},
                         {"MinimumRoundTrip", IfKnown(tcp.minimumRoundTrip)},
                         {"SendWindow", IfKnown(tcp.sendWindow)},
                         {"ReceiveWindow", IfKnown(tcp.receiveWindow)},
                         {"Busy", IfKnown(tcp.busy)},
                         {"ReceiveWindowLimited", IfKnown(tcp.receiveWindowLimited)},
                         {"SendBufferLimited", IfKnown(tcp.sendBufferLimited)}});
    }

    Json::Value Describe(const PeerSummary& peer, Direction direction)
    {
      const PeerTraffic& traffic = peer.directions.at(static_cast<std::size_t>(direction));
      const PeerAssociations& associations = traffic.associations;
      Json::Value json;

      if (traffic.instances > 0 || associations.IsAny())
      {
        json = ToJson(traffic, traffic.rates);
        json["PhaseTimes"] =
            ListPhases([&traffic](Phase phase) { return traffic.FindSeconds(phase); });
        json["PhaseShares"] = GetShares(traffic);
      }

      if (!associations.IsAny())
      {
        return json;
      }

      // The requestor says some of these of itself: when Orthanc calls, they are Orthanc's own
      const AssociationParties& parties = associations.parties;
      const bool isPeers = direction == Direction::Receive;
      return MakeObject(
          {{"Associations", DescribeCounts(associations)},
           {"CallingTitle", IfAny(parties.callingTitle)},
           {"CalledTitle", IfAny(parties.calledTitle)},
           {"ImplementationVersion", isPeers ? IfAny(parties.implementationVersion) : std::nullopt},
           {"MaximumPduLength", isPeers ? IfAny(parties.maximumLength) : std::nullopt},
           {"Tcp",
            associations.tcp ? std::make_optional(Describe(*associations.tcp)) : std::nullopt}},
          json);
    }

    Json::Value Describe(const PeerSummary& peer)
    {
      Json::Value json = MakeObject({{"Name", peer.name},
                                     {"Address", peer.address},
                                     {"FirstSeen", ToJson(ToSystemTime(peer.firstSeen))},
                                     {"LastSeen", ToJson(ToSystemTime(peer.lastSeen))}});

      for (const Direction direction : GetAllDirections())
      {
        if (const Json::Value way = Describe(peer, direction); !way.isNull())
        {
          json[ToKey(ToLabel(direction))] = way;
        }
      }

      return json;
    }

    // Points begin with a second. 0: all of them
    UnixSeconds GetSince(const RestRequest& request)
    {
      const std::optional<std::string> text = GetArgument(request, "since");
      const auto moment = ParseMoment(text.value_or("19700101T000000"));

      if (!moment)
      {
        throw MakeArgumentError("since", *text, "a moment in UTC such as 20261121T104736");
      }

      return std::chrono::ceil<std::chrono::seconds>(moment->time_since_epoch()).count();
    }

    bool IsObserved(const HistoryExcerpt& excerpt, std::size_t direction, Phase phase)
    {
      return std::any_of(excerpt.points.begin(), excerpt.points.end(),
                         [=](const HistoryPoint& point)
                         { return point.directions[direction].IsObserved(phase); });
    }

    Json::Value Describe(const HistoryExcerpt& excerpt, std::size_t place)
    {
      const auto list = [&excerpt, place](bool isObserved, auto get)
      {
        return isObserved ? std::make_optional(
                                ListJson(excerpt.points, [&get, place](const HistoryPoint& point)
                                         { return Json::Value(get(point.directions[place])); }))
                          : std::nullopt;
      };
      const auto count = [](auto member)
      {
        return [member](const TrafficBucket& traffic)
        {
          return ToCount(traffic.*member);
        };
      };
      const bool areStallsObserved = excerpt.areStallsObserved[place];
      return MakeObject(
          {{"Instances", list(true, count(&TrafficBucket::instances))},
           {"Bytes", list(true, count(&TrafficBucket::bytes))},
           {"Failed", list(true, [](const TrafficBucket& traffic)
                           { return ToCount(traffic.GetOutcome(Outcome::Failed)); })},
           {"Stalls", list(areStallsObserved, count(&TrafficBucket::stalls))},
           {"StallSeconds", list(areStallsObserved, [](const TrafficBucket& traffic)
                                 { return traffic.stallSeconds; })},
           {"StallIdleSeconds", list(areStallsObserved, [](const TrafficBucket& traffic)
                                     { return traffic.stallIdleSeconds; })},
           {"RemoteRoundTrips", list(IsObserved(excerpt, place, Phase::Remote),
                                     count(&TrafficBucket::remoteRoundTrips))},
           {"DatabaseRoundTrips", list(IsObserved(excerpt, place, Phase::Database),
                                       count(&TrafficBucket::databaseRoundTrips))},
           {"Phases", ListPhases(
                          [&](Phase phase)
                          {
                            return list(IsObserved(excerpt, place, phase),
                                        [phase](const TrafficBucket& traffic)
                                        { return traffic.GetSeconds(phase); });
                          })}});
    }

    Json::Value Describe(const TuningAuthor& author)
    {
      return MakeObject({{"Origin", author.address.empty() ? "Internal" : "RestApi"},
                         {"Address", IfAny(author.address)},
                         {"User", IfAny(author.user)}});
    }

    Json::Value Describe(const TuningChange& change)
    {
      return MakeObject({{"Time", ToJson(change.time)},
                         {"Change", change.change},
                         {"Undo", change.undo},
                         {"By", Describe(change.author)}});
    }
  }

  void RegisterPeersResource(RestRouter& router, PeerStatistics& peers)
  {
    const auto get = [&peers](const RestRequest&)
    {
      std::vector<PeerSummary> known = peers.Summarize();

      if (!known.empty() && known.back().name.empty())
      {
        known.pop_back();
      }

      return AnswerJson(ListJson(known, Describe));
    };

    router.Register(
        "/perf/peers", HttpMethod::Get,
        "Each peer: rates, outcomes, where the time of its instances goes, associations, TCP", get);
  }

  void RegisterHistoryResource(RestRouter& router, History& history, const TuningStore& tuning)
  {
    const auto get = [&history, &tuning](const RestRequest& request)
    {
      const auto resolution = GetChoice<HistoryResolution>(request, "resolution");
      const HistoryExcerpt excerpt =
          history.Read(resolution.value_or(HistoryResolution::Second), GetSince(request));
      const auto begin = std::chrono::system_clock::from_time_t(excerpt.begin);
      const auto list = [&excerpt](auto member)
      {
        return ListJson(excerpt.points,
                        [=](const HistoryPoint& point) { return Json::Value(point.*member); });
      };
      return AnswerCompactJson(
          MakeObject({{"Resolution", static_cast<Json::Int64>(excerpt.resolution.count())},
                      {"Begin", ToJson(begin)},
                      {"Receive", Describe(excerpt, static_cast<std::size_t>(Direction::Receive))},
                      {"Send", Describe(excerpt, static_cast<std::size_t>(Direction::Send))},
                      {"Serve", Describe(excerpt, SERVE)},
                      {"Associations", list(&HistoryPoint::associations)},
                      {"FailedCalls", list(&HistoryPoint::failedCalls)},
                      {"BudgetHeld", list(&HistoryPoint::budgetHeld)},
                      {"BudgetWaiting", list(&HistoryPoint::budgetWaiting)},
                      {"BudgetWaited", list(&HistoryPoint::budgetWaited)},
                      {"TuningChanges", ListJson(tuning.GetChanges(begin), Describe)}}));
    };

    router.Register("/perf/history", HttpMethod::Get,
                    "The last hour by the second or the last day by the minute, for charts", get);
  }
}
