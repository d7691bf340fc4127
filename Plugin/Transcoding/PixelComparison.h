// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <optional>
#include <string>

namespace OrthancPerf
{
  // Whether the functions below can read these pixels: native ones in little endian
  bool IsComparable(const ImageDescription& image) noexcept;

  // What differs between the pixels of two files; empty: nothing. Each sample has to have the same
  // stored bits in both, in whatever Planar Configuration. Unused bits count only where overlays
  // are embedded in them. Takes the memory of a few rows; any thread may call it.
  //
  // "tolerance": how far samples may be off on average, as a fraction of their range, for what is
  // rounded.
  std::string FindDifference(const ImageDescription& expected, const ImageDescription& actual,
                             double tolerance = 0);

  // The same for rows, columns, samples, frames, bits and sign, which no engine may change
  std::string FindOtherAttributes(const ImageDescription& expected, const ImageDescription& actual);

  // How far the samples are apart, as fractions of the range that the stored bits span: absolute
  // differences
  struct PixelError
  {
    double mean = 0;
    double maximum = 0;
    double span = 0;  // between the smallest and the largest sample that was expected: without
                      // padding, unless there is nothing else

    // Whether bits that are not stored, if they hold anything but the sign, are the same in both.
    // Some devices have overlays or other values there.
    bool hasSameUnusedBits = true;
  };

  // "ofLuminance": of colour images the luminance alone, as it is where one is RGB and the other
  // YBR. Nothing if the two can't be compared.
  std::optional<PixelError> MeasureError(const ImageDescription& expected,
                                         const ImageDescription& actual, bool ofLuminance = false);
}
