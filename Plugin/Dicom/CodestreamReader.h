// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

  private:
    std::string_view rest_;
  };
}
