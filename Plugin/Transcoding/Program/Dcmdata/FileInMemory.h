// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // DICOM files by DCMTK's dcmdata, from and to memory. They throw CodecError. Any thread, one a
  // file.

  // Throws unless DCMTK has done the deed: "write the file"
  void CheckDone(const OFCondition& condition, const char* deed);

  // A file without compressed pixels in another transfer syntax of that kind, with new group
  // lengths: dcmdata holds no codec. Throws NotCovered if implicit VR leaves the sign of a value
  // open.
  std::string ConvertFile(std::string_view file, const char* transferSyntax);
}
