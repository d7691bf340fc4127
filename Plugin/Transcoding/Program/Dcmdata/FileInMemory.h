// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <string>

namespace OrthancPerf
{
  // DICOM files by DCMTK's dcmdata, from and to memory. The condition says what went wrong. Any
  // thread, one a file.

  // The bytes outlive the file, which is new
  OFCondition ReadFile(DcmFileFormat& file, const void* data, std::size_t size);

  // The file as a whole, with its group lengths made anew
  OFCondition WriteFile(std::string& bytes, DcmFileFormat& file, E_TransferSyntax syntax);
}
