// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/PixelComparison.h"

#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // A file and what it was made of, both in memory while they are verified
  struct TranscodedPair
  {
    const ReceivedFile& source;
    const ReceivedFile& file;
    std::optional<unsigned int> lossyQuality;  // that was asked for; none: of a lossless target

    TimePoint deadline = TimePoint::max();  // of the decoders
  };

  // Why a file that an engine has written can't take the place of its source: Orthanc could not
  // read it, or it is another instance, or in another transfer syntax than was asked for. Empty:
  // nothing speaks against it. Any thread may call it.
  std::string FindFlaw(const ReceivedFile& file, const std::string& transferSyntax,
                       const std::string& sopInstanceUid);

  // Whether samples that were compressed with loss are no farther from what was received than the
  // transfer syntax and the quality (1 to 100) explain. What goes beyond is no loss but harm:
  // samples that wrapped around, or that a decoder makes something else of.
  //
  // - Near-lossless JPEG-LS: no sample is off by more than NEAR.
  // - JPEG: the luminance. Each coefficient is off by at most half of its quantization step (ITU-T
  //   T.81 table K.1). The transform keeps the sum of squares. So the root of the mean square is at
  //   most half of that of the steps. No sample of a block of 64 is off by more than eight times
  //   that. Up to three quarters of the chrominance are left out: no bound.
  // - JPEG 2000 aims at a signal to noise ratio, which OpenJPEG meets more or less. Padding counts
  //   as all other samples do, but not into the range (PixelError::span).
  //
  // Measured with both engines at qualities of 1 to 100, on pydicom's test files, made CT, noise,
  // dots and stripes: JPEG used up to half of both bounds; JPEG 2000 was off by 4.2 times the noise
  // it aimed at on average, and by 94 times at most, in drawings of a few flat colours.
  //
  // "error": of JPEG, that of the luminance. "bitsStored": of the image that was compressed.
  // Returns what is wrong; empty: nothing.
  std::string FindExcessiveError(const PixelError& error, unsigned int bitsStored,
                                 const std::string& transferSyntax, unsigned int quality);

  // Decodes a transcoded file, and the source where that is compressed too, and compares: all
  // pixels if the target is lossless; if it is lossy, how far they are off (FindExcessiveError),
  // and whether what lies beside the stored bits is still there. Frames or bytes that decoders
  // would pass over in silence are found, too (PixelDataFlaw.h).
  //
  // Decoders are engines that write Explicit VR Little Endian, in the order of preference. For the
  // result, best another than its encoder, which may read its own mistakes well: the first one that
  // covers it decides. Its pixels have to be those that any of the decoders makes of the source,
  // and no two of these may differ by more than rounding, of lossy sources.
  //
  // Why the file is not what it should be; empty if it is. Any thread may call it.
  std::string FindDamage(const TranscodedPair& pair,
                         const std::vector<const ITranscodingEngine*>& decodersOfSource,
                         const std::vector<const ITranscodingEngine*>& decodersOfResult);
}
