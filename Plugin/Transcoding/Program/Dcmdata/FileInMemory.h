// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"

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

  // The bytes outlive the file, which is new. Throws NotCovered where implicit VR does not tell
  // what a value is (ValueSigns.h), or where a deflated element comes twice or is out of order.
  void ReadFile(DcmFileFormat& file, std::string_view bytes);

  // The file as a whole, with its group lengths made anew
  std::string WriteFile(DcmFileFormat& file, E_TransferSyntax syntax);

  // A file without compressed pixels in another transfer syntax of that kind: dcmdata alone holds
  // no codec
  std::string ConvertFile(std::string_view file, const char* transferSyntax);

  // Whether there is an engine that reads it; nullptr: an unknown one
  bool IsReadable(const TransferSyntax* syntax) noexcept;

  // Why dcmdata can't be used; empty: it can
  std::string FindDcmdataProblem();
}
