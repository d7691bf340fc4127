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
        json[key]["Mean"] = ToJson(times.GetMean());
        json[key]["Latest"] = ToJson(times.latest);
        json[key]["Maximum"] = ToJson(times.maximum);
      }
    }


    Json::Value DescribeCounts(const PeerAssociations& associations)
    {
      Json::Value json;

      if (associations.open)
      {
        json["Open"] = ToJson(*associations.open);
      }

      for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
      {
        json[ToKey(ToLabel(outcome))] = ToJson(associations.GetCount(outcome));
      }

      if (!associations.rejection.empty())
      {
        json["LatestRejection"] = associations.rejection;
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


    void AddSize(Json::Value& json, const char* key, std::uint32_t bytes)
    {
      if (bytes > 0)
      {
        json[key] = bytes;
      }
    }


    void AddParties(Json::Value& json, const AssociationParties& parties, Direction direction)
    {
      AddText(json, "CallingTitle", parties.callingTitle);
      AddText(json, "CalledTitle", parties.calledTitle);

      // The requestor says these of itself: when Orthanc calls, they are Orthanc's own
      if (direction == Direction::Receive)
      {
        AddText(json, "ImplementationVersion", parties.implementationVersion);
        AddSize(json, "MaximumPduLength", parties.maximumLength);
      }
    }


    Json::Value Describe(const TcpSummary& tcp)
    {
      Json::Value json;

      if (tcp.roundTrip > Duration::zero())
      {
        json["RoundTrip"] = ToJson(tcp.roundTrip);
      }

      AddSize(json, "SendMss", tcp.sendMss);
      AddSize(json, "ReceiveMss", tcp.receiveMss);
      json["Retransmits"] = tcp.retransmits;
      AddIfKnown(json, "MinimumRoundTrip", tcp.minimumRoundTrip);
      AddIfKnown(json, "SendWindow", tcp.sendWindow);
      AddIfKnown(json, "ReceiveWindow", tcp.receiveWindow);
      AddIfKnown(json, "Busy", tcp.busy);
      AddIfKnown(json, "ReceiveWindowLimited", tcp.receiveWindowLimited);
      AddIfKnown(json, "SendBufferLimited", tcp.sendBufferLimited);
      return json;
    }


    void AddAssociations(Json::Value& json, const PeerAssociations& associations,
                         Direction direction)
    {
      json["Associations"] = DescribeCounts(associations);
      AddParties(json, associations.parties, direction);

      if (associations.tcp)
      {
        json["Tcp"] = Describe(*associations.tcp);
      }
    }


    // Null if nothing went this way
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

      if (associations.IsAny())
      {
        AddAssociations(json, associations, direction);
      }

      return json;
    }


    Json::Value Describe(const PeerSummary& peer)
    {
      Json::Value json;
      json["Name"] = peer.name;
      json["Address"] = peer.address;
      json["FirstSeen"] = ToJson(peer.firstSeen);
      json["LastSeen"] = ToJson(peer.lastSeen);

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
