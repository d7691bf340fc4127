// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcxfer.h>
#include <string>

namespace OrthancPerf
{
  // Whether DCMTK has a codec that reads, or writes, this transfer syntax
  bool CanDecode(E_TransferSyntax xfer);
  bool CanEncode(E_TransferSyntax xfer);

  // Why this image can't be written in this encapsulated transfer syntax by DCMTK, or not without
  // harm to the samples; empty: nothing speaks against it.
  std::string FindObstacle(E_TransferSyntax target, const PixelDescription& image);
}
