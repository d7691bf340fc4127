// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
}
