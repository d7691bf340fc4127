// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // A file without compressed pixels in another transfer syntax of that kind, by DCMTK's dcmdata,
  // which holds no codec. GDCM has this too, but ends the process at data sets that are odd. In
  // Explicit VR Little Endian, the encoding of all compressed syntaxes too, a file can be changed
  // in place (DataSetEditor).
  //
  // Throws CodecError.
  std::string ConvertDataSet(std::string_view file, std::string_view transferSyntax);
}
