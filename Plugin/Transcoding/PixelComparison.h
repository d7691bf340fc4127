// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <optional>
#include <string>

namespace OrthancPerf
{
  // What two files with native pixels have in common. A value.
  struct PixelComparison
  {
    enum class Verdict
    {
      Same,
      Different,
      Incomparable  // in other colours, or not native little endian: it takes another decoder
    };

    Verdict verdict = Verdict::Incomparable;
    std::string reason;  // what differs; empty if they are the same
  };

  // Whether each pixel has the same value in both: the bits that are stored, of each sample, in
  // whatever Planar Configuration. Unused bits count only where overlays are embedded in them.
  // Takes the memory of a few rows; any thread may call it.
  //
  // "tolerance": how far samples may be off on average, as a fraction of their range, for what is
  // rounded. Colours are then compared as RGB if one of the two is not.
  PixelComparison ComparePixels(const ImageDescription& expected, const ImageDescription& actual,
                                double tolerance = 0);

  // The same rows, columns, samples and frames: all that lossy compression must keep
  PixelComparison CompareGeometry(const ImageDescription& expected, const ImageDescription& actual);

  // How far the samples are apart, as fractions of the range that the stored bits span: absolute
  // differences
  struct PixelError
  {
    double mean = 0;
    double maximum = 0;
    double meanOfLuminance = 0;  // where there is one sample, that
    double maximumOfLuminance = 0;
    double span = 0;  // between the smallest and the largest sample that was expected: without
                      // padding, unless there is nothing else

    // Whether bits that are not stored, if they hold anything but the sign, are the same in both.
    // Some devices have overlays or other values there.
    bool hasSameUnusedBits = true;
  };

  // Samples of the same colours are compared as they are, and YBR_FULL with RGB as RGB. Nothing if
  // the two can't be compared.
  std::optional<PixelError> MeasureError(const ImageDescription& expected,
                                         const ImageDescription& actual);

  // Whether the functions above can read these pixels
  bool IsComparable(const ImageDescription& image) noexcept;
}
