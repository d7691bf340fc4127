// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetWalker.h"

#include <string_view>

namespace OrthancPerf
{
  // The VR that a tag has in implicit VR, from GDCM's data dictionary (DICOM PS3.6): "SQ", say.
  // Where several are possible, Pixel Representation decides between US and SS, and OW is taken
  // rather than OB, as in implicit VR (PS3.5 section A.1). "UN" for what is not in the dictionary,
  // private elements among it. Any thread may call it.
  std::string_view LookupRepresentation(DicomTag tag, bool isSigned);
}
