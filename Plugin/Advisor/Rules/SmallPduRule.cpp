// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // Orthanc's default, and DCMTK's (ASC_DEFAULTMAXPDU); larger ones were measured to make no
    // difference
    constexpr std::uint64_t DEFAULT_PDU = 16384;

    // The largest that Orthanc takes
    constexpr std::uint64_t LARGEST_PDU = 131072;

    // A rate at which the work for each PDU shows, bytes a second
    constexpr double FAST = 20e6;
  }


  std::optional<Finding> JudgeSmallPdu(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;
    const std::uint64_t pdu = evidence.facts.GetNumber("MaximumPduLength", DEFAULT_PDU);
    const double roundTrip = GetRoundTrip(peer);
    const double rate = GetTransferRate(peer);
    const bool isDicom = !peer.parties.callingTitle.empty();

    if (!isDicom || peer.direction != Direction::Receive || pdu >= DEFAULT_PDU ||
        traffic.instances < MINIMUM_INSTANCES || (rate < FAST && roundTrip < MINIMUM_ROUND_TRIP) ||
        traffic.GetSeconds(Phase::Receive) < MINIMUM_SHARE * traffic.GetSecondsWithPauses() ||
        MayHaveWaitedForMemory(peer, evidence))
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "small-pdus";
    finding.title = "Images come in pieces of " + SaySize(static_cast<double>(pdu));
    finding.explanation =
        "Orthanc tells senders to cut an image into PDUs of this size. Each of them costs both "
        "sides system calls; at this rate or distance that shows.";
    finding.evidence["MaximumPduLength"] = static_cast<Json::UInt64>(pdu);
    finding.evidence["PdusPerInstance"] =
        traffic.bytes / traffic.instances / static_cast<double>(pdu);
    finding.evidence["Rate"] = rate;
    finding.evidence["RoundTrip"] = roundTrip;
    // The work for an image grows with the number of its PDUs, so far as it was measured
    const double saved = 1 - static_cast<double>(pdu) / static_cast<double>(DEFAULT_PDU);
    finding.cost = EstimateShare(traffic.GetSeconds(Phase::Receive) * saved,
                                 evidence.GetTotalOfPeers(Direction::Receive));
    finding.remedy =
        Remedy::Configure(MakeOption("MaximumPduLength", static_cast<Json::UInt64>(LARGEST_PDU)),
                          "Allow larger PDUs; Orthanc has to be restarted.");
    return finding;
  }
}
