// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/PixelComparison.h"

#include <string>

namespace OrthancPerf
{
  // The NEAR parameter of near-lossless JPEG-LS (ITU-T T.87: no sample differs by more) for a
  // quality of 1 to 100, as JPEG counts it: 0 for 100, which loses nothing; 1 for 95 and more; then
  // one more for each 5 below, so that 90 gives 2, and 1 gives 20. NEAR counts steps of a sample,
  // whatever its depth: at 12 bits the same figure is a sixteenth of the error at 8 bits.
  constexpr int GetNearLosslessError(unsigned int quality)
  {
    return quality >= 100 ? 0 : quality < 1 ? 20 : static_cast<int>((104 - quality) / 5);
  }

  static_assert(GetNearLosslessError(99) == 1 && GetNearLosslessError(95) == 1 &&
                GetNearLosslessError(94) == 2 && GetNearLosslessError(90) == 2 &&
                GetNearLosslessError(1) == 20);

  // The fidelity of lossy JPEG 2000 for a quality of 1 to 100: its peak signal to noise ratio, in
  // decibels, the peak being the range that the samples of the image span, without padding. 20.4
  // for 1, then 0.4 more for each step: 56 for 90, a mean error (RMS) of 0.16 % of that range, and
  // 60 for 100.
  constexpr double GetJpeg2000Fidelity(unsigned int quality)
  {
    return 20.0 + 0.4 * (quality < 1 ? 1 : quality > 100 ? 100 : quality);
  }


  // Whether samples that were compressed with loss are no farther from what was received than the
  // transfer syntax and the quality (1 to 100) explain. What goes beyond is no loss but harm:
  // samples that wrapped around, or that a decoder makes something else of.
  //
  // - Near-lossless JPEG-LS keeps its word: no sample is off by more than NEAR.
  // - JPEG: the luminance. Each coefficient is off by half of its quantization step at most, and
  //   the transform keeps the sum of squares, so that the root of the mean square is at most half
  //   of that of the steps, and no sample of a block of 64 is off by more than eight times that.
  //   The steps are those of ITU-T T.81 table K.1, as libjpeg scales them. Of the chrominance, up
  //   to three quarters are left out, for which there is no bound.
  // - JPEG 2000 aims at a signal to noise ratio, which OpenJPEG meets more or less. Padding counts
  //   as all other samples do, but not into the range (PixelError::span).
  //
  // Measured with both engines at qualities of 1, 5, 10, 25, 50, 75, 90, 95, 99 and 100, on
  // pydicom's test files, made CT, noise, dots and stripes: JPEG used up to half of both bounds;
  // JPEG 2000 was off by 4.2 times the noise it aimed at on average, and by 94 times at most, in
  // drawings of a few flat colours.
  //
  // "error": of JPEG, that of the luminance. "bitsStored": of the image that was compressed.
  // Returns what is wrong; empty: nothing.
  std::string FindExcessiveError(const PixelError& error, unsigned int bitsStored,
                                 const std::string& transferSyntax, unsigned int quality);
}
