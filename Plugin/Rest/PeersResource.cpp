// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

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

      return AnswerJson(ListJson(known, [](const PeerSummary& peer) { return Describe(peer); }));
    };

    router.Register(
        "/perf/peers", HttpMethod::Get,
        "Each peer: rates, outcomes, where the time of its instances goes, associations, TCP", get);
  }
}
