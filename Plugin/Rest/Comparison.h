// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/EngineDirectory.h"

#include <json/value.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The body of POST /perf/transcoding/compare. A value.
  struct ComparisonRequest
  {
    std::string resource;              // Orthanc's identifier of an instance or a series
    std::vector<std::string> targets;  // transfer syntax UIDs
    unsigned int lossyQuality = 90;

    // Throws SettingError, which names the key. Any thread.
    static ComparisonRequest Read(const std::string& body);
  };

  // Compares the engines on stored instances, as a job of Orthanc's. Each engine encodes the
  // uncompressed file in each target. It, or another engine, decodes the result, and the pixels are
  // compared. One step is one engine and one target of one instance.
  //
  // Its content has the sums so far (Resources/Documentation/reference.md). Orthanc calls a job on
  // one thread at a time (JobsEngine), and stops, pauses and cancels it between two steps.
  class Comparison
  {
  public:
    // From the whole length of a longer series: its first images may be unlike the rest
    static constexpr std::size_t MAXIMUM_INSTANCES = 20;

    // The file of an instance; throws std::exception if there is none any more
    using LoadFile = std::function<std::string(const std::string& instance)>;

    Comparison(const EngineDirectory& engines, ComparisonRequest request,
               const std::vector<std::string>& instances, LoadFile load);

    // Does one step; false if it was the last
    bool Step();

    void Reset();

    float GetProgress() const;  // 0 to 1
    Json::Value GetContent() const;

  private:
    // One engine and one target. Sizes and times are sums over what was encoded, and decoded again.
    struct Row
    {
      std::string engine;
      std::string target;
      std::uint64_t transcoded = 0;
      std::uint64_t declined = 0;
      std::uint64_t failed = 0;
      std::string reason;  // the latest: why not transcoded, or why pixels are not the same
      double uncompressedSize = 0;
      double targetSize = 0;
      Duration encoding{0};
      double decodedSize = 0;  // uncompressed
      Duration decoding{0};
      std::uint64_t same = 0;       // instances that have the same pixels when decoded again
      std::uint64_t different = 0;  // and those that have not
      std::uint64_t measured = 0;   // and those whose error is in the sum
      double errors = 0;            // the sum of the mean errors
      double largestError = 0;
    };

    static Json::Value Describe(const Row& row);
    EngineResult Load(const std::string& instance) const;
    EngineResult Encode(Row& row);
    std::string Decode(Row& row, const std::string& encoded) const;
    std::string Compare(Row& row, const std::string& decoded) const;

    const EngineDirectory& engines_;
    const ComparisonRequest request_;
    std::vector<std::string> instances_;  // Orthanc's identifiers
    const LoadFile load_;
    std::size_t step_ = 0;            // instances that are done
    std::size_t row_ = 0;             // for the next step
    EngineResult source_;             // the instance at work, in Explicit VR Little Endian
    std::set<std::string> warmedUp_;  // engines whose processes and tables are there by now
    std::vector<Row> rows_;           // one for each target and engine
  };
}
