// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodestreamHeader.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace OrthancPerf
{
  // The second bytes of markers: ITU-T T.81 table B.1
  constexpr std::uint8_t START_OF_IMAGE = 0xd8;
  constexpr std::uint8_t END_OF_IMAGE = 0xd9;  // EOC of JPEG 2000, too

  // Reads the codestreams of JPEG, JPEG-LS and JPEG 2000, big endian all. Throws CodecError where
  // they end too early, and for all else that is malformed.
  class CodestreamReader
  {
  public:
    explicit CodestreamReader(std::string_view bytes) : rest_(bytes)
    {
    }

    std::string_view GetRest() const noexcept
    {
      return rest_;
    }

    std::string_view Take(std::size_t count);

    // An integer of so many bytes, 4 at most
    std::uint32_t Read(std::size_t size);

    // Fill bytes may stand in front of it (T.81 section B.1.1.2), anything else may not
    std::uint8_t ReadMarker();

    // The parameters of the segment of this marker, which has one
    std::string_view ReadSegment(std::uint8_t marker);

    // To the next marker that does not belong to the coded data. What follows 0xff there is a
    // stuffed zero (T.81), or less than 0x80 (T.87 annex A.1) or 0x90 (T.800 annex B.10.1).
    void SkipCodedData(std::uint8_t firstMarker);

    // Calls visit(marker, parameters) for each segment, up to the end of the codestream. Behind
    // that of a "dataMarker", scan or tile, it skips what is coded.
    template <typename Visit>
    void VisitSegments(std::uint8_t dataMarker, Visit visit)
    {
      bool hasData = false;

      for (std::uint8_t marker = ReadMarker(); marker != END_OF_IMAGE || !hasData;
           marker = ReadMarker())
      {
        visit(marker, ReadSegment(marker));
        hasData = hasData || marker == dataMarker;
      }
    }

    // Throws if something is left of a segment: its length counts no more than its parameters (T.81
    // section B.2.2)
    void CheckEnd() const;

  private:
    std::string_view rest_;
  };

  // What follows SOI or SOC, up to the end of the codestream: see CodestreamHeader.h
  CodestreamHeader ReadJpegHeader(CodestreamReader& reader);
  CodestreamHeader ReadJpegLsHeader(CodestreamReader& reader);
  CodestreamHeader ReadJpeg2000Header(CodestreamReader& reader);
}
