// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <cstddef>
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


  // Decodes a transcoded file, and the source where that is compressed too, and compares: all
  // pixels if the target is lossless; if it is lossy, how far they are off (LossyBound.h), and
  // whether what lies beside the stored bits is still there. Frames or bytes that decoders would
  // pass over in silence are found, too (PixelDataFlaw.h).
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
