// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t MINIMUM_ASSOCIATIONS = 3;

    // An association takes two round trips and some milliseconds; what is far beyond that is a
    // timer or a look-up
    constexpr double MINIMUM_SETUP = 0.250;

    // DCMTK's movescu looks at its two associations in turns of a second each (dimmove.cc; report
    // 001)
    constexpr double POLL_AT_LEAST = 0.8;
    constexpr double POLL_AT_MOST = 1.3;

    // The time-out of a DNS look-up that nobody answers is 5 s (resolv.conf(5), RES_TIMEOUT)
    constexpr double LOOKUP = 4.5;


    double GetMedian(std::vector<Duration> durations)
    {
      const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
      std::nth_element(durations.begin(), middle, durations.end());
      return ToSeconds(*middle);
    }


    bool IsPoll(Direction direction, double setup)
    {
      return direction == Direction::Send && setup >= POLL_AT_LEAST && setup <= POLL_AT_MOST;
    }


    std::string Explain(Direction direction, double setup)
    {
      if (IsPoll(direction, setup))
      {
        return "A wait of one second is that of a C-MOVE client built with DCMTK (movescu) that "
               "receives the images in the thread that also waits for the C-MOVE's responses: it "
               "looks at each of the two for a second before it looks at the other.";
      }

      if (direction == Direction::Send)
      {
        return "The peer takes that long to accept a connection or to answer its A-ASSOCIATE-RQ: "
               "it looks up the name of the caller's address, or has no thread free.";
      }

      return "The peer connects, and sends its A-ASSOCIATE-RQ only after that time. Orthanc "
             "accepts associations one after the other, on one thread: all that come meanwhile "
             "wait too.";
    }


    Remedy Advise(Direction direction, double setup)
    {
      if (IsPoll(direction, setup))
      {
        return Remedy::AskPeer("Receive the images in a thread or program of its own (storescp), "
                               "or by C-GET (getscu), where there is one association only.");
      }

      if (setup >= LOOKUP)
      {
        return Remedy::AskPeer("Give Orthanc's address a name on the peer's DNS server or in its "
                               "hosts file, or switch the peer's look-up off.");
      }

      return direction == Direction::Send
                 ? Remedy::AskPeer("Check the peer's name look-up (reverse DNS of Orthanc's "
                                   "address) and how many associations it serves at once.")
                 : Remedy::AskPeer(
                       "Find out what the peer does between connecting and asking for the "
                       "association (look-up of names, a slow TLS handshake, a proxy on the way).");
    }
  }


  std::optional<Finding> JudgeAssociationSetup(const PeerEvidence& peer, const Evidence& evidence)
  {
    if (peer.setups.size() < MINIMUM_ASSOCIATIONS)
    {
      return std::nullopt;
    }

    const double setup = GetMedian(peer.setups);

    if (setup - 2 * GetRoundTrip(peer) < MINIMUM_SETUP)
    {
      return std::nullopt;
    }

    const double lost = setup * static_cast<double>(peer.setups.size());

    Finding finding;
    finding.id = GetDirectedId("slow-association", peer.direction);
    finding.title = "It takes " + SayTime(setup) + " until an association is answered";
    finding.explanation = Explain(peer.direction, setup);
    finding.evidence["MedianSetupTime"] = setup;
    finding.evidence["Associations"] = static_cast<Json::UInt64>(peer.setups.size());
    finding.evidence["RoundTrip"] = GetRoundTrip(peer);
    finding.cost = EstimateShare(lost, evidence.GetTotalOfPeers(peer.direction));
    finding.remedy = Advise(peer.direction, setup);
    return finding;
  }
}
