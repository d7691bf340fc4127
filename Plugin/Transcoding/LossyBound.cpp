// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/LossyBound.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace OrthancPerf
{
  namespace
  {
    // In steps of a sample
    struct Bound
    {
      double mean = 0;
      double maximum = 0;
    };


    Bound GetJpegBound(unsigned int quality)
    {
      // Of table K.1, root of the mean square
      constexpr double STEP = 67.09;

      // Steps, samples and colours are whole numbers
      constexpr double ROUNDING = 1;

      // jpeg_quality_scaling() of libjpeg
      const double scale = quality < 50 ? 50.0 / quality : 2 - quality / 50.0;
      const double noise = scale * STEP / 2 + ROUNDING;
      return {noise, 8 * noise};
    }


    Bound GetJpeg2000Bound(unsigned int quality, double span)
    {
      constexpr double MEAN = 6;
      constexpr double MAXIMUM = 120;
      constexpr double ROUNDING = 1;
      const double noise = span * std::pow(10.0, -GetJpeg2000Fidelity(quality) / 20);
      return {MEAN * noise + ROUNDING, MAXIMUM * noise + 2 * ROUNDING};
    }


    Bound GetBound(const std::string& transferSyntax, unsigned int quality, double span)
    {
      if (transferSyntax == TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS)
      {
        const double near = GetNearLosslessError(quality);
        return {near, near};
      }

      return transferSyntax == TransferSyntaxUid::JPEG_2000 ? GetJpeg2000Bound(quality, span)
                                                            : GetJpegBound(quality);
    }


    std::string FormatPercent(double fraction)
    {
      std::ostringstream text;
      text << std::fixed << std::setprecision(1) << 100 * fraction << " %";
      return text.str();
    }
  }


  std::string FindExcessiveError(const PixelError& error, unsigned int bitsStored,
                                 const std::string& transferSyntax, unsigned int quality)
  {
    const double range = std::pow(2.0, bitsStored);
    const Bound bound = GetBound(transferSyntax, std::clamp(quality, 1u, 100u), error.span * range);

    if (error.mean * range <= bound.mean && error.maximum * range <= bound.maximum)
    {
      return "";
    }

    return "the pixels are off by " + FormatPercent(error.mean) + " on average and " +
           FormatPercent(error.maximum) + " at most";
  }
}
