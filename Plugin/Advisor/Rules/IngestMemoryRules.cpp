// SPDX-License-Identifier: GPL-3.0-or-later
#include "Admission/AdmissionQueue.h"
#include "Advisor/Rules/Rules.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // The rest of the machine, and what is mapped of files, may take what is left
    constexpr double ALMOST_ALL = 0.75;

    // Of that, what large images took, or to hold them back would not help: the rest is caches and
    // what else runs in this process
    constexpr double REAL_PART = 0.25;

    // What would be left of it for Orthanc's caches and for the largest message by itself
    constexpr const char* PROPOSED_BUDGET = "25%";


    double ToDouble(std::uint64_t number)
    {
      return static_cast<double>(number);
    }


    Finding MakeFinding(const Evidence& evidence)
    {
      Finding finding;
      finding.id = "ingest-memory";
      finding.evidence["Memory"] = static_cast<Json::UInt64>(evidence.facts.memory);
      return finding;
    }


    std::string SayMessages(std::uint64_t count)
    {
      return std::to_string(count) + (count == 1 ? " large message" : " large messages");
    }


    // Both are of the same minutes, and nothing of them counts for less
    double GetWaitedShare(const MemoryEvidence& memory)
    {
      return memory.received > 0 ? std::min(memory.waited / memory.received, 1.0) : 0;
    }


    // Those that began to wait earlier are no waits of these minutes
    std::string SayWaits(const MemoryEvidence& memory)
    {
      if (memory.waits != 0)
      {
        return SayMessages(memory.waits) + " had to wait for it in the last minutes";
      }

      return memory.givenUp != 0
                 ? SayMessages(memory.givenUp) + " got on without room in the last minutes"
                 : "large messages waited for it for " + SayTime(memory.waited) +
                       " in the last minutes";
    }


    std::string SayWithoutRoom(const MemoryEvidence& memory)
    {
      return memory.givenUp == 0 ? "None got on without room."
                                 : SayMessages(memory.givenUp) +
                                       " got on without room after the longest wait: Linux may end "
                                       "Orthanc.";
    }


    std::string AdviseOnWaits(const MemoryEvidence& memory)
    {
      const std::string wait =
          memory.givenUp == 0
              ? ""
              : "Where senders wait longer, \"Memory.IngestWaitSeconds\" may be more. ";
      return wait + "Allow Orthanc more memory and \"Memory.IngestBudget\" with it, or let fewer "
                    "senders send large images at once.";
    }


    // They wait for memory, on purpose; is it worth anybody's while?
    std::optional<Finding> JudgeWaits(const Evidence& evidence)
    {
      const MemoryEvidence& memory = evidence.memory;
      const double share = GetWaitedShare(memory);

      if (memory.givenUp == 0 && share < MINIMUM_SHARE)
      {
        return std::nullopt;
      }

      Finding finding = MakeFinding(evidence);
      finding.title = "Memory, not the disk, is the limit: " + SayWaits(memory);
      finding.explanation =
          "Orthanc holds each instance several times while it stores it. Together they may take " +
          SaySize(ToDouble(memory.budget)) +
          " (\"Memory.IngestBudget\"); those that come on top are held back at their sockets. " +
          SayWithoutRoom(memory);
      finding.evidence["IngestBudget"] = static_cast<Json::UInt64>(memory.budget);
      finding.evidence["Waits"] = static_cast<Json::UInt64>(memory.waits);
      finding.evidence["Waited"] = memory.waited;
      finding.evidence["GivenUp"] = static_cast<Json::UInt64>(memory.givenUp);
      finding.cost.shareOfIngestTime = share;
      finding.remedy = Remedy::ChangeSystem(AdviseOnWaits(memory));
      return finding;
    }


    double GetMeanLargeSize(const TrafficSums& received)
    {
      return received.largeInstances > 0 ? received.largeBytes / received.largeInstances : 0;
    }


    // What the large images that were there at once took, about: of those that are at work on
    // average, as many as there were large ones
    double EstimateTaken(const TrafficSums& received)
    {
      const double atOnce = received.activeSeconds > 0
                                ? received.GetTotalSeconds() / received.activeSeconds
                                : received.largeInstances;
      return GetMeanLargeSize(received) * AdmissionQueue::COPIES *
             std::max(1.0, std::min(atOnce, received.largeInstances));
    }


    Remedy AdviseOnBudget(const MemoryEvidence& memory)
    {
      if (!memory.canWait)
      {
        return Remedy::ChangeSystem(
            "Allow Orthanc more memory, or let fewer senders send large images at once. "
            "\"Memory.IngestBudget\" would hold them back, but needs the socket probe: \"Probe\" "
            "of "
            "/perf/status says why there is none.");
      }

      return Remedy::Tune(
          MakeOption("Memory", "IngestBudget", PROPOSED_BUDGET),
          "Hold senders back, by TCP, while large images take more than a quarter of that.");
    }


    // A few large images are most of what comes, however many small ones come beside them
    bool AreMostlyLarge(const TrafficSums& received)
    {
      return received.largeInstances > 0 && received.largeBytes >= received.bytes / 2;
    }


    std::optional<Finding> JudgeWithoutBudget(const Evidence& evidence)
    {
      const TrafficSums& received = evidence.GetTotal(Direction::Receive);
      const double peak = ToDouble(evidence.memory.recentPeak);
      const double memory = ToDouble(evidence.facts.memory);

      if (memory == 0 || peak < ALMOST_ALL * memory || !AreMostlyLarge(received) ||
          EstimateTaken(received) < REAL_PART * peak)
      {
        return std::nullopt;
      }

      const double mean = GetMeanLargeSize(received);

      Finding finding = MakeFinding(evidence);
      finding.title = "Orthanc has had " + SaySize(peak) + " of " + SaySize(memory) +
                      " of memory while large images came";
      finding.explanation = "Orthanc holds each instance " +
                            std::to_string(AdmissionQueue::COPIES) +
                            " times while it stores it; lately a large one had " + SaySize(mean) +
                            ". When nothing is left, Linux ends Orthanc, and all that is under "
                            "way is lost.";
      finding.evidence["Peak"] = peak;
      finding.evidence["MeanSize"] = mean;
      finding.remedy = AdviseOnBudget(evidence.memory);
      return finding;
    }
  }


  std::optional<Finding> JudgeIngestMemory(const Evidence& evidence)
  {
    return evidence.memory.budget == 0 ? JudgeWithoutBudget(evidence) : JudgeWaits(evidence);
  }
}
