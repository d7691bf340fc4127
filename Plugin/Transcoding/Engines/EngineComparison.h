// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/TranscodingReport.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What is compared: each engine encodes each instance in each target
  struct ComparisonPlan
  {
    std::vector<std::string> instances;  // Orthanc's identifiers
    std::vector<std::string> targets;    // transfer syntax UIDs
    std::vector<std::string> engines;    // names
    unsigned int lossyQuality = 90;

    std::size_t CountSteps() const
    {
      return instances.size() * targets.size() * engines.size();
    }
  };


  // What an engine made of one uncompressed instance. A value; no patient data.
  struct EngineMeasurement
  {
    // What the engine did, or why it was not asked: then there is no source size. The reason may
    // also be why its pixels could not be compared.
    TranscodingReport report;

    // The engine itself, or the first that can decode where the engine only encodes; empty: none
    std::string decoder;
    Duration decoding{0};

    // The decoded pixels against those that were encoded
    PixelComparison::Verdict pixels = PixelComparison::Verdict::Incomparable;
    std::optional<PixelError> error;  // nothing if they can't be compared
  };


  // The sums of all that one engine did in one target. Sizes and times are of the instances that
  // were transcoded; those of decoding, of the ones that could be decoded again.
  struct EngineTotals
  {
    // Reasons come from codecs: a few are kept, the others counted together
    static constexpr std::size_t MAXIMUM_REASONS = 8;

    std::string engine;
    std::string target;  // transfer syntax UID

    std::uint64_t transcoded = 0;
    std::uint64_t declined = 0;
    std::uint64_t failed = 0;
    std::map<std::string, std::uint64_t> reasons;  // and how often

    std::uint64_t storedSize = 0;  // bytes of the files in the store
    std::uint64_t uncompressedSize = 0;
    std::uint64_t targetSize = 0;
    Duration encoding{0};

    std::set<std::string> decoders;
    std::uint64_t decodedSize = 0;  // uncompressed
    Duration decoding{0};

    std::uint64_t same = 0;       // instances that have the same pixels when decoded again
    std::uint64_t different = 0;  // and those that have not
    std::uint64_t measured = 0;   // and those whose error is in the sum
    double errors = 0;            // the sum of the mean errors
    double largestError = 0;

    void Add(const EngineMeasurement& measurement, std::size_t stored);
  };


  // Compares the engines on stored instances, step by step: a step is one engine, one target, one
  // instance. Holds one instance at a time. What cannot be loaded or decoded is counted, and left
  // out. Used by one thread at a time; Orthanc is known only as a function that loads a file.
  class EngineComparison
  {
  public:
    // The file of an instance; throws std::exception if there is none any more
    using LoadFile = std::function<std::string(const std::string& instance)>;

    // The directory and the observer must outlive the comparison. The observer is told of each
    // encoding that an engine was asked for.
    EngineComparison(const EngineDirectory& engines, ComparisonPlan plan, LoadFile load,
                     ITranscodingObserver& observer);

    bool IsDone() const noexcept
    {
      return step_ >= plan_.CountSteps();
    }

    // Does the next step; nothing if all are done
    void Step();

    // Forgets everything, to begin anew
    void Reset();

    double GetProgress() const noexcept;  // 0 to 1

    const ComparisonPlan& GetPlan() const noexcept
    {
      return plan_;
    }

    // One for each target and engine, in the order of the plan
    const std::vector<EngineTotals>& GetTotals() const noexcept
    {
      return totals_;
    }

    // The instances that all engines have had
    std::size_t CountFinishedInstances() const noexcept;

    // The instances that could not be compared, by the reason
    const std::map<std::string, std::uint64_t>& GetUnreadable() const noexcept
    {
      return unreadable_;
    }

  private:
    void Load(const std::string& instance);
    void WarmUp(const std::string& engine, const TranscodingTarget& target);

    const EngineDirectory& engines_;
    const ComparisonPlan plan_;
    const LoadFile load_;
    ITranscodingObserver& observer_;
    std::size_t step_ = 0;
    std::size_t storedSize_ = 0;
    std::string uncompressed_;        // the instance at work, in Explicit VR Little Endian
    std::set<std::string> warmedUp_;  // engines whose processes and tables are there by now
    std::vector<EngineTotals> totals_;
    std::map<std::string, std::uint64_t> unreadable_;
  };
}
