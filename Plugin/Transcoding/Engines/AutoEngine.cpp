// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/AutoEngine.h"

#include "Dicom/PhotometricInterpretation.h"

#include <algorithm>
#include <tuple>

namespace OrthancPerf
{
  TranscodingKind TranscodingKind::Of(const ImageDescription& image, const std::string& target)
  {
    TranscodingKind kind;
    kind.source = image.transferSyntax.data();
    kind.target = target;
    kind.bitsAllocated = image.bitsAllocated;
    kind.bitsStored = image.bitsStored;
    kind.samplesPerPixel = image.samplesPerPixel;
    kind.isSigned = image.pixelRepresentation == 1;
    kind.isMultiFrame = image.frames > 1;
    kind.colour = ToTerm(ParsePhotometric(image.photometricInterpretation));
    return kind;
  }


  bool TranscodingKind::operator==(const TranscodingKind& other) const
  {
    const auto toTuple = [](const TranscodingKind& kind)
    {
      return std::tie(kind.bitsAllocated, kind.bitsStored, kind.samplesPerPixel, kind.isSigned,
                      kind.isMultiFrame, kind.colour, kind.source, kind.target);
    };
    return toTuple(*this) == toTuple(other);
  }


  EngineStatistics& AutoEngine::Get(const TranscodingKind& kind)
  {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&kind](const Entry& entry) { return entry.kind == kind; });

    if (found == entries_.end())
    {
      entries_.push_front({kind, {}});

      if (entries_.size() > MAXIMUM_KINDS)
      {
        entries_.pop_back();
      }
    }
    else
    {
      entries_.splice(entries_.begin(), entries_, found);
    }

    return entries_.front().statistics;
  }


  std::vector<std::string> AutoEngine::Choose(const TranscodingKind& kind,
                                              const std::vector<std::string>& available,
                                              std::size_t sourceSize, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Get(kind).Choose(available, sourceSize, now);
  }


  void AutoEngine::Learn(const TranscodingKind& kind,
                         const std::vector<TranscodingReport>& attempts, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Get(kind).Learn(attempts, now);
  }


  void AutoEngine::Observe(const TranscodingKind& kind, const TranscodingReport& attempt,
                           TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Get(kind).Observe(attempt, now);
  }


  std::vector<AutoChoice> AutoEngine::GetChoices() const
  {
    std::vector<AutoChoice> choices;
    const std::lock_guard<std::mutex> lock(mutex_);

    for (const Entry& entry : entries_)
    {
      if (!entry.statistics.GetFavourite().empty())
      {
        choices.push_back({entry.kind, entry.statistics.GetFavourite(), entry.statistics.Explain(),
                           entry.statistics.GetFigures()});
      }
    }

    return choices;
  }
}
