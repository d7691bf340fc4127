// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"
#include "Ingest/IngestBudget.h"

namespace OrthancPerf
{
  namespace
  {
    // The rest of the machine, and what is mapped of files, may take what is left
    constexpr double ALMOST_ALL = 0.75;

    // What would be left of it for Orthanc's caches and for the largest message by itself
    constexpr const char* PROPOSED_BUDGET = "25%";

    // Less than this is not worth a restart of Orthanc
    constexpr double MUCH_KEPT = 256.0 * 1024 * 1024;


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


    // They wait for memory, on purpose; is it worth anybody's while?
    std::optional<Finding> JudgeWaits(const Evidence& evidence)
    {
      const MemoryEvidence& memory = evidence.memory;
      const TrafficSums& received = evidence.GetTotal(Direction::Receive);
      const Cost cost = EstimateShare(memory.waited, received);

      if (memory.waits == 0 || (memory.givenUp == 0 && cost.shareOfIngestTime < MINIMUM_SHARE))
      {
        return std::nullopt;
      }

      Finding finding = MakeFinding(evidence);
      finding.title = "Memory, not the disk, is the limit: " + std::to_string(memory.waits) +
                      " large messages had to wait for it in the last minutes";
      finding.explanation =
          "Orthanc holds each instance several times while it stores it. Together they may take " +
          SaySize(ToDouble(memory.budget)) +
          " (\"Memory.IngestBudget\"); those that come on top are held back at their sockets. " +
          (memory.givenUp == 0 ? "None of them was let on without room."
                               : std::to_string(memory.givenUp) +
                                     " of them waited for as long as they may, and were let on "
                                     "without room: Linux may end Orthanc.");
      finding.evidence["IngestBudget"] = static_cast<Json::UInt64>(memory.budget);
      finding.evidence["Waits"] = static_cast<Json::UInt64>(memory.waits);
      finding.evidence["Waited"] = memory.waited;
      finding.evidence["GivenUp"] = static_cast<Json::UInt64>(memory.givenUp);
      finding.cost = cost;
      finding.remedy = Remedy::ChangeSystem(
          "Allow Orthanc more memory and \"Memory.IngestBudget\" with it, or let fewer senders "
          "send large images at once. Where senders wait longer, \"Memory.IngestWaitSeconds\" may "
          "be more.");
      return finding;
    }


    std::optional<Finding> JudgeWithoutBudget(const Evidence& evidence)
    {
      const TrafficSums& received = evidence.GetTotal(Direction::Receive);
      const double peak = ToDouble(evidence.memory.recentPeak);
      const double memory = ToDouble(evidence.facts.memory);

      // A few large images are most of what comes, however many small ones come beside them
      if (memory == 0 || peak < ALMOST_ALL * memory || received.largeInstances <= 0 ||
          received.largeBytes < received.bytes / 2)
      {
        return std::nullopt;
      }

      const double mean = received.largeBytes / received.largeInstances;

      Finding finding = MakeFinding(evidence);
      finding.title = "Large images at once have taken " + SaySize(peak) + " of " +
                      SaySize(memory) + " of memory";
      finding.explanation = "Orthanc holds each instance " + std::to_string(IngestBudget::COPIES) +
                            " times while it stores it; lately a large one had " + SaySize(mean) +
                            ". When nothing is left, Linux ends Orthanc, and all that is under "
                            "way is lost.";
      finding.evidence["Peak"] = peak;
      finding.evidence["MeanSize"] = mean;
      finding.remedy = Remedy::Tune(
          MakeOption("Memory", "IngestBudget", PROPOSED_BUDGET),
          "Hold senders back, by TCP, while large images take more than a quarter of that.");
      return finding;
    }
  }


  std::optional<Finding> JudgeIngestMemory(const Evidence& evidence)
  {
    return evidence.memory.budget == 0 ? JudgeWithoutBudget(evidence) : JudgeWaits(evidence);
  }


  std::optional<Finding> JudgeKeptMemory(const Evidence& evidence)
  {
    const MemoryEvidence& memory = evidence.memory;
    const double kept = ToDouble(memory.kept);

    if (kept < MUCH_KEPT || memory.kept < memory.used)
    {
      return std::nullopt;
    }

    Finding finding;
    finding.id = "kept-memory";
    finding.title = "Orthanc keeps " + SaySize(kept) + " of memory that it does not use";
    finding.explanation =
        "The C library keeps what was freed, in an arena of its own for each of many threads, and "
        "could not give it back for a minute: something in use lies between.";
    finding.evidence["Kept"] = static_cast<Json::UInt64>(memory.kept);
    finding.evidence["Used"] = static_cast<Json::UInt64>(memory.used);
    finding.evidence["Memory"] = static_cast<Json::UInt64>(evidence.facts.memory);
    finding.remedy = Remedy::ChangeSystem(
        "Start Orthanc with MALLOC_ARENA_MAX=5 in its environment, as the Orthanc Book proposes.");
    return finding;
  }
}
