// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/LossyBound.h"

#include "Transcoding/LossySettings.h"

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


    std::string FormatPercent(double fraction)
    {
      std::ostringstream text;
      text << std::fixed << std::setprecision(1) << 100 * fraction << " %";
      return text.str();
    }


    std::string Compare(double mean, double maximum, const Bound& bound, double range)
    {
      if (mean * range <= bound.mean && maximum * range <= bound.maximum)
      {
        return "";
      }

      return "the pixels are off by " + FormatPercent(mean) + " on average and " +
             FormatPercent(maximum) + " at most";
    }
  }


  std::string FindExcessiveError(const PixelError& error, unsigned int bitsStored,
                                 const std::string& transferSyntax, unsigned int quality)
  {
    quality = std::clamp(quality, 1u, 100u);
    const double range = std::pow(2.0, bitsStored);

    if (transferSyntax == TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS)
    {
      const double near = GetNearLosslessError(quality);
      return Compare(error.mean, error.maximum, {near, near}, range);
    }

    if (transferSyntax == TransferSyntaxUid::JPEG_2000)
    {
      return Compare(error.mean, error.maximum, GetJpeg2000Bound(quality, error.span * range),
                     range);
    }

    return Compare(error.meanOfLuminance, error.maximumOfLuminance, GetJpegBound(quality), range);
  }
}
