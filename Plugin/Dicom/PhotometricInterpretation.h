// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace OrthancPerf
{
  // What samples mean: DICOM PS3.3 section C.7.6.3.1.2
  enum class Photometric
  {
    Unknown,  // retired (YBR_PARTIAL_422, say), or none of the standard's: files may hold anything
              // there
    Monochrome1,
    Monochrome2,
    PaletteColor,
    Rgb,
    YbrFull,
    YbrFull422,
    YbrRct,
    YbrIct
  };

  // In the order of the enumeration; empty: unknown
  inline constexpr std::array PHOTOMETRIC_TERMS = {
      "",         "MONOCHROME1",  "MONOCHROME2", "PALETTE COLOR", "RGB",
      "YBR_FULL", "YBR_FULL_422", "YBR_RCT",     "YBR_ICT"};

  constexpr const char* ToTerm(Photometric photometric) noexcept
  {
    return PHOTOMETRIC_TERMS[static_cast<std::size_t>(photometric)];
  }

  constexpr Photometric ParsePhotometric(std::string_view term) noexcept
  {
    for (std::size_t i = 1; i < PHOTOMETRIC_TERMS.size(); i++)
    {
      if (term == PHOTOMETRIC_TERMS[i])
      {
        return static_cast<Photometric>(i);
      }
    }

    return Photometric::Unknown;
  }

  // One sample per pixel; PALETTE COLOR too
  constexpr bool HasOneSample(Photometric photometric) noexcept
  {
    return photometric == Photometric::Monochrome1 || photometric == Photometric::Monochrome2 ||
           photometric == Photometric::PaletteColor;
  }

  // Pixels share their chrominance where they are not compressed
  constexpr bool IsSubsampled(Photometric photometric) noexcept
  {
    return photometric == Photometric::YbrFull422;
  }

  // The transforms of JPEG 2000: YBR_RCT and YBR_ICT, which no other pixels have
  constexpr bool IsOfJpeg2000(Photometric photometric) noexcept
  {
    return photometric == Photometric::YbrRct || photometric == Photometric::YbrIct;
  }

  // Of pixels that are decoded, with all their samples: RGB where JPEG 2000 had transformed them,
  // YBR_FULL for YBR_FULL_422, else the same
  constexpr Photometric GetDecoded(Photometric photometric) noexcept
  {
    return IsOfJpeg2000(photometric)   ? Photometric::Rgb
           : IsSubsampled(photometric) ? Photometric::YbrFull
                                       : photometric;
  }
}
