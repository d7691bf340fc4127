// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace OrthancPerf
{
  // What samples mean: DICOM PS3.3 section C.7.6.3.1.2
  enum class Photometric
  {
    Unknown,  // retired, or none of the standard's: files may hold anything there
    Monochrome1,
    Monochrome2,
    PaletteColor,
    Rgb,
    YbrFull,
    YbrFull422,
    YbrPartial422,
    YbrPartial420,
    YbrRct,
    YbrIct
  };

  Photometric ParsePhotometric(std::string_view term) noexcept;

  // The term of the standard, "YBR_FULL_422"; empty: unknown
  const char* ToTerm(Photometric photometric) noexcept;

  // One sample per pixel; PALETTE COLOR too
  bool HasOneSample(Photometric photometric) noexcept;

  // Pixels share their chrominance where they are not compressed
  bool IsSubsampled(Photometric photometric) noexcept;

  // The transforms of JPEG 2000: YBR_RCT and YBR_ICT, which no other pixels have
  bool IsOfJpeg2000(Photometric photometric) noexcept;

  // Of pixels that are decoded, with all their samples: RGB where JPEG 2000 had transformed them,
  // YBR_FULL for YBR_FULL_422, else the same
  Photometric GetDecoded(Photometric photometric) noexcept;
}
