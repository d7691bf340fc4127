// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/CompareRequest.h"
#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/TranscodingReport.h"

#include <json/value.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Compares the engines on stored instances, as a job of Orthanc's. A step is one instance: each
  // engine encodes the uncompressed file in each target, it or another engine decodes the result,
  // and the pixels are compared. What cannot be loaded or decoded is counted, and left out.
  //
  // Its content has the sums so far (Resources/Documentation/reference.md). Orthanc calls a job on
  // one thread at a time (JobsEngine), and stops, pauses and cancels it between two steps.
  class ComparisonJob
  {
  public:
    // Reasons come from codecs: a few are kept, the others counted together
    static constexpr std::size_t MAXIMUM_REASONS = 8;

    // The file of an instance; throws std::exception if there is none any more
    using LoadFile = std::function<std::string(const std::string& instance)>;

    // The directory and the observer must outlive the job. The observer is told of each encoding
    // that an engine was asked for.
    ComparisonJob(const EngineDirectory& engines, CompareRequest request,
                  std::vector<std::string> instances, LoadFile load,
                  ITranscodingObserver& observer);

    // Does one step; false if it was the last
    bool Step();

    // From the first step
    void Reset();

    float GetProgress() const;  // 0 to 1
    Json::Value GetContent() const;

  private:
    using Reasons = std::map<std::string, std::uint64_t>;

    // Of one engine in one target. Sizes and times are of the instances that were transcoded;
    // those of decoding, of the ones that could be decoded again.
    struct Totals
    {
      std::string engine;
      std::string target;
      std::uint64_t transcoded = 0;
      std::uint64_t declined = 0;
      std::uint64_t failed = 0;
      Reasons reasons;

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
    };

    static void CountReason(Reasons& reasons, const std::string& reason);
    static Json::Value Describe(const Reasons& reasons);
    static Json::Value Describe(const Totals& totals);
    EngineResult Uncompress(const std::string& file) const;
    void Load(const std::string& instance);
    void Encode(Totals& totals);
    std::string Decode(Totals& totals, const std::string& encoded) const;
    std::string Compare(Totals& totals, const std::string& decoded) const;

    const EngineDirectory& engines_;
    const CompareRequest request_;
    const std::vector<std::string> instances_;  // Orthanc's identifiers
    const LoadFile load_;
    ITranscodingObserver& observer_;
    std::size_t step_ = 0;  // instances that are done
    std::size_t pair_ = 0;  // of engine and target, for the next one
    std::size_t storedSize_ = 0;
    std::string uncompressed_;        // the instance at work, in Explicit VR Little Endian
    std::set<std::string> warmedUp_;  // engines whose processes and tables are there by now
    std::vector<Totals> totals_;      // one for each target and engine
    Reasons unreadable_;
  };
}
