// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/PhotometricInterpretation.h"

#include <array>

namespace OrthancPerf
{
  namespace
  {
    // In the order of the enumeration
    constexpr std::array<const char*, 11> TERMS = {
        "",         "MONOCHROME1",  "MONOCHROME2",     "PALETTE COLOR",   "RGB",
        "YBR_FULL", "YBR_FULL_422", "YBR_PARTIAL_422", "YBR_PARTIAL_420", "YBR_RCT",
        "YBR_ICT"};
  }


  Photometric ParsePhotometric(std::string_view term) noexcept
  {
    for (std::size_t i = 1; i < TERMS.size(); i++)
    {
      if (term == TERMS[i])
      {
        return static_cast<Photometric>(i);
      }
    }

    return Photometric::Unknown;
  }


  const char* ToTerm(Photometric photometric) noexcept
  {
    return TERMS[static_cast<std::size_t>(photometric)];
  }


  bool HasOneSample(Photometric photometric) noexcept
  {
    return photometric == Photometric::Monochrome1 || photometric == Photometric::Monochrome2 ||
           photometric == Photometric::PaletteColor;
  }


  bool IsSubsampled(Photometric photometric) noexcept
  {
    return photometric == Photometric::YbrFull422 || photometric == Photometric::YbrPartial422 ||
           photometric == Photometric::YbrPartial420;
  }


  bool IsOfJpeg2000(Photometric photometric) noexcept
  {
    return photometric == Photometric::YbrRct || photometric == Photometric::YbrIct;
  }


  Photometric GetDecoded(Photometric photometric) noexcept
  {
    if (IsOfJpeg2000(photometric))
    {
      return Photometric::Rgb;
    }

    return photometric == Photometric::YbrFull422 ? Photometric::YbrFull : photometric;
  }
}
