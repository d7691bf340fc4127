// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetWalker.h"

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Writes a data set without compressed pixels in another encoding: implicit or explicit VR,
  // little or big endian (DICOM PS3.5 sections 7.1 and 7.3). Values stay what they are; sequences
  // get an undefined length, as their size changes. GDCM has this too, but ends the process at data
  // sets that are odd; only its data dictionary is used.
  //
  // Elements of unknown VR keep their bytes; of undefined length, they are in Implicit VR Little
  // Endian whatever is around them (PS3.5 section 6.2.2).
  //
  // Throws CodecError if the data set is not well-formed.
  std::string RecodeDataSet(std::string_view dataSet, const DicomEncoding& source,
                            const DicomEncoding& target);
}
