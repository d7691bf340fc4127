// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"
#include "Transcoding/Engines/EngineStatistics.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What makes the speed of engines differ, beside the number of bytes, and what they decline. A
  // value.
  struct TranscodingKind
  {
    std::string source;  // transfer syntax UID, and so is the target
    std::string target;
    std::string colour;  // Photometric Interpretation; empty: none that DICOM defines
    std::uint16_t bitsAllocated = 0;
    std::uint16_t bitsStored = 0;
    std::uint16_t samplesPerPixel = 0;
    bool isSigned = false;
    bool isMultiFrame = false;

    static TranscodingKind Of(const ImageDescription& image, const std::string& target);

    bool operator==(const TranscodingKind& other) const;
  };


  // What "auto" does with one kind of image, and why: for /perf/status
  struct AutoChoice
  {
    TranscodingKind kind;
    std::string engine;  // the one that is chosen now
    std::string reason;
    std::vector<EngineFigures> figures;  // one for each engine that could do it
  };


  // The engine "auto": picks by what it has measured for this kind of image, as EngineStatistics
  // says. Keeps what it knows of the MAXIMUM_KINDS kinds that were seen last, as strangers choose
  // what they send. Owned by Transcoder; any thread may call it, the lock is held for microseconds.
  class AutoEngine
  {
  public:
    static constexpr std::size_t MAXIMUM_KINDS = 256;

    // The engines to try, in this order
    std::vector<std::string> Choose(const TranscodingKind& kind,
                                    const std::vector<std::string>& available,
                                    std::size_t sourceSize, TimePoint now);

    void Learn(const TranscodingKind& kind, const std::vector<TranscodingReport>& attempts,
               TimePoint now);

    // Learns from an engine that the tuning had named, too: where "auto" is asked for later, it
    // begins with what there was to see
    void Observe(const TranscodingKind& kind, const TranscodingReport& attempt, TimePoint now);

    // The kinds that "auto" has chosen for; those seen last come first
    std::vector<AutoChoice> GetChoices() const;

  private:
    struct Entry
    {
      TranscodingKind kind;
      EngineStatistics statistics;
    };

    EngineStatistics& Get(const TranscodingKind& kind);

    mutable std::mutex mutex_;
    std::list<Entry> entries_;  // the last used first; a search is cheap beside a transcoding
  };
}
