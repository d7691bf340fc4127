// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
  // what an engine made of it; whatever the engine itself has said there of the derivation is
  // replaced. Items inside of functional groups (PS3.3 section C.7.6.16) stay what they were.
  //
  // Returns the new file. Throws DataSetError if one of the two can't be read. Any thread may call
  // it.
  std::string DescribeLossyDerivation(const std::string& compressed, const void* source,
                                      std::size_t sourceSize, const LossyDerivation& derivation);

  // The UID of the new instance, below 2.25 (DICOM PS3.5 section B.2), made of the source's and of
  // the compressed pixels: an instance that is sent again becomes the same one again, and not one
  // more in the archive, while other pixels never share a UID. Throws as above.
  std::string MakeDerivedUid(std::string_view sourceUid, const std::string& compressed);
}
