// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"

#include <string>

namespace OrthancPerf
{
  // What lossy compression has done to an image, as DICOM wants it to be said
  struct LossyDerivation
  {
    std::string transferSyntax;  // UID, a lossy one of GetWritableSyntaxes()
    unsigned int lossyQuality = 90;
    std::string sopInstanceUid;  // of the new instance; see MakeDerivedUid()
  };

  // A lossy image is a new instance that names the one it was made from: DICOM PS3.3 sections
  // C.7.6.1.1.2 (Image Type), C.7.6.1.1.5 (ratio, method) and C.12.4.1 (derivation, source image).
  // "source" is the file that was compressed, in any encoding but the deflated one, "compressed"
  // what an engine made of it, in Explicit VR: whatever the engine itself has said there of the
  // derivation in texts is replaced. What it has left of earlier derivations, codes and source
  // images, is kept beside the new ones. Items inside of functional groups (PS3.3 section C.7.6.16)
  // stay what they were.
  //
  // Returns the new file. Throws CodecError if one of the two can't be read. Any thread may call
  // it.
  std::string DescribeLossyDerivation(const ReceivedFile& compressed, const ReceivedFile& source,
                                      const LossyDerivation& derivation);

  // The UID of the new instance, below 2.25 (DICOM PS3.5 section B.2), made of what was received
  // (SOP Instance UID, Pixel Data) and of what was asked for: an instance that is sent again
  // becomes the same one again, and not one more in the archive, whichever engine compresses it
  // and whatever bytes that gives. Any thread may call it.
  std::string MakeDerivedUid(const ImageDescription& source, const std::string& transferSyntax,
                             unsigned int lossyQuality);
}
