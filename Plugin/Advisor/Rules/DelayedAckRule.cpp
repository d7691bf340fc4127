// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double MINIMUM_STALLS = 10;

    // A protocol stalls in every message or every other one, a busy machine now and then
    constexpr double MINIMUM_STALLS_PER_INSTANCE = 0.2;

    // A signature: how long the peers' systems hold an acknowledgement back
    struct Signature
    {
      double atLeast;
      double atMost;
      const char* name;
    };

    // Linux: 40 ms (TCP_DELACK_MIN in include/net/tcp.h, HZ / 25), and some for two sides in a row.
    // Windows: 200 ms (registry TcpDelAckTicks, two ticks of 100 ms).
    constexpr Signature LINUX = {0.025, 0.090, "Linux holds acknowledgements back for 40 ms"};
    constexpr Signature OTHERS = {0.150, 0.300, "Windows holds acknowledgements back for 200 ms"};


    // Where Orthanc's side is tuned, a pause of the peer's own is likelier than a timer, but for
    // one that takes just as long as the timer. (Losses are not looked for then. Over a short way
    // they cost less, or 200 ms and more: TCP_RTO_MIN in include/net/tcp.h.)
    constexpr Signature LINUX_ALONE = {0.036, 0.055, LINUX.name};


    Json::Value MakePatch()
    {
      Json::Value patch;
      patch["DicomSockets"]["TcpNoDelay"] = true;
      patch["DicomSockets"]["TcpQuickAck"] = true;
      return patch;
    }


    bool IsIn(const Signature& signature, double wait)
    {
      return wait >= signature.atLeast && wait < signature.atMost;
    }


    // Over a distant path a wait may be a round trip and no stall: that much is left out
    const Signature* FindSignature(double mean, double roundTrip, bool isTuned)
    {
      const bool isDistant = roundTrip >= MINIMUM_ROUND_TRIP;

      if (isTuned)
      {
        return !isDistant && IsIn(LINUX_ALONE, mean) ? &LINUX_ALONE : nullptr;
      }

      const double wait = isDistant ? mean - roundTrip : mean;
      return IsIn(LINUX, wait) ? &LINUX : IsIn(OTHERS, wait) ? &OTHERS : nullptr;
    }


    Remedy AdviseBetween()
    {
      return Remedy::ChangeSystem(
          "Orthanc's side sends and acknowledges at once already. If there is a load balancer "
          "(HAProxy) between it and the peer, that one holds acknowledgements back: let its "
          "machine acknowledge at once (\"quickack 1\" of ip-route(8), for the way to the peers), "
          "or the peer send at once (DCMTK: TCP_NODELAY=1 in its environment).");
    }


    // What was waited for something that the network had lost, no acknowledgement would have ended
    struct Stalls
    {
      explicit Stalls(const TrafficSums& traffic) :
        count(std::max(traffic.stalls - traffic.lossStalls, 0.0)),
        seconds(std::max(traffic.stallSeconds - traffic.lossStallSeconds, 0.0)),
        mean(count > 0 ? seconds / count : 0)
      {
      }

      double count;
      double seconds;
      double mean;
    };


    Json::Value Describe(const TrafficSums& traffic, const Stalls& stalls)
    {
      Json::Value json;
      json["StallsPerInstance"] = stalls.count / traffic.instances;
      json["MeanStall"] = stalls.mean;
      json["StallShare"] = stalls.seconds / traffic.GetSecondsWithPauses();
      return json;
    }
  }


  std::optional<Finding> JudgeDelayedAck(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;
    const Stalls stalls(traffic);
    const bool isTuned = IsRemedied(evidence.tuning.dicomSockets);
    const Signature* const signature = FindSignature(stalls.mean, GetRoundTrip(peer), isTuned);

    if (!IsDicom(peer) || traffic.instances < MINIMUM_INSTANCES || stalls.count < MINIMUM_STALLS ||
        stalls.count < MINIMUM_STALLS_PER_INSTANCE * traffic.instances || signature == nullptr ||
        stalls.seconds < MINIMUM_SHARE * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = GetDirectedId("delayed-ack", peer.direction);
    finding.title = "Transfers stall for " + SayTime(stalls.mean) + " again and again";
    finding.explanation =
        "One side waits for an acknowledgement before it sends the small end of a message (Nagle's "
        "algorithm), while the other side holds the acknowledgement back in case it has something "
        "to send along (delayed ACK). Neither moves until a timer runs out: " +
        std::string(signature->name) + ". The network and both machines are idle meanwhile.";
    finding.evidence = Describe(traffic, stalls);
    finding.cost = EstimateCost(stalls.seconds, traffic.GetSecondsWithPauses(),
                                evidence.GetTotalOfPeers(peer.direction));
    finding.remedy =
        isTuned ? AdviseBetween()
                : Remedy::Tune(MakePatch(),
                               "Let Orthanc send at once (TcpNoDelay) and acknowledge at once "
                               "(TcpQuickAck). The peer need not be changed.");
    return finding;
  }
}
