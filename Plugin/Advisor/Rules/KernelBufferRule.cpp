// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/NetworkFigures.h"
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // Of the kernel's largest buffer, the window that shows that autotuning has come to its end:
    // half of it is the kernel's own overhead (tcp(7), tcp_adv_win_scale)
    constexpr double WINDOW_AT_ITS_END = 0.4;

    // What a limit should be raised to: enough for 1 Gb/s over 250 ms
    constexpr std::uint64_t ENOUGH = 32ULL * 1024 * 1024;


    // The sysctl that limits the window, and to what
    struct Limit
    {
      std::string name;
      std::string value;  // what to set
      double bytes = 0;
      double window = 0;  // what is left of it for data
    };


    std::optional<Limit> FindFixedLimit(bool isReceive, std::uint64_t asked, std::uint64_t allowed)
    {
      if (allowed == 0 || asked <= allowed)
      {
        return std::nullopt;
      }

      Limit limit;
      limit.name = isReceive ? "net.core.rmem_max" : "net.core.wmem_max";
      limit.value = std::to_string(asked);
      limit.bytes = static_cast<double>(allowed);
      limit.window = limit.bytes;
      return limit;
    }


    // Of what is received: of what is sent, only the peer's window is known
    std::optional<Limit> FindAutomaticLimit(const PeerEvidence& peer, std::uint64_t largest)
    {
      const auto end = static_cast<double>(largest);

      if (peer.direction != Direction::Receive || largest == 0 || largest >= ENOUGH || !peer.tcp ||
          peer.tcp->receiveWindow.value_or(0) < WINDOW_AT_ITS_END * end)
      {
        return std::nullopt;
      }

      Limit limit;
      limit.name = "net.ipv4.tcp_rmem";
      limit.value = "4096 131072 " + std::to_string(ENOUGH);
      limit.bytes = end;
      limit.window = *peer.tcp->receiveWindow;
      return limit;
    }


    std::optional<Limit> FindLimit(const PeerEvidence& peer, const Evidence& evidence)
    {
      const bool isReceive = peer.direction == Direction::Receive;
      const KernelLimits& kernel = evidence.facts.kernel;

      if (const auto fixed = GetFixedBuffer(evidence.tuning, peer.direction))
      {
        const std::uint64_t allowed =
            isReceive ? kernel.largestReceiveBuffer : kernel.largestSendBuffer;
        return FindFixedLimit(isReceive, *fixed, allowed);
      }

      return FindAutomaticLimit(peer, kernel.largestAutomaticReceive);
    }
  }


  std::optional<Finding> JudgeKernelBuffer(const PeerEvidence& peer, const Evidence& evidence)
  {
    const TrafficSums& traffic = peer.traffic;
    const double roundTrip = GetRoundTrip(peer);

    if (traffic.instances < MINIMUM_INSTANCES || roundTrip < MINIMUM_ROUND_TRIP)
    {
      return std::nullopt;
    }

    const std::optional<Limit> limit = FindLimit(peer, evidence);
    const double rate = GetTransferRate(peer);
    const double lost = EstimateLostToWindow(peer);

    if (!limit || rate < LIMITED_BY_WINDOW * limit->window / roundTrip ||
        lost < MINIMUM_SHARE * traffic.GetSecondsWithPauses())
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = GetDirectedId("kernel-buffer-limit", peer.direction);
    finding.title =
        "The kernel allows sockets too small a buffer for a distance of " + SayTime(roundTrip);
    finding.explanation = "The buffer has reached the end that " + limit->name + " sets, " +
                          SaySize(limit->bytes) + ". No more than " + SaySize(limit->window) +
                          " can be under way at a time, that is " +
                          SaySize(limit->window / roundTrip) + "/s over this distance.";
    finding.evidence["Sysctl"] = limit->name;
    finding.evidence["Limit"] = limit->bytes;
    finding.evidence["Window"] = limit->window;
    finding.evidence["RoundTrip"] = roundTrip;
    finding.evidence["WindowLimit"] = limit->window / roundTrip;
    finding.evidence["Rate"] = rate;
    finding.cost = EstimateBufferCost(peer, evidence);
    finding.remedy = Remedy::ChangeSystem("sysctl -w " + limit->name + "=\"" + limit->value +
                                          "\" (as root; to keep it, a file in /etc/sysctl.d)");
    return finding;
  }
}
